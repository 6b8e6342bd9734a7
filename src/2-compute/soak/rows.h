// One row after the other, without a pause: what the device did in each, what its sensors said, and
// whether its results are still those of the first launch.
#pragma once

#include <hipscope/elements.h>
#include <hipscope/hipscope.h>
#include <hipscope/keep_busy.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "2-compute/board_sensors.h"

namespace soak {

using hipscope::DeviceBuffer;
using hipscope::launch;
using hipscope::Point;
using hipscope::Sweep;

inline constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

inline constexpr unsigned comparing_block = 256;

// Counts words of `made` that are those of `expected`. (Right ones, not wrong ones: where it does
// not run, nothing is right.)
static __global__ void __launch_bounds__(comparing_block)
    compare_kernel(const unsigned* made, const unsigned* expected, std::size_t words,
                   unsigned long long* right) {
  const std::size_t threads = std::size_t{gridDim.x} * comparing_block;
  unsigned long long found = 0;
  for (std::size_t i = std::size_t{blockIdx.x} * comparing_block + threadIdx.x; i < words;
       i += threads) {
    found += made[i] == expected[i] ? 1 : 0;
  }
  atomicAdd(right, found);
}

// A kind of work: launches that all do the same.
struct Work {
  std::function<void(Point&)> begin;  // before the first row
  std::function<void()> run;
  std::function<double(Point&)> cycles;     // of one of the last launches
  std::function<void(Point&)> verify_last;  // what the last launch made
  double per_launch = 0;                    // FLOP or bytes
  double rate_scale = 1;
  std::string rate_unit{};
};

// Compares what launches make with what the first one made.
class FirstResult {
 public:
  FirstResult(const void* results, std::size_t bytes)
      : results_(static_cast<const unsigned*>(results)), first_(bytes / sizeof(unsigned)) {
    hipscope::check(hipMemcpy(first_.data(), results, bytes, hipMemcpyDeviceToDevice));
  }

  void verify(Point& point) {
    constexpr unsigned blocks = 256;
    right_.clear();
    launch(compare_kernel, {.grid = dim3(blocks), .block = dim3(comparing_block)}, results_,
           first_.data(), first_.size(), right_.data());
    point.verify("every result as the first launch made it", first_.size() - right_.to_host()[0],
                 first_.size(), [&](hipscope::Comparison& comparison) {
                   const std::vector<unsigned> first = first_.to_host();
                   hipscope::compare_on_host(comparison, results_, first.size(),
                                             [&](std::uint64_t i) { return first[i]; });
                 });
  }

 private:
  const unsigned* results_;
  DeviceBuffer<unsigned> first_;
  DeviceBuffer<unsigned long long> right_{1};
};

// As counted. Where the counter did not change often enough within the row there are samples, which
// are averages over up to a second: a shorter row has none of its own.
inline double mean_power(const board::Sensors& sensors) {
  constexpr double longest_average = 0.9;
  const auto& readings = sensors.readings();
  const auto mean = sensors.power();
  const bool is_long =
      !readings.empty() && readings.back().seconds - readings.front().seconds >= longest_average;
  return mean && (mean->by_counter || is_long) ? mean->watts : unknown;
}

// How long the rows are: tenths of the first second, then seconds; more where there would be very
// many of them.
inline double seconds_of_row(double begun, double all) {
  constexpr double first = 0.1;
  constexpr double most_rows = 300;
  return begun < 1 - first / 2 ? first : std::max(1.0, all / most_rows);
}

inline void run_for(Sweep& sweep, const Work& work, std::uint64_t milliseconds) {
  using hipscope::TelemetryReading;
  constexpr double reading_interval = 0.02;
  sweep.axis({.name = "time", .unit = "s"});
  sweep.headline("of the start");
  sweep.note("of the start: the rate over the first row's; cycles, clock and power likewise");
  board::Sensors sensors(sweep.telemetry());
  if (!sensors.tell_power()) {
    sweep.note("power and temperatures are left out: " + sensors.why_not());
  }
  const double all = 1e-3 * static_cast<double>(milliseconds);
  double readings = 0;
  std::map<std::string, double> reasons;  // how often each was told
  std::optional<double> first_rate;
  std::optional<double> first_cycles;
  std::optional<double> first_clock;
  std::optional<double> first_power;
  const auto of_the_start = [](std::optional<double>& first, double value) {
    if (!first && !std::isnan(value)) {
      first = value;
    }
    return first ? 100 * value / *first : unknown;
  };
  for (double begun = 0; begun < all;) {
    sensors.forget();
    const double wanted = seconds_of_row(begun, all);
    const double until = sweep.is_hardware() ? begun + wanted : all;
    auto point = sweep.point(hipscope::number(until, 4) + " s", until);
    if (begun == 0) {
      work.begin(point);
    }
    const double began = board::seconds_now();
    const auto busy = hipscope::keep_busy(sweep.is_hardware() ? wanted : 0, work.run,
                                          [&] { sensors.read_if_due(reading_interval); });
    const double rate = work.per_launch * busy.launches_per_second();
    const double cycles = sweep.counted(work.cycles(point));
    const double clock = 1e-6 * cycles * busy.launches_per_second();
    point.value("of the start", of_the_start(first_rate, rate), "%");
    point.value("cycles of the start", of_the_start(first_cycles, cycles), "%");
    point.value("clock of the start", of_the_start(first_clock, clock), "%");
    const double power = mean_power(sensors);
    point.value("power of the start", of_the_start(first_power, power), "%");
    point.value("rate", rate / work.rate_scale, work.rate_unit);
    point.value("cycles", cycles, "cycles");
    point.value("clock", clock, "MHz");
    point.value("power", power, "W");
    point.value("temperature", sensors.mean(&TelemetryReading::temperature_c), "C");
    point.value("memory temperature", sensors.mean(&TelemetryReading::memory_temperature_c), "C");
    point.value("held back", 100 * sensors.held_back(), "%");
    for (const auto& reading : sensors.readings()) {
      ++readings;
      for (const std::string& reason : reading.all.throttle_reasons) {
        ++reasons[reason];
      }
    }
    work.verify_last(point);
    // The time that the check took counts too: the rows' times are those since the beginning.
    begun = sweep.is_hardware() ? begun + std::max(wanted, board::seconds_now() - began) : all;
  }
  for (const auto& [reason, count] : reasons) {
    sweep.note("held back by " + reason + ": " + hipscope::number(100 * count / readings, 3) +
               " % of the readings");
  }
}

}  // namespace soak
