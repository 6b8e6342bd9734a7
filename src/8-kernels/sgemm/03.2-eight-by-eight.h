// Tiles of 128 x 128 with a depth of 8, 8 x 8 per thread, 256 threads; neighbouring blocks share
// columns of B.
//
// Against 04, whose padding and copies of 16 bytes it has: a thread does 64 FMAs with 16 values, 1
// byte from LDS per FMA instead of 2, and half of the loads from memory; B's fragment is two loads
// of 16 bytes, A comes value by value. A thread finds what it copies by shifts, without a division,
// before the loop. But the sums alone take 64 registers, all that a thread has on gfx908 when the
// compiler plans for blocks of 1024 (`planned_threads`): the rest goes to AGPRs or to scratch
// (NVIDIA: local memory). With a bound of 256, the block's own size, nothing does.
// On the H200 5.89 TFLOP/s with a bound of 1024 and 144 bytes of local memory; 26.53 with 256.
//
// fileaccent states no bound. To clang that means 1024; nvcc assumes nothing about the block's size
// and gives a thread up to 255 registers. On the H200 26.51 TFLOP/s, with 94 registers where the
// bound of 256 has 111, and no local memory either; as there, the loop has 87 instructions, 64 of
// them FMAs.
#pragma once

#include "device_code.h"
#include "stage.h"

namespace sgemm {

template <unsigned planned_threads>
__global__ void __launch_bounds__(planned_threads)
    eight_by_eight_kernel(TileSizes tile, Sizes size, float alpha, const float* __restrict__ a,
                          const float* __restrict__ b, float beta, float* __restrict__ c) {
  constexpr int side = 8;  // of a thread's elements
  constexpr int padding = 4;
  HIP_DYNAMIC_SHARED(float4, lds)
  const int a_pitch = tile.depth + padding;
  const int b_pitch = tile.columns + padding;
  float* const a_tile = reinterpret_cast<float*>(lds);
  float* const b_tile = a_tile + tile.rows * a_pitch;
  const int thread = static_cast<int>(threadIdx.x);
  const int block_row = static_cast<int>(blockIdx.x) * tile.rows;
  const int block_column = static_cast<int>(blockIdx.y) * tile.columns;
  const int a_copy_row = thread >> 1;
  const int a_copy_k = (thread & 1) << 2;
  const int b_copy_k = thread >> 5;
  const int b_copy_column = (thread & 31) << 2;
  const int first_row = (thread >> 4) * side;
  const int first_column = (thread & 15) * side;
  const int a_place = (block_row + a_copy_row) * size.lda + a_copy_k;
  const int b_place = b_copy_k * size.ldb + block_column + b_copy_column;
  const int tiles = (size.k + tile.depth - 1) / tile.depth;
  float sums[side][side] = {};
  for (int index = 0; index < tiles; ++index) {
    store_four(a_tile + a_copy_row * a_pitch + a_copy_k,
               load_four(a + a_place + index * tile.depth));
    store_four(b_tile + b_copy_k * b_pitch + b_copy_column,
               load_four(b + b_place + index * tile.depth * size.ldb));
    __syncthreads();
    for (int k = 0; k < tile.depth; ++k) {
      float b_fragment[2][4];
      load(b_fragment[0], b_tile + k * b_pitch + first_column);
      load(b_fragment[1], b_tile + k * b_pitch + first_column + 4);
      for (int i = 0; i < side; ++i) {
        const float of_a = a_tile[(first_row + i) * a_pitch + k];
        for (int j = 0; j < side; ++j) {
          sums[i][j] += b_fragment[j / 4][j % 4] * of_a;
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
