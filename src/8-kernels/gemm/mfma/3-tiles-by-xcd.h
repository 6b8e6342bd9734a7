// Tiles in an order that minimizes the loads of each L2: hgemm's 07.4 for these tiles.
//
// Against 2: an XCD has neighbouring tiles (tiles_by_xcd.h). Not measured.
#pragma once

#include "2-fragments-ahead.h"
#include "8-kernels/gemm/tiles_by_xcd.h"

#if !defined(HIPSCOPE_BACKEND_NVIDIA)

namespace gemm::mfma {

template <typename Tile>
static __global__ void __launch_bounds__(Tile::threads)
    tiles_by_xcd_kernel(Extents extents, typename Tile::Value alpha,
                        const typename Tile::Value* __restrict__ a,
                        const typename Tile::Value* __restrict__ b, typename Tile::Value beta,
                        typename Tile::Value* __restrict__ c, unsigned xcds) {
  const TilePlace place =
      tile_by_xcd(blockIdx.x, extents.m / Tile::rows, extents.n / Tile::columns, xcds);
  multiply_tile_ahead<Tile>(extents, alpha, a, b, beta, c, place.row * Tile::rows,
                            place.column * Tile::columns);
}

template <typename Tile>
void enqueue_tiles_by_xcd(const Stage<typename Tile::Value>& stage,
                          const Product<typename Tile::Value>& product) {
  const dim3 tiles = grid_of(stage.tiles, product.extents);
  hipscope::launch(tiles_by_xcd_kernel<Tile>,
                   {.grid = dim3(tiles.x * tiles.y), .block = dim3(Tile::threads)}, product.extents,
                   product.alpha, product.a, product.b, product.beta, product.c, xcds());
}

template <typename Value>
Stage<Value> tiles_by_xcd_stage() {
  using Tile = LargeTile<Value>;
  return stage_of_tile<Tile>("tiles by XCD",
                             reinterpret_cast<const void*>(tiles_by_xcd_kernel<Tile>),
                             enqueue_tiles_by_xcd<Tile>);
}

}  // namespace gemm::mfma

#endif
