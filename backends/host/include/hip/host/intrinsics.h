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
inline int __popc(unsigned value) { return std::popcount(value); }
inline int __popcll(unsigned long long value) { return std::popcount(value); }

/// Returns the number of zero bits above the highest one bit; 32 or 64 for 0.
inline int __clz(int value) { return std::countl_zero(static_cast<unsigned>(value)); }
inline int __clzll(long long value) {
  return std::countl_zero(static_cast<unsigned long long>(value));
}

/// Returns the position of the lowest one bit, counted from 1; 0 for 0.
inline int __ffs(int value) { return __builtin_ffs(value); }
inline int __ffsll(long long value) { return __builtin_ffsll(value); }

/// Returns the bits in reverse order.
inline unsigned __brev(unsigned value) {
  value = ((value >> 1) & 0x55555555U) | ((value & 0x55555555U) << 1);
  value = ((value >> 2) & 0x33333333U) | ((value & 0x33333333U) << 2);
  value = ((value >> 4) & 0x0F0F0F0FU) | ((value & 0x0F0F0F0FU) << 4);
  return __builtin_bswap32(value);
}
inline unsigned long long __brevll(unsigned long long value) {
  const std::uint64_t low_half = __brev(static_cast<unsigned>(value));
  return (low_half << 32) | __brev(static_cast<unsigned>(value >> 32));
}

/// Returns the upper 32 bits of the 64-bit product.
inline unsigned __umulhi(unsigned a, unsigned b) {
  return static_cast<unsigned>((static_cast<std::uint64_t>(a) * b) >> 32);
}
inline int __mulhi(int a, int b) {
  return static_cast<int>((static_cast<std::int64_t>(a) * b) >> 32);
}

/// Returns the upper 64 bits of the 128-bit product.
inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
  __extension__ using Product = unsigned __int128;
  return static_cast<unsigned long long>((static_cast<Product>(a) * b) >> 64);
}
inline long long __mul64hi(long long a, long long b) {
  __extension__ using Product = __int128;
  return static_cast<long long>((static_cast<Product>(a) * b) >> 64);
}

/// Loads through the read-only path, which a CPU does not have.
template <typename Value>
Value __ldg(const Value* address) {
  return *address;
}

// The same bits as another type.
inline float __int_as_float(int bits) { return std::bit_cast<float>(bits); }
inline int __float_as_int(float value) { return std::bit_cast<int>(value); }
inline float __uint_as_float(unsigned bits) { return std::bit_cast<float>(bits); }
inline unsigned __float_as_uint(float value) { return std::bit_cast<unsigned>(value); }
inline double __longlong_as_double(long long bits) { return std::bit_cast<double>(bits); }
inline long long __double_as_longlong(double value) { return std::bit_cast<long long>(value); }
