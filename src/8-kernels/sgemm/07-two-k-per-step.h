// Two k per step, and everything known at compile time: the tile's extents, LDS as arrays of two
// dimensions. 256 threads; neighbouring blocks share columns of B.
//
// Against 03.2, whose copies without a division it has: tiles of 64 x 64 again, 4 x 4 per thread, A
// by loads of 8 bytes; all loops over the tile are unrolled, and places in LDS are constants.
// Against 05, half the operand registers. At launch fileaccent asks for the tiles' 9472 bytes
// again, unused: so does this, since it decides how many blocks a CU holds.
// On the H200 30.48 TFLOP/s, as 05.
#pragma once

#include "device_code.h"
#include "stage.h"

namespace sgemm {

static __global__ void __launch_bounds__(assumed_threads)
    two_k_per_step_kernel(Sizes size, float alpha, const float* __restrict__ a,
                          const float* __restrict__ b, float beta, float* __restrict__ c) {
  static constexpr TileSizes tile = {.rows = 64, .columns = 64, .depth = 16};
  constexpr int side = 4;  // of a thread's elements
  constexpr int padding = 4;
  constexpr int a_pitch = tile.depth + padding;
  constexpr int b_pitch = tile.columns + padding;
  alignas(16) __shared__ float a_tile[tile.rows][a_pitch];
  alignas(16) __shared__ float b_tile[tile.depth][b_pitch];
  const int thread = static_cast<int>(threadIdx.x);
  const int block_row = static_cast<int>(blockIdx.x) * tile.rows;
  const int block_column = static_cast<int>(blockIdx.y) * tile.columns;
  const int a_copy_row = thread >> 2;
  const int a_copy_k = (thread & 3) << 2;
  const int b_copy_k = thread >> 4;
  const int b_copy_column = (thread & 15) << 2;
  const int first_row = (thread >> 4) * side;
  const int first_column = (thread & 15) * side;
  const int a_place = (block_row + a_copy_row) * size.lda + a_copy_k;
  const int b_place = b_copy_k * size.ldb + block_column + b_copy_column;
  const int tiles = (size.k + tile.depth - 1) / tile.depth;
  float sums[side][side] = {};
  for (int index = 0; index < tiles; ++index) {
    store_four(&a_tile[a_copy_row][a_copy_k], load_four(a + a_place + index * tile.depth));
    store_four(&b_tile[b_copy_k][b_copy_column],
               load_four(b + b_place + index * tile.depth * size.ldb));
    __syncthreads();
    for (int step = 0; step < tile.depth; step += 2) {
      float a_fragment[side][2];
      float b_fragment[2][side];
      for (int i = 0; i < side; ++i) {
        load(a_fragment[i], &a_tile[first_row + i][step]);
      }
      for (int k = 0; k < 2; ++k) {
        load(b_fragment[k], &b_tile[step + k][first_column]);
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
