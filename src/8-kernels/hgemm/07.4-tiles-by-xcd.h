// Tiles in an order that lets each L2 bring as little as it can.
//
// Against 07.3: blocks begin row of tiles by row of tiles, one after the other on another XCD where
// a GPU has several, with an L2 each (MI300X and MI350X have 8). With 32 tiles across, the 38 that
// an XCD of MI300X has at once lie in 10 rows and 4 columns of tiles, 14 tiles' operands for its L2
// to bring; with 33 across in 10 rows and 33 columns. Here an XCD has neighbours, in panels eight
// tiles high: 13 tiles' operands either way. On which XCD a block runs nobody promises: AMD's
// blocks go round the XCDs in turn ("Compute and Memory Partition Modes", ROCm's documentation of
// MI300). A wrong guess costs speed alone.
#pragma once

#include <hipscope/describe_device.h>

#include "07.3-fragments-ahead.h"
#include "stage.h"

namespace hgemm {

/// A tile of C, counted in tiles.
struct TilePlace {
  unsigned row;
  unsigned column;
};

/// Which of `down` x `across` tiles block `block` has, when blocks go round `xcds` XCDs: each XCD
/// has a run of neighbours, in panels of up to eight rows of tiles.
__host__ __device__ inline TilePlace tile_by_xcd(unsigned block, unsigned down, unsigned across,
                                                 unsigned xcds) {
  constexpr unsigned panel_rows = 8;
  const unsigned xcd = block % xcds;
  const unsigned more = down * across % xcds;  // XCDs with one tile more, the first ones
  const unsigned before = down * across / xcds * xcd + (xcd < more ? xcd : more);
  const unsigned tile = before + block / xcds;
  const unsigned panel = tile / (panel_rows * across);
  const unsigned in_panel = tile % (panel_rows * across);
  const unsigned left = down - panel * panel_rows;
  const unsigned rows = left < panel_rows ? left : panel_rows;
  return {panel * panel_rows + in_panel % rows, in_panel / rows};
}

/// XCDs by CUs: MI300's have 38 each, MI350's 32. A partition of one XCD has as many CUs as that.
inline unsigned count_xcds(const std::string& architecture, unsigned units) {
  const unsigned of_one = architecture.starts_with("gfx942")   ? 38
                          : architecture.starts_with("gfx950") ? 32
                                                               : units;
  return units % of_one == 0 ? units / of_one : 1;
}

template <typename Code, typename Value, typename Result>
static __global__ void __launch_bounds__(large_tile_threads)
    tiles_by_xcd_kernel(Extents extents, float alpha, const Value* __restrict__ a,
                        const Value* __restrict__ b, float beta, Result* __restrict__ c,
                        unsigned xcds) {
  using Tile = LargeTile<Code>;
  const TilePlace tile =
      tile_by_xcd(blockIdx.x, extents.m / Tile::rows, extents.n / Tile::columns, xcds);
  const unsigned row = tile.row * Tile::rows;
  const unsigned column = tile.column * Tile::columns;
  LargeTileCopy<Code, Value> copy(extents, a, b, row, column);
  typename Tile::Sums wave;
  multiply_add_ahead<Code>(wave, copy, extents.k);
  wave.store(c + std::size_t{row + Tile::first_row()} * extents.ldc + column + Tile::first_column(),
             extents.ldc, alpha, beta);
}

template <typename Code, typename Value, typename Result>
void enqueue_tiles_by_xcd(const gemm::Stage<Value, Result>& stage,
                          const gemm::Product<Value, Result>& product) {
  static const unsigned xcds = [] {
    int device = 0;
    hipscope::check(hipGetDevice(&device));
    return count_xcds(hipscope::describe_device(device).architecture, compute_units());
  }();
  const dim3 tiles = grid_of(stage.tiles, product.extents);
  hipscope::launch(tiles_by_xcd_kernel<Code, Value, Result>,
                   {.grid = dim3(tiles.x * tiles.y), .block = dim3(stage.tiles.threads)},
                   product.extents, product.alpha, product.a, product.b, product.beta, product.c,
                   xcds);
}

template <typename Value = Half, typename Result = Value>
std::vector<gemm::Stage<Value, Result>> tiles_by_xcd_stages() {
  return stages_by_fragment<Value>([](auto instruction) {
    using Code = typename decltype(instruction)::Type;
    auto stage = large_tile_stage<Code, Value, Result>(
        ", tiles by XCD", reinterpret_cast<const void*>(tiles_by_xcd_kernel<Code, Value, Result>),
        enqueue_tiles_by_xcd<Code, Value, Result>);
    stage.is_contender = true;
    return stage;
  });
}

}  // namespace hgemm
