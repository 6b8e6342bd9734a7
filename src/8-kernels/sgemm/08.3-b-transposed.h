// Waves of 8 x 8 lanes, and B in LDS column by column, as A is row by row.
//
// Against 08.1: one load of 16 bytes of a row of B becomes pairs of 4 columns, 20 values apart.
// Lanes, 4 columns or 80 values apart, meet in two banks, four in each; the copy to LDS stores four
// values to as many columns. (fileaccent's list says "no optimization" of it, the main program a
// negative one.)
// On the H200 10.19 TFLOP/s, 0.47 of 08.1; 69.4 % of the passes through LDS are bank conflicts.
#pragma once

#include "device_code.h"
#include "stage.h"

namespace sgemm {

static __global__ void __launch_bounds__(assumed_threads)
    b_transposed_kernel(TileSizes tile, Sizes size, float alpha, const float* __restrict__ a,
                        const float* __restrict__ b, float beta, float* __restrict__ c) {
  constexpr int side = 4;  // of a thread's elements
  constexpr int padding = 4;
  HIP_DYNAMIC_SHARED(float4, lds)
  const int a_pitch = tile.depth + padding;
  const int b_pitch = tile.depth + padding;
  float* const a_tile = reinterpret_cast<float*>(lds);
  float* const b_tile = a_tile + tile.rows * a_pitch;
  const int threads = static_cast<int>(blockDim.x);
  const int thread = static_cast<int>(threadIdx.x);
  const int block_row = static_cast<int>(blockIdx.y) * tile.rows;
  const int block_column = static_cast<int>(blockIdx.x) * tile.columns;
  const int wave = thread / static_cast<int>(wave_lanes);
  const int lane = thread % static_cast<int>(wave_lanes);
  const int first_row = (wave / 2 * 8 + lane / 8) * side;
  const int first_column = (wave % 2 * 8 + lane % 8) * side;
  const int tiles = (size.k + tile.depth - 1) / tile.depth;
  float sums[side][side] = {};
  for (int index = 0; index < tiles; ++index) {
    const auto [a_copy_row, a_copy_k] = place_to_copy(tile.rows, tile.depth, thread, threads);
    store_four(a_tile + a_copy_row * a_pitch + a_copy_k,
               load_four(a + (block_row + a_copy_row) * size.lda + index * tile.depth + a_copy_k));
    const auto [b_copy_k, b_copy_column] = place_to_copy(tile.depth, tile.columns, thread, threads);
    const float4 of_b =
        load_four(b + (index * tile.depth + b_copy_k) * size.ldb + block_column + b_copy_column);
    float* const b_to = b_tile + b_copy_column * b_pitch + b_copy_k;
    b_to[0] = of_b.x;
    b_to[b_pitch] = of_b.y;
    b_to[2 * b_pitch] = of_b.z;
    b_to[3 * b_pitch] = of_b.w;
    __syncthreads();
    for (int step = 0; step < tile.depth; step += 2) {
      float a_fragment[side][2];
      float b_fragment[side][2];
      for (int i = 0; i < side; ++i) {
        const float* const place = a_tile + (first_row + i) * a_pitch + step;
        a_fragment[i][0] = place[0];
        a_fragment[i][1] = place[1];
      }
      for (int j = 0; j < side; ++j) {
        const float* const place = b_tile + (first_column + j) * b_pitch + step;
        b_fragment[j][0] = place[0];
        b_fragment[j][1] = place[1];
      }
      for (int i = 0; i < side; ++i) {
        for (int j = 0; j < side; ++j) {
          for (int k = 0; k < 2; ++k) {
            sums[i][j] += a_fragment[i][k] * b_fragment[j][k];
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
