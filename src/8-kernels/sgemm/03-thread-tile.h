// A thread computes 4 x 4 elements of C: tiles of 64 x 64 with a depth of 16, 256 threads.
//
// Against 02, with one element per thread: for one k a thread loads 4 values of A and 4 of B from
// LDS and does 16 FMAs with them, 2 bytes per FMA instead of 8. For 64 threads and one k, LDS needs
// 16 cycles at 128 bytes per cycle, and 64 FMA lanes compute for 16: just enough, if nothing goes
// wrong (the H200's 128 lanes get half of what they could use). Much does go wrong:
//   - a thread copies 4 neighbouring values of A, and of B, one at a time; for each it divides
//     twice by extents that come with the launch, and checks the end of the matrix
//   - lanes store every fourth value, so that only eight of the 32 banks take them
//   - the loop over k has no length that the compiler knows
// On the H200 13.24 TFLOP/s, 2.09 times 02; 51.6 % of the passes through LDS are bank conflicts
// (ncu, of a product of 1024).
#pragma once

#include "device_code.h"
#include "stage.h"

namespace sgemm {

static __global__ void __launch_bounds__(assumed_threads)
    thread_tile_kernel(TileSizes tile, Sizes size, float alpha, const float* __restrict__ a,
                       const float* __restrict__ b, float beta, float* __restrict__ c) {
  constexpr int side = 4;  // of a thread's elements, and k per step
  HIP_DYNAMIC_SHARED(float4, lds)
  const int a_pitch = tile.depth;
  const int b_pitch = tile.columns;
  float* const a_tile = reinterpret_cast<float*>(lds);
  float* const b_tile = a_tile + tile.rows * a_pitch;
  const int a_end = size.m * size.lda;
  const int b_end = size.k * size.ldb;
  const int c_end = size.m * size.ldc;
  const int threads = static_cast<int>(blockDim.x);
  const int thread = static_cast<int>(threadIdx.x);
  const int block_row = static_cast<int>(blockIdx.y) * tile.rows;
  const int block_column = static_cast<int>(blockIdx.x) * tile.columns;
  const int threads_in_row = (tile.columns + side - 1) / side;
  const int first_row = thread / threads_in_row * side;
  const int first_column = thread % threads_in_row * side;
  float sums[side][side] = {};
  for (int first_k = 0; first_k < size.k; first_k += tile.depth) {
    const int a_values = (tile.rows * tile.depth + threads - 1) / threads;
    for (int i = 0; i < a_values; ++i) {
      const int value = thread * a_values + i;
      const int place = (block_row + value / tile.depth) * size.lda + first_k + value % tile.depth;
      a_tile[value] = place < a_end ? a[place] : 0.0F;
    }
    const int b_values = (tile.depth * tile.columns + threads - 1) / threads;
    for (int i = 0; i < b_values; ++i) {
      const int value = thread * b_values + i;
      const int place =
          (first_k + value / tile.columns) * size.ldb + block_column + value % tile.columns;
      b_tile[value] = place < b_end ? b[place] : 0.0F;
    }
    __syncthreads();
    for (int step = 0; step < tile.depth; step += side) {
      for (int i = 0; i < side; ++i) {
        for (int j = 0; j < side; ++j) {
          for (int k = 0; k < side; ++k) {
            sums[i][j] += a_tile[(first_row + i) * a_pitch + step + k] *
                          b_tile[(step + k) * b_pitch + first_column + j];
          }
        }
      }
    }
    __syncthreads();
  }
  for (int i = 0; i < side; ++i) {
    for (int j = 0; j < side; ++j) {
      const int place = (block_row + first_row + i) * size.ldc + block_column + first_column + j;
      if (place < c_end) {
        store_result(c + place, alpha, sums[i][j], beta);
      }
    }
  }
}

}  // namespace sgemm
