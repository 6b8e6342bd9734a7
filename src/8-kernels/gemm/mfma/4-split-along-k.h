// Tiles of the last rounds, which would leave CUs idle, split along k among blocks (split_tiles.h).
//
// Against 3: of FP64 4096 x 4096 are 512 tiles of 256 x 128, two rounds on the 304 CUs of an MI300X
// where 1.68 would do; of FP32 256 of 256 x 256, 2.46 rounds on the 104 of an MI210. Blocks that
// share a tile wait for one another, so they come first and in order; whole tiles come after them,
// neighbours on one XCD. And any product is taken as it is; the stages before need it padded to
// whole tiles (any_copy.h). Not measured.
#pragma once

#include <type_traits>

#include "3-tiles-by-xcd.h"
#include "8-kernels/gemm/split_tiles.h"
#include "any_copy.h"

#if !defined(HIPSCOPE_BACKEND_NVIDIA)

namespace gemm::mfma {

/// Where piece `number` of this thread's sums is among those of a block: those of all threads lie
/// side by side.
template <typename Tile>
__device__ typename Tile::Piece& handed_over(const SplitTiles<typename Tile::Value>& split,
                                             unsigned block, unsigned number) {
  constexpr unsigned tile_pieces = Tile::rows * Tile::columns / Tile::piece;
  const unsigned first = computed_here(block) * tile_pieces + number * Tile::threads;
  return reinterpret_cast<typename Tile::Piece*>(split.sums)[first + thread_index()];
}

/// `Copy` is of whole tiles, or of any.
template <typename Tile, typename Copy>
static __global__ void __launch_bounds__(Tile::threads)
    split_along_k_kernel(Extents extents, typename Tile::Value alpha,
                         const typename Tile::Value* __restrict__ a,
                         const typename Tile::Value* __restrict__ b, typename Tile::Value beta,
                         typename Tile::Value* __restrict__ c,
                         SplitTiles<typename Tile::Value> split, unsigned xcds) {
  using Piece = typename Tile::Piece;
  __shared__ Lds<Tile> lds[2];
  constexpr unsigned step_k = 2 * Tile::depth;
  constexpr bool is_whole = std::is_same_v<Copy, mfma::Copy<Tile>>;
  [[maybe_unused]] const bool has_aligned_c = is_whole || has_aligned_rows(c, extents);
  const unsigned down = (extents.m + Tile::rows - 1) / Tile::rows;
  const unsigned across = (extents.n + Tile::columns - 1) / Tile::columns;
  const unsigned steps = steps_of(extents.k, step_k);
  const unsigned begin = first_step(blockIdx.x, split, steps);
  unsigned end = first_step(blockIdx.x + 1, split, steps);
#pragma unroll 1
  while (end > begin) {
    const unsigned tile = (end - 1) / steps;
    const unsigned tile_begin = tile * steps;
    const unsigned first = begin > tile_begin ? begin : tile_begin;
    const unsigned in_order =
        tile < split.tiles
            ? tile
            : split.tiles + tile_in_run(tile - split.tiles, down * across - split.tiles, xcds);
    const TilePlace place = place_in_panels(in_order, down, across);
    const unsigned row = place.row * Tile::rows;
    const unsigned column = place.column * Tile::columns;
    Sums<Tile> sums;
    const unsigned tiles = (end - first) * 2;
    Copy copy(extents, a, b, row, column, (first - tile_begin) * step_k, tiles);
    multiply_add_ahead(sums, copy, lds, tiles);
    if (end == tile_begin + steps) {
      const unsigned first_block = take_ready_of_tile(split, steps, tile_begin);
      typename Tile::Value* const of_tile = c + std::size_t{row} * extents.ldc + column;
      unsigned number = 0;
      sums.for_each_piece([&](unsigned in_row, unsigned in_column, Piece piece) {
#pragma unroll 1
        for (unsigned block = first_block; block < blockIdx.x; ++block) {
          piece += handed_over<Tile>(split, block, number);
        }
        ++number;
        if constexpr (is_whole) {
          Sums<Tile>::store_piece_of_c(of_tile + std::size_t{in_row} * extents.ldc + in_column,
                                       piece, alpha, beta);
        } else {
          store_within<Tile>(c, extents, has_aligned_c, row + in_row, column + in_column, piece,
                             alpha, beta);
        }
        hipscope::scheduling_barrier();  // else all of another block's sums would be loaded at once
      });
    } else {
      unsigned number = 0;
      sums.for_each_piece([&](unsigned, unsigned, Piece piece) {
        handed_over<Tile>(split, blockIdx.x, number++) = piece;
        hipscope::scheduling_barrier();
      });
      set_ready(split);
    }
    end = first;
    __syncthreads();  // all have read the last tile before the next one's first is written
  }
}

template <typename Value>
Stage<Value> split_along_k_stage() {
  using Tile = LargeTile<Value>;
  static constexpr auto whole = split_along_k_kernel<Tile, Copy<Tile>>;
  Stage<Value> stage = stage_of_tile<Tile>(
      "tiles split along k", reinterpret_cast<const void*>(whole),
      [](const Stage<Value>& self, const Product<Value>& product) {
        const Extents& extents = product.extents;
        const bool has_whole_tiles =
            extents.m % Tile::rows == 0 && extents.n % Tile::columns == 0 && extents.k > 0 &&
            extents.k % self.tiles.depth == 0 && begins_aligned(product.c, extents.ldc);
        enqueue_split_tiles(!has_whole_pieces(product)
                                ? split_along_k_kernel<Tile, AnyCopy<Tile, false>>
                            : has_whole_tiles ? whole
                                              : split_along_k_kernel<Tile, AnyCopy<Tile, true>>,
                            self, product, xcds());
      });
  stage.any_size = true;
  stage.workspace_bytes = [](const Extents&) {
    return bytes_of_split_tiles<Value>(Tile::rows * Tile::columns);
  };
  stage.is_contender = true;
  return stage;
}

}  // namespace gemm::mfma

#endif
