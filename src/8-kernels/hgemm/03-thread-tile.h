// 8 x 8 elements per thread: tiles of 128 x 128, 16 deep.
//
// Against 02: for each k a thread loads 8 values of A and 8 of B, 32 bytes, for 64 FMAs: half a
// byte of LDS per FMA. A is transposed there, so that a thread's 8 rows are side by side and come
// with one load of 16 bytes.
// On the H200 33.5 TFLOP/s, 3.64 x 02, half of what FP32 FMAs could do; the library is 23 times as
// fast.
#pragma once

#include "stage.h"

namespace hgemm {

/// Eight halves, as loads of 16 bytes bring them.
struct alignas(16) Eight {
  Half values[8];
};

static __global__ void __launch_bounds__(256)
    thread_tile_kernel(Extents extents, float alpha, const Half* __restrict__ a,
                       const Half* __restrict__ b, float beta, Half* __restrict__ c) {
  constexpr unsigned block_rows = 128;
  constexpr unsigned block_columns = 128;
  constexpr unsigned depth = 16;
  constexpr unsigned side = 8;  // of a thread's tile
  __shared__ Eight a_tile[depth][block_rows / side];
  __shared__ Eight b_tile[depth][block_columns / side];
  // 16 threads each for A's rows of 16 and B's rows of 128 values, 8 values at a time.
  const unsigned a_row = threadIdx.x / 2;
  const unsigned a_k = threadIdx.x % 2 * 8;
  const unsigned b_k = threadIdx.x / 16;
  const unsigned b_part = threadIdx.x % 16;
  const unsigned row_part = threadIdx.x / 16;
  const unsigned column_part = threadIdx.x % 16;
  a += std::size_t{blockIdx.y * block_rows + a_row} * extents.lda + a_k;
  b += std::size_t{b_k} * extents.ldb + blockIdx.x * block_columns + b_part * 8;
  float sums[side][side] = {};
  for (unsigned first_k = 0; first_k < extents.k; first_k += depth) {
    const Eight of_a = *reinterpret_cast<const Eight*>(a);
#pragma unroll
    for (unsigned i = 0; i < 8; ++i) {
      a_tile[a_k + i][a_row / side].values[a_row % side] = of_a.values[i];
    }
    b_tile[b_k][b_part] = *reinterpret_cast<const Eight*>(b);
    a += depth;
    b += std::size_t{depth} * extents.ldb;
    __syncthreads();
#pragma unroll
    for (unsigned k = 0; k < depth; ++k) {
      const Eight left = a_tile[k][row_part];
      const Eight right = b_tile[k][column_part];
#pragma unroll
      for (unsigned i = 0; i < side; ++i) {
#pragma unroll
        for (unsigned j = 0; j < side; ++j) {
          sums[i][j] += hipscope::to_float(left.values[i]) * hipscope::to_float(right.values[j]);
        }
      }
    }
    __syncthreads();  // nobody may overwrite what another still reads
  }
  c += std::size_t{blockIdx.y * block_rows + row_part * side} * extents.ldc +
       blockIdx.x * block_columns + column_part * side;
#pragma unroll
  for (unsigned i = 0; i < side; ++i) {
#pragma unroll
    for (unsigned j = 0; j < side; ++j) {
      store_result(c + std::size_t{i} * extents.ldc + j, alpha, sums[i][j], beta);
    }
  }
}

}  // namespace hgemm
