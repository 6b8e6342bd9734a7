// mma.sync: factors of which half is left out (2:4 sparse).
#pragma once

#include "shape.h"

namespace matrix_rate {

struct MmaSparseTf32 : MmaShape<16, 16, 1, Sparsity::one_of_two> {
  static constexpr const char* format = "TF32 sparse";
  static constexpr const char* name = "mma.sp m16n8k16";
  static constexpr Format a_format = tf32;
  static constexpr Format b_format = tf32;
  static constexpr Format sum_format = fp32;
  static constexpr unsigned since = 80;
  using A = Registers<unsigned, 4>;
  using B = Registers<unsigned, 4>;
  using Sum = Registers<float, 4>;
  __device__ static void multiply_add(Sum& d, const A& a, const B& b) {
#if MATRIX_RATE_SM >= 800
    MATRIX_RATE_MMA_SPARSE(MATRIX_RATE_MMA_SP ".sync.aligned.m16n8k16.row.col.f32.tf32.tf32.f32",
                           "f", d.value, a.value, b.value, sparse_metadata_of_pairs);
#else
    multiply_elsewhere<MmaSparseTf32>(d, a, b);
#endif
  }
};

struct MmaSparseFp16 : MmaShape<16, 32, 2, Sparsity::two_of_four> {
  static constexpr const char* format = "FP16 sparse";
  static constexpr const char* name = "mma.sp m16n8k32";
  static constexpr Format a_format = fp16;
  static constexpr Format b_format = fp16;
  static constexpr Format sum_format = fp32;
  static constexpr unsigned since = 80;
  using A = Registers<unsigned, 4>;
  using B = Registers<unsigned, 4>;
  using Sum = Registers<float, 4>;
  __device__ static void multiply_add(Sum& d, const A& a, const B& b) {
#if MATRIX_RATE_SM >= 800
    MATRIX_RATE_MMA_SPARSE(MATRIX_RATE_MMA_SP ".sync.aligned.m16n8k32.row.col.f32.f16.f16.f32", "f",
                           d.value, a.value, b.value, sparse_metadata);
#else
    multiply_elsewhere<MmaSparseFp16>(d, a, b);
#endif
  }
};

struct MmaSparseBf16 : MmaShape<16, 32, 2, Sparsity::two_of_four> {
  static constexpr const char* format = "BF16 sparse";
  static constexpr const char* name = "mma.sp m16n8k32";
  static constexpr Format a_format = bf16;
  static constexpr Format b_format = bf16;
  static constexpr Format sum_format = fp32;
  static constexpr unsigned since = 80;
  using A = Registers<unsigned, 4>;
  using B = Registers<unsigned, 4>;
  using Sum = Registers<float, 4>;
  __device__ static void multiply_add(Sum& d, const A& a, const B& b) {
#if MATRIX_RATE_SM >= 800
    MATRIX_RATE_MMA_SPARSE(MATRIX_RATE_MMA_SP ".sync.aligned.m16n8k32.row.col.f32.bf16.bf16.f32",
                           "f", d.value, a.value, b.value, sparse_metadata);
#else
    multiply_elsewhere<MmaSparseBf16>(d, a, b);
#endif
  }
};

struct MmaSparseInt8 : MmaShape<16, 64, 4, Sparsity::two_of_four> {
  static constexpr const char* format = "INT8 sparse";
  static constexpr const char* name = "mma.sp m16n8k64";
  static constexpr Format a_format = int8;
  static constexpr Format b_format = int8;
  static constexpr Format sum_format = int32;
  static constexpr unsigned since = 80;
  using A = Registers<unsigned, 4>;
  using B = Registers<unsigned, 4>;
  using Sum = Registers<int, 4>;
  __device__ static void multiply_add(Sum& d, const A& a, const B& b) {
#if MATRIX_RATE_SM >= 800
    MATRIX_RATE_MMA_SPARSE(MATRIX_RATE_MMA_SP ".sync.aligned.m16n8k64.row.col.s32.s8.s8.s32", "r",
                           d.value, a.value, b.value, sparse_metadata);
#else
    multiply_elsewhere<MmaSparseInt8>(d, a, b);
#endif
  }
};

}  // namespace matrix_rate
