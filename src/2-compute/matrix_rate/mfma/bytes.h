// MFMA: FP8 and INT8.
#pragma once

#include "shape.h"

namespace matrix_rate {

struct MfmaInt8Old : MfmaShape<32, 4> {
  static constexpr const char* format = "INT8";
  static constexpr const char* name = "v_mfma_i32_32x32x8i8";
  static constexpr Format a_format = int8;
  static constexpr Format b_format = int8;
  static constexpr Format sum_format = int32;
  static constexpr unsigned since = 1;
  static constexpr unsigned until = 2;
  using A = Registers<unsigned, 1>;
  using B = A;
  using Sum = Registers<int, 16>;
  __device__ static void multiply_add([[maybe_unused]] Sum& d, [[maybe_unused]] const A& a,
                                      [[maybe_unused]] const B& b) {
#if MATRIX_RATE_MFMA(1, 2, __builtin_amdgcn_mfma_i32_32x32x8i8)
    d = __builtin_bit_cast(Sum, __builtin_amdgcn_mfma_i32_32x32x8i8(
                                    __builtin_bit_cast(int, a), __builtin_bit_cast(int, b),
                                    __builtin_bit_cast(Vector<int, 16>, d), 0, 0, 0));
#else
    multiply_elsewhere<MfmaInt8Old>(d, a, b);
#endif
  }
};

struct MfmaInt8 : MfmaShape<32, 8> {
  static constexpr const char* format = "INT8";
  static constexpr const char* name = "v_mfma_i32_32x32x16_i8";
  static constexpr Format a_format = int8;
  static constexpr Format b_format = int8;
  static constexpr Format sum_format = int32;
  static constexpr unsigned since = 3;
  static constexpr unsigned until = 4;
  using A = Registers<unsigned, 2>;
  using B = A;
  using Sum = Registers<int, 16>;
  __device__ static void multiply_add([[maybe_unused]] Sum& d, [[maybe_unused]] const A& a,
                                      [[maybe_unused]] const B& b) {
#if MATRIX_RATE_MFMA(3, 4, __builtin_amdgcn_mfma_i32_32x32x16_i8)
    d = __builtin_bit_cast(Sum, __builtin_amdgcn_mfma_i32_32x32x16_i8(
                                    __builtin_bit_cast(long, a), __builtin_bit_cast(long, b),
                                    __builtin_bit_cast(Vector<int, 16>, d), 0, 0, 0));
#else
    multiply_elsewhere<MfmaInt8>(d, a, b);
#endif
  }
};

struct MfmaE4m3Fnuz : MfmaShape<32, 8> {
  static constexpr const char* format = "FP8 E4M3";
  static constexpr const char* name = "v_mfma_f32_32x32x16_fp8_fp8, FNUZ";
  static constexpr Format a_format = e4m3_fnuz;
  static constexpr Format b_format = e4m3_fnuz;
  static constexpr Format sum_format = fp32;
  static constexpr unsigned since = 3;
  static constexpr unsigned until = 3;
  using A = Registers<unsigned, 2>;
  using B = A;
  using Sum = Registers<float, 16>;
  __device__ static void multiply_add([[maybe_unused]] Sum& d, [[maybe_unused]] const A& a,
                                      [[maybe_unused]] const B& b) {
#if MATRIX_RATE_MFMA(3, 3, __builtin_amdgcn_mfma_f32_32x32x16_fp8_fp8)
    d = __builtin_bit_cast(Sum, __builtin_amdgcn_mfma_f32_32x32x16_fp8_fp8(
                                    __builtin_bit_cast(long, a), __builtin_bit_cast(long, b),
                                    __builtin_bit_cast(Vector<float, 16>, d), 0, 0, 0));
#else
    multiply_elsewhere<MfmaE4m3Fnuz>(d, a, b);
#endif
  }
};

struct MfmaE4m3 : MfmaShape<32, 8> {
  static constexpr const char* format = "FP8 E4M3";
  static constexpr const char* name = "v_mfma_f32_32x32x16_fp8_fp8";
  static constexpr Format a_format = e4m3;
  static constexpr Format b_format = e4m3;
  static constexpr Format sum_format = fp32;
  static constexpr unsigned since = 4;
  static constexpr unsigned until = 4;
  using A = Registers<unsigned, 2>;
  using B = A;
  using Sum = Registers<float, 16>;
  __device__ static void multiply_add([[maybe_unused]] Sum& d, [[maybe_unused]] const A& a,
                                      [[maybe_unused]] const B& b) {
#if MATRIX_RATE_MFMA(4, 4, __builtin_amdgcn_mfma_f32_32x32x16_fp8_fp8)
    d = __builtin_bit_cast(Sum, __builtin_amdgcn_mfma_f32_32x32x16_fp8_fp8(
                                    __builtin_bit_cast(long, a), __builtin_bit_cast(long, b),
                                    __builtin_bit_cast(Vector<float, 16>, d), 0, 0, 0));
#else
    multiply_elsewhere<MfmaE4m3>(d, a, b);
#endif
  }
};

struct MfmaE5m2Fnuz : MfmaShape<32, 8> {
  static constexpr const char* format = "FP8 E5M2";
  static constexpr const char* name = "v_mfma_f32_32x32x16_bf8_bf8, FNUZ";
  static constexpr Format a_format = e5m2_fnuz;
  static constexpr Format b_format = e5m2_fnuz;
  static constexpr Format sum_format = fp32;
  static constexpr unsigned since = 3;
  static constexpr unsigned until = 3;
  using A = Registers<unsigned, 2>;
  using B = A;
  using Sum = Registers<float, 16>;
  __device__ static void multiply_add([[maybe_unused]] Sum& d, [[maybe_unused]] const A& a,
                                      [[maybe_unused]] const B& b) {
#if MATRIX_RATE_MFMA(3, 3, __builtin_amdgcn_mfma_f32_32x32x16_bf8_bf8)
    d = __builtin_bit_cast(Sum, __builtin_amdgcn_mfma_f32_32x32x16_bf8_bf8(
                                    __builtin_bit_cast(long, a), __builtin_bit_cast(long, b),
                                    __builtin_bit_cast(Vector<float, 16>, d), 0, 0, 0));
#else
    multiply_elsewhere<MfmaE5m2Fnuz>(d, a, b);
#endif
  }
};

struct MfmaE5m2 : MfmaShape<32, 8> {
  static constexpr const char* format = "FP8 E5M2";
  static constexpr const char* name = "v_mfma_f32_32x32x16_bf8_bf8";
  static constexpr Format a_format = e5m2;
  static constexpr Format b_format = e5m2;
  static constexpr Format sum_format = fp32;
  static constexpr unsigned since = 4;
  static constexpr unsigned until = 4;
  using A = Registers<unsigned, 2>;
  using B = A;
  using Sum = Registers<float, 16>;
  __device__ static void multiply_add([[maybe_unused]] Sum& d, [[maybe_unused]] const A& a,
                                      [[maybe_unused]] const B& b) {
#if MATRIX_RATE_MFMA(4, 4, __builtin_amdgcn_mfma_f32_32x32x16_bf8_bf8)
    d = __builtin_bit_cast(Sum, __builtin_amdgcn_mfma_f32_32x32x16_bf8_bf8(
                                    __builtin_bit_cast(long, a), __builtin_bit_cast(long, b),
                                    __builtin_bit_cast(Vector<float, 16>, d), 0, 0, 0));
#else
    multiply_elsewhere<MfmaE5m2>(d, a, b);
#endif
  }
};

struct MfmaInt8Wide : MfmaShape<32, 16> {
  static constexpr const char* format = "INT8";
  static constexpr const char* name = "v_mfma_i32_32x32x32_i8";
  static constexpr Format a_format = int8;
  static constexpr Format b_format = int8;
  static constexpr Format sum_format = int32;
  static constexpr unsigned since = 4;
  static constexpr unsigned until = 4;
  using A = Registers<unsigned, 4>;
  using B = A;
  using Sum = Registers<int, 16>;
  __device__ static void multiply_add([[maybe_unused]] Sum& d, [[maybe_unused]] const A& a,
                                      [[maybe_unused]] const B& b) {
#if MATRIX_RATE_MFMA(4, 4, __builtin_amdgcn_mfma_i32_32x32x32_i8)
    d = __builtin_bit_cast(
        Sum, __builtin_amdgcn_mfma_i32_32x32x32_i8(
                 __builtin_bit_cast(Vector<int, 4>, a), __builtin_bit_cast(Vector<int, 4>, b),
                 __builtin_bit_cast(Vector<int, 16>, d), 0, 0, 0));
#else
    multiply_elsewhere<MfmaInt8Wide>(d, a, b);
#endif
  }
};

}  // namespace matrix_rate
