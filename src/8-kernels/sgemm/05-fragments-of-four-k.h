// Four k of the operands go to registers before their FMAs: 4 x 4 values of A and of B.
//
// Against 04: the kernel loads the operands itself, by 16 bytes, eight loads for 64 FMAs; in 04 the
// compiler chose the loads. It takes 32 registers besides the 16 sums.
// On the H200 30.34 TFLOP/s, 1.51 times 04; 4.0 % of the passes through LDS are bank conflicts
// (ncu, of a product of 1024).
#pragma once

#include "device_code.h"
#include "stage.h"

namespace sgemm {

static __global__ void __launch_bounds__(assumed_threads)
    fragments_kernel(TileSizes tile, Sizes size, float alpha, const float* __restrict__ a,
                     const float* __restrict__ b, float beta, float* __restrict__ c) {
  constexpr int side = 4;  // of a thread's elements, and k per step
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
  const int threads_in_row = (tile.columns + side - 1) / side;
  const int first_row = thread / threads_in_row * side;
  const int first_column = thread % threads_in_row * side;
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
    for (int step = 0; step < tile.depth; step += side) {
      float a_fragment[side][side];
      float b_fragment[side][side];
      for (int i = 0; i < side; ++i) {
        load(a_fragment[i], a_tile + (first_row + i) * a_pitch + step);
        load(b_fragment[i], b_tile + (step + i) * b_pitch + first_column);
      }
      for (int i = 0; i < side; ++i) {
        for (int j = 0; j < side; ++j) {
          for (int k = 0; k < side; ++k) {
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
