// Successive readings of the clocks, and the rows made of them.
#pragma once

#include <hip/hip_runtime.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "event_pair.h"
#include "findings.h"
#include "hipscope/buffer.h"
#include "hipscope/experiment.h"
#include "hipscope/launch.h"

namespace timing {

inline constexpr unsigned readings = 4096;

/// Adds the row of a clock: `differences` of its successive readings, in units of `unit_seconds`.
inline void add_clock(hipscope::Sweep& sweep, const std::string& name, double x,
                      const std::vector<double>& differences, double unit_seconds) {
  constexpr double nanoseconds = 1e9;
  auto point = sweep.point(name, x);
  const Steps steps = steps_of(differences);
  point.verify("readings that do not go back", steps.backward, differences.size(),
               [&](hipscope::Comparison& comparison) {
                 comparison.compare_all(
                     differences, [&](std::uint64_t i) { return std::max(differences[i], 0.0); });
               });
  point.value("smallest step", steps.smallest * unit_seconds * nanoseconds, "ns");
  point.value("between readings", steps.mean * unit_seconds * nanoseconds, "ns");
}

/// What `kernel`, which stores that many readings, says of a clock of the device, in its ticks.
inline std::vector<double> device_differences(void (*kernel)(long long*, unsigned)) {
  hipscope::DeviceBuffer<long long> differences(readings);
  hipscope::launch(kernel, {.grid = dim3(1), .block = dim3(1)}, differences.data(), readings);
  const std::vector<long long> values = differences.to_host();
  return {values.begin(), values.end()};
}

/// Of the host's clock, in seconds.
inline std::vector<double> host_differences() {
  using Clock = std::chrono::steady_clock;
  std::vector<double> differences(readings);
  auto last = Clock::now();
  for (double& difference : differences) {
    const auto now = Clock::now();
    difference = std::chrono::duration<double>(now - last).count();
    last = now;
  }
  return differences;
}

/// Times of nothing between two events, in seconds.
inline std::vector<double> event_distances() {
  const EventPair events;
  std::vector<double> distances(readings / 4);
  for (double& distance : distances) {
    distance = events.time([] {});
  }
  return distances;
}

}  // namespace timing
