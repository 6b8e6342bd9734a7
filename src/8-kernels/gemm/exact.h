// The types of references: FP64 for products in FP32, pairs of FP64 for products in FP64.
#pragma once

#include <hip/hip_runtime.h>
#include <hipscope/half_values.h>
#include <hipscope/matrix/format.h>

#include <cmath>
#include <cstdint>

namespace gemm {

/// a + b and a * b, rounded each for itself. Compilers for GPUs make one FMA of a product and the
/// sum that it goes into, clang for HIP also where they stand in two functions; what is rounded
/// away by the one and is wanted by the other is then wrong.
__host__ __device__ inline double rounded_sum(double a, double b) {
#if defined(__CUDA_ARCH__)
  return __dadd_rn(a, b);
#else
#if defined(__clang__)
#pragma clang fp contract(off)
#endif
  return a + b;
#endif
}
__host__ __device__ inline double rounded_product(double a, double b) {
#if defined(__CUDA_ARCH__)
  return __dmul_rn(a, b);
#else
#if defined(__clang__)
#pragma clang fp contract(off)
#endif
  return a * b;
#endif
}

/// A value as the sum of two that do not overlap: 106 bits instead of 53. Its operations are
/// Dekker's and Knuth's (Dekker, Numerische Mathematik 18, 1971).
struct DoubleDouble {
  double high = 0;
  double low = 0;
};

__host__ __device__ inline DoubleDouble exact_sum(double a, double b) {
  const double sum = rounded_sum(a, b);
  const double part_of_b = rounded_sum(sum, -a);
  const double part_of_a = rounded_sum(sum, -part_of_b);
  return {sum, rounded_sum(rounded_sum(a, -part_of_a), rounded_sum(b, -part_of_b))};
}

__host__ __device__ inline DoubleDouble exact_product(double a, double b) {
  const double product = rounded_product(a, b);
  return {product, fma(a, b, -product)};
}

__host__ __device__ inline DoubleDouble operator+(DoubleDouble a, DoubleDouble b) {
  const DoubleDouble sum = exact_sum(a.high, b.high);
  return exact_sum(sum.high, rounded_sum(sum.low, rounded_sum(a.low, b.low)));
}

__host__ __device__ inline DoubleDouble operator-(DoubleDouble a) { return {-a.high, -a.low}; }

__host__ __device__ inline double to_double(DoubleDouble a) { return rounded_sum(a.high, a.low); }
__host__ __device__ inline double to_double(double a) { return a; }
__host__ __device__ inline double to_double(hipscope::Half a) { return hipscope::to_float(a); }
__host__ __device__ inline double to_double(hipscope::BFloat16 a) { return hipscope::to_float(a); }
__host__ __device__ inline double to_double(hipscope::E4M3 a) { return hipscope::to_float(a); }
__host__ __device__ inline double to_double(hipscope::E4M3Fnuz a) { return hipscope::to_float(a); }

/// What products of `Value` are checked by.
template <typename Value>
struct Exact;

template <>
struct Exact<float> {
  using Type = double;
  static constexpr double rounding = 0x1p-24;            ///< of a product's operations
  static constexpr double reference_rounding = 0x1p-53;  ///< of the reference's
  static constexpr double stored_rounding = 0;           ///< of a sum that is stored as a Value
  __host__ __device__ static double product(float a, float b) { return double{a} * b; }
  __host__ __device__ static double scaled(double a, float factor) { return factor * a; }
  /// `bits` holds 32 random ones. In [-1, 1), of 24 bits.
  __host__ __device__ static float random(unsigned bits, unsigned) {
    return static_cast<float>(bits >> 8) * 0x1p-23F - 1.0F;
  }
  __host__ __device__ static float integer(int value) { return static_cast<float>(value); }
};

template <>
struct Exact<double> {
  using Type = DoubleDouble;
  static constexpr double rounding = 0x1p-53;
  static constexpr double reference_rounding = 0x1p-104;
  static constexpr double stored_rounding = 0;
  __host__ __device__ static DoubleDouble product(double a, double b) {
    return exact_product(a, b);
  }
  __host__ __device__ static DoubleDouble scaled(DoubleDouble a, double factor) {
    const DoubleDouble high = exact_product(a.high, factor);
    return exact_sum(high.high, fma(a.low, factor, high.low));
  }
  /// In [-1, 1), of 53 bits.
  __host__ __device__ static double random(unsigned bits, unsigned more_bits) {
    const std::uint64_t all = std::uint64_t{bits} << 32 | more_bits;
    return static_cast<double>(all >> 11) * 0x1p-52 - 1.0;
  }
  __host__ __device__ static double integer(int value) { return value; }
};

/// Products of two such values are exact in FP32, sums are FP32, and the result is rounded to one.
template <typename Value>
struct ExactOf16Bits {
  using Type = double;
  static constexpr double rounding = 0x1p-24;
  static constexpr double reference_rounding = 0x1p-53;
  __host__ __device__ static double product(Value a, Value b) {
    return double{hipscope::to_float(a)} * hipscope::to_float(b);
  }
  __host__ __device__ static double product(Value a, float factor) {
    return double{hipscope::to_float(a)} * factor;
  }
  __host__ __device__ static double scaled(double a, float factor) { return factor * a; }
};

template <>
struct Exact<hipscope::Half> : ExactOf16Bits<hipscope::Half> {
  static constexpr double stored_rounding = 0x1p-11;
  static constexpr double smallest_normal = 0x1p-14;
  /// In [-1, 1), of 11 bits.
  __device__ static hipscope::Half random(unsigned bits, unsigned) {
    return hipscope::to_half(static_cast<float>(bits >> 21) * 0x1p-10F - 1.0F);
  }
  __device__ static hipscope::Half integer(int value) {
    return hipscope::to_half(static_cast<float>(value));
  }
  __device__ static hipscope::Half stored(double value) {
    return hipscope::to_half(static_cast<float>(value));
  }
};

template <>
struct Exact<hipscope::BFloat16> : ExactOf16Bits<hipscope::BFloat16> {
  static constexpr double stored_rounding = 0x1p-8;
  static constexpr double smallest_normal = 0x1p-126;
  /// In [-1, 1), of 8 bits.
  __device__ static hipscope::BFloat16 random(unsigned bits, unsigned) {
    return hipscope::to_bfloat16(static_cast<float>(bits >> 24) * 0x1p-7F - 1.0F);
  }
  __device__ static hipscope::BFloat16 integer(int value) {
    return hipscope::to_bfloat16(static_cast<float>(value));
  }
  __device__ static hipscope::BFloat16 stored(double value) {
    return hipscope::to_bfloat16(static_cast<float>(value));
  }
};

/// Sums are FP32 by their registers; NVIDIA's instructions cut each of their terms to 13 bits under
/// the largest (matrix_rate measures it), which goes through no more such cuts than there are
/// terms. What gfx950 and gfx1201 do is not known here: they are held to the same.
template <typename Value, const matrix_rate::Format& format>
struct ExactOf8Bits {
  using Type = double;
  static constexpr double rounding = 0x1p-13;
  static constexpr double reference_rounding = 0x1p-53;
  __host__ __device__ static double product(Value a, Value b) {
    return double{hipscope::to_float(a)} * hipscope::to_float(b);
  }
  __host__ __device__ static double scaled(double a, float factor) { return factor * a; }
  /// In (-1, 1), each code as often as any other.
  __host__ __device__ static Value random(unsigned bits, unsigned) {
    return with_sign((bits & 0xFFFFU) * code_of_one >> 16U, bits >> 31U != 0);
  }
  /// -2 ... 2.
  __host__ __device__ static Value integer(int value) {
    const unsigned magnitude = value == 0                  ? 0
                               : value == 1 || value == -1 ? code_of_one
                                                           : code_of_two;
    return with_sign(magnitude, value < 0);
  }

 private:
  static constexpr unsigned code_of_one = static_cast<unsigned>(format.bias)
                                          << format.mantissa_bits;
  static constexpr unsigned code_of_two = code_of_one + (1U << format.mantissa_bits);
  /// Never -0, which FNUZ has not.
  __host__ __device__ static Value with_sign(unsigned magnitude, bool is_negative) {
    return {static_cast<std::uint8_t>(magnitude | (is_negative && magnitude > 0 ? 0x80U : 0U))};
  }
};
template <>
struct Exact<hipscope::E4M3> : ExactOf8Bits<hipscope::E4M3, matrix_rate::e4m3> {};
template <>
struct Exact<hipscope::E4M3Fnuz> : ExactOf8Bits<hipscope::E4M3Fnuz, matrix_rate::e4m3_fnuz> {
  /// CDNA 3 cuts terms to 24 bits under the largest, and rounds each sum of 16 to FP32 (MMA-Sim,
  /// arXiv 2511.10909, equal to the hardware in every bit).
  static constexpr double rounding = 0x1p-23;
};

}  // namespace gemm
