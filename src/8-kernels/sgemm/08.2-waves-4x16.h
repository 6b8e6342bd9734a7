// Waves of 4 rows of 16 lanes, and one k at a time: a row of B by one load, A value by value.
//
// Against 04, whose rows of 16 threads make the same waves: only 5 operands are in registers at
// once. Against 08.1: 16 + 64 different values per k and wave in place of 32 + 32.
// On the H200 26.92 TFLOP/s, 1.24 times 08.1; 3.5 % of the passes through LDS are bank conflicts.
#pragma once

#include "device_code.h"
#include "stage.h"

namespace sgemm {

static __global__ void __launch_bounds__(assumed_threads)
    waves_4x16_kernel(TileSizes tile, Sizes size, float alpha, const float* __restrict__ a,
                      const float* __restrict__ b, float beta, float* __restrict__ c) {
  constexpr int side = 4;  // of a thread's elements
  constexpr int padding = 4;
  HIP_DYNAMIC_SHARED(float4, lds)
  const int a_pitch = tile.depth + padding;
  const int b_pitch = tile.columns + padding;
  float* const a_tile = reinterpret_cast<float*>(lds);
  float* const b_tile = a_tile + tile.rows * a_pitch;
  const int threads = static_cast<int>(blockDim.x);
  const int thread = static_cast<int>(threadIdx.x);
  const int block_row = static_cast<int>(blockIdx.y) * tile.rows;
  const int block_column = static_cast<int>(blockIdx.x) * tile.columns;
  const int wave = thread / static_cast<int>(wave_lanes);
  const int lane = thread % static_cast<int>(wave_lanes);
  const int first_row = (wave * 4 + lane / 16) * side;
  const int first_column = lane % 16 * side;
  const int tiles = (size.k + tile.depth - 1) / tile.depth;
  float sums[side][side] = {};
  for (int index = 0; index < tiles; ++index) {
    const auto [a_copy_row, a_copy_k] = place_to_copy(tile.rows, tile.depth, thread, threads);
    store_four(a_tile + a_copy_row * a_pitch + a_copy_k,
               load_four(a + (block_row + a_copy_row) * size.lda + index * tile.depth + a_copy_k));
    const auto [b_copy_k, b_copy_column] = place_to_copy(tile.depth, tile.columns, thread, threads);
    store_four(
        b_tile + b_copy_k * b_pitch + b_copy_column,
        load_four(b + (index * tile.depth + b_copy_k) * size.ldb + block_column + b_copy_column));
    __syncthreads();
    for (int step = 0; step < tile.depth; step += 2) {
      for (int k = 0; k < 2; ++k) {
        float b_fragment[side];
        load(b_fragment, b_tile + (step + k) * b_pitch + first_column);
        for (int i = 0; i < side; ++i) {
          const float of_a = a_tile[(first_row + i) * a_pitch + step + k];
          for (int j = 0; j < side; ++j) {
            sums[i][j] += of_a * b_fragment[j];
          }
        }
      }
    }
    __syncthreads();
  }
  c += (block_row + first_row) * size.ldc + block_column + first_column;
  for (int i = 0; i < side; ++i) {
    store_results(c + i * size.ldc, alpha, sums[i], beta);
  }
}

}  // namespace sgemm
