// Tiles of any multiple of 16 rows.
//
// Against 14: four warps may have 64 columns of C instead of 64 rows: A and B swap places in the
// instruction, whose second operand, now rows of A, may have any multiple of 8 rows, each read once
// for 64 columns. (For 96 columns of B, in 14, LDS seems to give two blocks of 64.) So 1536 x 1536
// is 132 tiles of 144 x 128, one for each SM. The sums are those of C transposed, and are
// transposed back on their way to LDS.
// On the H200, in graphs, 0.86 x the library at 1536 (14 has 0.81).
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <utility>
#include <vector>

#include "14-tile-by-model.h"
#include "hopper.h"
#include "stage.h"
#include "tile_model.h"

namespace hgemm {

#if defined(HGEMM_HAS_HOPPER)

/// What a choice goes by: m, n and k.
using ModelSize = std::array<unsigned, 3>;
inline ModelSize model_size(const Extents& e) { return {e.m, e.n, std::max(8U, e.k)}; }

// From the likely fastest on.
inline const std::vector<std::size_t>& tiles_for(const Extents& e) {
  static gemm::LastChoices<ModelSize, std::vector<std::size_t>> last;
  const ModelSize size = model_size(e);
  return last.of(size, [&] { return likely_tiles(size[0], size[1], size[2], compute_units()); });
}

template <typename Value, typename Result>
void enqueue_tiles_by_columns(const gemm::Stage<Value, Result>&,
                              const gemm::Product<Value, Result>& product) {
  constexpr unsigned rows_at_once = 2048;
  static constexpr auto enqueues = enqueues_of<Value, Result, column_tile_sizes, rows_at_once>(
      std::make_index_sequence<std::size(column_tile_sizes)>());
  enqueues[gemm::choice_of(tiles_for(product.extents), product.choice)](
      with_whole_rows(product, product.workspace, pack<Value>));
}

#endif

template <typename Value = Half, typename Result = Value>
gemm::Stage<Value, Result> tiles_by_columns_stage() {
  auto stage = hopper_stage<Value, Result>("tiles by columns too", 128, 256, 288);
  stage.any_size = true;
  stage.is_contender = true;
  stage.choices = std::size(column_tile_sizes);
#if defined(HGEMM_HAS_HOPPER)
  using Tile = ModelTile<Value, 128, 256>;
  stage.dynamic_lds_bytes = Tile::lds_bytes;
  stage.kernel = reinterpret_cast<const void*>(model_tiles_kernel<Tile, Value, Result>);
  stage.enqueue = enqueue_tiles_by_columns<Value, Result>;
  stage.workspace_bytes = whole_rows_workspace;
#endif
  return stage;
}

}  // namespace hgemm
