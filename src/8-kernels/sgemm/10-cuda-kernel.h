// An unchanged CUDA kernel: tiles of 128 x 128 with double buffers in LDS and in registers, laid
// out for waves of 32 lanes; each wave has a part of 64 x 32 as 8 x 4 lanes with 8 x 8 elements; no
// padding. 256 threads; neighbouring blocks share rows of A.
//
// Against 09.1: the operands of the next k are loaded before the FMAs of this one, also across the
// barrier, A's value by value. On a GPU with waves of 64 two such parts side by side make a wave,
// which needs 64 + 64 different values per k where one of 32 needs 64 + 32. fileaccent's code is
// column-major; read as row-major, its A is our B. Corrected: it reads C even with beta = 0.
// On the H200 4.00 TFLOP/s, 480 bytes of local memory; with the bound of 256 47.06, 0.97 of 09.1.
#pragma once

#include "device_code.h"
#include "stage.h"

namespace sgemm {

template <unsigned planned_threads>
__global__ void __launch_bounds__(planned_threads)
    cuda_kernel(Sizes size, float alpha, const float* __restrict__ a, const float* __restrict__ b,
                float beta, float* __restrict__ c) {
  static constexpr TileSizes tile = {.rows = 128, .columns = 128, .depth = 8};
  constexpr int side = 8;  // of a thread's elements
  alignas(16) __shared__ float a_tile[2][tile.depth * tile.rows];
  alignas(16) __shared__ float b_tile[2][tile.depth * tile.columns];
  const int thread = static_cast<int>(threadIdx.x);
  const int block_row = static_cast<int>(blockIdx.y) * tile.rows;
  const int block_column = static_cast<int>(blockIdx.x) * tile.columns;
  const int b_copy_column = thread % 32 * 4;
  const int b_copy_k = thread / 32;
  const int a_copy_k = thread % 2 * 4;
  const int a_copy_row = thread / 2;
  const int wave = thread >> 5;
  const int lane = thread & 31;
  const int first_column = ((wave & 3) << 5) + ((lane & 3) << 3);
  const int first_row = ((wave >> 2) << 6) + ((lane >> 2) << 3);
  const float* a_from = a + (block_row + a_copy_row) * size.lda + a_copy_k;
  const float* b_from = b + b_copy_k * size.ldb + block_column + b_copy_column;
  float a_fragment[2][side];
  float b_fragment[2][2][4];
  float sums[side][2][4] = {};
  float4 of_a = load_four(a_from);
  float4 of_b = load_four(b_from);
  const auto store_tiles = [&](int buffer) {
    store_four(&b_tile[buffer][b_copy_column + b_copy_k * tile.columns], of_b);
    a_tile[buffer][a_copy_row + a_copy_k * tile.rows] = of_a.x;
    a_tile[buffer][a_copy_row + (a_copy_k + 1) * tile.rows] = of_a.y;
    a_tile[buffer][a_copy_row + (a_copy_k + 2) * tile.rows] = of_a.z;
    a_tile[buffer][a_copy_row + (a_copy_k + 3) * tile.rows] = of_a.w;
  };
  const auto load_fragments = [&](int half, int buffer, int k) {
    load(b_fragment[half][0], &b_tile[buffer][first_column + k * tile.columns]);
    load(b_fragment[half][1], &b_tile[buffer][first_column + 4 + k * tile.columns]);
#pragma unroll
    for (int i = 0; i < side; ++i) {
      a_fragment[half][i] = a_tile[buffer][first_row + i + k * tile.rows];
    }
  };
  int next_buffer = 1;
  store_tiles(0);
  __syncthreads();
  load_fragments(0, 0, 0);
  for (int first_k = 0; first_k < size.k; first_k += tile.depth) {
    const bool has_next = first_k + tile.depth < size.k;
    if (has_next) {
      b_from += tile.depth * size.ldb;
      a_from += tile.depth;
      of_b = load_four(b_from);
      of_a = load_four(a_from);
    }
    const int buffer = next_buffer ^ 1;
#pragma unroll
    for (int k = 0; k < tile.depth; ++k) {
      if (k < tile.depth - 1) {
        load_fragments((k + 1) % 2, buffer, k + 1);
      }
#pragma unroll
      for (int i = 0; i < side; ++i) {
#pragma unroll
        for (int j = 0; j < side; ++j) {
          sums[i][j / 4][j % 4] += b_fragment[k % 2][j / 4][j % 4] * a_fragment[k % 2][i];
        }
      }
    }
    if (has_next) {
      store_tiles(next_buffer);
    }
    __syncthreads();
    load_fragments(0, next_buffer, 0);
    next_buffer ^= 1;
  }
#pragma unroll
  for (int i = 0; i < side; ++i) {
    float* const c_row = c + (block_row + first_row + i) * size.ldc + block_column + first_column;
    store_results(c_row, alpha, sums[i][0], beta);
    store_results(c_row + 4, alpha, sums[i][1], beta);
  }
}

}  // namespace sgemm
