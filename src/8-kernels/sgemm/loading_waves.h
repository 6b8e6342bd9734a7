// Twice the threads: one half of the waves loads the next tile while the other computes on this
// one.
//
// Against double_buffers.h: no thread both loads and computes. It costs twice the threads'
// registers for the same product, and on a CU whose waves take turns anyway the waves of two blocks
// would have done as well. (The source calls it wave tiling.) Whole waves go one way or the other,
// so that nothing diverges.
#pragma once

#include "device_code.h"
#include "stage.h"
#include "thread_tile.h"

namespace sgemm {

static __global__ void __launch_bounds__(assumed_threads)
    loading_waves_kernel(Extents extents, float alpha, const float* __restrict__ a,
                         const float* __restrict__ b, float beta, float* __restrict__ c) {
  constexpr unsigned block_rows = 64;
  constexpr unsigned block_columns = 64;
  constexpr unsigned depth = 16;
  constexpr unsigned computing_threads = 256;
  constexpr unsigned thread_rows = 4;
  constexpr unsigned thread_columns = 4;
  constexpr unsigned step = 2;
  constexpr unsigned a_pitch = depth + 4;
  constexpr unsigned b_pitch = block_columns + 4;
  alignas(16) __shared__ float a_tiles[2][block_rows * a_pitch];
  alignas(16) __shared__ float b_tiles[2][depth * b_pitch];
  const bool computes = threadIdx.x < computing_threads;
  const unsigned thread = threadIdx.x % computing_threads;
  const Place place = place_of<Layout::rows_of_16>(thread);
  const unsigned a_copy_row = thread / 4;
  const unsigned a_copy_k = thread % 4 * 4;
  const unsigned b_copy_k = thread / 16;
  const unsigned b_copy_column = thread % 16 * 4;
  a += (blockIdx.y * block_rows + a_copy_row) * extents.lda + a_copy_k;
  b += b_copy_k * extents.ldb + blockIdx.x * block_columns + b_copy_column;
  c += (blockIdx.y * block_rows + place.row * thread_rows) * extents.ldc +
       blockIdx.x * block_columns + place.column * thread_columns;
  const auto copy_tiles = [&](unsigned buffer) {
    store_four(a_tiles[buffer] + a_copy_row * a_pitch + a_copy_k, load_four(a));
    store_four(b_tiles[buffer] + b_copy_k * b_pitch + b_copy_column, load_four(b));
    a += depth;
    b += depth * extents.ldb;
  };
  float sums[thread_rows][thread_columns] = {};
  if (!computes) {
    copy_tiles(0);
  }
  __syncthreads();
  const unsigned tiles = extents.k / depth;
  for (unsigned tile = 0; tile < tiles; ++tile) {
    if (computes) {
      const float* const a_mine = a_tiles[tile % 2] + place.row * thread_rows * a_pitch;
      const float* const b_mine = b_tiles[tile % 2] + place.column * thread_columns;
#pragma unroll
      for (unsigned k = 0; k < depth; k += step) {
        float a_fragment[thread_rows][step];
        float b_fragment[step][thread_columns];
#pragma unroll
        for (unsigned i = 0; i < thread_rows; ++i) {
          load(a_fragment[i], a_mine + i * a_pitch + k);
        }
#pragma unroll
        for (unsigned s = 0; s < step; ++s) {
          load(b_fragment[s], b_mine + (k + s) * b_pitch);
        }
        multiply_add(sums, a_fragment, b_fragment);
      }
    } else if (tile + 1 < tiles) {
      copy_tiles((tile + 1) % 2);
    }
    __syncthreads();
  }
  if (computes) {
#pragma unroll
    for (unsigned i = 0; i < thread_rows; ++i) {
      store_results(c + i * extents.ldc, alpha, sums[i], beta);
    }
  }
}

inline Stage loading_waves_stage() {
  Tiles tiles = tiles_64;
  tiles.threads = 512;
  return stage_of<loading_waves_kernel>("half of the waves load", "7.7", tiles);
}

}  // namespace sgemm
