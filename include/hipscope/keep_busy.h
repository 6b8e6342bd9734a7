// Keeps the device busy for a while with launches of known work, and does something else meanwhile:
// for sensors that need long windows.
#pragma once

#include <hip/hip_runtime.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>

#include "hipscope/check.h"

namespace hipscope {

/// The device's work meanwhile.
struct BusyTime {
  std::uint64_t launches = 0;
  double seconds = 0;  ///< device time of all of them, by events

  [[nodiscard]] double launches_per_second() const {
    return static_cast<double>(launches) / seconds;
  }
};

namespace detail {

/// An event with an owner.
class Event {
 public:
  Event() { check(hipEventCreate(&event_)); }
  ~Event() { static_cast<void>(hipEventDestroy(event_)); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

  void record() { check(hipEventRecord(event_, nullptr)); }
  void wait() { check(hipEventSynchronize(event_)); }

  /// From an earlier one, both over.
  [[nodiscard]] double seconds_since(const Event& start) const {
    float milliseconds = 0;
    check(hipEventElapsedTime(&milliseconds, start.event_, event_));
    return 1e-3 * static_cast<double>(milliseconds);
  }

 private:
  hipEvent_t event_ = nullptr;
};

}  // namespace detail

/// Calls `enqueue`, which launches something, until `seconds` have passed and at least once, and
/// `meanwhile` after each. No more than a few launches are ahead of the device, so that `meanwhile`
/// sees it at work, yet it never waits for the host if `meanwhile` takes no longer than a launch.
template <typename Enqueue, typename Meanwhile>
BusyTime keep_busy(double seconds, const Enqueue& enqueue, const Meanwhile& meanwhile) {
  using Clock = std::chrono::steady_clock;
  constexpr std::size_t ahead = 3;
  std::array<detail::Event, ahead> ends;
  detail::Event start;
  detail::Event stop;
  BusyTime busy;
  const auto begin = Clock::now();
  start.record();
  do {
    detail::Event& end = ends[busy.launches % ahead];
    if (busy.launches >= ahead) {
      end.wait();
    }
    enqueue();
    end.record();
    ++busy.launches;
    meanwhile();
  } while (std::chrono::duration<double>(Clock::now() - begin).count() < seconds);
  stop.record();
  stop.wait();
  busy.seconds = stop.seconds_since(start);
  return busy;
}

/// As many rounds as make a launch of `run(rounds)` take about `seconds`; one where these are 0.
template <typename Run>
unsigned rounds_for(double seconds, const Run& run) {
  constexpr unsigned most_rounds = 1U << 28;
  constexpr double largest_step = 16;
  unsigned rounds = 1;
  if (seconds == 0) {
    return rounds;
  }
  run(rounds);  // its code may have to be loaded first
  for (;;) {
    const auto busy = keep_busy(
        0, [&] { run(rounds); }, [] {});
    const double step = seconds / busy.seconds;
    if (step < 2 || rounds == most_rounds) {
      return rounds;
    }
    rounds =
        static_cast<unsigned>(std::min<double>(most_rounds, rounds * std::min(step, largest_step)));
  }
}

}  // namespace hipscope
