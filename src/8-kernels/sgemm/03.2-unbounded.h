// The same 8 x 8 per thread without any launch bound, on NVIDIA.
//
// Against 03.2: nvcc assumes no block where none is stated, and gives a thread up to 255 registers,
// where clang for AMD assumes blocks of 1024. So this is what fileaccent's text means to nvcc; 03.2
// with 1024 stated is what it means to clang.
// On the H200 26.48 TFLOP/s, as with the bound of 256 (26.50), with 94 registers in place of 111
// and no local memory; its loop is of 87 instructions, 64 of them FMAs, as there.
#pragma once

#include "device_code.h"
#include "stage.h"

namespace sgemm {

#if !defined(HIPSCOPE_BACKEND_AMD)

static __global__ void eight_by_eight_unbounded_kernel(TileSizes tile, Extents extents, float alpha,
                                                       const float* __restrict__ a,
                                                       const float* __restrict__ b, float beta,
                                                       float* __restrict__ c) {
  constexpr int side = 8;  // of a thread's elements
  constexpr int padding = 4;
  HIP_DYNAMIC_SHARED(float4, lds)
  const int a_pitch = tile.depth + padding;
  const int b_pitch = tile.columns + padding;
  float* const a_tile = reinterpret_cast<float*>(lds);
  float* const b_tile = a_tile + tile.rows * a_pitch;
  const int lda = static_cast<int>(extents.lda);
  const int ldb = static_cast<int>(extents.ldb);
  const int ldc = static_cast<int>(extents.ldc);
  const int thread = static_cast<int>(threadIdx.x);
  const int block_row = static_cast<int>(blockIdx.x) * tile.rows;
  const int block_column = static_cast<int>(blockIdx.y) * tile.columns;
  const int a_copy_row = thread >> 1;
  const int a_copy_k = (thread & 1) << 2;
  const int b_copy_k = thread >> 5;
  const int b_copy_column = (thread & 31) << 2;
  const int first_row = (thread >> 4) * side;
  const int first_column = (thread & 15) * side;
  const int a_place = (block_row + a_copy_row) * lda + a_copy_k;
  const int b_place = b_copy_k * ldb + block_column + b_copy_column;
  const int tiles = (static_cast<int>(extents.k) + tile.depth - 1) / tile.depth;
  float sums[side][side] = {};
  for (int index = 0; index < tiles; ++index) {
    store_four(a_tile + a_copy_row * a_pitch + a_copy_k,
               load_four(a + a_place + index * tile.depth));
    store_four(b_tile + b_copy_k * b_pitch + b_copy_column,
               load_four(b + b_place + index * tile.depth * ldb));
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
  c += (block_row + first_row) * ldc + block_column + first_column;
#pragma unroll
  for (int i = 0; i < side; ++i) {
    const float left[4] = {sums[i][0], sums[i][1], sums[i][2], sums[i][3]};
    const float right[4] = {sums[i][4], sums[i][5], sums[i][6], sums[i][7]};
    store_results(c + i * ldc, alpha, left, beta);
    store_results(c + i * ldc + 4, alpha, right, beta);
  }
}

inline Stage eight_by_eight_unbounded_stage() {
  return stage_of<eight_by_eight_unbounded_kernel, Grid::x_over_rows>(
      "8 x 8 per thread, no launch bounds", "", tiles_128, 128 * (8 + 4) + 8 * (128 + 4));
}

#endif

}  // namespace sgemm
