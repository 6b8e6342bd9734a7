// Against 4.08: tiles are split along k among blocks (split_tiles.h), so that no CU is idle in the
// last round. Blocks that share a tile wait for one another: a block that ends inside a tile stores
// its sums and then sets a mark; the block that finishes the tile waits for the marks. Both have a
// device-wide fence between sums and mark.
// On the H200 22.08 TFLOP/s, 1.05 times 4.08; at 1024 19.11, 1.85 times.
#pragma once

#include <hipscope/scheduling_barrier.h>

#include <string>

#include "4.08-eight-by-eight.h"
#include "staged_tiles.h"

namespace dgemm {

template <typename Part>
__global__ void __launch_bounds__(staged_threads, Part::blocks_per_unit)
    staged_split_kernel(Extents extents, double alpha, const double* __restrict__ a,
                        const double* __restrict__ b, double beta, double* __restrict__ c,
                        SplitTiles split) {
  constexpr unsigned tile_sums = staged_side * staged_side;
  alignas(16) __shared__ TilesInLds tiles;
  const unsigned steps = extents.k / staged_depth;
  const unsigned begin = first_step(blockIdx.x, split, steps);
  unsigned end = first_step(blockIdx.x + 1, split, steps);
#pragma unroll 1
  while (end > begin) {
    const unsigned tile = (end - 1) / steps;
    const unsigned tile_begin = tile * steps;
    const unsigned first = begin > tile_begin ? begin : tile_begin;
    const Place place = gemm::place_of_tile(tile, extents, staged_side, staged_side);
    Part part;
    StagedCopies copies(tiles, extents, a, b, place, (first - tile_begin) * staged_depth);
    part.multiply(copies, tiles, end - first);
    if (end == tile_begin + steps) {
      const unsigned first_block = take_ready_of_tile(split, steps, tile_begin);
      double* const first_of_c =
          c + (place.row + Part::place().row) * extents.ldc + place.column + Part::place().column;
#pragma unroll
      for (unsigned group = 0; group < Part::groups; ++group) {
        double sums[Part::group_sums];
#pragma unroll
        for (unsigned j = 0; j < Part::group_sums; ++j) {
          sums[j] = part.sums[group][j];
        }
#pragma unroll 1
        for (unsigned block = first_block; block < blockIdx.x; ++block) {
          const double* const from = split.sums + std::size_t{block} * tile_sums +
                                     group * Part::group_sums * staged_threads + threadIdx.x;
#pragma unroll
          for (unsigned j = 0; j < Part::group_sums; ++j) {
            sums[j] += from[j * staged_threads];
          }
        }
        Part::store(first_of_c, extents, group, sums, alpha, beta);
        // Else clang would load all of another block's sums at once, into as many registers again.
        hipscope::scheduling_barrier();
      }
    } else {
      double* const to = split.sums + std::size_t{blockIdx.x} * tile_sums + gemm::thread_index();
#pragma unroll
      for (unsigned group = 0; group < Part::groups; ++group) {
#pragma unroll
        for (unsigned j = 0; j < Part::group_sums; ++j) {
          to[(group * Part::group_sums + j) * staged_threads] = part.sums[group][j];
        }
        hipscope::scheduling_barrier();
      }
      set_ready(split);
    }
    end = first;
    __syncthreads();  // all have read the last tile before the next one's first is written
  }
}

/// `whole`, but with tiles that blocks share.
template <typename Part>
Stage staged_split_stage(Stage whole, const std::string& technique) {
  whole.technique = technique;
  whole.kernel = reinterpret_cast<const void*>(staged_split_kernel<Part>);
  whole.enqueue = [](const Stage& self, const Product& product) {
    gemm::enqueue_split_tiles(staged_split_kernel<Part>, self, product);
  };
  whole.workspace_bytes = [](const Extents&) {
    return gemm::bytes_of_split_tiles<double>(staged_side * staged_side);
  };
  return whole;
}

inline Stage split_tile_stage() {
  return staged_split_stage<EightByEight>(register_tile_stage(), "8 x 8 per thread, split along k");
}

}  // namespace dgemm
