// AMD's WMMA (RDNA 3 and 4: gfx11 and gfx12): a wave of 32 multiplies matrices of 16 x 16 that lie
// in its registers. On gfx11 lanes 16 to 31 hold once more what lanes 0 to 15 do, and the sums of a
// lane are every second row of its column; on gfx12 each half has its half of k, and of the rows.
// AMD's manuals of the RDNA 3 and RDNA 4 instruction sets, "Wave matrix multiply accumulate", tell
// them.
#pragma once

#include "registers.h"

namespace matrix_rate {

#if defined(__GFX11__)
#define MATRIX_RATE_RDNA 3
#elif defined(__GFX12__)
#define MATRIX_RATE_RDNA 4
#else
#define MATRIX_RATE_RDNA 0
#endif
// Whether this pass is for a generation from `first` to `last` and its compiler has the builtin.
#if MATRIX_RATE_RDNA > 0
#define MATRIX_RATE_WMMA(first, last, builtin) \
  (MATRIX_RATE_RDNA >= first && MATRIX_RATE_RDNA <= last && __has_builtin(builtin))
#else
#define MATRIX_RATE_WMMA(first, last, builtin) 0
#endif

/// The generation of RDNA of an architecture, if it has matrix instructions; else 0.
inline unsigned rdna_generation(const std::string& architecture) {
  return architecture.starts_with("gfx11") ? 3 : architecture.starts_with("gfx12") ? 4 : 0;
}

/// `Doubled`: both halves of a wave hold the operands.
template <bool Doubled>
struct WmmaShape {
  static constexpr unsigned m = 16;
  static constexpr unsigned n = 16;
  static constexpr unsigned k = 16;
  static constexpr unsigned lanes = 32;
  static constexpr unsigned a_lanes = lanes;
  static constexpr unsigned b_lanes = lanes;
  static constexpr Sparsity sparsity = Sparsity::dense;
  static constexpr unsigned a_elements = Doubled ? 16 : 8;
  static constexpr unsigned b_elements = a_elements;
  static constexpr unsigned sum_elements = 8;

  __host__ __device__ static Place a_place(unsigned lane, unsigned element) {
    return {lane % 16, Doubled ? element : 8 * (lane / 16) + element};
  }
  __host__ __device__ static Place b_place(unsigned lane, unsigned element) {
    return {Doubled ? element : 8 * (lane / 16) + element, lane % 16};
  }
  __host__ __device__ static Place sum_place(unsigned lane, unsigned element) {
    return {Doubled ? 2 * element + lane / 16 : 8 * (lane / 16) + element, lane % 16};
  }
  static constexpr const char* family = "WMMA";
  static constexpr unsigned peak_groups = 16;
};

struct WmmaFp16 : WmmaShape<true> {
  static constexpr const char* format = "FP16";
  static constexpr const char* name = "v_wmma_f32_16x16x16_f16";
  static constexpr Format a_format = fp16;
  static constexpr Format b_format = fp16;
  static constexpr Format sum_format = fp32;
  static constexpr unsigned since = 3;
  static constexpr unsigned until = 3;
  using A = Registers<unsigned, 8>;
  using B = A;
  using Sum = Registers<float, 8>;
  __device__ static void multiply_add([[maybe_unused]] Sum& d, [[maybe_unused]] const A& a,
                                      [[maybe_unused]] const B& b) {
#if MATRIX_RATE_WMMA(3, 3, __builtin_amdgcn_wmma_f32_16x16x16_f16_w32)
    d = __builtin_bit_cast(
        Sum, __builtin_amdgcn_wmma_f32_16x16x16_f16_w32(__builtin_bit_cast(Vector<_Float16, 16>, a),
                                                        __builtin_bit_cast(Vector<_Float16, 16>, b),
                                                        __builtin_bit_cast(Vector<float, 8>, d)));
#else
    multiply_elsewhere<WmmaFp16>(d, a, b);
#endif
  }
};

struct WmmaBf16 : WmmaShape<true> {
  static constexpr const char* format = "BF16";
  static constexpr const char* name = "v_wmma_f32_16x16x16_bf16";
  static constexpr Format a_format = bf16;
  static constexpr Format b_format = bf16;
  static constexpr Format sum_format = fp32;
  static constexpr unsigned since = 3;
  static constexpr unsigned until = 3;
  using A = Registers<unsigned, 8>;
  using B = A;
  using Sum = Registers<float, 8>;
  __device__ static void multiply_add([[maybe_unused]] Sum& d, [[maybe_unused]] const A& a,
                                      [[maybe_unused]] const B& b) {
#if MATRIX_RATE_WMMA(3, 3, __builtin_amdgcn_wmma_f32_16x16x16_bf16_w32)
    d = __builtin_bit_cast(
        Sum, __builtin_amdgcn_wmma_f32_16x16x16_bf16_w32(__builtin_bit_cast(Vector<short, 16>, a),
                                                         __builtin_bit_cast(Vector<short, 16>, b),
                                                         __builtin_bit_cast(Vector<float, 8>, d)));
#else
    multiply_elsewhere<WmmaBf16>(d, a, b);
#endif
  }
};

struct WmmaInt8 : WmmaShape<true> {
  static constexpr const char* format = "INT8";
  static constexpr const char* name = "v_wmma_i32_16x16x16_iu8";
  static constexpr Format a_format = int8;
  static constexpr Format b_format = int8;
  static constexpr Format sum_format = int32;
  static constexpr unsigned since = 3;
  static constexpr unsigned until = 3;
  using A = Registers<unsigned, 4>;
  using B = A;
  using Sum = Registers<int, 8>;
  __device__ static void multiply_add([[maybe_unused]] Sum& d, [[maybe_unused]] const A& a,
                                      [[maybe_unused]] const B& b) {
#if MATRIX_RATE_WMMA(3, 3, __builtin_amdgcn_wmma_i32_16x16x16_iu8_w32)
    d = __builtin_bit_cast(Sum, __builtin_amdgcn_wmma_i32_16x16x16_iu8_w32(
                                    true, __builtin_bit_cast(Vector<int, 4>, a), true,
                                    __builtin_bit_cast(Vector<int, 4>, b),
                                    __builtin_bit_cast(Vector<int, 8>, d), false));
#else
    multiply_elsewhere<WmmaInt8>(d, a, b);
#endif
  }
};

struct WmmaFp16Halves : WmmaShape<false> {
  static constexpr const char* format = "FP16";
  static constexpr const char* name = "v_wmma_f32_16x16x16_f16, gfx12";
  static constexpr Format a_format = fp16;
  static constexpr Format b_format = fp16;
  static constexpr Format sum_format = fp32;
  static constexpr unsigned since = 4;
  static constexpr unsigned until = 4;
  using A = Registers<unsigned, 4>;
  using B = A;
  using Sum = Registers<float, 8>;
  __device__ static void multiply_add([[maybe_unused]] Sum& d, [[maybe_unused]] const A& a,
                                      [[maybe_unused]] const B& b) {
#if MATRIX_RATE_WMMA(4, 4, __builtin_amdgcn_wmma_f32_16x16x16_f16_w32_gfx12)
    d = __builtin_bit_cast(Sum, __builtin_amdgcn_wmma_f32_16x16x16_f16_w32_gfx12(
                                    __builtin_bit_cast(Vector<_Float16, 8>, a),
                                    __builtin_bit_cast(Vector<_Float16, 8>, b),
                                    __builtin_bit_cast(Vector<float, 8>, d)));
#else
    multiply_elsewhere<WmmaFp16Halves>(d, a, b);
#endif
  }
};

struct WmmaBf16Halves : WmmaShape<false> {
  static constexpr const char* format = "BF16";
  static constexpr const char* name = "v_wmma_f32_16x16x16_bf16, gfx12";
  static constexpr Format a_format = bf16;
  static constexpr Format b_format = bf16;
  static constexpr Format sum_format = fp32;
  static constexpr unsigned since = 4;
  static constexpr unsigned until = 4;
  using A = Registers<unsigned, 4>;
  using B = A;
  using Sum = Registers<float, 8>;
  __device__ static void multiply_add([[maybe_unused]] Sum& d, [[maybe_unused]] const A& a,
                                      [[maybe_unused]] const B& b) {
#if MATRIX_RATE_WMMA(4, 4, __builtin_amdgcn_wmma_f32_16x16x16_bf16_w32_gfx12)
    d = __builtin_bit_cast(
        Sum, __builtin_amdgcn_wmma_f32_16x16x16_bf16_w32_gfx12(
                 __builtin_bit_cast(Vector<short, 8>, a), __builtin_bit_cast(Vector<short, 8>, b),
                 __builtin_bit_cast(Vector<float, 8>, d)));
#else
    multiply_elsewhere<WmmaBf16Halves>(d, a, b);
#endif
  }
};

struct WmmaE4m3 : WmmaShape<false> {
  static constexpr const char* format = "FP8 E4M3";
  static constexpr const char* name = "v_wmma_f32_16x16x16_fp8_fp8";
  static constexpr Format a_format = e4m3;
  static constexpr Format b_format = e4m3;
  static constexpr Format sum_format = fp32;
  static constexpr unsigned since = 4;
  static constexpr unsigned until = 4;
  using A = Registers<unsigned, 2>;
  using B = A;
  using Sum = Registers<float, 8>;
  __device__ static void multiply_add([[maybe_unused]] Sum& d, [[maybe_unused]] const A& a,
                                      [[maybe_unused]] const B& b) {
#if MATRIX_RATE_WMMA(4, 4, __builtin_amdgcn_wmma_f32_16x16x16_fp8_fp8_w32_gfx12)
    d = __builtin_bit_cast(
        Sum, __builtin_amdgcn_wmma_f32_16x16x16_fp8_fp8_w32_gfx12(
                 __builtin_bit_cast(Vector<int, 2>, a), __builtin_bit_cast(Vector<int, 2>, b),
                 __builtin_bit_cast(Vector<float, 8>, d)));
#else
    multiply_elsewhere<WmmaE4m3>(d, a, b);
#endif
  }
};

struct WmmaE5m2 : WmmaShape<false> {
  static constexpr const char* format = "FP8 E5M2";
  static constexpr const char* name = "v_wmma_f32_16x16x16_bf8_bf8";
  static constexpr Format a_format = e5m2;
  static constexpr Format b_format = e5m2;
  static constexpr Format sum_format = fp32;
  static constexpr unsigned since = 4;
  static constexpr unsigned until = 4;
  using A = Registers<unsigned, 2>;
  using B = A;
  using Sum = Registers<float, 8>;
  __device__ static void multiply_add([[maybe_unused]] Sum& d, [[maybe_unused]] const A& a,
                                      [[maybe_unused]] const B& b) {
#if MATRIX_RATE_WMMA(4, 4, __builtin_amdgcn_wmma_f32_16x16x16_bf8_bf8_w32_gfx12)
    d = __builtin_bit_cast(
        Sum, __builtin_amdgcn_wmma_f32_16x16x16_bf8_bf8_w32_gfx12(
                 __builtin_bit_cast(Vector<int, 2>, a), __builtin_bit_cast(Vector<int, 2>, b),
                 __builtin_bit_cast(Vector<float, 8>, d)));
#else
    multiply_elsewhere<WmmaE5m2>(d, a, b);
#endif
  }
};

struct WmmaInt8Halves : WmmaShape<false> {
  static constexpr const char* format = "INT8";
  static constexpr const char* name = "v_wmma_i32_16x16x16_iu8, gfx12";
  static constexpr Format a_format = int8;
  static constexpr Format b_format = int8;
  static constexpr Format sum_format = int32;
  static constexpr unsigned since = 4;
  static constexpr unsigned until = 4;
  using A = Registers<unsigned, 2>;
  using B = A;
  using Sum = Registers<int, 8>;
  __device__ static void multiply_add([[maybe_unused]] Sum& d, [[maybe_unused]] const A& a,
                                      [[maybe_unused]] const B& b) {
#if MATRIX_RATE_WMMA(4, 4, __builtin_amdgcn_wmma_i32_16x16x16_iu8_w32_gfx12)
    d = __builtin_bit_cast(Sum, __builtin_amdgcn_wmma_i32_16x16x16_iu8_w32_gfx12(
                                    true, __builtin_bit_cast(Vector<int, 2>, a), true,
                                    __builtin_bit_cast(Vector<int, 2>, b),
                                    __builtin_bit_cast(Vector<int, 8>, d), false));
#else
    multiply_elsewhere<WmmaInt8Halves>(d, a, b);
#endif
  }
};

}  // namespace matrix_rate
