// Tiles of 64 x 64 with a depth of 16, 4 x 4 per thread, copied and stored four values at a time.
//
// Against thread_tile.h: each thread copies 16 bytes of A and 16 of B with one load each, and
// stores rows of 16 bytes; every row in LDS is followed by 4 values of padding, so that rows 4
// apart begin in other banks (rows of 20 values: 80 values further, bank 16). Then one thing at a
// time:
//   Fragments::none      operands named in LDS
//   Fragments::of_1_k    registers for one k: the row of B by one load of 16 bytes, A by four of 4
//   Fragments::of_4_k    4 x 4 values of A and of B in registers: all loads of 16 bytes
//   Fragments::of_2_k    4 x 2 and 2 x 4: half the registers, A by loads of 8 bytes
// and how threads lie over the tile (Layout): which lanes of a wave load the same values from LDS,
// which then costs once, and how many different ones they need. A wave of 4 rows of 16 lanes needs
// 16 + 64 values per k, one of 8 x 8 lanes 32 + 32. Threads in rows of 16 make waves of 4 x 16
// already, so that stage changes nothing; that is what it shows.
//   B transposed         B lies in LDS column by column, like A row by row: what was one load of 16
//                        bytes is four, and lanes meet in banks 80 values apart, eight lanes in
//                        each
#pragma once

#include "device_code.h"
#include "stage.h"
#include "thread_tile.h"

namespace sgemm {

enum class Fragments : unsigned { none = 0, of_1_k = 1, of_2_k = 2, of_4_k = 4 };
enum class TileOfB { by_row, transposed };

template <Fragments fragments, Layout layout, TileOfB tile_of_b>
__global__ void __launch_bounds__(assumed_threads)
    tile_64_kernel(Extents extents, float alpha, const float* __restrict__ a,
                   const float* __restrict__ b, float beta, float* __restrict__ c) {
  constexpr unsigned block_rows = 64;
  constexpr unsigned block_columns = 64;
  constexpr unsigned depth = 16;
  constexpr unsigned thread_rows = 4;
  constexpr unsigned thread_columns = 4;
  constexpr unsigned padding = 4;
  constexpr bool transposed = tile_of_b == TileOfB::transposed;
  constexpr unsigned a_pitch = depth + padding;
  constexpr unsigned b_pitch = (transposed ? depth : block_columns) + padding;
  alignas(16) __shared__ float a_tile[block_rows * a_pitch];
  alignas(16) __shared__ float b_tile[(transposed ? block_columns : depth) * b_pitch];
  const Place place = place_of<layout>(threadIdx.x);
  const unsigned first_row = place.row * thread_rows;
  const unsigned first_column = place.column * thread_columns;
  // Four values each: a row of A's tile has 4 such, a row of B's 16.
  const unsigned a_copy_row = threadIdx.x / 4;
  const unsigned a_copy_k = threadIdx.x % 4 * 4;
  const unsigned b_copy_k = threadIdx.x / 16;
  const unsigned b_copy_column = threadIdx.x % 16 * 4;
  a += (blockIdx.y * block_rows + a_copy_row) * extents.lda + a_copy_k;
  b += b_copy_k * extents.ldb + blockIdx.x * block_columns + b_copy_column;
  c += blockIdx.y * block_rows * extents.ldc + blockIdx.x * block_columns;
  float sums[thread_rows][thread_columns] = {};
  for (unsigned tile = 0; tile < extents.k; tile += depth) {
    store_four(a_tile + a_copy_row * a_pitch + a_copy_k, load_four(a));
    if constexpr (transposed) {
      store_transposed(b_tile + b_copy_column * b_pitch + b_copy_k, b_pitch, load_four(b));
    } else {
      store_four(b_tile + b_copy_k * b_pitch + b_copy_column, load_four(b));
    }
    a += depth;
    b += depth * extents.ldb;
    __syncthreads();
    const auto b_at = [&](unsigned k, unsigned column) -> const float& {
      return transposed ? b_tile[column * b_pitch + k] : b_tile[k * b_pitch + column];
    };
    if constexpr (fragments == Fragments::none) {
      for (unsigned k = 0; k < depth; ++k) {
        for (unsigned i = 0; i < thread_rows; ++i) {
          for (unsigned j = 0; j < thread_columns; ++j) {
            sums[i][j] += a_tile[(first_row + i) * a_pitch + k] * b_at(k, first_column + j);
          }
        }
      }
    } else {
      constexpr auto step = static_cast<unsigned>(fragments);
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
          if constexpr (transposed) {
#pragma unroll
            for (unsigned j = 0; j < thread_columns; ++j) {
              b_fragment[s][j] = b_at(k + s, first_column + j);
            }
          } else {
            load(b_fragment[s], b_tile + (k + s) * b_pitch + first_column);
          }
        }
        multiply_add(sums, a_fragment, b_fragment);
      }
    }
    __syncthreads();
  }
#pragma unroll
  for (unsigned i = 0; i < thread_rows; ++i) {
    store_results(c + (first_row + i) * extents.ldc + first_column, alpha, sums[i], beta);
  }
}

template <Fragments fragments, Layout layout = Layout::rows_of_16,
          TileOfB tile_of_b = TileOfB::by_row>
Stage tile_64_stage(const std::string& technique, const std::string& source_kernel) {
  return stage_of<tile_64_kernel<fragments, layout, tile_of_b>>(technique, source_kernel, tiles_64);
}

}  // namespace sgemm
