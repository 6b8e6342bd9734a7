// What a rung of this ladder is: FP32, and what fileaccent's launches know beside the matrices.
#pragma once

#include <string>
#include <type_traits>

#include "../gemm/stage.h"

namespace sgemm {

using gemm::blocks_of;
using gemm::Extents;
using gemm::Tiles;
using Kernel = gemm::Kernel<float>;
using Product = gemm::Product<float>;
using Stage = gemm::Stage<float>;

/// The extents of a block's tile as most of fileaccent's kernels get them: at launch, so that no
/// loop over the tile has a length that the compiler knows. (fileaccent's m, n and k.)
struct TileSizes {
  int rows;
  int columns;
  int depth;
};

using KernelOfAnyTile = void (*)(TileSizes, Extents, float, const float*, const float*, float,
                                 float*);

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

/// Enqueues a kernel on one block per tile of C; the block's threads lie in `block_rows` rows.
template <auto kernel, Grid grid, unsigned block_rows>
void enqueue(const Stage& stage, const Product& product) {
  const hipscope::LaunchShape shape = {.grid = grid_of(grid, stage.tiles, product.extents),
                                       .block = dim3(stage.tiles.threads / block_rows, block_rows),
                                       .lds_bytes = stage.dynamic_lds_bytes};
  if constexpr (std::is_same_v<decltype(kernel), KernelOfAnyTile>) {
    const TileSizes tile = {.rows = static_cast<int>(stage.tiles.block_rows),
                            .columns = static_cast<int>(stage.tiles.block_columns),
                            .depth = static_cast<int>(stage.tiles.depth)};
    hipscope::launch(kernel, shape, tile, product.extents, product.alpha, product.a, product.b,
                     product.beta, product.c);
  } else {
    hipscope::launch(kernel, shape, product.extents, product.alpha, product.a, product.b,
                     product.beta, product.c);
  }
}

/// A stage whose kernel works on one tile of C per block; `lds_values` floats of LDS come with the
/// launch.
template <auto kernel, Grid grid = Grid::x_over_columns, unsigned block_rows = 1>
Stage stage_of(const std::string& technique, const std::string& source_kernel, const Tiles& tiles,
               unsigned lds_values = 0) {
  Stage stage = {.technique = technique, .source_kernel = source_kernel, .tiles = tiles};
  stage.dynamic_lds_bytes = lds_values * static_cast<unsigned>(sizeof(float));
  stage.kernel = reinterpret_cast<const void*>(kernel);
  stage.enqueue = enqueue<kernel, grid, block_rows>;
  return stage;
}

/// 64 x 64 x 16, 4 x 4 per thread: fileaccent's tile for most of its stages.
inline constexpr Tiles tiles_64 = {.block_rows = 64,
                                   .block_columns = 64,
                                   .depth = 16,
                                   .threads = 256,
                                   .thread_rows = 4,
                                   .thread_columns = 4};

/// 128 x 128 x 8, 8 x 8 per thread.
inline constexpr Tiles tiles_128 = {.block_rows = 128,
                                    .block_columns = 128,
                                    .depth = 8,
                                    .threads = 256,
                                    .thread_rows = 8,
                                    .thread_columns = 8};

}  // namespace sgemm
