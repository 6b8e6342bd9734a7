// A is transposed in LDS, [k][row], so that both fragments are loads of 16 bytes.
//
// Against 03.2: two loads of 16 bytes for A's fragment in place of eight of 4; the copy to LDS is
// four stores of 4 bytes to rows `rows + padding` apart. (B begins where it did in 03.2, as in
// fileaccent's code, although a transposed A takes less.)
// On the H200 6.21 TFLOP/s, 152 bytes of local memory; with the bound of 256 32.73, 1.23 times
// 03.2.
#pragma once

#include "device_code.h"
#include "stage.h"

namespace sgemm {

template <unsigned planned_threads>
__global__ void __launch_bounds__(planned_threads)
    a_transposed_kernel(TileSizes tile, Sizes size, float alpha, const float* __restrict__ a,
                        const float* __restrict__ b, float beta, float* __restrict__ c) {
  constexpr int side = 8;  // of a thread's elements
  constexpr int padding = 4;
  HIP_DYNAMIC_SHARED(float4, lds)
  const int a_pitch = tile.rows + padding;
  const int b_pitch = tile.columns + padding;
  float* const a_tile = reinterpret_cast<float*>(lds);
  float* const b_tile = a_tile + tile.rows * (tile.depth + padding);
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
    store_column(a_tile, a_pitch, a_copy_k, a_copy_row,
                 load_four(a + a_place + index * tile.depth));
    store_four(b_tile + b_copy_k * b_pitch + b_copy_column,
               load_four(b + b_place + index * tile.depth * size.ldb));
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
