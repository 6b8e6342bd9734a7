// A stage of this ladder: FP32, and what fileaccent's launches know besides the matrices.
#pragma once

#include <string>
#include <type_traits>

#include "8-kernels/gemm/stage.h"

namespace sgemm {

using gemm::blocks_of;
using gemm::Extents;
using gemm::Tiles;
using Product = gemm::Product<float>;
using Stage = gemm::Stage<float>;

/// The extents as fileaccent's kernels have them: ints, as all that they compute with them.
struct Sizes {
  int m;
  int n;
  int k;
  int lda;
  int ldb;
  int ldc;
};

/// The extents of a block's tile as most of fileaccent's kernels get them: at launch, so that no
/// loop over the tile has a length that the compiler knows. (fileaccent's m, n and k.)
struct TileSizes {
  int rows;
  int columns;
  int depth;
};

/// What of C the blocks along the grid's x follow. It decides which of them run at the same time.
enum class Grid {
  one_row,         ///< all blocks in one row, tile after tile along the rows of C
  x_over_columns,  ///< neighbours in x have the same rows of A
  x_over_rows,     ///< neighbours in x have the same columns of B
};

inline dim3 grid_of(Grid grid, const Tiles& tiles, const Extents& extents) {
  const unsigned columns = blocks_of(extents.n, tiles.block_columns);
  const unsigned rows = blocks_of(extents.m, tiles.block_rows);
  if (grid == Grid::one_row) {
    return dim3(rows * columns);
  }
  return grid == Grid::x_over_rows ? dim3(rows, columns) : dim3(columns, rows);
}

/// Enqueues a kernel on one block per tile of C; the block's threads stand in `block_rows` rows.
template <auto kernel, Grid grid, unsigned block_rows>
void enqueue(const Stage& stage, const Product& product) {
  const hipscope::LaunchShape shape = {.grid = grid_of(grid, stage.tiles, product.extents),
                                       .block = dim3(stage.tiles.threads / block_rows, block_rows),
                                       .lds_bytes = stage.dynamic_lds_bytes};
  const auto as_int = [](unsigned value) { return static_cast<int>(value); };
  const auto& [m, n, k, lda, ldb, ldc] = product.extents;
  const Sizes sizes = {as_int(m), as_int(n), as_int(k), as_int(lda), as_int(ldb), as_int(ldc)};
  const auto launch = [&](auto... what) {
    hipscope::launch(kernel, shape, what..., product.alpha, product.a, product.b, product.beta,
                     product.c);
  };
  if constexpr (std::is_invocable_v<decltype(kernel), TileSizes, Sizes, float, const float*,
                                    const float*, float, float*>) {
    const Tiles& tiles = stage.tiles;
    launch(TileSizes{as_int(tiles.block_rows), as_int(tiles.block_columns), as_int(tiles.depth)},
           sizes);
  } else if constexpr (std::is_invocable_v<decltype(kernel), Sizes, float, const float*,
                                           const float*, float, float*>) {
    launch(sizes);
  } else {
    launch(product.extents);
  }
}

/// A stage whose kernel works on one tile of C per block. `source_kernel`: fileaccent's number of
/// it, or empty. `technique`: the row's name. `lds_values` floats of LDS come with the launch.
template <auto kernel, Grid grid = Grid::x_over_columns, unsigned block_rows = 1>
Stage stage_of(const std::string& source_kernel, const std::string& technique, const Tiles& tiles,
               unsigned lds_values = 0) {
  Stage stage = {.technique = technique, .source_kernel = source_kernel, .tiles = tiles};
  stage.dynamic_lds_bytes = lds_values * static_cast<unsigned>(sizeof(float));
  stage.kernel = reinterpret_cast<const void*>(kernel);
  stage.enqueue = enqueue<kernel, grid, block_rows>;
  return stage;
}

}  // namespace sgemm
