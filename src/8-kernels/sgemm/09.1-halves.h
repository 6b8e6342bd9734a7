// A thread's 8 x 8 elements as four pieces of 4 x 4, one in each quarter of the block's tile of 128
// x 128; two LDS buffers, A transposed, no padding. Blocks of 16 x 16 threads; neighbouring blocks
// share rows of A.
//
// Against 03.3, with two LDS buffers as 03.5: lanes load neighbouring 16 bytes from LDS; with 8 x 8
// in one piece they load 16 bytes from places 32 bytes apart, and only every second bank answers.
// The last tile's FMAs come after the loop, which needs no branch. As by fileaccent, the launch
// asks for 10368 bytes of unused LDS. Corrected: fileaccent has no barrier between the first tile's
// stores and its use, and takes the last tile from the second buffer whether it is there or not.
// This is the repository's 9_3; the list's 9.1 is its time: the list gives 10 a speed-up of 0.08746
// over what ran before it, and 0.08746 of its 186.349 ms are 9.1's 16.299 ms.
// On the H200 3.54 TFLOP/s, 520 bytes of local memory; with the bound of 256 48.45, 1.36 times
// 03.5.
#pragma once

#include "device_code.h"
#include "stage.h"

namespace sgemm {

template <unsigned planned_threads>
__global__ void __launch_bounds__(planned_threads)
    halves_kernel(Sizes size, float alpha, const float* __restrict__ a, const float* __restrict__ b,
                  float beta, float* __restrict__ c) {
  static constexpr TileSizes tile = {.rows = 128, .columns = 128, .depth = 8};
  constexpr int side = 8;  // of a thread's elements
  alignas(16) __shared__ float a_tile[2][tile.depth][tile.rows];
  alignas(16) __shared__ float b_tile[2][tile.depth][tile.columns];
  const int thread = static_cast<int>(threadIdx.y * blockDim.x + threadIdx.x);
  const int block_row = static_cast<int>(blockIdx.y) * tile.rows;
  const int block_column = static_cast<int>(blockIdx.x) * tile.columns;
  const int a_copy_row = thread >> 1;
  const int a_copy_k = (thread & 1) << 2;
  const int b_copy_k = thread >> 5;
  const int b_copy_column = (thread & 31) << 2;
  const int first_row = static_cast<int>(threadIdx.y) * side / 2;
  const int first_column = static_cast<int>(threadIdx.x) * side / 2;
  const int tiles = (size.k + tile.depth - 1) / tile.depth;
  float4 of_a;
  float4 of_b;
  const auto load_tiles = [&](int index) {
    of_a = load_four(a + (block_row + a_copy_row) * size.lda + index * tile.depth + a_copy_k);
    of_b = load_four(b + (index * tile.depth + b_copy_k) * size.ldb + block_column + b_copy_column);
  };
  const auto store_tiles = [&](int buffer) {
    a_tile[buffer][a_copy_k][a_copy_row] = of_a.x;
    a_tile[buffer][a_copy_k + 1][a_copy_row] = of_a.y;
    a_tile[buffer][a_copy_k + 2][a_copy_row] = of_a.z;
    a_tile[buffer][a_copy_k + 3][a_copy_row] = of_a.w;
    store_four(&b_tile[buffer][b_copy_k][b_copy_column], of_b);
  };
  float sums[side][2][4] = {};
  const auto multiply_add_tile = [&](int buffer) {
#pragma unroll
    for (int k = 0; k < tile.depth; ++k) {
      float a_fragment[2][4];
      float b_fragment[2][4];
      load(a_fragment[0], &a_tile[buffer][k][first_row]);
      load(a_fragment[1], &a_tile[buffer][k][first_row + tile.rows / 2]);
      load(b_fragment[0], &b_tile[buffer][k][first_column]);
      load(b_fragment[1], &b_tile[buffer][k][first_column + tile.columns / 2]);
#pragma unroll
      for (int i = 0; i < side; ++i) {
#pragma unroll
        for (int j = 0; j < side; ++j) {
          sums[i][j / 4][j % 4] += a_fragment[i / 4][i % 4] * b_fragment[j / 4][j % 4];
        }
      }
    }
  };
  load_tiles(0);
  store_tiles(0);
  __syncthreads();
  for (int index = 1; index < tiles; ++index) {
    load_tiles(index);
    multiply_add_tile((index - 1) & 1);
    store_tiles(index & 1);
    __syncthreads();
  }
  multiply_add_tile((tiles - 1) & 1);
#pragma unroll
  for (int i = 0; i < side; ++i) {
    const int row = block_row + first_row + i / 4 * (tile.rows / 2) + i % 4;
    float* const c_row = c + row * size.ldc + block_column + first_column;
    store_results(c_row, alpha, sums[i][0], beta);
    store_results(c_row + tile.columns / 2, alpha, sums[i][1], beta);
  }
}

}  // namespace sgemm
