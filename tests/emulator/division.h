// The steps of a division that scale, and that put special values right (Vega ISA manual,
// V_DIV_SCALE and V_DIV_FIXUP).
#pragma once

#include <cmath>
#include <limits>

#include "types.h"

namespace emulator {

/// What a format's division is scaled by, and when.
template <typename Float>
struct Scaling;

template <>
struct Scaling<float> {
  static constexpr int by = 64;         // powers of two
  static constexpr int far_apart = 96;  // exponents
  static constexpr int small = 23;
  static int exponent(float value) { return static_cast<int>(bits_of(value) >> 23 & 0xff); }
};

template <>
struct Scaling<double> {
  static constexpr int by = 128;
  static constexpr int far_apart = 768;
  static constexpr int small = 53;
  static int exponent(double value) { return static_cast<int>(bits_of(value) >> 52 & 0x7ff); }
};

// What a quotient would be without the format's range; FP64 stands for both.
template <typename Float>
bool is_subnormal(double value) {
  return value != 0 && std::abs(value) < double{std::numeric_limits<Float>::min()};
}

/// `value` is the numerator or the denominator. `scales_result` says whether v_div_fmas must scale.
template <typename Float>
Float scaled_for_division(Float value, Float denominator, Float numerator, bool& scales_result) {
  using Scale = Scaling<Float>;
  const auto up = [&] { return std::ldexp(value, Scale::by); };
  const int apart = Scale::exponent(numerator) - Scale::exponent(denominator);
  const double reciprocal = 1.0 / double{denominator};
  const double quotient = double{numerator} / double{denominator};
  scales_result = false;
  if (numerator == 0 || denominator == 0) {
    return std::numeric_limits<Float>::quiet_NaN();
  }
  if (apart >= Scale::far_apart) {
    scales_result = true;
    return value == denominator ? up() : value;
  }
  if (std::fpclassify(denominator) == FP_SUBNORMAL) {
    return up();
  }
  if (is_subnormal<Float>(reciprocal) && is_subnormal<Float>(quotient)) {
    scales_result = true;
    return value == denominator ? up() : value;
  }
  if (is_subnormal<Float>(reciprocal)) {
    return std::ldexp(value, -Scale::by);
  }
  if (is_subnormal<Float>(quotient)) {
    scales_result = true;
    return value == numerator ? up() : value;
  }
  return Scale::exponent(numerator) <= Scale::small ? up() : value;
}

/// By how many powers of two v_div_fmas scales its sum, where VCC says so.
template <typename Float>
int result_scale(Float sum_operand) {
  constexpr int half = std::numeric_limits<Float>::max_exponent - 1;
  return Scaling<Float>::exponent(sum_operand) > half ? Scaling<Float>::by : -Scaling<Float>::by;
}

template <typename Float>
Float fixed_up(Float quotient, Float denominator, Float numerator) {
  const Float sign = std::signbit(denominator) != std::signbit(numerator) ? Float(-1) : Float(1);
  if (std::isnan(numerator)) {
    return numerator;
  }
  if (std::isnan(denominator)) {
    return denominator;
  }
  if ((denominator == 0 && numerator == 0) || (std::isinf(denominator) && std::isinf(numerator))) {
    return std::numeric_limits<Float>::quiet_NaN();
  }
  if (denominator == 0 || std::isinf(numerator)) {
    return sign * std::numeric_limits<Float>::infinity();
  }
  if (std::isinf(denominator) || numerator == 0) {
    return sign * Float(0);
  }
  // What overflows or underflows, the hardware tells by the exponents; the quotient itself does
  // here.
  return std::copysign(std::isnan(quotient) ? numerator / denominator : quotient, sign);
}

}  // namespace emulator
