// The first half of the threads copies A, the second half B.
//
// Against 03.3: fewer addresses per thread, and two loads in a row for each: 8 values of a row of
// A, all of the tile's k, or 8 neighbours of B. Whole waves go one way or the other.
// On the H200 5.60 TFLOP/s, 120 bytes of local memory; with the bound of 256 29.59, 0.90 of 03.3.
#pragma once

#include "device_code.h"
#include "stage.h"

namespace sgemm {

template <unsigned planned_threads>
__global__ void __launch_bounds__(planned_threads)
    halves_copy_kernel(TileSizes tile, Sizes size, float alpha, const float* __restrict__ a,
                       const float* __restrict__ b, float beta, float* __restrict__ c) {
  constexpr int side = 8;  // of a thread's elements
  constexpr int padding = 4;
  HIP_DYNAMIC_SHARED(float4, lds)
  const int a_pitch = tile.rows + padding;
  const int b_pitch = tile.columns + padding;
  float* const a_tile = reinterpret_cast<float*>(lds);
  float* const b_tile = a_tile + a_pitch * tile.depth;
  const int thread = static_cast<int>(threadIdx.x);
  const int block_row = static_cast<int>(blockIdx.x) * tile.rows;
  const int block_column = static_cast<int>(blockIdx.y) * tile.columns;
  const int a_copy_row = thread & 127;
  const int b_copy_k = (thread & 127) >> 4;
  const int b_copy_column = (thread & 15) << 3;
  const int first_row = (thread >> 4) * side;
  const int first_column = (thread & 15) * side;
  const int a_place = (block_row + a_copy_row) * size.lda;
  const int b_place = b_copy_k * size.ldb + block_column + b_copy_column;
  const int tiles = (size.k + tile.depth - 1) / tile.depth;
  float sums[side][side] = {};
  for (int index = 0; index < tiles; ++index) {
    if (thread < 128) {
      store_column(a_tile, a_pitch, 0, a_copy_row, load_four(a + a_place + index * tile.depth));
      store_column(a_tile, a_pitch, 4, a_copy_row, load_four(a + a_place + index * tile.depth + 4));
    } else {
      store_four(b_tile + b_copy_k * b_pitch + b_copy_column,
                 load_four(b + b_place + index * tile.depth * size.ldb));
      store_four(b_tile + b_copy_k * b_pitch + b_copy_column + 4,
                 load_four(b + b_place + index * tile.depth * size.ldb + 4));
    }
    __syncthreads();
    for (int k = 0; k < tile.depth; ++k) {
      float a_fragment[2][4];
      float b_fragment[2][4];
      load(a_fragment[0], a_tile + k * a_pitch + first_row);
      load(a_fragment[1], a_tile + k * a_pitch + first_row + 4);
      load(b_fragment[0], b_tile + k * b_pitch + first_column);
      load(b_fragment[1], b_tile + k * b_pitch + first_column + 4);
      for (int i = 0; i < side; ++i) {
        for (int j = 0; j < side; ++j) {
          sums[i][j] += a_fragment[i / 4][i % 4] * b_fragment[j / 4][j % 4];
        }
      }
    }
    __syncthreads();
  }
  c += (block_row + first_row) * size.ldc + block_column + first_column;
#pragma unroll
  for (int i = 0; i < side; ++i) {
    store_results(c + i * size.ldc, alpha, sums[i], beta);
  }
}

}  // namespace sgemm
