// Tiles of 128 x 128 with a depth of 8, 8 x 8 per thread, 256 threads.
//
// Against 64 x 64: a thread does 64 FMAs with 16 values, 1 byte from LDS per FMA instead of 2, and
// device memory is asked for half. It takes 64 registers for the sums alone, though, and that is
// all that a thread has on gfx908 when the compiler plans for blocks of 1024 (`planned_threads`):
// the rest goes to AGPRs or to scratch. With the block's own size as bound nothing does.
//   TileOfA::by_row      [m][k]: one load of 4 bytes per row of A
//   TileOfA::transposed  [k][m]: both operands by loads of 16 bytes
//   Copying::halves      the first half of the threads copies A, the second B: fewer addresses per
//                        thread, and two loads in a row for each
#pragma once

#include "device_code.h"
#include "stage.h"

namespace sgemm {

enum class TileOfA { by_row, transposed };
enum class Copying { all_threads, halves };

template <TileOfA tile_of_a, Copying copying, unsigned planned_threads>
__global__ void __launch_bounds__(planned_threads)
    tile_128_kernel(Extents extents, float alpha, const float* __restrict__ a,
                    const float* __restrict__ b, float beta, float* __restrict__ c) {
  constexpr unsigned block_rows = 128;
  constexpr unsigned block_columns = 128;
  constexpr unsigned depth = 8;
  constexpr unsigned threads = 256;
  constexpr unsigned thread_rows = 8;
  constexpr unsigned thread_columns = 8;
  constexpr unsigned padding = 4;
  constexpr bool transposed = tile_of_a == TileOfA::transposed;
  constexpr unsigned a_pitch = (transposed ? block_rows : depth) + padding;
  constexpr unsigned b_pitch = block_columns + padding;
  alignas(16) __shared__ float a_tile[(transposed ? depth : block_rows) * a_pitch];
  alignas(16) __shared__ float b_tile[depth * b_pitch];
  const Place place = place_of<Layout::rows_of_16>(threadIdx.x);
  const unsigned first_row = place.row * thread_rows;
  const unsigned first_column = place.column * thread_columns;
  a += blockIdx.y * block_rows * extents.lda;
  b += blockIdx.x * block_columns;
  c += blockIdx.y * block_rows * extents.ldc + blockIdx.x * block_columns;
  // Four values of the tile's 256 times four: two such in a row of A's, 32 in a row of B's.
  const auto copy_a = [&](unsigned i) {
    const unsigned row = i / 2;
    const unsigned k = i % 2 * 4;
    const float4 values = load_four(a + row * extents.lda + k);
    if constexpr (transposed) {
      store_transposed(a_tile + k * a_pitch + row, a_pitch, values);
    } else {
      store_four(a_tile + row * a_pitch + k, values);
    }
  };
  const auto copy_b = [&](unsigned i) {
    const unsigned k = i / 32;
    const unsigned column = i % 32 * 4;
    store_four(b_tile + k * b_pitch + column, load_four(b + k * extents.ldb + column));
  };
  float sums[thread_rows][thread_columns] = {};
  for (unsigned tile = 0; tile < extents.k; tile += depth) {
    if constexpr (copying == Copying::all_threads) {
      copy_a(threadIdx.x);
      copy_b(threadIdx.x);
    } else if (threadIdx.x < threads / 2) {
      copy_a(2 * threadIdx.x);
      copy_a(2 * threadIdx.x + 1);
    } else {
      copy_b(threadIdx.x - threads / 2);
      copy_b(threadIdx.x);
    }
    a += depth;
    b += depth * extents.ldb;
    __syncthreads();
#pragma unroll
    for (unsigned k = 0; k < depth; ++k) {
      float b_fragment[thread_columns];
      load(b_fragment, b_tile + k * b_pitch + first_column);
      if constexpr (transposed) {
        float a_fragment[thread_rows];
        load(a_fragment, a_tile + k * a_pitch + first_row);
        multiply_add(sums, a_fragment, b_fragment);
      } else {
#pragma unroll
        for (unsigned i = 0; i < thread_rows; ++i) {
          const float value = a_tile[(first_row + i) * a_pitch + k];
#pragma unroll
          for (unsigned j = 0; j < thread_columns; ++j) {
            sums[i][j] += value * b_fragment[j];
          }
        }
      }
    }
    __syncthreads();
  }
#pragma unroll
  for (unsigned i = 0; i < thread_rows; ++i) {
    store_results(c + (first_row + i) * extents.ldc + first_column, alpha, sums[i], beta);
  }
}

/// 128 x 128 x 8, 8 x 8 per thread.
inline constexpr Tiles tiles_128 = {.block_rows = 128,
                                    .block_columns = 128,
                                    .depth = 8,
                                    .threads = 256,
                                    .thread_rows = 8,
                                    .thread_columns = 8};

template <TileOfA tile_of_a, Copying copying, unsigned planned_threads>
Stage tile_128_stage(const std::string& technique, const std::string& source_kernel) {
  return stage_of<tile_128_kernel<tile_of_a, copying, planned_threads>>(technique, source_kernel,
                                                                        tiles_128);
}

}  // namespace sgemm
