#include "thread_rate_findings.h"

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

void infer_full_rate_block(hipscope::Results& results,
                           const std::vector<hipscope::CurvePoint>& rate_curve, double best_rate,
                           double confidence) {
  constexpr double full_rate = 0.95;
  const auto smallest = std::find_if(rate_curve.begin(), rate_curve.end(), [&](const auto& point) {
    return point.y >= full_rate * best_rate;
  });
  hipscope::Inference inference{
      .name = "smallest full-rate block",
      .unit = "threads",
      .statement = "the thread rate still rises at the largest block",
      .evidence = {"highest rate " + number(best_rate, 4) + " threads/cycle"}};
  if (smallest->x < rate_curve.back().x) {
    inference.value = smallest->x;
    inference.confidence = confidence;
    inference.statement =
        "blocks of at least this size start threads at 95 % or more of the "
        "highest rate; smaller ones waste the dispatcher";
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
  infer_full_rate_block(results, rate_curve, best_rate,
                        confidence_of_fit(rates->largest_relative_residual));
}

void infer_wave_size(hipscope::Results& results) {
  const auto curve = results.curve("block-size", "cycles per block");
  if (curve.empty()) {
    return;
  }
  constexpr double smallest_step = 0.0015;
  const auto period = hipscope::find_step_period(curve, smallest_step);
  hipscope::Inference inference{.name = "wave size",
                                .unit = "lanes",
                                .statement = "the time per block shows no regular steps",
                                .driver = results.device().wave_size};
  if (period) {
    inference.value = period->period;
    inference.confidence = period->confidence;
    inference.statement = "the time per block rises once per " + number(period->period) +
                          " threads: one step per wave";
    inference.evidence = {std::to_string(period->steps) + " steps in sweep block-size, " +
                          "sampled every 8 threads"};
  }
  results.infer(inference);
}

// Where large blocks slow down at once rather than in proportion, blocks wait for a place: the time
// that one holds its place follows from the number of places.
void infer_residency(hipscope::Results& results) {
  const auto cycles = results.curve("block-size", "cycles per block");
  const auto resident = results.curve("block-size", "resident");
  if (cycles.empty() || resident.size() != cycles.size()) {
    return;
  }
  // A jump lasts: both points after it are above both before.
  const auto jump_at = [&](std::size_t i) {
    return std::min(cycles[i].y, cycles[i + 1].y) / std::max(cycles[i - 1].y, cycles[i - 2].y) - 1;
  };
  if (cycles.size() < 4) {
    return;
  }
  std::size_t largest = 2;
  for (std::size_t i = 3; i + 1 < cycles.size(); ++i) {
    largest = jump_at(i) > jump_at(largest) ? i : largest;
  }
  const double jump = jump_at(largest);
  constexpr double noticeable = 0.02;
  hipscope::Inference inference{.name = "time in place of a block of 1024",
                                .unit = "cycles",
                                .statement = "no sudden slow-down with the block's size"};
  if (jump > noticeable && resident[largest].y < resident[largest - 1].y) {
    const double places = resident.back().y * results.device().compute_units;
    inference.value = cycles.back().y * places;
    inference.confidence = std::max(
        0.0,
        1 - std::max(cycles[largest].relative_spread, cycles[largest - 1].relative_spread) / jump);
    inference.statement =
        "past " + number(cycles[largest - 1].x, 4) +
        " threads fewer blocks fit on a CU at once, and blocks wait for a place: so long "
        "does each hold its own, if all are always taken";
    inference.evidence = {
        "the time per block jumps by " + number(100 * jump, 2) + " % from " +
            number(cycles[largest - 1].x, 4) + " to " + number(cycles[largest].x, 4) + " threads",
        "there the resident blocks per CU fall from " + number(resident[largest - 1].y) + " to " +
            number(resident[largest].y) + " by the runtime's occupancy calculator"};
  }
  results.infer(inference);
}

}  // namespace

void conclude(hipscope::Results& results) {
  infer_rates(results);
  infer_wave_size(results);
  infer_residency(results);
}

}  // namespace thread_rate
