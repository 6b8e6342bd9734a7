// Against 4.10: tiles that are split along k among blocks, as 4.09 against 4.08.
#pragma once

#include <string>

#include "4.10-mfma.h"
#include "stage.h"
#include "tiles.h"

namespace dgemm {

#if !defined(HIPSCOPE_BACKEND_NVIDIA)

static __global__ void __launch_bounds__(mfma_threads)
    mfma_split_kernel(Extents extents, double alpha, const double* __restrict__ a,
                      const double* __restrict__ b, double beta, double* __restrict__ c,
                      SplitTiles split) {
#if defined(__HIP_DEVICE_COMPILE__) && !defined(HIPSCOPE_HAS_MFMA)
  __builtin_trap();  // never launched there
#endif
  constexpr unsigned side = 128;
  constexpr unsigned wave_side = 64;
  constexpr unsigned depth = 8;
  constexpr unsigned pitch = side + 2;
  constexpr unsigned copies = 2;  // of 16 bytes, per thread and matrix
  constexpr unsigned pieces = wave_side / 16;
  alignas(16) __shared__ double a_tiles[2][depth][pitch];
  alignas(16) __shared__ double b_tiles[2][depth][pitch];
  const unsigned wave = threadIdx.x / mfma_lanes;
  const unsigned lane = threadIdx.x % mfma_lanes;
  const unsigned first_row = wave / 2 * wave_side;
  const unsigned first_column = wave % 2 * wave_side;
  const unsigned a_row = threadIdx.x / 4;
  const unsigned a_k = threadIdx.x % 4 * 2;
  const unsigned b_k = threadIdx.x / 64;
  const unsigned b_column = threadIdx.x % 64 * 2;
  const double* a_from = nullptr;
  const double* b_from = nullptr;
  double2 next_of_a[copies];
  double2 next_of_b[copies];
  const auto load_tiles = [&] {
#pragma unroll
    for (unsigned i = 0; i < copies; ++i) {
      next_of_a[i] = load_two(a_from + i * 64 * extents.lda);
      next_of_b[i] = load_two(b_from + i * 4 * extents.ldb);
    }
  };
  const auto store_tiles = [&](unsigned buffer) {
#pragma unroll
    for (unsigned i = 0; i < copies; ++i) {
      a_tiles[buffer][a_k][a_row + i * 64] = next_of_a[i].x;
      a_tiles[buffer][a_k + 1][a_row + i * 64] = next_of_a[i].y;
      *reinterpret_cast<double2*>(&b_tiles[buffer][b_k + i * 4][b_column]) = next_of_b[i];
    }
  };
  const unsigned steps = extents.k / depth;
  const unsigned begin = first_step(blockIdx.x, split, steps);
  unsigned end = first_step(blockIdx.x + 1, split, steps);
#pragma unroll 1
  while (end > begin) {
    const unsigned tile = (end - 1) / steps;
    const unsigned tile_begin = tile * steps;
    const unsigned first = begin > tile_begin ? begin : tile_begin;
    const Place place = place_of_tile(tile, extents, side);
    a_from = a + (place.row + a_row) * extents.lda + (first - tile_begin) * depth + a_k;
    b_from = b + ((first - tile_begin) * depth + b_k) * extents.ldb + place.column + b_column;
    MfmaSums sums[pieces][pieces] = {};
    load_tiles();
    store_tiles(0);
    __syncthreads();
#pragma unroll 1
    for (unsigned step = 0; step < end - first; ++step) {
      // Behind the last tile the same is loaded once more: in the loop there is nothing to decide.
      const unsigned advance = step + 1 < end - first ? depth : 0;
      a_from += advance;
      b_from += advance * extents.ldb;
      load_tiles();
#pragma unroll
      for (unsigned k = 0; k < depth; k += 4) {
        double of_a[pieces];
        double of_b[pieces];
#pragma unroll
        for (unsigned i = 0; i < pieces; ++i) {
          of_a[i] = a_tiles[step % 2][k + lane / 16][first_row + i * 16 + lane % 16];
          of_b[i] = b_tiles[step % 2][k + lane / 16][first_column + i * 16 + lane % 16];
        }
#pragma unroll
        for (unsigned i = 0; i < pieces; ++i) {
#pragma unroll
          for (unsigned j = 0; j < pieces; ++j) {
            multiply_add_mfma(sums[i][j], of_a[i], of_b[j]);
          }
        }
      }
      store_tiles((step + 1) % 2);
      __syncthreads();
    }
    if (end == tile_begin + steps) {
      // Adds the sums of all blocks before this one that have steps of this tile. They have handed
      // them over before they did anything else; and they run, or have run: split blocks come first
      // in the grid, one for each CU at most, and lower numbers begin no later.
      unsigned first_block = blockIdx.x;
      while (first_step(first_block, split, steps) > tile_begin) {
        --first_block;
        if (threadIdx.x == 0) {
          while (atomicCAS(&split.ready[first_block], 1U, 0U) == 0) {
          }
        }
      }
      __threadfence();
      __syncthreads();
      double* const first_of_c =
          c + (place.row + first_row) * extents.ldc + place.column + first_column;
#pragma unroll
      for (unsigned i = 0; i < pieces; ++i) {
#pragma unroll
        for (unsigned j = 0; j < pieces; ++j) {
          MfmaSums piece = {sums[i][j][0], sums[i][j][1], sums[i][j][2], sums[i][j][3]};
#pragma unroll 1
          for (unsigned block = first_block; block < blockIdx.x; ++block) {
            const double* const from = split.sums + std::size_t{block} * side * side +
                                       (i * pieces + j) * 4 * 256 + threadIdx.x;
#pragma unroll
            for (unsigned value = 0; value < 4; ++value) {
              piece[value] += from[value * 256];
            }
          }
#pragma unroll
          for (unsigned value = 0; value < 4; ++value) {
            const unsigned row = i * 16 + 4 * value + lane / 16;
            store_result(first_of_c + row * extents.ldc + j * 16 + lane % 16, alpha, piece[value],
                         beta);
          }
          end_of_row();
        }
      }
    } else {
      double* const to = split.sums + std::size_t{blockIdx.x} * side * side + thread_index();
#pragma unroll
      for (unsigned i = 0; i < pieces; ++i) {
#pragma unroll
        for (unsigned j = 0; j < pieces; ++j) {
#pragma unroll
          for (unsigned value = 0; value < 4; ++value) {
            to[((i * pieces + j) * 4 + value) * 256] = sums[i][j][value];
          }
          end_of_row();
        }
      }
      __threadfence();
      __syncthreads();
      if (threadIdx.x == 0) {
        atomicExch(&split.ready[blockIdx.x], 1U);
      }
    }
    end = first;
    __syncthreads();  // all have read the last tile before the next one's first is written
  }
}

#endif

inline Stage mfma_split_stage() {
  Stage stage{.technique = "matrix instructions (MFMA), split along k",
              .tiles = {.block_rows = 128,
                        .block_columns = 128,
                        .depth = 8,
                        .threads = 256,
                        .thread_rows = 64,
                        .thread_columns = 64},
              .unit = Unit::matrix};
#if !defined(HIPSCOPE_BACKEND_NVIDIA)
  stage.kernel = reinterpret_cast<const void*>(mfma_split_kernel);
  stage.enqueue = [](const Stage& self, const Product& product) {
    enqueue_split(mfma_split_kernel, self, product);
  };
#endif
  stage.workspace_bytes = [](const Extents&) { return bytes_of_split_tiles(128); };
  stage.is_contender = true;
  stage.is_on = has_mfma;
  return stage;
}

}  // namespace dgemm
