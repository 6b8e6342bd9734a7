// Which tile a block has, and, where blocks share tiles along k, which part of it: dgemm from 4.09
// on, and the last stage by MFMA with large tiles.
//
// Tiles split along k (`stream-K`, Osama et al., PPoPP 2023): 1024 tiles on 132 CUs take 8 rounds
// where 7.76 would do. The tiles of the last rounds are one long row of steps along k, of which
// each block takes an equal piece. A block that ends inside a tile passes its sums to the one that
// finishes it.
#pragma once

#include <algorithm>
#include <cstdint>

#include "stage.h"

namespace gemm {

/// A tile's place in C, a thread's in a tile, or an FMA's in a thread's part.
struct Place {
  unsigned row;
  unsigned column;
};

/// The tiles that blocks share, and what they need for it. Each block below `blocks` takes an equal
/// part of the steps of the first `tiles` tiles; each further block has one of the other tiles.
template <typename Value>
struct SplitTiles {
  unsigned tiles = 0;
  unsigned blocks = 0;
  Value* sums = nullptr;  ///< per block a tile's sums, that another block is to add
  /// Per block 1 when its sums are there; whoever takes them sets it to 0.
  unsigned* ready = nullptr;
};

/// Steps along k of a tile; with k = 0 one, of zeros.
__host__ __device__ constexpr unsigned steps_of(unsigned k, unsigned depth) {
  return k == 0 ? 1 : (k + depth - 1) / depth;
}

/// The first step of a block, of all tiles' steps one tile after the other.
template <typename Value>
__device__ unsigned first_step(unsigned block, const SplitTiles<Value>& split, unsigned steps) {
  if (block < split.blocks) {
    // A division of 64 bits is many instructions on AMD's GPUs.
    const unsigned all = split.tiles * steps;
    return all / split.blocks * block + all % split.blocks * block / split.blocks;
  }
  return (split.tiles + block - split.blocks) * steps;
}

/// Says, of a block all of whose threads have stored their sums, that they are there.
template <typename Value>
__device__ void set_ready(const SplitTiles<Value>& split) {
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) {
    atomicExch(&split.ready[blockIdx.x], 1U);
  }
}
/// Until the sums of `block` are there; for one thread, and once.
template <typename Value>
__device__ void take_ready(const SplitTiles<Value>& split, unsigned block) {
  while (atomicCAS(&split.ready[block], 1U, 0U) == 0) {
  }
}

/// Waits for the sums of all blocks before this one that have steps of the tile that begins at step
/// `tile_begin`; returns the first of them. They have handed them over before they did anything
/// else; and they run, or have run: split blocks come first in the grid, one for each CU at most,
/// and lower numbers begin no later.
template <typename Value>
__device__ unsigned take_ready_of_tile(const SplitTiles<Value>& split, unsigned steps,
                                       unsigned tile_begin) {
  unsigned first_block = blockIdx.x;
  while (first_step(first_block, split, steps) > tile_begin) {
    --first_block;
    if (threadIdx.x == 0) {
      take_ready(split, first_block);
    }
  }
  __threadfence();
  __syncthreads();
  return first_block;
}

/// The thread's index, of which the compiler knows nothing but that it is less than 1024: clang
/// would compute the addresses of all of a thread's sums before the loop over tiles, two registers
/// each. (Of a pointer it would no longer know that it points to device memory.)
__device__ inline unsigned thread_index() {
  unsigned index = threadIdx.x;
#if defined(__HIP_DEVICE_COMPILE__)
  asm volatile("" : "+v"(index));
  index %= 1024;
#endif
  return index;
}

/// A value that all lanes have, of which clang knows nothing: what follows from it is computed
/// after this place, and not kept in registers from before it.
__device__ inline unsigned computed_here(unsigned value) {
#if defined(__HIP_DEVICE_COMPILE__)
  value = __builtin_amdgcn_readfirstlane(value);
  asm volatile("" : "+s"(value));
#endif
  return value;
}

/// Where a tile is: groups of `group` rows of tiles, each column by column, so that blocks that run
/// at the same time share parts of A and of B in L2.
template <unsigned group = 4>
__device__ Place place_of_tile(unsigned tile, Extents extents, unsigned block_rows,
                               unsigned block_columns) {
  const unsigned rows = (extents.m + block_rows - 1) / block_rows;
  const unsigned columns = (extents.n + block_columns - 1) / block_columns;
  const unsigned first = tile / (group * columns) * group;
  const unsigned height = rows - first < group ? rows - first : group;
  const unsigned in_group = tile % (group * columns);
  return {(first + in_group % height) * block_rows, in_group / height * block_columns};
}

/// The marks of blocks or parts of tiles, in whole 256 bytes; they come first in a workspace, then
/// the sums.
inline std::uint64_t bytes_of_marks(unsigned parts) {
  return (std::uint64_t{parts} + 63) / 64 * 64 * sizeof(unsigned);
}

/// The workspace of blocks that share tiles of that many values.
template <typename Value>
std::uint64_t bytes_of_split_tiles(unsigned values, unsigned blocks = compute_units()) {
  return bytes_of_marks(blocks) + std::uint64_t{blocks} * values * std::uint64_t{sizeof(Value)};
}

/// The tiles that do not fill the last round of `resident` blocks, and one round more.
template <typename Value>
SplitTiles<Value> split_tiles(unsigned tiles, unsigned steps, unsigned resident, void* workspace) {
  constexpr unsigned fewest_steps = 4;  // of a block: less is not worth handing over
  SplitTiles<Value> split;
  if (tiles % resident > 0) {
    split.tiles = std::min(tiles, tiles % resident + resident);
    const unsigned most = std::max(split.tiles, split.tiles * steps / fewest_steps);
    split.blocks = std::min(resident, most);
  }
  split.ready = static_cast<unsigned*>(workspace);
  split.sums =
      reinterpret_cast<Value*>(static_cast<unsigned char*>(workspace) + bytes_of_marks(resident));
  return split;
}

/// Enqueues a kernel on one block per tile; of a stage that has a workspace, blocks share the tiles
/// of the last rounds. `more`: arguments after the tiles.
template <typename Value, typename Kernel, typename... More>
void enqueue_split_tiles(Kernel kernel, const Stage<Value>& stage, const Product<Value>& product,
                         More... more) {
  const unsigned tiles = blocks_of(product.extents.m, stage.tiles.block_rows) *
                         blocks_of(product.extents.n, stage.tiles.block_columns);
  const unsigned steps = steps_of(product.extents.k, stage.tiles.depth);
  const auto split = stage.workspace_bytes == nullptr
                         ? SplitTiles<Value>{}
                         : split_tiles<Value>(tiles, steps, compute_units() * stage.blocks_per_unit,
                                              product.workspace);
  hipscope::launch(kernel,
                   {.grid = dim3(split.blocks + tiles - split.tiles),
                    .block = dim3(stage.tiles.threads),
                    .lds_bytes = stage.dynamic_lds_bytes},
                   product.extents, product.alpha, product.a, product.b, product.beta, product.c,
                   split, more...);
}

}  // namespace gemm
