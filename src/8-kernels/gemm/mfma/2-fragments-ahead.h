// Fragments one step ahead of the products, memory two tiles ahead, and the barrier amid the
// products.
//
// Against the larger tile of 1: there all waves wait for LDS at once after each barrier, and
// nothing fills that time. Here the fragments of a step are loaded while the step before is
// multiplied; and since the last step of a tile is multiplied from registers, the store of the next
// tile and the barrier come before it. That tile came from memory during the products of the tile
// before. A lane has twice the fragments, 64 registers of FP64. Not measured.
#pragma once

#include <hipscope/scheduling_barrier.h>

#include "1-fragments-of-16-bytes.h"

#if !defined(HIPSCOPE_BACKEND_NVIDIA)

namespace gemm::mfma {

/// Adds a block's product over `tiles` tiles, an even number, with the operands that `copy` brings,
/// to its waves' sums.
template <typename Tile, typename Copy>
__device__ void multiply_add_ahead(Sums<Tile>& sums, Copy& copy, Lds<Tile> (&lds)[2],
                                   unsigned tiles) {
  constexpr unsigned steps = 2 * Tile::fragments;
  Fragments<Tile> fragments[2];
  copy.load();
  copy.store(lds[0]);
  __syncthreads();
  copy.load();
  fragments[0].load(lds[0], 0, copy.thread());
#pragma unroll 1
  for (unsigned pair = 0; pair < tiles; pair += 2) {
#pragma unroll
    for (unsigned step = 0; step < steps; ++step) {
      const unsigned next = (step + 1) % steps;
      const bool is_of_next_tile = next % Tile::fragments == 0;
      if (is_of_next_tile) {  // after the last tile what nobody multiplies
        copy.store(lds[next / Tile::fragments]);
        __syncthreads();
      }
      fragments[next % 2].load(lds[next / Tile::fragments],
                               next % Tile::fragments * Tile::fragment_k, copy.thread());
      if (is_of_next_tile) {
        copy.load();  // after the barrier, at which clang waits for all that is in flight
      }
      hipscope::scheduling_barrier();
      sums.multiply_add(fragments[step % 2]);
      hipscope::scheduling_barrier();
    }
  }
}

/// A block's tile of C, at this row and column.
template <typename Tile>
__device__ void multiply_tile_ahead(const Extents& extents, typename Tile::Value alpha,
                                    const typename Tile::Value* a, const typename Tile::Value* b,
                                    typename Tile::Value beta, typename Tile::Value* c,
                                    unsigned row, unsigned column) {
  __shared__ Lds<Tile> lds[2];
  const unsigned tiles = extents.k / Tile::depth;
  Copy<Tile> copy(extents, a, b, row, column, 0, tiles);
  Sums<Tile> sums;
  multiply_add_ahead(sums, copy, lds, tiles);
  sums.store(c + std::size_t{row} * extents.ldc + column, extents.ldc, alpha, beta);
}

template <typename Tile>
static __global__ void __launch_bounds__(Tile::threads)
    fragments_ahead_kernel(Extents extents, typename Tile::Value alpha,
                           const typename Tile::Value* __restrict__ a,
                           const typename Tile::Value* __restrict__ b, typename Tile::Value beta,
                           typename Tile::Value* __restrict__ c) {
  multiply_tile_ahead<Tile>(extents, alpha, a, b, beta, c, blockIdx.y * Tile::rows,
                            blockIdx.x * Tile::columns);
}

template <typename Value>
Stage<Value> fragments_ahead_stage() {
  using Tile = LargeTile<Value>;
  return stage_of_tile<Tile, fragments_ahead_kernel<Tile>>("fragments ahead");
}

}  // namespace gemm::mfma

#endif
