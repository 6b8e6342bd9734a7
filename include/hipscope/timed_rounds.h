// Kernels that repeat one body in rounds and time it by their CU's cycle counter.
#pragma once

#include <hip/hip_runtime.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "hipscope/buffer.h"
#include "hipscope/cycle_counter.h"
#include "hipscope/experiment.h"
#include "hipscope/statistics.h"

namespace hipscope {

/// When a wave began and ended, by its CU's cycle counter: a reading, and that plus what elapsed.
struct WaveTime {
  long long start;
  long long end;
};

/// Cycles from the start of the first of these waves of one CU to the end of the last. If its
/// counter has less than 64 `bits` they must have begun within half of its range.
template <typename Time>
long long cycles_of_all(std::span<const Time> waves, unsigned bits) {
  long long first = 0;
  long long last = 0;
  for (const Time& wave : waves) {
    const long long start = cycles_from(waves[0].start, wave.start, bits);
    first = std::min(first, start);
    last = std::max(last, start + (wave.end - wave.start));
  }
  return last - first;
}

inline constexpr unsigned warm_up_rounds = 1;

/// Calls `body` warm_up_rounds times, then `rounds` times and returns the time of that. Both run
/// the same code, so the compiler can move nothing from before the warm-up into the timed rounds.
/// `Together`: the block's waves begin together, at a barrier; `finish` comes before it, for a body
/// that leaves something in flight. `Unrolled`: rounds in one turn of the loop.
template <bool Together, unsigned Unrolled = 1, typename Body, typename Finish>
__device__ WaveTime time_rounds(unsigned rounds, Body body, Finish finish) {
  CycleClock clock;
  unsigned repeats = warm_up_rounds;
#pragma unroll 1
  for (unsigned pass = 0; pass < 2; ++pass) {
    if constexpr (Together) {
      finish();
      __syncthreads();
    }
    clock.start();
#pragma unroll Unrolled
    for (unsigned round = 0; round < repeats; ++round) {
      body();
      clock.lap();
    }
    clock.stop();
    repeats = rounds;
  }
  return {.start = clock.started(), .end = clock.ended()};
}
template <bool Together, unsigned Unrolled = 1, typename Body>
__device__ WaveTime time_rounds(unsigned rounds, Body body) {
  return time_rounds<Together, Unrolled>(rounds, body, [] {});
}

/// The times of the last launches of a kernel, in each of which that many waves store theirs.
class WaveTimes {
 public:
  static constexpr unsigned kept_launches = 8;

  explicit WaveTimes(unsigned waves) : waves_(waves), times_(std::size_t{waves} * kept_launches) {}

  /// Where the next launch stores them.
  WaveTime* next() { return times_.data() + std::size_t{waves_} * (launches_++ % kept_launches); }

  /// Cycles from the first wave's start to the last one's end: the median of the launches. Every
  /// wave must have stored its times.
  double take(Point& point) const {
    const std::vector<WaveTime> all = times_.to_host();
    const unsigned bits = point.device().cycle_counter_bits;
    Comparison ends;
    std::vector<double> cycles;
    for (unsigned i = 0; i < std::min(launches_, kept_launches); ++i) {
      const auto launch = std::span(all).subspan(std::size_t{i} * waves_, waves_);
      for (const WaveTime& time : launch) {
        compare_end(ends, time);
      }
      cycles.push_back(static_cast<double>(cycles_of_all(launch, bits)));
    }
    point.verify("times of all waves", ends);
    return summarize(cycles).median;
  }

  /// Cycles of a wave, by its own counter: the median of all waves of the last launches. For blocks
  /// on several compute units, whose counters do not begin together.
  double take_of_each(Point& point) const {
    const std::vector<WaveTime> all = times_.to_host();
    const std::size_t written = std::size_t{std::min(launches_, kept_launches)} * waves_;
    Comparison ends;
    std::vector<double> cycles;
    for (const WaveTime& time : std::span(all).first(written)) {
      compare_end(ends, time);
      cycles.push_back(static_cast<double>(time.end - time.start));
    }
    point.verify("times of all waves", ends);
    return summarize(cycles).median;
  }

 private:
  // The end must be stored, at the start or later; -1 is the poison of what was not.
  static void compare_end(Comparison& ends, const WaveTime& time) {
    const long long least = std::max(time.start, 0LL);
    ends.compare(ends.checked(), std::max(time.end, least), time.start < 0 ? -1 : time.end);
  }

  unsigned waves_;
  unsigned launches_ = 0;
  DeviceBuffer<WaveTime> times_;
};

/// Runs the warm-up alone and then all, once each, into poisoned results: `run` enqueues a number
/// of rounds, `expected` gives what must come out after those and the warm-up, for the whole block
/// or for each wave alike.
template <typename Run, typename Expected>
void verify_rounds(Point& point, const std::string& what, std::uint64_t rounds,
                   DeviceBuffer<unsigned>& results, Run run, Expected expected) {
  for (const std::uint64_t repeats : {std::uint64_t{0}, rounds}) {
    results.poison();
    run(repeats);
    const std::vector<unsigned> right = expected(warm_up_rounds + repeats);
    point.check(repeats == 0 ? what + " after the warm-up" : what, results.to_host(),
                [&](std::uint64_t i) { return right[i % right.size()]; });
  }
}

}  // namespace hipscope
