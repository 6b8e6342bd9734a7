// HIP's integer, bit-cast and clock intrinsics.
#pragma once

#include <bit>
#include <chrono>
#include <cstdint>

/// Returns a counter of nanoseconds. A GPU counts shader clocks here; the device's clockRate says
/// 1 GHz accordingly.
inline long long clock64() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

/// Returns a counter of nanoseconds, which never changes its rate.
inline long long wall_clock64() { return clock64(); }

/// Returns the number of one bits.
inline int __popcll(unsigned long long value) { return std::popcount(value); }

/// Returns the upper 32 bits of the 64-bit product.
inline unsigned __umulhi(unsigned a, unsigned b) {
  return static_cast<unsigned>((static_cast<std::uint64_t>(a) * b) >> 32);
}

// The same bits as another type.
inline float __uint_as_float(unsigned bits) { return std::bit_cast<float>(bits); }
inline unsigned __float_as_uint(float value) { return std::bit_cast<unsigned>(value); }
inline double __longlong_as_double(long long bits) { return std::bit_cast<double>(bits); }
inline long long __double_as_longlong(double value) { return std::bit_cast<long long>(value); }
