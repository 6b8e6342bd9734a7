// A double buffer in registers whose half is chosen by a variable.
//
// Against tile_64.h with Fragments::of_4_k: the operands of the next four k are loaded into the
// other half of two arrays while this half is computed with, in a loop that is not unrolled.
// Registers have no addresses, so an array that is indexed by a variable must lie in memory:
// scratch (NVIDIA: local memory), 256 bytes of it for each thread, read and written for every four
// k. In the source this is the slowest kernel but one. Its cure is one word: unroll the loop by
// two, and each index is known.
#pragma once

#include "device_code.h"
#include "stage.h"
#include "thread_tile.h"

namespace sgemm {

static __global__ void __launch_bounds__(assumed_threads)
    run_time_buffers_kernel(Extents extents, float alpha, const float* __restrict__ a,
                            const float* __restrict__ b, float beta, float* __restrict__ c) {
  constexpr unsigned block_rows = 64;
  constexpr unsigned block_columns = 64;
  constexpr unsigned depth = 16;
  constexpr unsigned thread_rows = 4;
  constexpr unsigned thread_columns = 4;
  constexpr unsigned step = 4;
  constexpr unsigned a_pitch = depth + 4;
  constexpr unsigned b_pitch = block_columns + 4;
  alignas(16) __shared__ float a_tiles[2][block_rows * a_pitch];
  alignas(16) __shared__ float b_tiles[2][depth * b_pitch];
  const Place place = place_of<Layout::rows_of_16>(threadIdx.x);
  const unsigned a_copy_row = threadIdx.x / 4;
  const unsigned a_copy_k = threadIdx.x % 4 * 4;
  const unsigned b_copy_k = threadIdx.x / 16;
  const unsigned b_copy_column = threadIdx.x % 16 * 4;
  a += (blockIdx.y * block_rows + a_copy_row) * extents.lda + a_copy_k;
  b += b_copy_k * extents.ldb + blockIdx.x * block_columns + b_copy_column;
  c += (blockIdx.y * block_rows + place.row * thread_rows) * extents.ldc +
       blockIdx.x * block_columns + place.column * thread_columns;
  float sums[thread_rows][thread_columns] = {};
  float a_fragment[2][thread_rows][step];
  float b_fragment[2][step][thread_columns];
  unsigned lds_half = 0;
  unsigned register_half = 0;
  const auto read = [&](unsigned half, unsigned k) {
    const float* const a_mine = a_tiles[lds_half] + place.row * thread_rows * a_pitch + k;
    const float* const b_mine = b_tiles[lds_half] + place.column * thread_columns + k * b_pitch;
#pragma unroll
    for (unsigned i = 0; i < 4; ++i) {
      load(a_fragment[half][i], a_mine + i * a_pitch);
      load(b_fragment[half][i], b_mine + i * b_pitch);
    }
  };
  for (unsigned tile = 0; tile < extents.k; tile += depth) {
    store_four(a_tiles[lds_half] + a_copy_row * a_pitch + a_copy_k, load_four(a));
    store_four(b_tiles[lds_half] + b_copy_k * b_pitch + b_copy_column, load_four(b));
    a += depth;
    b += depth * extents.ldb;
    __syncthreads();
    read(register_half, 0);
#pragma unroll 1
    for (unsigned k = 0; k < depth; k += step) {
      if (k + step < depth) {
        read(register_half ^ 1U, k + step);
      }
      multiply_add(sums, a_fragment[register_half], b_fragment[register_half]);
      register_half ^= 1U;
    }
    lds_half ^= 1U;
  }
#pragma unroll
  for (unsigned i = 0; i < thread_rows; ++i) {
    store_results(c + i * extents.ldc, alpha, sums[i], beta);
  }
}

inline Stage run_time_buffers_stage() {
  return stage_of<run_time_buffers_kernel>("double buffers chosen by a variable", "6", tiles_64);
}

}  // namespace sgemm
