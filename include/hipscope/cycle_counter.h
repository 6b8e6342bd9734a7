// The cycle counter of a compute unit: the one place that knows how wide each generation's is. It
// has 64 bits on NVIDIA, gfx9, gfx10 and gfx12. RDNA 3 (gfx11) has none but SHADER_CYCLES, of 20
// bits (RDNA 3 ISA manual, 3.4.1; LLVM's FeatureShaderCyclesRegister): it wraps every 2^20 cycles,
// some 0.4 ms. Differences there are modulo 2^20, and longer spans are sums of parts.
#pragma once

#include <hip/hip_runtime.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>

namespace hipscope {

/// The width of the counter that the device code of this pass reads. Not for host code, which asks
/// for cycle_counter_bits.
#if defined(__GFX11__)
inline constexpr unsigned native_counter_bits = 20;
#else
inline constexpr unsigned native_counter_bits = 64;
#endif

/// The width of the counter of an architecture ("gfx1100", "gfx90a:xnack-", "sm_90").
inline unsigned cycle_counter_bits(std::string_view architecture) {
  return architecture.starts_with("gfx11") ? 20 : 64;
}

/// Whether the counter wraps within times that are measured. One that stands still, of width 0,
/// does not.
__host__ __device__ constexpr bool is_narrow(unsigned bits) { return bits > 0 && bits < 64; }

/// The raw counter of the calling thread's CU.
__device__ inline long long cycle_count() { return clock64(); }

/// Cycles from one reading of a counter of `bits` bits to a later one, if they are fewer than it
/// can count.
__host__ __device__ constexpr long long cycles_between(long long start, long long end,
                                                       unsigned bits = native_counter_bits) {
  return is_narrow(bits) ? (end - start) & ((1LL << bits) - 1) : end - start;
}

/// Whether two readings of a counter of `bits` bits, that many cycles apart, still show which came
/// first.
inline bool is_within_half_round(long long cycles, unsigned bits) {
  return !is_narrow(bits) || cycles < 1LL << (bits - 1);
}

/// Cycles from `origin` to `reading`, which may be the earlier one, if they are fewer than half of
/// what a counter of `bits` bits can count.
inline long long cycles_from(long long origin, long long reading, unsigned bits) {
  const long long forward = cycles_between(origin, reading, bits);
  return is_within_half_round(forward, bits) ? forward : forward - (1LL << bits);
}

/// Cycles from one reading of a counter of `bits` bits to a later one, however often it wrapped in
/// between: the number closest to `expected`. Nothing if that is off by more than the share
/// `tolerance`, or if another number is within it too.
inline std::optional<double> cycles_near(double expected, double tolerance, long long start,
                                         long long end, unsigned bits) {
  const auto least = static_cast<double>(cycles_between(start, end, bits));
  if (!is_narrow(bits)) {
    return least;
  }
  const auto round = static_cast<double>(1LL << bits);
  const double cycles = least + round * std::max(0.0, std::round((expected - least) / round));
  const double margin = tolerance * expected;
  if (std::abs(cycles - expected) > margin || 2 * margin >= round) {
    return std::nullopt;
  }
  return cycles;
}

/// The counter as a CycleClock reads it.
struct NativeCounter {
  static constexpr unsigned bits = native_counter_bits;
  static __device__ long long count() { return cycle_count(); }
};

/// The time of a span of any length on one CU. To time a loop call lap() in each round, which must
/// be shorter than the counter's range; with 64 bits lap() is no code.
template <typename Counter = NativeCounter>
class CycleClock {
 public:
  /// The caller may take a reading itself, where that has to wait for something.
  __device__ void start(long long reading = Counter::count()) { start_ = end_ = reading; }

  __device__ void lap() {
    if constexpr (is_narrow(Counter::bits)) {
      stop();
    }
  }

  __device__ void stop(long long reading = Counter::count()) {
    if constexpr (is_narrow(Counter::bits)) {
      end_ += cycles_between(end_, reading, Counter::bits);
    } else {
      end_ = reading;
    }
  }

  /// The reading at the start.
  [[nodiscard]] __device__ long long started() const { return start_; }

  /// That plus all cycles until the last lap or stop: no reading, if the counter wrapped.
  [[nodiscard]] __device__ long long ended() const { return end_; }

  [[nodiscard]] __device__ long long elapsed() const { return end_ - start_; }

 private:
  long long start_ = 0;
  long long end_ = 0;
};

}  // namespace hipscope
