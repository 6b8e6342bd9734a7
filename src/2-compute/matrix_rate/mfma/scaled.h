// MFMA: FP8, FP6 and FP4 with a scale for each block.
#pragma once

#include "shape.h"

namespace matrix_rate {

#if MATRIX_RATE_CDNA == 4
/// What the scaled instructions take, however few bits their operands have.
template <unsigned Count>
__device__ Vector<int, 8> widened(const Registers<unsigned, Count>& operand) {
  Vector<int, 8> wide = {};
#pragma unroll
  for (unsigned i = 0; i < Count; ++i) {
    wide[i] = static_cast<int>(operand.value[i]);
  }
  return wide;
}
/// A scale in E8M0 for each block of 32 elements: 2^0.
constexpr int scale_of_one = 0x7F7F7F7F;
#endif

struct MfmaScaledE4m3 : MfmaShape<32, 32> {
  static constexpr const char* format = "FP8 E4M3";
  static constexpr const char* name = "v_mfma_scale_f32_32x32x64_f8f6f4";
  static constexpr Format a_format = e4m3;
  static constexpr Format b_format = e4m3;
  static constexpr Format sum_format = fp32;
  static constexpr unsigned since = 4;
  static constexpr unsigned until = 4;
  using A = Registers<unsigned, 8>;
  using B = A;
  using Sum = Registers<float, 16>;
  __device__ static void multiply_add([[maybe_unused]] Sum& d, [[maybe_unused]] const A& a,
                                      [[maybe_unused]] const B& b) {
#if MATRIX_RATE_MFMA(4, 4, __builtin_amdgcn_mfma_scale_f32_32x32x64_f8f6f4)
    d = __builtin_bit_cast(
        Sum, __builtin_amdgcn_mfma_scale_f32_32x32x64_f8f6f4(
                 widened(a), widened(b), __builtin_bit_cast(Vector<float, 16>, d), 0, 0, 0,
                 scale_of_one, 0, scale_of_one));
#else
    multiply_elsewhere<MfmaScaledE4m3>(d, a, b);
#endif
  }
};

struct MfmaScaledE5m2 : MfmaShape<32, 32> {
  static constexpr const char* format = "FP8 E5M2";
  static constexpr const char* name = "v_mfma_scale_f32_32x32x64_f8f6f4";
  static constexpr Format a_format = e5m2;
  static constexpr Format b_format = e5m2;
  static constexpr Format sum_format = fp32;
  static constexpr unsigned since = 4;
  static constexpr unsigned until = 4;
  using A = Registers<unsigned, 8>;
  using B = A;
  using Sum = Registers<float, 16>;
  __device__ static void multiply_add([[maybe_unused]] Sum& d, [[maybe_unused]] const A& a,
                                      [[maybe_unused]] const B& b) {
#if MATRIX_RATE_MFMA(4, 4, __builtin_amdgcn_mfma_scale_f32_32x32x64_f8f6f4)
    d = __builtin_bit_cast(
        Sum, __builtin_amdgcn_mfma_scale_f32_32x32x64_f8f6f4(
                 widened(a), widened(b), __builtin_bit_cast(Vector<float, 16>, d), 1, 1, 0,
                 scale_of_one, 0, scale_of_one));
#else
    multiply_elsewhere<MfmaScaledE5m2>(d, a, b);
#endif
  }
};

struct MfmaScaledE2m3 : MfmaShape<32, 32> {
  static constexpr const char* format = "FP6 E2M3";
  static constexpr const char* name = "v_mfma_scale_f32_32x32x64_f8f6f4";
  static constexpr Format a_format = e2m3;
  static constexpr Format b_format = e2m3;
  static constexpr Format sum_format = fp32;
  static constexpr unsigned since = 4;
  static constexpr unsigned until = 4;
  using A = Registers<unsigned, 6>;
  using B = A;
  using Sum = Registers<float, 16>;
  __device__ static void multiply_add([[maybe_unused]] Sum& d, [[maybe_unused]] const A& a,
                                      [[maybe_unused]] const B& b) {
#if MATRIX_RATE_MFMA(4, 4, __builtin_amdgcn_mfma_scale_f32_32x32x64_f8f6f4)
    d = __builtin_bit_cast(
        Sum, __builtin_amdgcn_mfma_scale_f32_32x32x64_f8f6f4(
                 widened(a), widened(b), __builtin_bit_cast(Vector<float, 16>, d), 2, 2, 0,
                 scale_of_one, 0, scale_of_one));
#else
    multiply_elsewhere<MfmaScaledE2m3>(d, a, b);
#endif
  }
};

struct MfmaScaledE3m2 : MfmaShape<32, 32> {
  static constexpr const char* format = "FP6 E3M2";
  static constexpr const char* name = "v_mfma_scale_f32_32x32x64_f8f6f4";
  static constexpr Format a_format = e3m2;
  static constexpr Format b_format = e3m2;
  static constexpr Format sum_format = fp32;
  static constexpr unsigned since = 4;
  static constexpr unsigned until = 4;
  using A = Registers<unsigned, 6>;
  using B = A;
  using Sum = Registers<float, 16>;
  __device__ static void multiply_add([[maybe_unused]] Sum& d, [[maybe_unused]] const A& a,
                                      [[maybe_unused]] const B& b) {
#if MATRIX_RATE_MFMA(4, 4, __builtin_amdgcn_mfma_scale_f32_32x32x64_f8f6f4)
    d = __builtin_bit_cast(
        Sum, __builtin_amdgcn_mfma_scale_f32_32x32x64_f8f6f4(
                 widened(a), widened(b), __builtin_bit_cast(Vector<float, 16>, d), 3, 3, 0,
                 scale_of_one, 0, scale_of_one));
#else
    multiply_elsewhere<MfmaScaledE3m2>(d, a, b);
#endif
  }
};

struct MfmaScaledE2m1 : MfmaShape<32, 32> {
  static constexpr const char* format = "FP4 E2M1";
  static constexpr const char* name = "v_mfma_scale_f32_32x32x64_f8f6f4";
  static constexpr Format a_format = e2m1;
  static constexpr Format b_format = e2m1;
  static constexpr Format sum_format = fp32;
  static constexpr unsigned since = 4;
  static constexpr unsigned until = 4;
  using A = Registers<unsigned, 4>;
  using B = A;
  using Sum = Registers<float, 16>;
  __device__ static void multiply_add([[maybe_unused]] Sum& d, [[maybe_unused]] const A& a,
                                      [[maybe_unused]] const B& b) {
#if MATRIX_RATE_MFMA(4, 4, __builtin_amdgcn_mfma_scale_f32_32x32x64_f8f6f4)
    d = __builtin_bit_cast(
        Sum, __builtin_amdgcn_mfma_scale_f32_32x32x64_f8f6f4(
                 widened(a), widened(b), __builtin_bit_cast(Vector<float, 16>, d), 4, 4, 0,
                 scale_of_one, 0, scale_of_one));
#else
    multiply_elsewhere<MfmaScaledE2m1>(d, a, b);
#endif
  }
};

}  // namespace matrix_rate
