// A thread's 4 x 4 elements as four squares of 2 x 2, 32 rows and columns apart; waves of 8 x 8
// lanes, neighbouring lanes in pairs of rows.
//
// Against 08.1: lanes touch neighbouring places of LDS, where 4 x 4 in one piece leaves gaps: a
// load of two values of B by 8 lanes in a row covers 16 neighbours. One LDS buffer, both barriers;
// loads and stores value by value, as fileaccent's.
// On the H200 24.31 TFLOP/s, 1.12 times 08.1; 3.2 % of the passes through LDS are bank conflicts.
#pragma once

#include "device_code.h"
#include "stage.h"

namespace sgemm {

static __global__ void __launch_bounds__(assumed_threads)
    four_squares_kernel(TileSizes tile, Sizes size, float alpha, const float* __restrict__ a,
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
  const int first_row = (wave / 2 * 8 + lane / 16 * 2 + lane % 2) * side / 2;
  const int first_column = (wave % 2 * 8 + lane % 16 / 2) * side / 2;
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
      float a_fragment[side][2];
      float b_fragment[2][side];
      for (int i = 0; i < side / 2; ++i) {
        const float* const upper = a_tile + (first_row + i) * a_pitch + step;
        a_fragment[i][0] = upper[0];
        a_fragment[i][1] = upper[1];
        const float* const lower = a_tile + (first_row + tile.rows / 2 + i) * a_pitch + step;
        a_fragment[i + 2][0] = lower[0];
        a_fragment[i + 2][1] = lower[1];
      }
      for (int k = 0; k < 2; ++k) {
        const float* const left = b_tile + (step + k) * b_pitch + first_column;
        b_fragment[k][0] = left[0];
        b_fragment[k][1] = left[1];
        const float* const right = left + tile.columns / 2;
        b_fragment[k][2] = right[0];
        b_fragment[k][3] = right[1];
      }
      for (int i = 0; i < side; ++i) {
        for (int j = 0; j < side; ++j) {
          for (int k = 0; k < 2; ++k) {
            sums[i][j] += a_fragment[i][k] * b_fragment[k][j];
          }
        }
      }
    }
    __syncthreads();
  }
  for (int i = 0; i < side / 2; ++i) {
    float* const upper = c + (block_row + first_row + i) * size.ldc + block_column + first_column;
    float* const lower = upper + tile.rows / 2 * size.ldc;
    for (int j = 0; j < side / 2; ++j) {
      store_result(upper + j, alpha, sums[i][j], beta);
      store_result(lower + j, alpha, sums[i + 2][j], beta);
      store_result(upper + tile.columns / 2 + j, alpha, sums[i][j + 2], beta);
      store_result(lower + tile.columns / 2 + j, alpha, sums[i + 2][j + 2], beta);
    }
  }
}

}  // namespace sgemm
