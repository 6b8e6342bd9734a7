// The 16 k of a tile written out, the loads from LDS placed between the FMAs by hand.
//
// Against 07: operands are loaded shortly before the first FMA that needs them, the next row's pair
// of A's values after each row's FMAs, so that fewer are held at once and loads are spread over the
// FMAs.
// That is the text; where the loads end up is the compiler's choice (11 holds them in their
// places). Neighbouring blocks share rows of A; LDS is taken at launch.
// On the H200 31.46 TFLOP/s, 1.03 times 07.
#pragma once

#include "device_code.h"
#include "stage.h"

namespace sgemm {

static __global__ void __launch_bounds__(assumed_threads)
    placed_reads_kernel(Sizes size, float alpha, const float* __restrict__ a,
                        const float* __restrict__ b, float beta, float* __restrict__ c) {
  constexpr int tile_rows = 64;
  constexpr int tile_columns = 64;
  constexpr int depth = 16;
  constexpr int side = 4;  // of a thread's elements
  constexpr int padding = 4;
  constexpr int a_pitch = depth + padding;
  constexpr int b_pitch = tile_columns + padding;
  HIP_DYNAMIC_SHARED(float4, lds)
  float* const a_tile = reinterpret_cast<float*>(lds);
  float* const b_tile = a_tile + tile_rows * a_pitch;
  const int thread = static_cast<int>(threadIdx.x);
  const int block_row = static_cast<int>(blockIdx.y) * tile_rows;
  const int block_column = static_cast<int>(blockIdx.x) * tile_columns;
  const int a_copy_row = thread >> 2;
  const int a_copy_k = (thread & 3) << 2;
  const int b_copy_k = thread >> 4;
  const int b_copy_column = (thread & 15) << 2;
  const int first_row = (thread >> 4) * side;
  const int first_column = (thread & 15) * side;
  const int a_place = (block_row + a_copy_row) * size.lda + a_copy_k;
  const int b_place = b_copy_k * size.ldb + block_column + b_copy_column;
  const int tiles = (size.k + depth - 1) / depth;
  const float* const a_mine = a_tile + first_row * a_pitch;
  const float* const b_mine = b_tile + first_column;
  float a_fragment[side][2];
  float b_fragment[2][side];
  float sums[side][side] = {};
  const auto multiply_add_row = [&](int i, int k, int from = 0, int end = 4) {
    for (int j = from; j < end; ++j) {
      sums[i][j] += a_fragment[i][k] * b_fragment[k][j];
    }
  };
  for (int index = 0; index < tiles; ++index) {
    store_four(a_tile + a_copy_row * a_pitch + a_copy_k, load_four(a + a_place + index * depth));
    store_four(b_tile + b_copy_k * b_pitch + b_copy_column,
               load_four(b + b_place + index * depth * size.ldb));
    __syncthreads();
    load(a_fragment[0], a_mine);
    load(b_fragment[0], b_mine);
#pragma unroll
    for (int step = 0; step < depth; step += 2) {
      multiply_add_row(0, 0);
      load(a_fragment[1], a_mine + a_pitch + step);
      multiply_add_row(1, 0);
      load(a_fragment[2], a_mine + 2 * a_pitch + step);
      multiply_add_row(2, 0);
      load(a_fragment[3], a_mine + 3 * a_pitch + step);
      multiply_add_row(3, 0);
      load(b_fragment[1], b_mine + (step + 1) * b_pitch);
      multiply_add_row(0, 1);
      multiply_add_row(1, 1);
      if (step + 2 < depth) {
        load(a_fragment[0], a_mine + step + 2);
      }
      multiply_add_row(2, 1, 0, 3);
      if (step + 2 < depth) {
        load(b_fragment[0], b_mine + (step + 2) * b_pitch);
      }
      multiply_add_row(2, 1, 3, 4);
      multiply_add_row(3, 1);
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
