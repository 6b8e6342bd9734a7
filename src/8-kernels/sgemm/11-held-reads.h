// The loads from LDS placed between the FMAs by hand, and kept there. 256 threads, tiles of 64 x 64
// with a depth of 16, 4 x 4 per thread; ours, as are all later stages.
//
// Against 07, as 07.3, where the compiler decides the order: a group is the 8 FMAs of one row and
// two k, and the next group's operands are loaded before the FMAs of this one, so no FMA waits for
// a load that has just begun. On AMD scheduling_barrier keeps the compiler from moving the loads;
// ptxas orders NVIDIA's instructions by itself.
// On the H200 31.61 TFLOP/s, as 07.3.
#pragma once

#include "device_code.h"
#include "stage.h"

namespace sgemm {

static __global__ void __launch_bounds__(assumed_threads)
    held_reads_kernel(Extents extents, float alpha, const float* __restrict__ a,
                      const float* __restrict__ b, float beta, float* __restrict__ c) {
  constexpr unsigned block_rows = 64;
  constexpr unsigned block_columns = 64;
  constexpr unsigned depth = 16;
  constexpr unsigned thread_rows = 4;
  constexpr unsigned thread_columns = 4;
  constexpr unsigned step = 2;
  constexpr unsigned groups = depth / step * thread_rows;
  constexpr unsigned padding = 4;
  constexpr unsigned a_pitch = depth + padding;
  constexpr unsigned b_pitch = block_columns + padding;
  alignas(16) __shared__ float a_tile[block_rows * a_pitch];
  alignas(16) __shared__ float b_tile[depth * b_pitch];
  const Place place = {threadIdx.x / 16, threadIdx.x % 16};
  const unsigned a_copy_row = threadIdx.x / 4;
  const unsigned a_copy_k = threadIdx.x % 4 * 4;
  const unsigned b_copy_k = threadIdx.x / 16;
  const unsigned b_copy_column = threadIdx.x % 16 * 4;
  a += (blockIdx.y * block_rows + a_copy_row) * extents.lda + a_copy_k;
  b += b_copy_k * extents.ldb + blockIdx.x * block_columns + b_copy_column;
  c += (blockIdx.y * block_rows + place.row * thread_rows) * extents.ldc +
       blockIdx.x * block_columns + place.column * thread_columns;
  const float* const a_mine = a_tile + place.row * thread_rows * a_pitch;
  const float* const b_mine = b_tile + place.column * thread_columns;
  float sums[thread_rows][thread_columns] = {};
  for (unsigned tile = 0; tile < extents.k; tile += depth) {
    store_four(a_tile + a_copy_row * a_pitch + a_copy_k, load_four(a));
    store_four(b_tile + b_copy_k * b_pitch + b_copy_column, load_four(b));
    a += depth;
    b += depth * extents.ldb;
    __syncthreads();
    // Of two each, one is in use and the other is being loaded.
    float a_fragment[2][step];
    float b_fragment[2][step][thread_columns];
    load(a_fragment[0], a_mine);
    load(b_fragment[0][0], b_mine);
    load(b_fragment[0][1], b_mine + b_pitch);
#pragma unroll
    for (unsigned group = 0; group < groups; ++group) {
      const unsigned row = group % thread_rows;
      const unsigned k = group / thread_rows * step;
      if (group + 1 < groups) {
        const unsigned next_row = (group + 1) % thread_rows;
        const unsigned next_k = (group + 1) / thread_rows * step;
        load(a_fragment[(group + 1) % 2], a_mine + next_row * a_pitch + next_k);
      }
      if (row < step && k + step < depth) {
        load(b_fragment[(k / step + 1) % 2][row], b_mine + (k + step + row) * b_pitch);
      }
      scheduling_barrier();
#pragma unroll
      for (unsigned s = 0; s < step; ++s) {
#pragma unroll
        for (unsigned j = 0; j < thread_columns; ++j) {
          sums[row][j] += a_fragment[group % 2][s] * b_fragment[k / step % 2][s][j];
        }
      }
      scheduling_barrier();
    }
    __syncthreads();
  }
#pragma unroll
  for (unsigned i = 0; i < thread_rows; ++i) {
    store_results(c + i * extents.ldc, alpha, sums[i], beta);
  }
}

}  // namespace sgemm
