// Lanes along a z-order curve, and a thread's 4 x 4 elements as four squares of 2 x 2, 32 apart.
//
// Against waves of 8 x 8 lanes in tile_64.h: neighbouring lanes stand in squares, so that any 4, 16
// or 64 of them need as few different values of A and B as can be; and the lanes' loads from LDS
// touch neighbouring places, where 4 x 4 in one piece leaves gaps. Two LDS buffers. (The source's
// kernel lacks a barrier between the use of a buffer and the next write to it.)
#pragma once

#include "device_code.h"
#include "stage.h"
#include "thread_tile.h"

namespace sgemm {

static __global__ void __launch_bounds__(assumed_threads)
    z_order_kernel(Extents extents, float alpha, const float* __restrict__ a,
                   const float* __restrict__ b, float beta, float* __restrict__ c) {
  constexpr unsigned block_rows = 64;
  constexpr unsigned block_columns = 64;
  constexpr unsigned depth = 16;
  constexpr unsigned square = 2;
  constexpr unsigned distance = 32;
  constexpr unsigned a_pitch = depth + 4;
  constexpr unsigned b_pitch = block_columns + 4;
  alignas(16) __shared__ float a_tiles[2][block_rows * a_pitch];
  alignas(16) __shared__ float b_tiles[2][depth * b_pitch];
  const Place place = place_of<Layout::waves_8x8_z_order>(threadIdx.x);
  const unsigned a_copy_row = threadIdx.x / 4;
  const unsigned a_copy_k = threadIdx.x % 4 * 4;
  const unsigned b_copy_k = threadIdx.x / 16;
  const unsigned b_copy_column = threadIdx.x % 16 * 4;
  a += (blockIdx.y * block_rows + a_copy_row) * extents.lda + a_copy_k;
  b += b_copy_k * extents.ldb + blockIdx.x * block_columns + b_copy_column;
  c += (blockIdx.y * block_rows + place.row * square) * extents.ldc + blockIdx.x * block_columns +
       place.column * square;
  const auto copy_tiles = [&](unsigned buffer) {
    store_four(a_tiles[buffer] + a_copy_row * a_pitch + a_copy_k, load_four(a));
    store_four(b_tiles[buffer] + b_copy_k * b_pitch + b_copy_column, load_four(b));
    a += depth;
    b += depth * extents.ldb;
  };
  // Where the i-th of a thread's four rows or columns is, from its first.
  const auto offset = [](unsigned i) { return i / square * distance + i % square; };
  float sums[4][4] = {};
  copy_tiles(0);
  __syncthreads();
  const unsigned tiles = extents.k / depth;
  for (unsigned tile = 0; tile < tiles; ++tile) {
    if (tile + 1 < tiles) {
      copy_tiles((tile + 1) % 2);
    }
    const float* const a_mine = a_tiles[tile % 2] + place.row * square * a_pitch;
    const float* const b_mine = b_tiles[tile % 2] + place.column * square;
#pragma unroll
    for (unsigned k = 0; k < depth; k += 2) {
      float a_fragment[4][2];
      float b_fragment[2][2][2];  // k, square, column
#pragma unroll
      for (unsigned i = 0; i < 4; ++i) {
        load(a_fragment[i], a_mine + offset(i) * a_pitch + k);
        load(b_fragment[i / 2][i % 2], b_mine + (k + i / 2) * b_pitch + i % 2 * distance);
      }
#pragma unroll
      for (unsigned s = 0; s < 2; ++s) {
#pragma unroll
        for (unsigned i = 0; i < 4; ++i) {
#pragma unroll
          for (unsigned j = 0; j < 4; ++j) {
            sums[i][j] += a_fragment[i][s] * b_fragment[s][j / 2][j % 2];
          }
        }
      }
    }
    __syncthreads();
  }
#pragma unroll
  for (unsigned i = 0; i < 4; ++i) {
#pragma unroll
    for (unsigned j = 0; j < 4; ++j) {
      store_result(c + offset(i) * extents.ldc + offset(j), alpha, sums[i][j], beta);
    }
  }
}

inline Stage z_order_stage() {
  return stage_of<z_order_kernel>("z-order lanes, four squares of 2 x 2", "9", tiles_64);
}

}  // namespace sgemm
