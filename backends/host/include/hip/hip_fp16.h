// HIP's half precision for the host backend: what the experiments use of it. Halves are kept as
// their bits, since not every C++20 compiler has a type for them.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

/// Two halves in one register, as packed instructions take them.
struct alignas(4) __half2 {
  std::uint16_t x, y;
};

namespace hip_host {

// A half has 10 bits of mantissa and an exponent of 5 bits that counts from -15.
inline constexpr int half_mantissa_bits = 10;
inline constexpr int half_bias = 15;
inline constexpr int half_largest_exponent = 31;  // of infinities and NaNs

/// Returns the value of a half, exactly.
inline double half_to_double(std::uint16_t bits) {
  const int exponent = (bits >> half_mantissa_bits) & half_largest_exponent;
  const int mantissa = bits & ((1 << half_mantissa_bits) - 1);
  double value = 0;
  if (exponent == half_largest_exponent) {
    value = mantissa != 0 ? std::numeric_limits<double>::quiet_NaN()
                          : std::numeric_limits<double>::infinity();
  } else if (exponent == 0) {
    value = std::ldexp(mantissa, 1 - half_bias - half_mantissa_bits);
  } else {
    value =
        std::ldexp(mantissa + (1 << half_mantissa_bits), exponent - half_bias - half_mantissa_bits);
  }
  return (bits & 0x8000U) != 0 ? -value : value;
}

/// Returns the half nearest to `value`, of two equally near ones the even one.
inline std::uint16_t double_to_half(double value) {
  const unsigned sign = std::signbit(value) ? 0x8000U : 0;
  constexpr unsigned infinity = 0x7C00;
  constexpr unsigned nan = 0x7E00;
  constexpr double first_infinite = 65520;  // the middle between the largest half and the next
  const double magnitude = std::abs(value);
  if (!(magnitude < first_infinite)) {
    return static_cast<std::uint16_t>(sign | (std::isnan(value) ? nan : infinity));
  }
  // Counted in units of the mantissa's last bit, a whole number is the half's bits but for the
  // exponent, which a mantissa that is rounded up into the next one increments by itself.
  const int exponent =
      magnitude > 0 ? std::max(std::ilogb(magnitude), 1 - half_bias) : 1 - half_bias;
  const auto units =
      static_cast<unsigned>(std::nearbyint(std::ldexp(magnitude, half_mantissa_bits - exponent)));
  const auto above_subnormal = static_cast<unsigned>(exponent + half_bias - 1);
  return static_cast<std::uint16_t>(sign | ((above_subnormal << half_mantissa_bits) + units));
}

// Rounds once, as the instruction does: of halves of which none is subnormal the product is exact
// in double, and so is the sum unless the addends are more than 2^30 apart.
inline std::uint16_t half_fma(std::uint16_t x, std::uint16_t y, std::uint16_t z) {
  return double_to_half(std::fma(half_to_double(x), half_to_double(y), half_to_double(z)));
}

}  // namespace hip_host

/// Returns both halves rounded from floats, to nearest.
inline __half2 __floats2half2_rn(float x, float y) {
  return {hip_host::double_to_half(x), hip_host::double_to_half(y)};
}
inline __half2 __float2half2_rn(float value) { return __floats2half2_rn(value, value); }

/// Returns one of the halves as a float.
inline float __low2float(__half2 halves) {
  return static_cast<float>(hip_host::half_to_double(halves.x));
}
inline float __high2float(__half2 halves) {
  return static_cast<float>(hip_host::half_to_double(halves.y));
}

/// Returns x * y + z for both halves, each rounded once.
inline __half2 __hfma2(__half2 x, __half2 y, __half2 z) {
  return {hip_host::half_fma(x.x, y.x, z.x), hip_host::half_fma(x.y, y.y, z.y)};
}
