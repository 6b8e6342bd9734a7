// The number formats of matrix instructions: what a value's bits are, and what bits mean. Plain
// C++.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace matrix_rate {

/// A floating-point format with a sign, or, without exponent bits, an integer in two's complement.
struct Format {
  const char* name;
  unsigned bits;           ///< of storage
  unsigned exponent_bits;  ///< 0: an integer
  unsigned mantissa_bits;  ///< without the implicit one
  int bias;
  bool has_one_zero = false;  ///< what would be -0 is no number

  [[nodiscard]] constexpr bool is_integer() const { return exponent_bits == 0; }

  /// Bits of storage under the mantissa: TF32 is stored as FP32.
  [[nodiscard]] constexpr unsigned unused_bits() const {
    return is_integer() ? 0 : bits - 1 - exponent_bits - mantissa_bits;
  }

  /// The exponents of the smallest normal and of the smallest subnormal number.
  [[nodiscard]] constexpr int least_exponent() const { return 1 - bias; }
  [[nodiscard]] constexpr int least_subnormal_exponent() const {
    return least_exponent() - static_cast<int>(mantissa_bits);
  }

  /// An exponent whose power of two is finite in all formats of these widths: none of them gives
  /// more than the last binade away for what is no number.
  [[nodiscard]] constexpr int greatest_safe_exponent() const {
    return (1 << exponent_bits) - 2 - bias;
  }
};

inline constexpr Format fp64 = {"FP64", 64, 11, 52, 1023};
inline constexpr Format fp32 = {"FP32", 32, 8, 23, 127};
inline constexpr Format tf32 = {"TF32", 32, 8, 10, 127};
inline constexpr Format fp16 = {"FP16", 16, 5, 10, 15};
inline constexpr Format bf16 = {"BF16", 16, 8, 7, 127};
// OCP's formats of 8 bits and fewer.
inline constexpr Format e4m3 = {"FP8 E4M3", 8, 4, 3, 7};
inline constexpr Format e5m2 = {"FP8 E5M2", 8, 5, 2, 15};
inline constexpr Format e3m2 = {"FP6 E3M2", 6, 3, 2, 3};
inline constexpr Format e2m3 = {"FP6 E2M3", 6, 2, 3, 1};
inline constexpr Format e2m1 = {"FP4 E2M1", 4, 2, 1, 1};
// gfx942 has another bias in them, and one zero.
inline constexpr Format e4m3_fnuz = {"FP8 E4M3 FNUZ", 8, 4, 3, 8, true};
inline constexpr Format e5m2_fnuz = {"FP8 E5M2 FNUZ", 8, 5, 2, 16, true};
inline constexpr Format int8 = {"INT8", 8, 0, 0, 0};
inline constexpr Format int32 = {"INT32", 32, 0, 0, 0};

/// The codes of formats in the scaled instructions of gfx950 (CDNA 4 ISA manual: CBSZ and BLGP).
inline constexpr unsigned code_of_e4m3 = 0;
inline constexpr unsigned code_of_e5m2 = 1;
inline constexpr unsigned code_of_e2m3 = 2;
inline constexpr unsigned code_of_e3m2 = 3;
inline constexpr unsigned code_of_e2m1 = 4;

/// Four scales of theirs that are 1, each of a block of 32 elements, in E8M0: a power of two alone
/// (OCP Microscaling Formats 1.0).
inline constexpr unsigned e8m0_bias = 127;
inline constexpr unsigned scales_of_one = e8m0_bias * 0x01010101U;

/// Whether C++ has a type of that format (double, float): its conversions are the same and take
/// less time.
constexpr bool is_of_cpp(const Format& format) {
  return format.mantissa_bits == fp64.mantissa_bits || format.mantissa_bits == fp32.mantissa_bits;
}

/// 2^exponent, of every exponent in a format that C++ has not.
constexpr double power_of_two(int exponent) {
  return std::bit_cast<double>(static_cast<std::uint64_t>(exponent + fp64.bias)
                               << fp64.mantissa_bits);
}

/// `value` in that format, rounded to nearest, ties to even; it must be within the format's range.
inline std::uint64_t encode(const Format& format, double value) {
  const std::uint64_t mask = format.bits == 64 ? ~std::uint64_t{0} : (1ULL << format.bits) - 1;
  if (format.is_integer()) {
    return static_cast<std::uint64_t>(std::llrint(value)) & mask;
  }
  if (value == 0) {
    return 0;
  }
  if (is_of_cpp(format)) {
    return format.bits == 64 ? std::bit_cast<std::uint64_t>(value)
                             : std::bit_cast<std::uint32_t>(static_cast<float>(value));
  }
  const int exponent = std::max(std::ilogb(value), format.least_exponent());
  const auto mantissa_bits = static_cast<int>(format.mantissa_bits);
  // In units of the last place; a carry into the exponent comes out right by itself.
  const double units = std::nearbyint(std::abs(value) * power_of_two(mantissa_bits - exponent));
  const auto implicit_one = static_cast<std::uint64_t>(1) << format.mantissa_bits;
  const auto exponents_below = static_cast<std::uint64_t>(exponent - format.least_exponent());
  const std::uint64_t magnitude =
      exponents_below * implicit_one + static_cast<std::uint64_t>(units);
  const std::uint64_t sign = std::signbit(value) && magnitude != 0
                                 ? 1ULL << (format.exponent_bits + format.mantissa_bits)
                                 : 0;
  return (sign | magnitude) << format.unused_bits();
}

/// The value of `code`, which must be a number, or what FNUZ has in place of -0.
inline double decode(const Format& format, std::uint64_t code) {
  if (format.is_integer()) {
    const auto sign = static_cast<std::int64_t>(1) << (format.bits - 1);
    return static_cast<double>((static_cast<std::int64_t>(code) ^ sign) - sign);
  }
  if (is_of_cpp(format)) {
    return format.bits == 64
               ? std::bit_cast<double>(code)
               : static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(code)));
  }
  code >>= format.unused_bits();
  const std::uint64_t implicit_one = 1ULL << format.mantissa_bits;
  const auto exponent_code =
      static_cast<int>(code >> format.mantissa_bits & ((1ULL << format.exponent_bits) - 1));
  const std::uint64_t mantissa = code & (implicit_one - 1);
  const double units = static_cast<double>(exponent_code == 0 ? mantissa : mantissa | implicit_one);
  const double magnitude =
      units * power_of_two(std::max(exponent_code, 1) - format.bias - int(format.mantissa_bits));
  const bool negative = (code >> (format.exponent_bits + format.mantissa_bits) & 1) != 0;
  if (format.has_one_zero && negative && magnitude == 0) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  return negative ? -magnitude : magnitude;
}

}  // namespace matrix_rate
