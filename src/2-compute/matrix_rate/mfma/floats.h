// MFMA: FP64, FP32 and XF32.
#pragma once

#include "shape.h"

namespace matrix_rate {

struct MfmaFp64 : MfmaShape<16, 1, true> {
  static constexpr const char* format = "FP64";
  static constexpr const char* name = "v_mfma_f64_16x16x4f64";
  static constexpr Format a_format = fp64;
  static constexpr Format b_format = fp64;
  static constexpr Format sum_format = fp64;
  static constexpr unsigned since = 2;
  static constexpr unsigned until = 4;
  using A = Registers<double, 1>;
  using B = A;
  using Sum = Registers<double, 4>;
  __device__ static void multiply_add([[maybe_unused]] Sum& d, [[maybe_unused]] const A& a,
                                      [[maybe_unused]] const B& b) {
#if MATRIX_RATE_MFMA(2, 4, __builtin_amdgcn_mfma_f64_16x16x4f64)
    d = __builtin_bit_cast(Sum, __builtin_amdgcn_mfma_f64_16x16x4f64(
                                    __builtin_bit_cast(double, a), __builtin_bit_cast(double, b),
                                    __builtin_bit_cast(Vector<double, 4>, d), 0, 0, 0));
#else
    multiply_elsewhere<MfmaFp64>(d, a, b);
#endif
  }
};

struct MfmaFp32Side32 : MfmaShape<32, 1> {
  static constexpr const char* format = "FP32";
  static constexpr const char* name = "v_mfma_f32_32x32x2f32";
  static constexpr Format a_format = fp32;
  static constexpr Format b_format = fp32;
  static constexpr Format sum_format = fp32;
  static constexpr unsigned since = 1;
  static constexpr unsigned until = 4;
  using A = Registers<float, 1>;
  using B = A;
  using Sum = Registers<float, 16>;
  __device__ static void multiply_add([[maybe_unused]] Sum& d, [[maybe_unused]] const A& a,
                                      [[maybe_unused]] const B& b) {
#if MATRIX_RATE_MFMA(1, 4, __builtin_amdgcn_mfma_f32_32x32x2f32)
    d = __builtin_bit_cast(Sum, __builtin_amdgcn_mfma_f32_32x32x2f32(
                                    __builtin_bit_cast(float, a), __builtin_bit_cast(float, b),
                                    __builtin_bit_cast(Vector<float, 16>, d), 0, 0, 0));
#else
    multiply_elsewhere<MfmaFp32Side32>(d, a, b);
#endif
  }
};

struct MfmaFp32Side16 : MfmaShape<16, 1> {
  static constexpr const char* format = "FP32";
  static constexpr const char* name = "v_mfma_f32_16x16x4f32";
  static constexpr Format a_format = fp32;
  static constexpr Format b_format = fp32;
  static constexpr Format sum_format = fp32;
  static constexpr unsigned since = 1;
  static constexpr unsigned until = 4;
  using A = Registers<float, 1>;
  using B = A;
  using Sum = Registers<float, 4>;
  __device__ static void multiply_add([[maybe_unused]] Sum& d, [[maybe_unused]] const A& a,
                                      [[maybe_unused]] const B& b) {
#if MATRIX_RATE_MFMA(1, 4, __builtin_amdgcn_mfma_f32_16x16x4f32)
    d = __builtin_bit_cast(Sum, __builtin_amdgcn_mfma_f32_16x16x4f32(
                                    __builtin_bit_cast(float, a), __builtin_bit_cast(float, b),
                                    __builtin_bit_cast(Vector<float, 4>, d), 0, 0, 0));
#else
    multiply_elsewhere<MfmaFp32Side16>(d, a, b);
#endif
  }
};

struct MfmaXf32Side32 : MfmaShape<32, 2> {
  static constexpr const char* format = "XF32";
  static constexpr const char* name = "v_mfma_f32_32x32x4_xf32";
  static constexpr Format a_format = tf32;
  static constexpr Format b_format = tf32;
  static constexpr Format sum_format = fp32;
  static constexpr unsigned since = 3;
  static constexpr unsigned until = 3;
  using A = Registers<float, 2>;
  using B = A;
  using Sum = Registers<float, 16>;
  __device__ static void multiply_add([[maybe_unused]] Sum& d, [[maybe_unused]] const A& a,
                                      [[maybe_unused]] const B& b) {
#if MATRIX_RATE_MFMA(3, 3, __builtin_amdgcn_mfma_f32_32x32x4_xf32)
    d = __builtin_bit_cast(
        Sum, __builtin_amdgcn_mfma_f32_32x32x4_xf32(
                 __builtin_bit_cast(Vector<float, 2>, a), __builtin_bit_cast(Vector<float, 2>, b),
                 __builtin_bit_cast(Vector<float, 16>, d), 0, 0, 0));
#else
    multiply_elsewhere<MfmaXf32Side32>(d, a, b);
#endif
  }
};

struct MfmaXf32Side16 : MfmaShape<16, 2> {
  static constexpr const char* format = "XF32";
  static constexpr const char* name = "v_mfma_f32_16x16x8_xf32";
  static constexpr Format a_format = tf32;
  static constexpr Format b_format = tf32;
  static constexpr Format sum_format = fp32;
  static constexpr unsigned since = 3;
  static constexpr unsigned until = 3;
  using A = Registers<float, 2>;
  using B = A;
  using Sum = Registers<float, 4>;
  __device__ static void multiply_add([[maybe_unused]] Sum& d, [[maybe_unused]] const A& a,
                                      [[maybe_unused]] const B& b) {
#if MATRIX_RATE_MFMA(3, 3, __builtin_amdgcn_mfma_f32_16x16x8_xf32)
    d = __builtin_bit_cast(
        Sum, __builtin_amdgcn_mfma_f32_16x16x8_xf32(
                 __builtin_bit_cast(Vector<float, 2>, a), __builtin_bit_cast(Vector<float, 2>, b),
                 __builtin_bit_cast(Vector<float, 4>, d), 0, 0, 0));
#else
    multiply_elsewhere<MfmaXf32Side16>(d, a, b);
#endif
  }
};

}  // namespace matrix_rate
