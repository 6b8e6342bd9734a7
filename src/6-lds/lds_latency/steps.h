// How lds_latency takes the cycles of a step.
#pragma once

#include <hipscope/hipscope.h>
#include <hipscope/timed_rounds.h>

#include <cstdint>
#include <string>

namespace lds_latency {

/// What is measured of a kernel's steps, and how many of them a round has.
struct Steps {
  std::string value;
  std::string time;
  unsigned per_round;
};

/// Verifies where the chains end: `expected` gives that for a number of steps. Then takes the
/// cycles of a step by the counter in the kernel and by events, each less those of no steps. `run`
/// enqueues a number of rounds, whose time goes where it is told.
template <typename Run, typename Expected>
void measure_steps(const hipscope::Sweep& sweep, hipscope::Point& point, const Steps& steps,
                   std::uint64_t rounds, hipscope::DeviceBuffer<unsigned>& ends, Run run,
                   Expected expected) {
  hipscope::WaveTimes unused(1);
  hipscope::WaveTimes all(1);
  hipscope::WaveTimes none(1);
  hipscope::verify_rounds(
      point, steps.value + ": ends of the chains", rounds, ends,
      [&](std::uint64_t repeats) { run(unused.next(), repeats); },
      [&](std::uint64_t repeats) { return expected(repeats * steps.per_round); });
  const auto all_time =
      point.measure([&] { run(all.next(), rounds); }, {.name = steps.time, .batch = 1});
  const auto none_time = point.measure([&] { run(none.next(), 0); },
                                       {.name = steps.time + " of no steps", .batch = 1});
  const double none_counted = sweep.counted(none.take(point));
  const auto count = static_cast<double>(rounds * steps.per_round);
  point.value(steps.value, (all.take(point) - none_counted) / count, "cycles");
  point.value(steps.value + " by events", (all_time.cycles() - none_time.cycles()) / count,
              "cycles");
  point.value(steps.value + " counter's own", none_counted, "cycles");
}

}  // namespace lds_latency
