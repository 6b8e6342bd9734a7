// Tiles in an order that minimizes the loads of each L2.
//
// Against 07.3: blocks begin row of tiles by row of tiles, each on the next XCD where a GPU has
// several, with an L2 each (MI300X and MI350X have 8). With 32 tiles across, the 38 that an XCD of
// MI300X has at once are in 10 rows and 4 columns of tiles, 14 tiles' operands for its L2 to load;
// with 33 across in 10 rows and 33 columns. Here an XCD has neighbours, in panels eight tiles high:
// 13 tiles' operands either way. Nobody promises on which XCD a block runs: AMD's blocks go round
// the XCDs in turn ("Compute and Memory Partition Modes", ROCm's documentation of MI300). A wrong
// guess only costs speed, and block_placement tells of it: there blocks read XCC_ID, and finding
// `XCDs that take turns` has no value where blocks do not go round. (Tiles by XCC_ID itself would
// take an atomic for each block, and another way for blocks whose XCD has no tile left.)
#pragma once

#include "07.3-fragments-ahead.h"
#include "8-kernels/gemm/tiles_by_xcd.h"
#include "stage.h"

namespace hgemm {

template <typename Code, typename Value, typename Result>
static __global__ void __launch_bounds__(large_tile_threads)
    tiles_by_xcd_kernel(Extents extents, float alpha, const Value* __restrict__ a,
                        const Value* __restrict__ b, float beta, Result* __restrict__ c,
                        unsigned xcds) {
  using Tile = LargeTile<Code>;
  const gemm::TilePlace tile =
      gemm::tile_by_xcd(blockIdx.x, extents.m / Tile::rows, extents.n / Tile::columns, xcds);
  const unsigned row = tile.row * Tile::rows;
  const unsigned column = tile.column * Tile::columns;
  LargeTileCopy<Tile, Value> copy(extents, a, b, row, column);
  typename Tile::Sums wave;
  multiply_add_ahead<Tile>(wave, copy, extents.k);
  wave.store(c + std::size_t{row + Tile::first_row()} * extents.ldc + column + Tile::first_column(),
             extents.ldc, alpha, beta);
}

template <typename Code, typename Value, typename Result>
void enqueue_tiles_by_xcd(const gemm::Stage<Value, Result>& stage,
                          const gemm::Product<Value, Result>& product) {
  const dim3 tiles = grid_of(stage.tiles, product.extents);
  hipscope::launch(tiles_by_xcd_kernel<Code, Value, Result>,
                   {.grid = dim3(tiles.x * tiles.y), .block = dim3(stage.tiles.threads)},
                   product.extents, product.alpha, product.a, product.b, product.beta, product.c,
                   gemm::xcds());
}

template <typename Code, typename Value, typename Result>
gemm::Stage<Value, Result> tiles_by_xcd_stage() {
  auto stage = large_tile_stage<LargeTile<Code>, Value, Result>(
      ", tiles by XCD", reinterpret_cast<const void*>(tiles_by_xcd_kernel<Code, Value, Result>),
      enqueue_tiles_by_xcd<Code, Value, Result>);
  stage.is_contender = true;
  return stage;
}

}  // namespace hgemm
