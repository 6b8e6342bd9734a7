// The waves' 64 lanes are 8 x 8 in the block's tile, 2 x 2 waves; two k per step.
//
// Against 04 and 05, whose rows of 16 threads make waves of 4 x 16: lanes that load the same value
// share its load, and a wave of 8 x 8 needs 32 + 32 different values per k where one of 4 x 16
// needs 16 + 64. A's two values of a row are read one by one, B by 16 bytes. fileaccent aligns LDS
// to 16 KiB here and in 7.5 to 7.7 and 8.2. It is left out: on AMD LDS begins at 0 anyway, and
// clang 15 makes the same code with it and without. On the H200, whose waves have 32 lanes, 21.76
// TFLOP/s, 0.72 of 05; 30.3 % of the passes through LDS are bank conflicts.
//
// 8.4 differs from 8.1 only in its waves of 4 x 16 lanes, from 08.2 only in keeping two k of the
// operands in registers. (fileaccent's list calls this number "z-order"; its time is that of
// function test8_4, whose lanes are in rows.) On the H200 26.92 TFLOP/s, 1.24 times 8.1, and as
// 8.2.
//
// 8.5, against 8.4: neighbouring lanes are in pairs of rows, 0 and 1 one above the other, 2 and 3
// next to them, so that each 4 need 2 + 2 different rows and columns in place of 1 + 4. (It is in
// fileaccent's files, with blocks of 16 x 16 threads in the same order, but not in the list, so no
// figure is published.) On the H200 28.73 TFLOP/s, 1.07 times 8.4.
#pragma once

#include "device_code.h"
#include "stage.h"

namespace sgemm {

/// Where a lane of a wave stands in the block, in thread tiles.
struct Lanes8x8 {
  __device__ static int row(int wave, int lane) { return wave / 2 * 8 + lane / 8; }
  __device__ static int column(int wave, int lane) { return wave % 2 * 8 + lane % 8; }
};
struct Lanes4x16 {
  __device__ static int row(int wave, int lane) { return wave * 4 + lane / 16; }
  __device__ static int column([[maybe_unused]] int wave, int lane) { return lane % 16; }
};
struct LanesInPairs {
  __device__ static int row(int wave, int lane) { return wave * 4 + lane / 32 * 2 + lane % 2; }
  __device__ static int column([[maybe_unused]] int wave, int lane) { return lane % 32 / 2; }
};

template <typename Lanes>
__global__ void __launch_bounds__(assumed_threads)
    waves_kernel(TileSizes tile, Sizes size, float alpha, const float* __restrict__ a,
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
  const int first_row = Lanes::row(wave, lane) * side;
  const int first_column = Lanes::column(wave, lane) * side;
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
      for (int i = 0; i < side; ++i) {
        const float* const place = a_tile + (first_row + i) * a_pitch + step;
        a_fragment[i][0] = place[0];
        a_fragment[i][1] = place[1];
      }
      for (int k = 0; k < 2; ++k) {
        load(b_fragment[k], b_tile + (step + k) * b_pitch + first_column);
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
  c += (block_row + first_row) * size.ldc + block_column + first_column;
  for (int i = 0; i < side; ++i) {
    store_results(c + i * size.ldc, alpha, sums[i], beta);
  }
}

}  // namespace sgemm
