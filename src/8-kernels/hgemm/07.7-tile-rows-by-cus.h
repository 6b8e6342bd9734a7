// As many rows for a tile as leave the fewest CUs idle.
//
// Against 07.5: 4096 x 4096 are 256 tiles of 256 x 256, for which an MI300X's 304 CUs have 0.84
// rounds, and an MI210's 104 have 2.46: at most 84.2 and 82.0 % of the peak. Of 224 rows they are
// 304, one for each CU of the MI300X, of 160 rows 416, four for each of the MI210: 96.2 and 98.5 %.
// The last tiles reach back into those before them, and leave their rows to them. An odd number of
// MFMA's 32 rows is not to be halved: there a wave has all rows of 32 columns, and reads half
// more of LDS for each product than one of 64 x 128 does.
// Tiles split along k (sgemm's 19) would fill the CUs too. But at 4096 nearly each of the MI300X's
// has 256 KiB of sums to hand over, and others' to take, after 220753 cycles of MFMA: that takes
// 63000 cycles of its share of memory's bandwidth, 19500 of Infinity Cache's (17.2 TB/s), and makes
// 77.8 to 91.9 %; 95.8 % on the MI210. At 8192 it is 96.5 to 98.9 %, and here 96.2.
// gfx950's 256 CUs have whole rounds at both sizes. Not measured.
#pragma once

#include "07.5-loads-to-lds.h"
#include "stage.h"
#include "tile_rows.h"

namespace hgemm {

template <typename Tile, typename Value, typename Result>
static __global__ void __launch_bounds__(large_tile_threads)
    tile_rows_by_cus_kernel(Extents extents, float alpha, const Value* __restrict__ a,
                            const Value* __restrict__ b, float beta, Result* __restrict__ c,
                            unsigned xcds) {
  const unsigned down = (extents.m + Tile::rows - 1) / Tile::rows;
  const gemm::TilePlace place =
      gemm::tile_by_xcd(blockIdx.x, down, extents.n / Tile::columns, xcds);
  const unsigned own_row = place.row * Tile::rows;
  const unsigned last_row = extents.m - Tile::rows;
  const unsigned row = own_row < last_row ? own_row : last_row;
  const unsigned column = place.column * Tile::columns;
  __shared__ LoadedTiles<Tile, 1> lds;
  typename Tile::Sums wave;
  multiply_add_loaded<Tile, 1>(wave, lds, extents, a, b, row, column);
  wave.template store<true>(
      c + std::size_t{row + Tile::first_row()} * extents.ldc + column + Tile::first_column(),
      extents.ldc, alpha, beta, static_cast<int>(own_row - row - Tile::first_row()));
}

/// C has whole tiles of 256 and of 128 rows: they are left to 07.5's kernel.
template <typename Tile, typename Value, typename Result>
void launch_tile_rows(const gemm::Product<Value, Result>& product, unsigned across) {
  const auto launch = [&](auto kernel) {
    hipscope::launch(kernel,
                     {.grid = dim3(blocks_of(product.extents.m, Tile::rows) * across),
                      .block = dim3(large_tile_threads)},
                     product.extents, product.alpha, product.a, product.b, product.beta, product.c,
                     gemm::xcds());
  };
  if constexpr (LargeTile<typename Tile::Code>::rows % Tile::rows == 0) {
    launch(loads_to_lds_kernel<Tile, 1, Value, Result>);
  } else {
    launch(tile_rows_by_cus_kernel<Tile, Value, Result>);
  }
}

template <typename Code, typename Value, typename Result, unsigned... rows>
void enqueue_tile_rows(const gemm::Product<Value, Result>& product,
                       std::integer_sequence<unsigned, rows...> all) {
  const unsigned across = blocks_of(product.extents.n, LargeTile<Code>::columns);
  const unsigned chosen =
      gemm::choice_of(likely_rows(product.extents.m, across, compute_units(), all), product.choice);
  ((chosen == rows ? launch_tile_rows<LargeTile<Code, rows>>(product, across) : void()), ...);
}

template <typename Value = Half, typename Result = Value>
gemm::Stage<Value, Result> tile_rows_by_cus_stage() {
  using Code = typename Instructions<Value>::Mfma;
  using Tile = LargeTile<Code>;  // C has whole tiles of these, which none of the others exceeds
  auto stage = large_tile_stage<Tile, Value, Result>(
      ", tile rows by CUs",
      reinterpret_cast<const void*>(loads_to_lds_kernel<Tile, 1, Value, Result>),
      [](const gemm::Stage<Value, Result>&, const gemm::Product<Value, Result>& product) {
        enqueue_tile_rows<Code>(product, TileRows{});
      });
  stage.is_contender = true;
  stage.needs.what = needs_of_lds_loads;
  stage.choices = TileRows::size();
  return stage;
}

}  // namespace hgemm
