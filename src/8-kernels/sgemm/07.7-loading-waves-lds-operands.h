// Twice the threads: one half of the waves loads the next tile while the other computes on this
// one, and FMAs name their operands in LDS. Blocks of 256 x 2 threads.
//
// Against 07: no thread both loads and computes, and there are two LDS buffers and one barrier per
// tile. It costs twice the threads' registers for the same product; on a CU whose waves take turns
// anyway, the waves of two blocks would do as well. Whole waves go one way or the other, so nothing
// diverges. The 16 k are written out without fragments, and the waves' lanes are arranged as 4 x 16
// (as rows of 16 threads are anyway). (fileaccent calls it wave tiling.) LDS is not aligned to 16
// KiB, as 08.1 explains.
// On the H200 31.57 TFLOP/s, 1.04 times 07.
#pragma once

#include "device_code.h"
#include "stage.h"

namespace sgemm {

static __global__ void __launch_bounds__(assumed_threads)
    loading_waves_lds_operands_kernel(Sizes size, float alpha, const float* __restrict__ a,
                                      const float* __restrict__ b, float beta,
                                      float* __restrict__ c) {
  static constexpr TileSizes tile = {.rows = 64, .columns = 64, .depth = 16};
  constexpr int side = 4;  // of a thread's elements
  constexpr int padding = 4;
  constexpr int a_pitch = tile.depth + padding;
  constexpr int b_pitch = tile.columns + padding;
  constexpr int a_size = tile.rows * a_pitch;
  constexpr int b_size = tile.depth * b_pitch;
  HIP_DYNAMIC_SHARED(float4, lds)
  float* const a_tile = reinterpret_cast<float*>(lds);
  float* const b_tile = a_tile + 2 * a_size;
  const int thread = static_cast<int>(threadIdx.x);
  const bool computes = threadIdx.y == 0;
  const int block_row = static_cast<int>(blockIdx.y) * tile.rows;
  const int block_column = static_cast<int>(blockIdx.x) * tile.columns;
  const int a_copy_row = thread >> 2;
  const int a_copy_k = (thread & 3) << 2;
  const int b_copy_k = thread >> 4;
  const int b_copy_column = (thread & 15) << 2;
  const int wave = thread / static_cast<int>(wave_lanes);
  const int lane = thread % static_cast<int>(wave_lanes);
  const int first_row = (wave * 4 + lane / 16) * side;
  const int first_column = lane % 16 * side;
  const int a_place = (block_row + a_copy_row) * size.lda + a_copy_k;
  const int b_place = b_copy_k * size.ldb + block_column + b_copy_column;
  const int tiles = (size.k + tile.depth - 1) / tile.depth;
  int a_buffer = 0;
  int b_buffer = 0;
  const auto copy_tiles = [&](int index, int a_to, int b_to) {
    store_four(a_tile + a_to + a_copy_row * a_pitch + a_copy_k,
               load_four(a + a_place + index * tile.depth));
    store_four(b_tile + b_to + b_copy_k * b_pitch + b_copy_column,
               load_four(b + b_place + index * tile.depth * size.ldb));
  };
  float sums[side][side] = {};
  int index = 0;
  if (computes) {
    copy_tiles(0, 0, 0);
  }
  do {
    __syncthreads();
    if (!computes && index + 1 < tiles) {
      copy_tiles(index + 1, a_buffer ^ a_size, b_buffer ^ b_size);
    }
    if (computes) {
      const float* const a_mine = a_tile + a_buffer + first_row * a_pitch;
      const float* const b_mine = b_tile + b_buffer + first_column;
#pragma unroll
      for (int k = 0; k < tile.depth; ++k) {
        for (int i = 0; i < side; ++i) {
          for (int j = 0; j < side; ++j) {
            sums[i][j] += a_mine[i * a_pitch + k] * b_mine[k * b_pitch + j];
          }
        }
      }
    }
    a_buffer ^= a_size;
    b_buffer ^= b_size;
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
