// Twice the threads: one half of the waves loads the next tile while the other computes on this
// one. Blocks of 256 x 2 threads; neighbouring blocks share columns of B.
//
// Against 07: no thread both loads and computes, four k of the operands are in registers, and there
// are two LDS buffers and one barrier per tile. It costs twice the threads' registers for the same
// product, and on a CU whose waves take turns anyway the waves of two blocks would have done as
// well. Whole waves go one way or the other, so that nothing diverges. LDS for one more tile is
// asked for at launch and not used, as by fileaccent. Corrected: there both halves store the first
// tile, the same values to the same places.
//
// fileaccent's repository contradicts itself here: its list calls 7.6 a register double buffer in
// assembly, not finished because some places in LDS could not be read. Its code of that number has
// no assembly and is this, and the counters it published are this code's too: 512 threads and 28672
// bytes of LDS. So the time in the list is taken to be of the code. (12 has loads in assembly.)
// On the H200 31.08 TFLOP/s, 1.02 times 07.
#pragma once

#include "device_code.h"
#include "stage.h"

namespace sgemm {

static __global__ void __launch_bounds__(assumed_threads)
    loading_waves_kernel(Sizes size, float alpha, const float* __restrict__ a,
                         const float* __restrict__ b, float beta, float* __restrict__ c) {
  constexpr int tile_rows = 64;
  constexpr int tile_columns = 64;
  constexpr int depth = 16;
  constexpr int side = 4;  // of a thread's elements
  constexpr int padding = 4;
  alignas(16) __shared__ float a_tile[2][tile_rows][depth + padding];
  alignas(16) __shared__ float b_tile[2][depth][tile_columns + padding];
  const int thread = static_cast<int>(threadIdx.x);
  const bool computes = threadIdx.y == 0;
  const int block_row = static_cast<int>(blockIdx.x) * tile_rows;
  const int block_column = static_cast<int>(blockIdx.y) * tile_columns;
  const int a_copy_row = thread >> 2;
  const int a_copy_k = (thread & 3) << 2;
  const int b_copy_k = thread >> 4;
  const int b_copy_column = (thread & 15) << 2;
  const int first_row = (thread >> 4) * side;
  const int first_column = (thread & 15) * side;
  const int a_place = (block_row + a_copy_row) * size.lda + a_copy_k;
  const int b_place = b_copy_k * size.ldb + block_column + b_copy_column;
  const int tiles = (size.k + depth - 1) / depth;
  const auto copy_tiles = [&](int index, int buffer) {
    store_four(&a_tile[buffer][a_copy_row][a_copy_k], load_four(a + a_place + index * depth));
    store_four(&b_tile[buffer][b_copy_k][b_copy_column],
               load_four(b + b_place + index * depth * size.ldb));
  };
  float sums[side][side] = {};
  int buffer = 0;
  int index = 0;
  if (computes) {
    copy_tiles(0, buffer);
  }
  do {
    __syncthreads();
    if (!computes && index + 1 < tiles) {
      copy_tiles(index + 1, buffer ^ 1);
    }
    if (computes) {
      for (int step = 0; step < depth; step += side) {
        float a_fragment[side][side];
        float b_fragment[side][side];
        for (int i = 0; i < side; ++i) {
          load(a_fragment[i], &a_tile[buffer][first_row + i][step]);
        }
        for (int k = 0; k < side; ++k) {
          load(b_fragment[k], &b_tile[buffer][step + k][first_column]);
        }
        for (int i = 0; i < side; ++i) {
          for (int j = 0; j < side; ++j) {
            for (int k = 0; k < side; ++k) {
              sums[i][j] += a_fragment[i][k] * b_fragment[k][j];
            }
          }
        }
      }
    }
    buffer ^= 1;
    ++index;
  } while (index < tiles);
  if (computes) {
    c += (block_row + first_row) * size.ldc + block_column + first_column;
    for (int i = 0; i < side; ++i) {
      store_results(c + i * size.ldc, alpha, sums[i], beta);
    }
  }
}

}  // namespace sgemm
