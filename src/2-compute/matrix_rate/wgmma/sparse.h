// wgmma: factors of which half is left out (2:4 sparse).
#pragma once

#include "shape.h"

namespace matrix_rate {

struct WgmmaSparseTf32 : WgmmaShape<256, 32, false, Sparsity::one_of_two> {
  static constexpr const char* format = "TF32 sparse";
  static constexpr const char* name = "wgmma.sp m64n256k16, A in LDS";
  static constexpr Format a_format = tf32;
  static constexpr Format b_format = tf32;
  static constexpr Format sum_format = fp32;
  using A = std::uint64_t;
  using Sum = Registers<float, 128>;
  __device__ static void multiply_add([[maybe_unused]] Sum& d, [[maybe_unused]] const A& a,
                                      [[maybe_unused]] std::uint64_t b) {
#if MATRIX_RATE_HAS_WGMMA
    MATRIX_RATE_WGMMA_SPARSE("m64n256k16.f32.tf32.tf32", 128, "f", ", 1, 1", d.value, a, b,
                             sparse_metadata_of_pairs);
#endif
  }
};

struct WgmmaSparseFp16 : WgmmaShape<256, 16, false, Sparsity::two_of_four> {
  static constexpr const char* format = "FP16 sparse";
  static constexpr const char* name = "wgmma.sp m64n256k32, A in LDS";
  static constexpr Format a_format = fp16;
  static constexpr Format b_format = fp16;
  static constexpr Format sum_format = fp32;
  using A = std::uint64_t;
  using Sum = Registers<float, 128>;
  __device__ static void multiply_add([[maybe_unused]] Sum& d, [[maybe_unused]] const A& a,
                                      [[maybe_unused]] std::uint64_t b) {
#if MATRIX_RATE_HAS_WGMMA
    MATRIX_RATE_WGMMA_SPARSE("m64n256k32.f32.f16.f16", 128, "f", ", 1, 1, 0, 0", d.value, a, b,
                             sparse_metadata);
#endif
  }
};

struct WgmmaSparseBf16 : WgmmaShape<256, 16, false, Sparsity::two_of_four> {
  static constexpr const char* format = "BF16 sparse";
  static constexpr const char* name = "wgmma.sp m64n256k32, A in LDS";
  static constexpr Format a_format = bf16;
  static constexpr Format b_format = bf16;
  static constexpr Format sum_format = fp32;
  using A = std::uint64_t;
  using Sum = Registers<float, 128>;
  __device__ static void multiply_add([[maybe_unused]] Sum& d, [[maybe_unused]] const A& a,
                                      [[maybe_unused]] std::uint64_t b) {
#if MATRIX_RATE_HAS_WGMMA
    MATRIX_RATE_WGMMA_SPARSE("m64n256k32.f32.bf16.bf16", 128, "f", ", 1, 1, 0, 0", d.value, a, b,
                             sparse_metadata);
#endif
  }
};

struct WgmmaSparseE4m3 : WgmmaShape<256, 8, false, Sparsity::two_of_four> {
  static constexpr const char* format = "FP8 E4M3 sparse";
  static constexpr const char* name = "wgmma.sp m64n256k64, A in LDS";
  static constexpr Format a_format = e4m3;
  static constexpr Format b_format = e4m3;
  static constexpr Format sum_format = fp32;
  using A = std::uint64_t;
  using Sum = Registers<float, 128>;
  __device__ static void multiply_add([[maybe_unused]] Sum& d, [[maybe_unused]] const A& a,
                                      [[maybe_unused]] std::uint64_t b) {
#if MATRIX_RATE_HAS_WGMMA
    MATRIX_RATE_WGMMA_SPARSE("m64n256k64.f32.e4m3.e4m3", 128, "f", ", 1, 1", d.value, a, b,
                             sparse_metadata);
#endif
  }
};

struct WgmmaSparseE5m2 : WgmmaShape<256, 8, false, Sparsity::two_of_four> {
  static constexpr const char* format = "FP8 E5M2 sparse";
  static constexpr const char* name = "wgmma.sp m64n256k64, A in LDS";
  static constexpr Format a_format = e5m2;
  static constexpr Format b_format = e5m2;
  static constexpr Format sum_format = fp32;
  using A = std::uint64_t;
  using Sum = Registers<float, 128>;
  __device__ static void multiply_add([[maybe_unused]] Sum& d, [[maybe_unused]] const A& a,
                                      [[maybe_unused]] std::uint64_t b) {
#if MATRIX_RATE_HAS_WGMMA
    MATRIX_RATE_WGMMA_SPARSE("m64n256k64.f32.e5m2.e5m2", 128, "f", ", 1, 1", d.value, a, b,
                             sparse_metadata);
#endif
  }
};

struct WgmmaSparseInt8 : WgmmaShape<256, 8, false, Sparsity::two_of_four> {
  static constexpr const char* format = "INT8 sparse";
  static constexpr const char* name = "wgmma.sp m64n256k64, A in LDS";
  static constexpr Format a_format = int8;
  static constexpr Format b_format = int8;
  static constexpr Format sum_format = int32;
  using A = std::uint64_t;
  using Sum = Registers<int, 128>;
  __device__ static void multiply_add([[maybe_unused]] Sum& d, [[maybe_unused]] const A& a,
                                      [[maybe_unused]] std::uint64_t b) {
#if MATRIX_RATE_HAS_WGMMA
    MATRIX_RATE_WGMMA_SPARSE("m64n256k64.s32.s8.s8", 128, "r", "", d.value, a, b, sparse_metadata);
#endif
  }
};

struct WgmmaSparseTf32Registers : WgmmaShape<256, 32, true, Sparsity::one_of_two> {
  static constexpr const char* format = "TF32 sparse";
  static constexpr const char* name = "wgmma.sp m64n256k16, A in registers";
  static constexpr Format a_format = tf32;
  static constexpr Format b_format = tf32;
  static constexpr Format sum_format = fp32;
  using A = Registers<unsigned, 4>;
  using Sum = Registers<float, 128>;
  __device__ static void multiply_add([[maybe_unused]] Sum& d, [[maybe_unused]] const A& a,
                                      [[maybe_unused]] std::uint64_t b) {
#if MATRIX_RATE_HAS_WGMMA
    MATRIX_RATE_WGMMA_SPARSE_REGISTERS("m64n256k16.f32.tf32.tf32", 128, "f", ", 1, 1", d.value,
                                       a.value, b, sparse_metadata_of_pairs);
#endif
  }
};

struct WgmmaSparseFp16Registers : WgmmaShape<256, 16, true, Sparsity::two_of_four> {
  static constexpr const char* format = "FP16 sparse";
  static constexpr const char* name = "wgmma.sp m64n256k32, A in registers";
  static constexpr Format a_format = fp16;
  static constexpr Format b_format = fp16;
  static constexpr Format sum_format = fp32;
  using A = Registers<unsigned, 4>;
  using Sum = Registers<float, 128>;
  __device__ static void multiply_add([[maybe_unused]] Sum& d, [[maybe_unused]] const A& a,
                                      [[maybe_unused]] std::uint64_t b) {
#if MATRIX_RATE_HAS_WGMMA
    MATRIX_RATE_WGMMA_SPARSE_REGISTERS("m64n256k32.f32.f16.f16", 128, "f", ", 1, 1, 0", d.value,
                                       a.value, b, sparse_metadata);
#endif
  }
};

struct WgmmaSparseBf16Registers : WgmmaShape<256, 16, true, Sparsity::two_of_four> {
  static constexpr const char* format = "BF16 sparse";
  static constexpr const char* name = "wgmma.sp m64n256k32, A in registers";
  static constexpr Format a_format = bf16;
  static constexpr Format b_format = bf16;
  static constexpr Format sum_format = fp32;
  using A = Registers<unsigned, 4>;
  using Sum = Registers<float, 128>;
  __device__ static void multiply_add([[maybe_unused]] Sum& d, [[maybe_unused]] const A& a,
                                      [[maybe_unused]] std::uint64_t b) {
#if MATRIX_RATE_HAS_WGMMA
    MATRIX_RATE_WGMMA_SPARSE_REGISTERS("m64n256k32.f32.bf16.bf16", 128, "f", ", 1, 1, 0", d.value,
                                       a.value, b, sparse_metadata);
#endif
  }
};

struct WgmmaSparseE4m3Registers : WgmmaShape<256, 8, true, Sparsity::two_of_four> {
  static constexpr const char* format = "FP8 E4M3 sparse";
  static constexpr const char* name = "wgmma.sp m64n256k64, A in registers";
  static constexpr Format a_format = e4m3;
  static constexpr Format b_format = e4m3;
  static constexpr Format sum_format = fp32;
  using A = Registers<unsigned, 4>;
  using Sum = Registers<float, 128>;
  __device__ static void multiply_add([[maybe_unused]] Sum& d, [[maybe_unused]] const A& a,
                                      [[maybe_unused]] std::uint64_t b) {
#if MATRIX_RATE_HAS_WGMMA
    MATRIX_RATE_WGMMA_SPARSE_REGISTERS("m64n256k64.f32.e4m3.e4m3", 128, "f", ", 1, 1", d.value,
                                       a.value, b, sparse_metadata);
#endif
  }
};

struct WgmmaSparseE5m2Registers : WgmmaShape<256, 8, true, Sparsity::two_of_four> {
  static constexpr const char* format = "FP8 E5M2 sparse";
  static constexpr const char* name = "wgmma.sp m64n256k64, A in registers";
  static constexpr Format a_format = e5m2;
  static constexpr Format b_format = e5m2;
  static constexpr Format sum_format = fp32;
  using A = Registers<unsigned, 4>;
  using Sum = Registers<float, 128>;
  __device__ static void multiply_add([[maybe_unused]] Sum& d, [[maybe_unused]] const A& a,
                                      [[maybe_unused]] std::uint64_t b) {
#if MATRIX_RATE_HAS_WGMMA
    MATRIX_RATE_WGMMA_SPARSE_REGISTERS("m64n256k64.f32.e5m2.e5m2", 128, "f", ", 1, 1", d.value,
                                       a.value, b, sparse_metadata);
#endif
  }
};

struct WgmmaSparseInt8Registers : WgmmaShape<256, 8, true, Sparsity::two_of_four> {
  static constexpr const char* format = "INT8 sparse";
  static constexpr const char* name = "wgmma.sp m64n256k64, A in registers";
  static constexpr Format a_format = int8;
  static constexpr Format b_format = int8;
  static constexpr Format sum_format = int32;
  using A = Registers<unsigned, 4>;
  using Sum = Registers<int, 128>;
  __device__ static void multiply_add([[maybe_unused]] Sum& d, [[maybe_unused]] const A& a,
                                      [[maybe_unused]] std::uint64_t b) {
#if MATRIX_RATE_HAS_WGMMA
    MATRIX_RATE_WGMMA_SPARSE_REGISTERS("m64n256k64.s32.s8.s8", 128, "r", "", d.value, a.value, b,
                                       sparse_metadata);
#endif
  }
};

}  // namespace matrix_rate
