#include "findings.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "hipscope/format.h"
#include "hipscope/inference.h"

namespace thread_rate {

using hipscope::number;

namespace {

// How the time per block grows with the block where it grows at all: d ln t / d ln threads from the
// first block size that is noticeably slower than the fastest to the largest; 0 where none is. 1 is
// a thread rate; near 0, the waves of a block are set up side by side. Empty: not measured.
std::optional<double> growth_of_large_blocks(const std::vector<hipscope::CurvePoint>& curve) {
  constexpr double noticeable = 1.02;
  if (curve.empty()) {
    return std::nullopt;
  }
  const double fastest =
      std::min_element(curve.begin(), curve.end(), [](auto& a, auto& b) { return a.y < b.y; })->y;
  // The first after which all are slow: a single slow one before it is a disturbance.
  const auto first_slow = std::find_if(curve.rbegin(), curve.rend(), [&](const auto& point) {
                            return point.y <= noticeable * fastest;
                          }).base();
  constexpr std::ptrdiff_t fewest_points = 4;
  if (curve.end() - first_slow < fewest_points) {
    return 0.0;
  }
  const auto& first = *first_slow;
  const auto& last = curve.back();
  return std::log(last.y / first.y) / std::log(last.x / first.x);
}

// 1 for a perfect fit, 0 for one that is off by a tenth somewhere.
double confidence_of_fit(double largest_relative_error) {
  return std::max(0.0, 1 - 10 * largest_relative_error);
}

// Seconds per block over the threads of a block, by the 1-D launches of the empty kernel.
std::vector<hipscope::CurvePoint> block_times(const hipscope::Results& results) {
  auto times = results.curve("null-1d", "time");
  const auto threads = results.curve("null-1d", "launched");
  for (std::size_t i = 0; i < times.size(); ++i) {
    times[i].y *= times[i].x / threads[i].y;
  }
  return times;
}

void infer_block_rate(hipscope::Results& results, const std::vector<hipscope::CurvePoint>& times,
                      const hipscope::TwoLimits& limits, bool has_thread_rate) {
  double error = has_thread_rate ? limits.largest_relative_residual : 0;
  for (std::size_t i = 0; i < limits.level_points && !has_thread_rate; ++i) {
    error = std::max(error, std::abs(times[i].y - limits.level) / times[i].y);
  }
  results.infer(
      {.name = "block rate",
       .value = 1 / limits.level / (results.clock_mhz() * 1e6),
       .unit = "blocks/cycle",
       .confidence = confidence_of_fit(error),
       .statement = "the dispatcher starts " + number(1e-9 / limits.level) +
                    " blocks per nanosecond, however small they are",
       .evidence = {(has_thread_rate
                         ? "t = max(blocks / block rate, threads / thread rate) fits all " +
                               std::to_string(times.size())
                         : "t = blocks / block rate fits " + std::to_string(limits.level_points) +
                               " of " + std::to_string(times.size())) +
                    " block sizes within " + number(100 * error, 2) + " %"}});
}

void infer_thread_rate(hipscope::Results& results, const std::vector<hipscope::CurvePoint>& times,
                       const hipscope::TwoLimits& limits, std::optional<double> growth,
                       bool has_thread_rate, double best_rate) {
  hipscope::Inference inference{.name = "thread rate", .unit = "threads/cycle"};
  if (growth) {
    inference.evidence.push_back(
        "in sweep block-size, where the time per block grows at all, it "
        "grows as threads^" +
        number(*growth, 2) + " (a thread rate would be threads^1)");
  }
  if (has_thread_rate) {
    inference.value = 1 / *limits.slope / (results.clock_mhz() * 1e6);
    inference.confidence = confidence_of_fit(limits.largest_relative_residual);
    inference.statement = "blocks of " + number(times[limits.level_points].x, 4) +
                          " threads and more start " + number(*inference.value, 4) +
                          " threads per cycle: the thread rate limits them";
  } else {
    inference.statement =
        "no thread rate limits blocks of up to 1024 threads here; the highest "
        "seen, " +
        number(best_rate, 4) + " threads/cycle, is a lower bound";
  }
  results.infer(inference);
}

}  // namespace

void conclude(hipscope::Results& results) {
  const auto times = block_times(results);
  const auto highest_rate = results.highest("null-1d", "thread rate");
  const auto limits = hipscope::fit_two_limits(times);
  if (!limits || !highest_rate) {
    return;
  }
  const auto growth = growth_of_large_blocks(results.curve("block-size", "cycles per block"));
  // A thread rate is believed when it explains two block sizes or more, and when the time per block
  // does grow with its threads where sweep block-size looked.
  constexpr double proportional = 0.7;
  const bool has_thread_rate =
      times.size() >= limits->level_points + 2 && (!growth || *growth > proportional);
  infer_block_rate(results, times, *limits, has_thread_rate);
  infer_thread_rate(results, times, *limits, growth, has_thread_rate, highest_rate->y);
}

}  // namespace thread_rate
