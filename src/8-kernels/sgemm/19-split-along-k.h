// Tiles that are split along k among blocks (`stream-K`, Osama et al., PPoPP 2023).
//
// Against 18: 512 tiles on 132 CUs take four rounds where 3.88 would do, and 32 tiles leave 100 CUs
// idle. The tiles of the last rounds are one long row of steps along k, of which each block takes
// an equal piece. A block that ends inside a tile passes its sums to the one that finishes it. A
// device-wide fence comes before and after the mark: the blocks may be on two XCDs, whose L2s are
// not coherent by themselves.
// On the H200 54.00 TFLOP/s, 1.06 times 18, 80.8 % of the peak.
// Compiled by clang 15 for gfx906, gfx90a and gfx1030: 209, 224 and 210 VGPRs, 37248 bytes of LDS,
// no scratch; 89.4, 87.7 and 89.2 % of the loop are FMAs.
//
// 20, against 19: for matrices of few tiles those of 16, 128 x 128, two blocks on each CU.
// On the H200 46.80 TFLOP/s at 4096, 0.942 of 16; 2.36 at 256, 1.78 times 13.
// Compiled as above: 125, 130 and 122 VGPRs, LDS and FMAs as 16.
#pragma once

#include "16-asynchronous-copies.h"

namespace sgemm {

/// Hands a thread's sums over. Each value by itself: with stores of 16 bytes the compiler would
/// keep the sums in groups of four registers, where FMAs' operands get into each other's way.
template <typename Tile>
__device__ void hand_over(const ThreadPart<Tile>& part, SplitTiles split) {
  float* const to = split.sums +
                    std::size_t{blockIdx.x} * (Tile::block_rows * Tile::block_columns) +
                    thread_index();
#pragma unroll
  for (unsigned i = 0; i < Tile::thread_rows; ++i) {
#pragma unroll
    for (unsigned j = 0; j < Tile::thread_columns; ++j) {
      to[(i * Tile::thread_columns + j) * Tile::threads] = part.sum(i, j);
    }
    scheduling_barrier();
  }
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) {
    atomicExch(&split.ready[blockIdx.x], 1U);
  }
}

/// Adds the sums of all blocks before this one that have steps of the tile that begins at step
/// `tile_begin`, down to its first. They have handed them over before they did anything else.
template <typename Tile>
__device__ void take_over(ThreadPart<Tile>& part, SplitTiles split, unsigned steps,
                          unsigned tile_begin) {
#if defined(__HIP_DEVICE_COMPILE__)
  // Row by row: with all sums in one loop over blocks clang would keep each in two registers.
  unsigned first = blockIdx.x;
  while (same_for_all_lanes(Tile::first_step(first, split, steps)) > tile_begin) {
    --first;
    if (threadIdx.x == 0) {
      while (atomicCAS(&split.ready[first], 1U, 0U) == 0) {
      }
    }
  }
  __threadfence();
  __syncthreads();
#pragma unroll
  for (unsigned i = 0; i < Tile::thread_rows; ++i) {
#pragma unroll 1
    for (unsigned block = first; block < blockIdx.x; ++block) {
      const float* const from = split.sums +
                                std::size_t{block} * (Tile::block_rows * Tile::block_columns) +
                                thread_index();
#pragma unroll
      for (unsigned j = 0; j < Tile::thread_columns; ++j) {
        part.add(i, j, from[(i * Tile::thread_columns + j) * Tile::threads]);
      }
    }
    scheduling_barrier();
  }
#else
  unsigned first = blockIdx.x;
  while (Tile::first_step(first, split, steps) > tile_begin) {
    --first;
  }
  for (unsigned block = first + threadIdx.x; block < blockIdx.x; block += Tile::threads) {
    while (atomicCAS(&split.ready[block], 1U, 0U) == 0) {
    }
    __threadfence();
  }
  __syncthreads();
#pragma unroll 1
  for (unsigned block = first; block < blockIdx.x; ++block) {
    const float* const from =
        split.sums + std::size_t{block} * (Tile::block_rows * Tile::block_columns) + threadIdx.x;
#pragma unroll
    for (unsigned i = 0; i < Tile::thread_rows; ++i) {
#pragma unroll
      for (unsigned j = 0; j < Tile::thread_columns; ++j) {
        part.add(i, j, from[(i * Tile::thread_columns + j) * Tile::threads]);
      }
    }
  }
#endif
}

/// A pipeline with tiles that are split: the block with a tile's last steps stores it.
template <typename Pipeline>
struct SplitAlongK : Pipeline {
  static constexpr bool splits_tiles = true;

  template <typename Tile>
  __device__ static bool finish(ThreadPart<Tile>& part, SplitTiles split, unsigned steps,
                                unsigned tile_begin, unsigned end) {
    const bool is_mine = end == tile_begin + steps;
    if (is_mine) {
      take_over(part, split, steps, tile_begin);
    } else {
      hand_over(part, split);
    }
    return is_mine;
  }
};

using TilesSplitAlongK = SplitAlongK<FmasInColumns>;
using EightByEightSplitAlongK = SplitAlongK<AsynchronousCopies<ThreadTile<8, 8>>>;

}  // namespace sgemm
