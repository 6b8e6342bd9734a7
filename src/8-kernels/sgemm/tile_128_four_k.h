// 128 x 128 with a depth of 16 and four k per step, by 2 x 2 waves of 8 x 8 lanes.
//
// Against tile_128.h: half the barriers, and all loads from LDS are of 16 bytes with A by rows, for
// which a thread holds 8 x 4 values of A and 4 x 8 of B beside its 64 sums: 128 registers before
// any address. (The source calls it a register double buffer in assembly, which it is not.)
#pragma once

#include "device_code.h"
#include "stage.h"
#include "tile_128.h"

namespace sgemm {

template <unsigned planned_threads>
__global__ void __launch_bounds__(planned_threads)
    tile_128_four_k_kernel(Extents extents, float alpha, const float* __restrict__ a,
                           const float* __restrict__ b, float beta, float* __restrict__ c) {
  constexpr unsigned block_rows = 128;
  constexpr unsigned block_columns = 128;
  constexpr unsigned depth = 16;
  constexpr unsigned threads = 256;
  constexpr unsigned thread_rows = 8;
  constexpr unsigned thread_columns = 8;
  constexpr unsigned step = 4;
  constexpr unsigned a_pitch = depth + 4;
  constexpr unsigned b_pitch = block_columns + 4;
  alignas(16) __shared__ float a_tile[block_rows * a_pitch];
  alignas(16) __shared__ float b_tile[depth * b_pitch];
  const Place place = place_of<Layout::waves_8x8>(threadIdx.x);
  const unsigned first_row = place.row * thread_rows;
  const unsigned first_column = place.column * thread_columns;
  // Four values each, 512 of them per tile: 4 in a row of A's, 32 in a row of B's.
  const unsigned a_copy_row = threadIdx.x / 4;
  const unsigned a_copy_k = threadIdx.x % 4 * 4;
  const unsigned b_copy_k = threadIdx.x / 32;
  const unsigned b_copy_column = threadIdx.x % 32 * 4;
  a += (blockIdx.y * block_rows + a_copy_row) * extents.lda + a_copy_k;
  b += b_copy_k * extents.ldb + blockIdx.x * block_columns + b_copy_column;
  c += blockIdx.y * block_rows * extents.ldc + blockIdx.x * block_columns;
  float sums[thread_rows][thread_columns] = {};
  for (unsigned tile = 0; tile < extents.k; tile += depth) {
#pragma unroll
    for (unsigned part = 0; part < 2; ++part) {
      const unsigned row = part * (threads / 4);
      const unsigned k = part * (threads / 32);
      store_four(a_tile + (a_copy_row + row) * a_pitch + a_copy_k,
                 load_four(a + row * extents.lda));
      store_four(b_tile + (b_copy_k + k) * b_pitch + b_copy_column, load_four(b + k * extents.ldb));
    }
    a += depth;
    b += depth * extents.ldb;
    __syncthreads();
#pragma unroll
    for (unsigned k = 0; k < depth; k += step) {
      float a_fragment[thread_rows][step];
      float b_fragment[step][thread_columns];
#pragma unroll
      for (unsigned i = 0; i < thread_rows; ++i) {
        load(a_fragment[i], a_tile + (first_row + i) * a_pitch + k);
      }
#pragma unroll
      for (unsigned s = 0; s < step; ++s) {
        load(b_fragment[s], b_tile + (k + s) * b_pitch + first_column);
      }
      multiply_add(sums, a_fragment, b_fragment);
    }
    __syncthreads();
  }
#pragma unroll
  for (unsigned i = 0; i < thread_rows; ++i) {
    store_results(c + (first_row + i) * extents.ldc + first_column, alpha, sums[i], beta);
  }
}

template <unsigned planned_threads>
Stage tile_128_four_k_stage(const std::string& technique, const std::string& source_kernel) {
  Tiles tiles = tiles_128;
  tiles.depth = 16;
  return stage_of<tile_128_four_k_kernel<planned_threads>>(technique, source_kernel, tiles);
}

}  // namespace sgemm
