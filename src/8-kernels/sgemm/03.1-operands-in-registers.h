// The same 4 x 4 per thread, its operands of one k named as registers before the FMAs.
//
// Against 03: the source names the operands in registers, those of one k; the loop advances by one
// k, not four. In 03 the compilers keep no more in registers either, so little changes. On the H200
// 12.97 TFLOP/s, 0.98 of 03.
#pragma once

#include "device_code.h"
#include "stage.h"

namespace sgemm {

static __global__ void __launch_bounds__(assumed_threads)
    operands_in_registers_kernel(TileSizes tile, Sizes size, float alpha,
                                 const float* __restrict__ a, const float* __restrict__ b,
                                 float beta, float* __restrict__ c) {
  constexpr int side = 4;  // of a thread's elements
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
    for (int k = 0; k < tile.depth; ++k) {
      float a_fragment[side];
      float b_fragment[side];
      for (int i = 0; i < side; ++i) {
        a_fragment[i] = a_tile[(first_row + i) * a_pitch + k];
        b_fragment[i] = b_tile[k * b_pitch + first_column + i];
      }
      for (int i = 0; i < side; ++i) {
        for (int j = 0; j < side; ++j) {
          sums[i][j] += a_fragment[i] * b_fragment[j];
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
