// Two LDS buffers for each tile: while the block computes on one, the next tile is in flight. Rows
// in LDS are padded by 8 values.
//
// Against 07.3: the loads of the next tile are issued before the FMAs of this one and are stored
// into the other buffer after them, so that device memory's latency passes under the FMAs; and one
// barrier per tile is enough instead of two. Corrected: fileaccent issues these loads in inline
// assembly and waits for them in another asm statement, further down. Nothing tells the compiler
// that the registers between the two are not yet loaded: it may copy, spill or store them there,
// and once it does the product is wrong. An ordinary load is just as asynchronous on both vendors'
// hardware, and the compiler puts the wait where the value is first used: here, after
// memory_scheduling_barrier, which keeps it from issuing the load only there. (Behind the last tile
// the same is loaded, and stored, once more: where fileaccent branches around its two loads, clang
// would wait for one before the other. And nothing may say that A and B are not written to, or
// clang would load them before the barrier, where everything is waited for. fileaccent stores C in
// assembly too, by the instruction that an ordinary store is.)
// On the H200 32.71 TFLOP/s, 1.04 times 07.3; 49.0 % of the peak, of 50 that LDS allows.
//
// And 7.8, nothing but the padding: 4 values. With 24 values from one row of A to the next, rows 4
// apart begin in the same bank; with 20, 16 banks apart. Less LDS, too: 18944 bytes in place of
// 21504. On the H200 32.74 TFLOP/s, as 7.4.
#pragma once

#include "device_code.h"
#include "stage.h"

namespace sgemm {

template <int padding>
__global__ void __launch_bounds__(assumed_threads)
    two_lds_buffers_kernel(Sizes size, float alpha, const float* a, const float* b, float beta,
                           float* c) {
  constexpr int tile_rows = 64;
  constexpr int tile_columns = 64;
  constexpr int depth = 16;
  constexpr int side = 4;  // of a thread's elements
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
  float a_fragment[side][2];
  float b_fragment[2][side];
  float sums[side][side] = {};
  const auto multiply_add_row = [&](int i, int k, int from = 0, int end = 4) {
    for (int j = from; j < end; ++j) {
      sums[i][j] += a_fragment[i][k] * b_fragment[k][j];
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
