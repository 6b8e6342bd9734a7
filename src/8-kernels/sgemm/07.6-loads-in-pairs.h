// The double buffer in registers with its loads together: those of the next two k stand before this
// step's FMAs, those of the k after them in their midst. B by pairs of columns. Compiled for its
// 256 threads.
//
// Against 07.5: not one load after each row's FMAs but five and three at once, 8 bytes each in
// the text; where they end up, and whether two become one of 16 bytes, is the compiler's choice.
// (fileaccent's list calls it a register double buffer in assembly, not finished since some places
// in LDS could not be read: its code has the loads from memory in assembly, those from LDS are
// ordinary.) Corrected as 07.4. And there rows 2 and 3 of A are loaded from row 1's place, all k
// but the first two, and B's second row as four values into a pair, past the end of the array: its
// result is wrong, and its published time is that of these loads all the same. Not yet measured on
// the H200.
#pragma once

#include "device_code.h"
#include "stage.h"

namespace sgemm {

static __global__ void __launch_bounds__(256)
    loads_in_pairs_kernel(Sizes size, float alpha, const float* a, const float* b, float beta,
                          float* c) {
  constexpr int tile_rows = 64;
  constexpr int tile_columns = 64;
  constexpr int depth = 16;
  constexpr int side = 4;  // of a thread's elements
  constexpr int padding = 8;
  constexpr int a_pitch = depth + padding;
  constexpr int b_pitch = tile_columns + padding;
  constexpr int a_size = tile_rows * a_pitch;
  constexpr int b_size = depth * b_pitch;
  HIP_DYNAMIC_SHARED(float4, lds)
  float* const a_tile = reinterpret_cast<float*>(lds);
  float* const b_tile = a_tile + 2 * a_size;
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
  int a_buffer = 0;
  int b_buffer = 0;
  float4 of_a = load_four(a + a_place);
  float4 of_b = load_four(b + b_place);
  store_four(a_tile + a_copy_row * a_pitch + a_copy_k, of_a);
  store_four(b_tile + b_copy_k * b_pitch + b_copy_column, of_b);
  float a_fragment[2][side][2];
  float b_fragment[2][2][2][2];  // half, k, pair of columns, column
  float sums[side][side] = {};
  int half = 0;
  const auto load_b = [&](float(&pairs)[2][2], const float* from) {
    load(pairs[0], from);
    load(pairs[1], from + 2);
  };
  const auto multiply_add_row = [&](int i, int k) {
    for (int j = 0; j < side; ++j) {
      sums[i][j] += a_fragment[half][i][k] * b_fragment[half][k][j / 2][j % 2];
    }
  };
  int index = 0;
  do {
    __syncthreads();
    const int next = index + 1 < tiles ? index + 1 : index;
    of_a = load_four(a + a_place + next * depth);
    of_b = load_four(b + b_place + next * depth * size.ldb);
    memory_scheduling_barrier();
    const float* const a_mine = a_tile + a_buffer + first_row * a_pitch;
    const float* const b_mine = b_tile + b_buffer + first_column;
    for (int i = 0; i < side; ++i) {
      load(a_fragment[half][i], a_mine + i * a_pitch);
    }
    load_b(b_fragment[half][0], b_mine);
    load_b(b_fragment[half][1], b_mine + b_pitch);
    load(a_fragment[half ^ 1][0], a_mine + 2);
    load_b(b_fragment[half ^ 1][0], b_mine + 2 * b_pitch);
#pragma unroll
    for (int step = 0; step < depth; step += 2) {
      const int ahead = step + 2;
      if (ahead < depth) {
        for (int i = 1; i < side; ++i) {
          load(a_fragment[half ^ 1][i], a_mine + i * a_pitch + ahead);
        }
        load_b(b_fragment[half ^ 1][1], b_mine + (ahead + 1) * b_pitch);
      }
      for (int i = 0; i < side; ++i) {
        multiply_add_row(i, 0);
      }
      multiply_add_row(0, 1);
      if (ahead + 2 < depth) {
        load(a_fragment[half][0], a_mine + ahead + 2);
        load_b(b_fragment[half][0], b_mine + (ahead + 2) * b_pitch);
      }
      for (int i = 1; i < side; ++i) {
        multiply_add_row(i, 1);
      }
      half ^= 1;
    }
    memory_scheduling_barrier();
    a_buffer ^= a_size;
    b_buffer ^= b_size;
    ++index;
    store_four(a_tile + a_buffer + a_copy_row * a_pitch + a_copy_k, of_a);
    store_four(b_tile + b_buffer + b_copy_k * b_pitch + b_copy_column, of_b);
  } while (index < tiles);
  c += (block_row + first_row) * size.ldc + block_column + first_column;
#pragma unroll
  for (int i = 0; i < side; ++i) {
    store_results(c + i * size.ldc, alpha, sums[i], beta);
  }
}

}  // namespace sgemm
