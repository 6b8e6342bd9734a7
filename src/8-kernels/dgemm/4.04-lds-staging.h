// Against 4.03: tiles of 64 x 64 with a depth of 8 in LDS, so that a value is loaded from memory
// once per block, not by each of 16 threads. Two barriers per tile: the tile is there; and all have
// read it, before the next one is written. Rows are 65 values long, so that loads stay 8 bytes wide
// and can be told apart: with an even pitch compilers join two of them. (clang for AMD does so even
// then, in every other row.)
// On the H200 9.08 TFLOP/s, 0.86 of 4.03, for its bank conflicts.
#pragma once

#include "stage.h"

namespace dgemm {

static __global__ void __launch_bounds__(256)
    lds_staging_kernel(Extents extents, double alpha, const double* __restrict__ a,
                       const double* __restrict__ b, double beta, double* __restrict__ c) {
  constexpr unsigned side = 64;
  constexpr unsigned depth = 8;
  __shared__ double a_tile[depth][side + 1];
  __shared__ double b_tile[depth][side + 1];
  // A thread's share of a tile: two k of a row of A, two columns of a row of B.
  const unsigned a_k = threadIdx.x % 4 * 2;
  const unsigned a_row = threadIdx.x / 4;
  const unsigned b_k = threadIdx.x / 32;
  const unsigned b_column = threadIdx.x % 32 * 2;
  a = a + (blockIdx.y * side + a_row) * extents.lda + a_k;
  b += b_k * extents.ldb + blockIdx.x * side + b_column;
  double2 next_of_a;
  double2 next_of_b;
  const auto load = [&] {
    next_of_a = load_two(a);
    next_of_b = load_two(b);
    a += depth;
    b += depth * extents.ldb;
  };
  const auto store = [&] {
    a_tile[a_k][a_row] = next_of_a.x;
    a_tile[a_k + 1][a_row] = next_of_a.y;
    b_tile[b_k][b_column] = next_of_b.x;
    b_tile[b_k][b_column + 1] = next_of_b.y;
  };
  double sums[4][4] = {};
  const auto multiply = [&] {
#pragma unroll
    for (unsigned k = 0; k < depth; ++k) {
      double of_a[4];
      double of_b[4];
#pragma unroll
      for (unsigned i = 0; i < 4; ++i) {
        of_a[i] = a_tile[k][4 * (threadIdx.x / 16) + i];
        of_b[i] = b_tile[k][4 * (threadIdx.x % 16) + i];
      }
#pragma unroll
      for (unsigned i = 0; i < 4; ++i) {
#pragma unroll
        for (unsigned j = 0; j < 4; ++j) {
          sums[i][j] += of_a[i] * of_b[j];
        }
      }
    }
  };
#pragma unroll 1
  for (unsigned k = 0; k < extents.k; k += depth) {
    load();
    store();
    __syncthreads();
    multiply();
    __syncthreads();
  }
  c += blockIdx.y * side * extents.ldc + blockIdx.x * side;
#pragma unroll
  for (unsigned i = 0; i < 4; ++i) {
    const unsigned row = 4 * (threadIdx.x / 16) + i;
#pragma unroll
    for (unsigned j = 0; j < 4; ++j) {
      store_result(c + row * extents.ldc + 4 * (threadIdx.x % 16) + j, alpha, sums[i][j], beta);
    }
  }
}

}  // namespace dgemm
