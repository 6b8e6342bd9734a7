// Tiles of 64 x 64, for any product, with enough blocks for each to fill the GPU.
//
// Against 4, for products of few tiles: 1024 x 1024 of FP64 has 32 of 256 x 128, and an MI210 104
// CUs. A smaller tile reads more bytes for each FMA, and all CUs have work; several blocks on a CU
// fill each other's waits. Where that is not enough, blocks share a tile, each with its part of k:
// all store their sums to memory, and the last one adds them up, always in the same order, so a
// result has the same bits each time. None waits, so they need not run at the same time. FP32 takes
// the instruction of 16 x 16 sums. Not measured.
#pragma once

#include "4-split-along-k.h"
#include "8-kernels/gemm/tile_by_size.h"

#if !defined(HIPSCOPE_BACKEND_NVIDIA)

namespace gemm::mfma {

/// A tile as tile_by_size.h knows it; a step is two tiles along k.
template <typename Tile_>
struct Shape {
  using Tile = Tile_;
  using Value = typename Tile::Value;
  static constexpr unsigned rows = Tile::rows;
  static constexpr unsigned columns = Tile::columns;
  static constexpr unsigned depth = 2 * Tile::depth;
  static constexpr unsigned threads = Tile::threads;
  static constexpr unsigned thread_rows = Tile::wave_rows;  ///< a wave's
  static constexpr unsigned thread_columns = Tile::wave_columns;
  static constexpr unsigned blocks_per_unit = 64 * 1024 / (2 * sizeof(Lds<Tile>));  ///< by LDS
  static constexpr unsigned buffers = 2;
  static constexpr unsigned lds_bytes = 0;  ///< that come with the launch
};

template <typename Tile, bool is_aligned>
static __global__ void __launch_bounds__(Tile::threads)
    small_tiles_kernel(Extents extents, typename Tile::Value alpha,
                       const typename Tile::Value* __restrict__ a,
                       const typename Tile::Value* __restrict__ b, typename Tile::Value beta,
                       typename Tile::Value* __restrict__ c,
                       SharedTiles<typename Tile::Value> shared) {
  using Piece = typename Tile::Piece;
  __shared__ Lds<Tile> lds[2];
  __shared__ bool is_last;
  constexpr unsigned step_k = 2 * Tile::depth;
  const Rank rank = rank_of_block();
  const TilePlace place = place_of(shared.order, rank.tile);
  const unsigned row = place.row * Tile::rows;
  const unsigned column = place.column * Tile::columns;
  const auto [begin, end] = steps_of(shared, rank);
  AnyCopy<Tile, is_aligned> copy(extents, a, b, row, column, begin * step_k, (end - begin) * 2);
  Sums<Tile> sums;
  multiply_add_ahead(sums, copy, lds, (end - begin) * 2);
  const bool has_aligned_c = has_aligned_rows(c, extents);
  if (shared.clusters == 1) {
    sums.for_each_piece([&](unsigned in_row, unsigned in_column, Piece piece) {
      store_within<Tile>(c, extents, has_aligned_c, row + in_row, column + in_column, piece, alpha,
                         beta);
    });
    return;
  }
  constexpr unsigned tile_pieces = Tile::rows * Tile::columns / Tile::piece;
  Piece* const of_tile = reinterpret_cast<Piece*>(shared.sums) +
                         std::size_t{rank.tile} * shared.clusters * tile_pieces + thread_index();
  unsigned number = 0;
  sums.for_each_piece([&](unsigned, unsigned, Piece piece) {
    of_tile[rank.cluster * tile_pieces + number++ * Tile::threads] = piece;
  });
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) {
    is_last = atomicAdd(&shared.arrived[rank.tile], 1U) + 1 == shared.clusters;
    if (is_last) {
      shared.arrived[rank.tile] = 0;
    }
    __threadfence();
  }
  __syncthreads();
  if (!is_last) {
    return;
  }
  number = 0;
  sums.for_each_piece([&](unsigned in_row, unsigned in_column, Piece) {
    const Piece* const of_piece = of_tile + number++ * Tile::threads;
    Piece sum = of_piece[0];
#pragma unroll 1
    for (unsigned cluster = 1; cluster < shared.clusters; ++cluster) {
      sum += of_piece[cluster * tile_pieces];
    }
    store_within<Tile>(c, extents, has_aligned_c, row + in_row, column + in_column, sum, alpha,
                       beta);
  });
}

template <typename Shape>
void enqueue_small_tiles(const Product<typename Shape::Value>& product, Split split) {
  using Tile = typename Shape::Tile;
  enqueue_either<Shape, small_tiles_kernel<Tile, true>, small_tiles_kernel<Tile, false>>(
      product, split, has_whole_pieces(product));
}

/// The tile of this stage: four waves, 16 KiB of LDS.
template <typename Value>
struct SmallShape;
template <>
struct SmallShape<float> {
  using Type = Shape<Tile<float, 64, 64, 16, 64, matrix_rate::MfmaFp32Side16>>;
};
template <>
struct SmallShape<double> {
  using Type = Shape<Tile<double, 64, 64, 32, 32>>;
};

template <typename Value>
Stage<Value> small_tiles_stage() {
  using Shape = typename SmallShape<Value>::Type;
  return shared_tile_stage<Value, Shape, small_tiles_kernel<typename Shape::Tile, true>,
                           enqueue_small_tiles<Shape>>(
      name_of("small tiles, several blocks for each"), Unit::matrix, needs_of<Value>());
}

}  // namespace gemm::mfma

#endif
