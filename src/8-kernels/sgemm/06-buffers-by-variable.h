// A double buffer in registers whose half is chosen by a variable, and two LDS buffers.
//
// Against 05: the operands of the next four k are loaded into the other half of two arrays after
// the FMAs with this half; the next tile is copied to the other LDS buffer, with one barrier per
// tile; the tile's extents are known when it compiles. Registers have no addresses, so an array
// that is indexed by a variable must be in memory: scratch (NVIDIA: local memory), 256 bytes of it
// for each thread, read and written for every four k. Of fileaccent's stages only 1 and 10 are
// slower. The fix is one word: unroll the loop by two, and each index is known. `unroll 1` keeps
// the flaw: some compilers unroll by themselves and find that the variable is a constant. As
// fileaccent has it, each half is loaded twice, and the launch asks for the tiles' LDS once more.
// On the H200 30.10 TFLOP/s, 0.992 of 05: nvcc takes no local memory for it.
#pragma once

#include "device_code.h"
#include "stage.h"

namespace sgemm {

static __global__ void __launch_bounds__(assumed_threads)
    buffers_by_variable_kernel(Sizes size, float alpha, const float* __restrict__ a,
                               const float* __restrict__ b, float beta, float* __restrict__ c) {
  static constexpr TileSizes tile = {.rows = 64, .columns = 64, .depth = 16};
  constexpr int side = 4;  // of a thread's elements, and k per step
  constexpr int padding = 4;
  alignas(16) __shared__ float a_tile[2][tile.rows][tile.depth + padding];
  alignas(16) __shared__ float b_tile[2][tile.depth][tile.columns + padding];
  const int threads = static_cast<int>(blockDim.x);
  const int thread = static_cast<int>(threadIdx.x);
  const int block_row = static_cast<int>(blockIdx.y) * tile.rows;
  const int block_column = static_cast<int>(blockIdx.x) * tile.columns;
  const int a_value = thread * ((tile.rows * tile.depth + threads - 1) / threads);
  const int a_copy_row = a_value / tile.depth;
  const int a_copy_k = a_value % tile.depth;
  const int b_value = thread * ((tile.depth * tile.columns + threads - 1) / threads);
  const int b_copy_k = b_value / tile.columns;
  const int b_copy_column = b_value % tile.columns;
  const int first_row = thread / (tile.columns / side) * side;
  const int first_column = thread % (tile.columns / side) * side;
  const int a_place = (block_row + a_copy_row) * size.lda + a_copy_k;
  const int b_place = b_copy_k * size.ldb + block_column + b_copy_column;
  const int tiles = (size.k + tile.depth - 1) / tile.depth;
  float sums[side][side] = {};
  float a_fragment[2][side][side];
  float b_fragment[2][side][side];
  int buffer = 0;
  int half = 0;
  const auto copy_tiles = [&](int index) {
    store_four(&a_tile[buffer][a_copy_row][a_copy_k], load_four(a + a_place + index * tile.depth));
    store_four(&b_tile[buffer][b_copy_k][b_copy_column],
               load_four(b + b_place + index * tile.depth * size.ldb));
  };
  const auto load_half = [&](int step) {
    for (int i = 0; i < side; ++i) {
      for (int k = 0; k < side; ++k) {
        a_fragment[half][i][k] = a_tile[buffer][first_row + i][step + k];
      }
    }
    for (int k = 0; k < side; ++k) {
      for (int j = 0; j < side; ++j) {
        b_fragment[half][k][j] = b_tile[buffer][step + k][first_column + j];
      }
    }
  };
  int index = 0;
  copy_tiles(index);
  do {
    __syncthreads();
    int step = 0;
    load_half(step);
#pragma unroll 1
    do {
      load_half(step);
      for (int i = 0; i < side; ++i) {
        for (int j = 0; j < side; ++j) {
          for (int k = 0; k < side; ++k) {
            sums[i][j] += a_fragment[half][i][k] * b_fragment[half][k][j];
          }
        }
      }
      half ^= 1;
      step += side;
      if (step < tile.depth) {
        load_half(step);
      }
    } while (step < tile.depth);
    buffer ^= 1;
    ++index;
    if (index < tiles) {
      copy_tiles(index);
    }
  } while (index < tiles);
  c += (block_row + first_row) * size.ldc + block_column + first_column;
  for (int i = 0; i < side; ++i) {
    for (int j = 0; j < side; ++j) {
      store_result(c + i * size.ldc + j, alpha, sums[i][j], beta);
    }
  }
}

}  // namespace sgemm
