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

// The 1-D launches of a published curve, in cycles: its metric is threads per cycle for 2^30.
std::vector<hipscope::LaunchTime> published_launches(const hipscope::PublishedCurve& curve) {
  constexpr double threads = 1 << 30;
  std::vector<hipscope::LaunchTime> launches;
  for (const auto& [block, rate] : curve.points) {
    launches.push_back(
        {.blocks = threads / std::stod(block), .threads = threads, .seconds = threads / rate});
  }
  return launches;
}

std::vector<std::string> published_evidence(const hipscope::Results& results) {
  std::vector<std::string> evidence;
  for (const hipscope::PublishedCurve& curve : results.published("1d", "thread rate")) {
    const auto rates = hipscope::fit_launch_rates(published_launches(curve));
    if (rates && rates->thread_rate) {
      evidence.push_back(
          "the same fit to the published curve of " + curve.gpu + ": " + number(rates->block_rate) +
          " blocks/cycle, then " + number(*rates->thread_rate) + " threads/cycle for " +
          std::to_string(rates->thread_limited_points) + " block sizes; largest error " +
          number(100 * rates->largest_relative_residual, 2) + " %");
    }
  }
  return evidence;
}

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
  // From there on all are: a single slow one before is a disturbance.
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

// The 1-D launches of the empty kernel.
std::vector<hipscope::LaunchTime> null_launches(const hipscope::Results& results) {
  const auto times = results.curve("null-1d", "time");
  const auto threads = results.curve("null-1d", "launched");
  std::vector<hipscope::LaunchTime> launches;
  for (std::size_t i = 0; i < times.size(); ++i) {
    launches.push_back(
        {.blocks = threads[i].y / times[i].x, .threads = threads[i].y, .seconds = times[i].y});
  }
  return launches;
}

// Block sizes that the block rate alone does not explain, each with how much longer it takes.
std::vector<std::string> outliers(const std::vector<hipscope::LaunchTime>& launches,
                                  double block_rate) {
  constexpr double explained = 0.05;
  std::vector<std::string> lines;
  for (const hipscope::LaunchTime& launch : launches) {
    const double excess = launch.seconds * block_rate / launch.blocks - 1;
    if (std::abs(excess) > explained) {
      lines.push_back("blocks of " + number(launch.threads / launch.blocks, 4) + " take " +
                      number(100 * excess) + " % longer than the block rate says");
    }
  }
  return lines;
}

// A thread rate is believed when it explains two block sizes or more, and when the time per block
// does grow with its threads where sweep block-size looked.
bool thread_rate_is_real(const hipscope::LaunchRates& rates, std::optional<double> growth) {
  constexpr double proportional = 0.7;
  return rates.thread_limited_points >= 2 && (!growth || *growth > proportional);
}

void infer_block_rate(hipscope::Results& results, const std::vector<hipscope::LaunchTime>& launches,
                      const hipscope::LaunchRates& rates, bool has_thread_rate) {
  const std::size_t block_limited = launches.size() - rates.thread_limited_points;
  double error = 0;
  for (std::size_t i = 0; i < (has_thread_rate ? launches.size() : block_limited); ++i) {
    const double model = has_thread_rate ? rates.seconds(launches[i].blocks, launches[i].threads)
                                         : launches[i].blocks / rates.block_rate;
    error = std::max(error, std::abs(launches[i].seconds - model) / launches[i].seconds);
  }
  std::vector<std::string> evidence = {
      (has_thread_rate ? "t = max(blocks / block rate, threads / thread rate) fits all " +
                             std::to_string(launches.size())
                       : "t = blocks / block rate fits " + std::to_string(block_limited) + " of " +
                             std::to_string(launches.size())) +
      " block sizes within " + number(100 * error, 2) + " %"};
  if (!has_thread_rate) {
    for (const std::string& line : outliers(launches, rates.block_rate)) {
      evidence.push_back(line);
    }
  }
  for (const std::string& line : published_evidence(results)) {
    evidence.push_back(line);
  }
  results.infer({.name = "block rate",
                 .value = rates.block_rate / (results.clock_mhz() * 1e6),
                 .unit = "blocks/cycle",
                 .confidence = confidence_of_fit(error),
                 .statement = "the dispatcher starts " + number(rates.block_rate * 1e-9) +
                              " blocks per nanosecond, however small they are",
                 .evidence = evidence});
}

void infer_thread_rate(hipscope::Results& results,
                       const std::vector<hipscope::LaunchTime>& launches,
                       const hipscope::LaunchRates& rates, std::optional<double> growth,
                       bool has_thread_rate, double best_rate) {
  hipscope::Inference inference{.name = "thread rate", .unit = "threads/cycle"};
  if (growth) {
    inference.evidence.push_back(
        "in sweep block-size, where the time per block grows at all, it "
        "grows as threads^" +
        number(*growth, 2) + " (a thread rate would be threads^1)");
  }
  if (has_thread_rate) {
    const auto& first = launches[launches.size() - rates.thread_limited_points];
    inference.value = *rates.thread_rate / (results.clock_mhz() * 1e6);
    inference.confidence = confidence_of_fit(rates.largest_relative_residual);
    inference.statement = "blocks of " + number(first.threads / first.blocks, 4) +
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

void infer_rates(hipscope::Results& results) {
  const auto launches = null_launches(results);
  const auto rate_curve = results.curve("null-1d", "thread rate");
  const auto rates = hipscope::fit_launch_rates(launches);
  if (!rates || rate_curve.empty()) {
    return;
  }
  const auto growth = growth_of_large_blocks(results.curve("block-size", "cycles per block"));
  const bool has_thread_rate = thread_rate_is_real(*rates, growth);
  const double best_rate =
      std::max_element(rate_curve.begin(), rate_curve.end(), [](auto& a, auto& b) {
        return a.y < b.y;
      })->y;
  infer_block_rate(results, launches, *rates, has_thread_rate);
  infer_thread_rate(results, launches, *rates, growth, has_thread_rate, best_rate);
}

}  // namespace

void conclude(hipscope::Results& results) { infer_rates(results); }

}  // namespace thread_rate
