// The same with rows in LDS padded by 4 values: rows of A are 20 values apart, those of B 68.
//
// Against 07.4: nothing but the padding. With 24 values from one row of A to the next, rows 4 apart
// begin in the same bank; with 20, 16 banks apart. Less LDS, too: 18944 bytes in place of 21504.
// Corrected as 07.4.
// On the H200 32.74 TFLOP/s, as 07.4.
#pragma once

#include "device_code.h"
#include "stage.h"

namespace sgemm {

static __global__ void __launch_bounds__(assumed_threads)
    padding_of_four_kernel(Extents extents, float alpha, const float* a, const float* b, float beta,
                           float* c) {
  constexpr int tile_rows = 64;
  constexpr int tile_columns = 64;
  constexpr int depth = 16;
  constexpr int side = 4;  // of a thread's elements
  constexpr int padding = 4;
  constexpr int a_pitch = depth + padding;
  constexpr int b_pitch = tile_columns + padding;
  constexpr int a_size = tile_rows * a_pitch;
  constexpr int b_size = depth * b_pitch;
  HIP_DYNAMIC_SHARED(float4, lds)
  float* const a_tile = reinterpret_cast<float*>(lds);
  float* const b_tile = a_tile + 2 * a_size;
  const int lda = static_cast<int>(extents.lda);
  const int ldb = static_cast<int>(extents.ldb);
  const int ldc = static_cast<int>(extents.ldc);
  const int thread = static_cast<int>(threadIdx.x);
  const int block_row = static_cast<int>(blockIdx.y) * tile_rows;
  const int block_column = static_cast<int>(blockIdx.x) * tile_columns;
  const int a_copy_row = thread >> 2;
  const int a_copy_k = (thread & 3) << 2;
  const int b_copy_k = thread >> 4;
  const int b_copy_column = (thread & 15) << 2;
  const int first_row = (thread >> 4) * side;
  const int first_column = (thread & 15) * side;
  const int a_place = (block_row + a_copy_row) * lda + a_copy_k;
  const int b_place = b_copy_k * ldb + block_column + b_copy_column;
  const int tiles = (static_cast<int>(extents.k) + depth - 1) / depth;
  int a_buffer = 0;
  int b_buffer = 0;
  float4 of_a = load_four(a + a_place);
  float4 of_b = load_four(b + b_place);
  store_four(a_tile + a_copy_row * a_pitch + a_copy_k, of_a);
  store_four(b_tile + b_copy_k * b_pitch + b_copy_column, of_b);
  float a_fragment[side][2];
  float b_fragment[2][side];
  float sums[side][side] = {};
  const auto multiply_add_row = [&](int i, int k) {
    for (int j = 0; j < side; ++j) {
      sums[i][j] += a_fragment[i][k] * b_fragment[k][j];
    }
  };
  int index = 0;
  do {
    __syncthreads();
    const int next = index + 1 < tiles ? index + 1 : index;
    of_a = load_four(a + a_place + next * depth);
    of_b = load_four(b + b_place + next * depth * ldb);
    hold_loads();
    const float* const a_mine = a_tile + a_buffer + first_row * a_pitch;
    const float* const b_mine = b_tile + b_buffer + first_column;
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
      multiply_add_row(2, 1);
      if (step + 2 < depth) {
        load(b_fragment[0], b_mine + (step + 2) * b_pitch);
      }
      multiply_add_row(3, 1);
    }
    hold_loads();
    a_buffer ^= a_size;
    b_buffer ^= b_size;
    ++index;
    store_four(a_tile + a_buffer + a_copy_row * a_pitch + a_copy_k, of_a);
    store_four(b_tile + b_buffer + b_copy_k * b_pitch + b_copy_column, of_b);
  } while (index < tiles);
  c += (block_row + first_row) * ldc + block_column + first_column;
#pragma unroll
  for (int i = 0; i < side; ++i) {
    store_results(c + i * ldc, alpha, sums[i], beta);
  }
}

inline Stage padding_of_four_stage() {
  return stage_of<padding_of_four_kernel>("two LDS buffers, early loads, padding 4", "7.8",
                                          tiles_64, 2 * (64 * (16 + 4) + 16 * (64 + 4)));
}

}  // namespace sgemm
