// Against 4.08: tiles that are split along k among blocks (tiles.h), so that no CU stands idle in
// the last round. Blocks that share a tile wait for one another: whoever ends inside a tile stores
// its sums and then sets a mark, whoever finishes it waits for the marks. Between sums and mark
// stands a fence for the whole device, on either side.
// On the H200 21.65 TFLOP/s, 1.01 times 4.08; at 1024 18.55, 1.76 times.
#pragma once

#include <string>

#include "stage.h"
#include "tiles.h"

namespace dgemm {

static __global__ void __launch_bounds__(256, 1)
    split_tile_kernel(Extents extents, double alpha, const double* __restrict__ a,
                      const double* __restrict__ b, double beta, double* __restrict__ c,
                      SplitTiles split) {
  constexpr unsigned side = 128;
  constexpr unsigned depth = 8;
  constexpr unsigned tile_of_thread = 8;
  constexpr unsigned pairs = tile_of_thread / 2;
  constexpr unsigned distance = 32;  // from a thread's pair to its next
  constexpr unsigned copies = 2;     // of 16 bytes, per thread and matrix
  alignas(16) __shared__ double a_tiles[2][depth][side + 2];
  alignas(16) __shared__ double b_tiles[2][depth][side + 2];
  const unsigned first_row = threadIdx.x / 16 * 2;
  const unsigned first_column = threadIdx.x % 16 * 2;
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
  double sums[tile_of_thread][tile_of_thread];
  const auto multiply = [&](unsigned buffer) {
  // No more k at once: clang would load all operands first, more than registers hold.
#pragma unroll 2
    for (unsigned k = 0; k < depth; ++k) {
      double of_a[tile_of_thread];
      double of_b[tile_of_thread];
#pragma unroll
      for (unsigned i = 0; i < pairs; ++i) {
        const double2 left = load_two(&a_tiles[buffer][k][first_row + i * distance]);
        const double2 right = load_two(&b_tiles[buffer][k][first_column + i * distance]);
        of_a[2 * i] = left.x;
        of_a[2 * i + 1] = left.y;
        of_b[2 * i] = right.x;
        of_b[2 * i + 1] = right.y;
      }
#pragma unroll
      for (unsigned i = 0; i < tile_of_thread; ++i) {
#pragma unroll
        for (unsigned j = 0; j < tile_of_thread; ++j) {
          sums[i][j] += of_a[i] * of_b[j];
        }
      }
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
#pragma unroll
    for (unsigned i = 0; i < tile_of_thread; ++i) {
#pragma unroll
      for (unsigned j = 0; j < tile_of_thread; ++j) {
        sums[i][j] = 0;
      }
    }
    load_tiles();
    store_tiles(0);
    __syncthreads();
    const unsigned last = end - first - 1;
#pragma unroll 1
    for (unsigned step = 0; step < last; ++step) {
      a_from += depth;
      b_from += depth * extents.ldb;
      load_tiles();
      multiply(step % 2);
      store_tiles((step + 1) % 2);
      __syncthreads();
    }
    multiply(last % 2);
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
      for (unsigned i = 0; i < tile_of_thread; ++i) {
        double row_sums[tile_of_thread];
#pragma unroll
        for (unsigned j = 0; j < tile_of_thread; ++j) {
          row_sums[j] = sums[i][j];
        }
#pragma unroll 1
        for (unsigned block = first_block; block < blockIdx.x; ++block) {
          const double* const from = split.sums + std::size_t{block} * side * side +
                                     i * tile_of_thread * 256 + threadIdx.x;
#pragma unroll
          for (unsigned j = 0; j < tile_of_thread; ++j) {
            row_sums[j] += from[j * 256];
          }
        }
        double* const row = first_of_c + (i / 2 * distance + i % 2) * extents.ldc;
#pragma unroll
        for (unsigned j = 0; j < tile_of_thread; ++j) {
          store_result(row + j / 2 * distance + j % 2, alpha, row_sums[j], beta);
        }
        end_of_row();
      }
    } else {
      double* const to = split.sums + std::size_t{blockIdx.x} * side * side + thread_index();
#pragma unroll
      for (unsigned i = 0; i < tile_of_thread; ++i) {
#pragma unroll
        for (unsigned j = 0; j < tile_of_thread; ++j) {
          to[(i * tile_of_thread + j) * 256] = sums[i][j];
        }
        end_of_row();
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

inline Stage split_tile_stage() {
  Stage stage{.technique = "8 x 8 per thread, split along k",
              .tiles = {.block_rows = 128,
                        .block_columns = 128,
                        .depth = 8,
                        .threads = 256,
                        .thread_rows = 8,
                        .thread_columns = 8},
              .unit = Unit::vector};
  stage.kernel = reinterpret_cast<const void*>(split_tile_kernel);
  stage.enqueue = [](const Stage& self, const Product& product) {
    enqueue_split(split_tile_kernel, self, product);
  };
  stage.workspace_bytes = [](const Extents&) { return bytes_of_split_tiles(128); };
  stage.is_contender = true;
  return stage;
}

}  // namespace dgemm
