// Fragments one step ahead of the products, and the barrier amid the products.
//
// Against 07.2: there all waves wait for LDS at once after each barrier, and nothing fills that
// time. Here the fragments of a step are loaded while the step before is multiplied; and since the
// last step of a tile is multiplied from registers, the store of the next tile and the barrier come
// before it. A lane has twice the fragments, 48 registers on CDNA.
#pragma once

#include <hipscope/scheduling_barrier.h>

#include "07.2-larger-tile.h"
#include "stage.h"

namespace hgemm {

/// Adds a block's product, with the operands that `copy` brings, to its waves' sums.
template <typename Tile, typename Copy>
__device__ void multiply_add_ahead(typename Tile::Sums& wave, Copy& copy, unsigned k) {
  using Code = typename Tile::Code;
  constexpr unsigned steps = Tile::depth / Fragment<Code>::k;
  __shared__ typename Tile::A a_tile[2];
  __shared__ typename Tile::B b_tile[2];
  Fragment<Code> left[2][Tile::Sums::down];
  Fragment<Code> right[2][Tile::Sums::across];
  copy.load();
  copy.store(a_tile[0], b_tile[0]);
  __syncthreads();
  load_fragments(left[0], a_tile[0], Tile::first_row(), 0);
  load_fragments(right[0], b_tile[0], Tile::first_column(), 0);
  for (unsigned first_k = 0; first_k < k; first_k += Tile::depth) {
    const unsigned buffer = first_k / Tile::depth % 2;
    if (first_k + Tile::depth < k) {
      copy.load();
    }
#pragma unroll
    for (unsigned step = 0; step < steps; ++step) {
      const bool is_last = step == steps - 1;
      const unsigned from = is_last ? 1 - buffer : buffer;
      const unsigned next_k = is_last ? 0 : (step + 1) * Fragment<Code>::k;
      if (is_last) {  // after the last tile with what nobody multiplies
        copy.store(a_tile[from], b_tile[from]);
        __syncthreads();
      }
      load_fragments(left[(step + 1) % 2], a_tile[from], Tile::first_row(), next_k);
      load_fragments(right[(step + 1) % 2], b_tile[from], Tile::first_column(), next_k);
      hipscope::scheduling_barrier();
      wave.multiply_add(left[step % 2], right[step % 2]);
      hipscope::scheduling_barrier();
    }
  }
}

template <typename Code, typename Value, typename Result>
static __global__ void __launch_bounds__(large_tile_threads)
    fragments_ahead_kernel(Extents extents, float alpha, const Value* __restrict__ a,
                           const Value* __restrict__ b, float beta, Result* __restrict__ c) {
  using Tile = LargeTile<Code>;
  const unsigned row = blockIdx.y * Tile::rows;
  const unsigned column = blockIdx.x * Tile::columns;
  LargeTileCopy<Tile, Value> copy(extents, a, b, row, column);
  typename Tile::Sums wave;
  multiply_add_ahead<Tile>(wave, copy, extents.k);
  wave.store(c + std::size_t{row + Tile::first_row()} * extents.ldc + column + Tile::first_column(),
             extents.ldc, alpha, beta);
}

}  // namespace hgemm
