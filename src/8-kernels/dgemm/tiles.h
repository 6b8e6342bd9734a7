// What the last rungs have in common beside their kernels: which tile a block has, and, where
// blocks share tiles, which part of whose.
//
// Tiles split along k (`stream-K`, Osama et al., PPoPP 2023): 1024 tiles on 132 CUs take 8 rounds
// where 7.76 would do. The tiles of the last rounds are one long row of steps along k, of which
// each block takes an equal piece. A block that ends inside a tile hands its sums over to the one
// that finishes it.
#pragma once

#include <algorithm>
#include <cstdint>

#include "stage.h"

namespace dgemm {

/// The tiles that blocks share, and what they need for it. Each block below `blocks` takes an equal
/// part of the steps of the first `tiles` tiles; each further block has one of the other tiles.
struct SplitTiles {
  unsigned tiles = 0;
  unsigned blocks = 0;
  double* sums = nullptr;  ///< per block a tile's sums, that another block is to add
  /// Per block 1 when its sums are there; whoever takes them sets it to 0.
  unsigned* ready = nullptr;
};

/// Steps along k of a tile; with k = 0 one, of zeros.
__host__ __device__ constexpr unsigned steps_of(unsigned k, unsigned depth) {
  return k == 0 ? 1 : (k + depth - 1) / depth;
}

/// The first step of a block, of all tiles' steps one tile after the other.
__device__ inline unsigned first_step(unsigned block, SplitTiles split, unsigned steps) {
  if (block < split.blocks) {
    return static_cast<unsigned>(std::uint64_t{split.tiles} * steps * block / split.blocks);
  }
  return (split.tiles + block - split.blocks) * steps;
}

/// Nothing moves past it: clang would load all of another block's sums at once, into as many
/// registers again.
__device__ inline void end_of_row() {
#if defined(__HIP_DEVICE_COMPILE__)
  __builtin_amdgcn_sched_barrier(0);
#endif
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

/// Where a tile lies: groups of rows of tiles, each column by column, so that blocks that run at
/// the same time share parts of A and of B in L2.
__device__ inline Place place_of_tile(unsigned tile, Extents extents, unsigned side) {
  constexpr unsigned group = 4;
  const unsigned rows = (extents.m + side - 1) / side;
  const unsigned columns = (extents.n + side - 1) / side;
  const unsigned first = tile / (group * columns) * group;
  const unsigned height = rows - first < group ? rows - first : group;
  const unsigned in_group = tile % (group * columns);
  return {(first + in_group % height) * side, in_group / height * side};
}

/// Blocks that run at once: one per CU.
inline unsigned resident_blocks() {
  static const unsigned blocks = [] {
    int device = 0;
    int units = 0;
    hipscope::check(hipGetDevice(&device));
    hipscope::check(hipDeviceGetAttribute(&units, hipDeviceAttributeMultiprocessorCount, device));
    return static_cast<unsigned>(units);
  }();
  return blocks;
}

/// The tiles that do not fill the last round of blocks, and one round more, are split.
inline SplitTiles split_tiles(unsigned tiles, unsigned steps, unsigned resident) {
  constexpr unsigned fewest_steps = 4;  // of a block: less is not worth handing over
  SplitTiles split;
  if (tiles % resident > 0) {
    split.tiles = std::min(tiles, tiles % resident + resident);
    const unsigned most = std::max(split.tiles, split.tiles * steps / fewest_steps);
    split.blocks = std::min(resident, most);
  }
  return split;
}

/// The marks come first in a workspace, then the sums.
inline std::uint64_t bytes_of_marks() {
  return (std::uint64_t{resident_blocks()} + 63) / 64 * 64 * sizeof(unsigned);
}

/// What blocks that share tiles of side x side want as a workspace.
inline std::uint64_t bytes_of_split_tiles(unsigned side) {
  return bytes_of_marks() +
         std::uint64_t{resident_blocks()} * side * side * std::uint64_t{sizeof(double)};
}

inline unsigned tiles_of(const Stage& stage, const Product& product) {
  return blocks_of(product.extents.m, stage.tiles.block_rows) *
         blocks_of(product.extents.n, stage.tiles.block_columns);
}

/// Enqueues a kernel on one block per tile: none is split.
template <typename Kernel>
void enqueue_whole(Kernel kernel, const Stage& stage, const Product& product) {
  hipscope::launch(kernel,
                   {.grid = dim3(tiles_of(stage, product)),
                    .block = dim3(stage.tiles.threads),
                    .lds_bytes = stage.dynamic_lds_bytes},
                   product.extents, product.alpha, product.a, product.b, product.beta, product.c,
                   SplitTiles{});
}

/// Enqueues a kernel whose blocks share the tiles of the last rounds.
template <typename Kernel>
void enqueue_split(Kernel kernel, const Stage& stage, const Product& product) {
  const unsigned tiles = tiles_of(stage, product);
  SplitTiles split =
      split_tiles(tiles, steps_of(product.extents.k, stage.tiles.depth), resident_blocks());
  split.ready = static_cast<unsigned*>(product.workspace);
  split.sums =
      reinterpret_cast<double*>(static_cast<unsigned char*>(product.workspace) + bytes_of_marks());
  hipscope::launch(kernel,
                   {.grid = dim3(split.blocks + tiles - split.tiles),
                    .block = dim3(stage.tiles.threads),
                    .lds_bytes = stage.dynamic_lds_bytes},
                   product.extents, product.alpha, product.a, product.b, product.beta, product.c,
                   split);
}

}  // namespace dgemm
