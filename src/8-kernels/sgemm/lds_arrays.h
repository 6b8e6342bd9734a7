// The same 64 x 64 tile with two k per step, its tiles in LDS as arrays of two dimensions.
//
// Against tile_64.h with Fragments::of_2_k, which counts places in a flat array itself: nothing
// that the machine does is meant to change. Only the source's text does, and who does the
// arithmetic.
#pragma once

#include "device_code.h"
#include "stage.h"
#include "thread_tile.h"

namespace sgemm {

static __global__ void __launch_bounds__(assumed_threads)
    lds_arrays_kernel(Extents extents, float alpha, const float* __restrict__ a,
                      const float* __restrict__ b, float beta, float* __restrict__ c) {
  constexpr unsigned block_rows = 64;
  constexpr unsigned block_columns = 64;
  constexpr unsigned depth = 16;
  constexpr unsigned thread_rows = 4;
  constexpr unsigned thread_columns = 4;
  constexpr unsigned padding = 4;
  constexpr unsigned step = 2;
  alignas(16) __shared__ float a_tile[block_rows][depth + padding];
  alignas(16) __shared__ float b_tile[depth][block_columns + padding];
  const unsigned block_row = blockIdx.y * block_rows;
  const unsigned block_column = blockIdx.x * block_columns;
  const unsigned first_row = threadIdx.x / 16 * thread_rows;
  const unsigned first_column = threadIdx.x % 16 * thread_columns;
  const unsigned a_copy_row = threadIdx.x / 4;
  const unsigned a_copy_k = threadIdx.x % 4 * 4;
  const unsigned b_copy_k = threadIdx.x / 16;
  const unsigned b_copy_column = threadIdx.x % 16 * 4;
  float sums[thread_rows][thread_columns] = {};
  for (unsigned tile = 0; tile < extents.k; tile += depth) {
    store_four(&a_tile[a_copy_row][a_copy_k],
               load_four(a + (block_row + a_copy_row) * extents.lda + tile + a_copy_k));
    store_four(&b_tile[b_copy_k][b_copy_column],
               load_four(b + (tile + b_copy_k) * extents.ldb + block_column + b_copy_column));
    __syncthreads();
#pragma unroll
    for (unsigned k = 0; k < depth; k += step) {
      float a_fragment[thread_rows][step];
      float b_fragment[step][thread_columns];
#pragma unroll
      for (unsigned i = 0; i < thread_rows; ++i) {
        load(a_fragment[i], &a_tile[first_row + i][k]);
      }
#pragma unroll
      for (unsigned s = 0; s < step; ++s) {
        load(b_fragment[s], &b_tile[k + s][first_column]);
      }
      multiply_add(sums, a_fragment, b_fragment);
    }
    __syncthreads();
  }
#pragma unroll
  for (unsigned i = 0; i < thread_rows; ++i) {
    store_results(c + (block_row + first_row + i) * extents.ldc + block_column + first_column,
                  alpha, sums[i], beta);
  }
}

inline Stage lds_arrays_stage() {
  return stage_of<lds_arrays_kernel>("LDS as arrays of two dimensions", "7.1", tiles_64);
}

}  // namespace sgemm
