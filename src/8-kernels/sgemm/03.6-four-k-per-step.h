// 128 x 128 with a depth of 16 and four k per step, by 2 x 2 waves of 8 x 8 lanes; values are
// copied one by one, and A is transposed. 256 threads; neighbouring blocks share rows of A.
//
// Against 03.1, whose copies it has, two divisions by run-time extents for each of a thread's 16
// values: 8 x 8 per thread, padding, and four k per step, for which a thread holds 8 x 4 values of
// A and 4 x 8 of B besides its 64 sums: 128 registers before any address. A is transposed as in
// 03.3, against which it has half the barriers per k. (fileaccent calls it an unfinished register
// double buffer in assembly; this is what the code does.)
// On the H200 1.07 TFLOP/s, 592 bytes of local memory; with the bound of 256 22.12, 0.68 of 03.3.
#pragma once

#include "device_code.h"
#include "stage.h"

namespace sgemm {

template <unsigned planned_threads>
__global__ void __launch_bounds__(planned_threads)
    four_k_per_step_kernel(TileSizes tile, Sizes size, float alpha, const float* __restrict__ a,
                           const float* __restrict__ b, float beta, float* __restrict__ c) {
  constexpr int side = 8;  // of a thread's elements
  constexpr int step = 4;
  constexpr int padding = 4;
  HIP_DYNAMIC_SHARED(float4, lds)
  const int a_pitch = tile.rows + padding;
  const int b_pitch = tile.columns + padding;
  float* const a_tile = reinterpret_cast<float*>(lds);
  float* const b_tile = a_tile + a_pitch * tile.depth;
  const int a_end = size.m * size.lda;
  const int b_end = size.k * size.ldb;
  const int c_end = size.m * size.ldc;
  const int threads = static_cast<int>(blockDim.x);
  const int thread = static_cast<int>(threadIdx.x);
  const int block_row = static_cast<int>(blockIdx.y) * tile.rows;
  const int block_column = static_cast<int>(blockIdx.x) * tile.columns;
  const int wave = thread / static_cast<int>(wave_lanes);
  const int lane = thread % static_cast<int>(wave_lanes);
  const int first_row = (wave / 2 * 8 + lane / 8) * side;
  const int first_column = (wave % 2 * 8 + lane % 8) * side;
  float sums[side][side] = {};
  for (int first_k = 0; first_k < size.k; first_k += tile.depth) {
    const int a_values = (tile.rows * tile.depth + threads - 1) / threads;
    for (int i = 0; i < a_values; ++i) {
      const int row = (thread * a_values + i) / tile.depth;
      const int k = (thread * a_values + i) % tile.depth;
      const int place = (block_row + row) * size.lda + first_k + k;
      a_tile[k * a_pitch + row] = place < a_end ? a[place] : 0.0F;
    }
    const int b_values = (tile.depth * tile.columns + threads - 1) / threads;
    for (int i = 0; i < b_values; ++i) {
      const int k = (thread * b_values + i) / tile.columns;
      const int column = (thread * b_values + i) % tile.columns;
      const int place = (first_k + k) * size.ldb + block_column + column;
      b_tile[k * b_pitch + column] = place < b_end ? b[place] : 0.0F;
    }
    __syncthreads();
    for (int first = 0; first < tile.depth; first += step) {
      float a_fragment[side][step];
      float b_fragment[side][step];
      for (int i = 0; i < side; ++i) {
        for (int k = 0; k < step; ++k) {
          a_fragment[i][k] = a_tile[(first + k) * a_pitch + first_row + i];
        }
      }
      for (int j = 0; j < side; ++j) {
        for (int k = 0; k < step; ++k) {
          b_fragment[j][k] = b_tile[(first + k) * b_pitch + first_column + j];
        }
      }
      for (int k = 0; k < step; ++k) {
        for (int i = 0; i < side; ++i) {
          for (int j = 0; j < side; ++j) {
            sums[i][j] += a_fragment[i][k] * b_fragment[j][k];
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
