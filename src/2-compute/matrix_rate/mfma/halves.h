// MFMA: FP16 and BF16.
#pragma once

#include "shape.h"

namespace matrix_rate {

struct MfmaFp16Side32 : MfmaShape<32, 4> {
  static constexpr const char* format = "FP16";
  static constexpr const char* name = "v_mfma_f32_32x32x8f16";
  static constexpr Format a_format = fp16;
  static constexpr Format b_format = fp16;
  static constexpr Format sum_format = fp32;
  static constexpr unsigned since = 1;
  static constexpr unsigned until = 4;
  using A = Registers<unsigned, 2>;
  using B = A;
  using Sum = Registers<float, 16>;
  __device__ static void multiply_add([[maybe_unused]] Sum& d, [[maybe_unused]] const A& a,
                                      [[maybe_unused]] const B& b) {
#if MATRIX_RATE_MFMA(1, 4, __builtin_amdgcn_mfma_f32_32x32x8f16)
    d = __builtin_bit_cast(Sum, __builtin_amdgcn_mfma_f32_32x32x8f16(
                                    __builtin_bit_cast(Vector<_Float16, 4>, a),
                                    __builtin_bit_cast(Vector<_Float16, 4>, b),
                                    __builtin_bit_cast(Vector<float, 16>, d), 0, 0, 0));
#else
    multiply_elsewhere<MfmaFp16Side32>(d, a, b);
#endif
  }
};

struct MfmaFp16Side16 : MfmaShape<16, 4> {
  static constexpr const char* format = "FP16";
  static constexpr const char* name = "v_mfma_f32_16x16x16f16";
  static constexpr Format a_format = fp16;
  static constexpr Format b_format = fp16;
  static constexpr Format sum_format = fp32;
  static constexpr unsigned since = 1;
  static constexpr unsigned until = 4;
  using A = Registers<unsigned, 2>;
  using B = A;
  using Sum = Registers<float, 4>;
  __device__ static void multiply_add([[maybe_unused]] Sum& d, [[maybe_unused]] const A& a,
                                      [[maybe_unused]] const B& b) {
#if MATRIX_RATE_MFMA(1, 4, __builtin_amdgcn_mfma_f32_16x16x16f16)
    d = __builtin_bit_cast(Sum, __builtin_amdgcn_mfma_f32_16x16x16f16(
                                    __builtin_bit_cast(Vector<_Float16, 4>, a),
                                    __builtin_bit_cast(Vector<_Float16, 4>, b),
                                    __builtin_bit_cast(Vector<float, 4>, d), 0, 0, 0));
#else
    multiply_elsewhere<MfmaFp16Side16>(d, a, b);
#endif
  }
};

struct MfmaBf16Old : MfmaShape<32, 2> {
  static constexpr const char* format = "BF16";
  static constexpr const char* name = "v_mfma_f32_32x32x4bf16";
  static constexpr Format a_format = bf16;
  static constexpr Format b_format = bf16;
  static constexpr Format sum_format = fp32;
  static constexpr unsigned since = 1;
  static constexpr unsigned until = 2;
  using A = Registers<unsigned, 1>;
  using B = A;
  using Sum = Registers<float, 16>;
  __device__ static void multiply_add([[maybe_unused]] Sum& d, [[maybe_unused]] const A& a,
                                      [[maybe_unused]] const B& b) {
#if MATRIX_RATE_MFMA(1, 2, __builtin_amdgcn_mfma_f32_32x32x4bf16)
    d = __builtin_bit_cast(
        Sum, __builtin_amdgcn_mfma_f32_32x32x4bf16(
                 __builtin_bit_cast(Vector<short, 2>, a), __builtin_bit_cast(Vector<short, 2>, b),
                 __builtin_bit_cast(Vector<float, 16>, d), 0, 0, 0));
#else
    multiply_elsewhere<MfmaBf16Old>(d, a, b);
#endif
  }
};

struct MfmaBf16Side32 : MfmaShape<32, 4> {
  static constexpr const char* format = "BF16";
  static constexpr const char* name = "v_mfma_f32_32x32x8bf16_1k";
  static constexpr Format a_format = bf16;
  static constexpr Format b_format = bf16;
  static constexpr Format sum_format = fp32;
  static constexpr unsigned since = 2;
  static constexpr unsigned until = 4;
  using A = Registers<unsigned, 2>;
  using B = A;
  using Sum = Registers<float, 16>;
  __device__ static void multiply_add([[maybe_unused]] Sum& d, [[maybe_unused]] const A& a,
                                      [[maybe_unused]] const B& b) {
#if MATRIX_RATE_MFMA(2, 4, __builtin_amdgcn_mfma_f32_32x32x8bf16_1k)
    d = __builtin_bit_cast(
        Sum, __builtin_amdgcn_mfma_f32_32x32x8bf16_1k(
                 __builtin_bit_cast(Vector<short, 4>, a), __builtin_bit_cast(Vector<short, 4>, b),
                 __builtin_bit_cast(Vector<float, 16>, d), 0, 0, 0));
#else
    multiply_elsewhere<MfmaBf16Side32>(d, a, b);
#endif
  }
};

struct MfmaBf16Side16 : MfmaShape<16, 4> {
  static constexpr const char* format = "BF16";
  static constexpr const char* name = "v_mfma_f32_16x16x16bf16_1k";
  static constexpr Format a_format = bf16;
  static constexpr Format b_format = bf16;
  static constexpr Format sum_format = fp32;
  static constexpr unsigned since = 2;
  static constexpr unsigned until = 4;
  using A = Registers<unsigned, 2>;
  using B = A;
  using Sum = Registers<float, 4>;
  __device__ static void multiply_add([[maybe_unused]] Sum& d, [[maybe_unused]] const A& a,
                                      [[maybe_unused]] const B& b) {
#if MATRIX_RATE_MFMA(2, 4, __builtin_amdgcn_mfma_f32_16x16x16bf16_1k)
    d = __builtin_bit_cast(
        Sum, __builtin_amdgcn_mfma_f32_16x16x16bf16_1k(
                 __builtin_bit_cast(Vector<short, 4>, a), __builtin_bit_cast(Vector<short, 4>, b),
                 __builtin_bit_cast(Vector<float, 4>, d), 0, 0, 0));
#else
    multiply_elsewhere<MfmaBf16Side16>(d, a, b);
#endif
  }
};

struct MfmaFp16Wide : MfmaShape<32, 8> {
  static constexpr const char* format = "FP16";
  static constexpr const char* name = "v_mfma_f32_32x32x16_f16";
  static constexpr Format a_format = fp16;
  static constexpr Format b_format = fp16;
  static constexpr Format sum_format = fp32;
  static constexpr unsigned since = 4;
  static constexpr unsigned until = 4;
  using A = Registers<unsigned, 4>;
  using B = A;
  using Sum = Registers<float, 16>;
  __device__ static void multiply_add([[maybe_unused]] Sum& d, [[maybe_unused]] const A& a,
                                      [[maybe_unused]] const B& b) {
#if MATRIX_RATE_MFMA(4, 4, __builtin_amdgcn_mfma_f32_32x32x16_f16)
    d = __builtin_bit_cast(Sum, __builtin_amdgcn_mfma_f32_32x32x16_f16(
                                    __builtin_bit_cast(Vector<_Float16, 8>, a),
                                    __builtin_bit_cast(Vector<_Float16, 8>, b),
                                    __builtin_bit_cast(Vector<float, 16>, d), 0, 0, 0));
#else
    multiply_elsewhere<MfmaFp16Wide>(d, a, b);
#endif
  }
};

struct MfmaBf16Wide : MfmaShape<32, 8> {
  static constexpr const char* format = "BF16";
  static constexpr const char* name = "v_mfma_f32_32x32x16_bf16";
  static constexpr Format a_format = bf16;
  static constexpr Format b_format = bf16;
  static constexpr Format sum_format = fp32;
  static constexpr unsigned since = 4;
  static constexpr unsigned until = 4;
  using A = Registers<unsigned, 4>;
  using B = A;
  using Sum = Registers<float, 16>;
  __device__ static void multiply_add([[maybe_unused]] Sum& d, [[maybe_unused]] const A& a,
                                      [[maybe_unused]] const B& b) {
#if MATRIX_RATE_MFMA(4, 4, __builtin_amdgcn_mfma_f32_32x32x16_bf16)
    d = __builtin_bit_cast(
        Sum, __builtin_amdgcn_mfma_f32_32x32x16_bf16(
                 __builtin_bit_cast(Vector<__bf16, 8>, a), __builtin_bit_cast(Vector<__bf16, 8>, b),
                 __builtin_bit_cast(Vector<float, 16>, d), 0, 0, 0));
#else
    multiply_elsewhere<MfmaBf16Wide>(d, a, b);
#endif
  }
};

}  // namespace matrix_rate
