// Blocks that share a tile of C, each with its part of k, as stage 15 has them: their sums meet in
// the workspace.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "hopper.h"
#include "stage.h"
#include "tile_model.h"

namespace hgemm {

#if defined(HGEMM_HAS_HOPPER)

/// How blocks share tiles.
struct Parts {
  unsigned count = 1;           ///< of a tile; 1: nothing is shared
  float4* sums = nullptr;       ///< of a tile after the other, of a part after the other
  unsigned* arrived = nullptr;  ///< blocks at each tile: 0 before and after
};

/// One sum, or two neighbours: floats at once, where they may be.
template <typename Result>
__device__ void store_two(Result* c, bool has_second, float alpha, float first, float second,
                          float beta) {
  if constexpr (std::is_same_v<Result, float>) {
    if (has_second && beta == 0 && reinterpret_cast<std::uintptr_t>(c) % sizeof(float2) == 0) {
      *reinterpret_cast<float2*>(c) = {alpha * first, alpha * second};
      return;
    }
  }
  store_result(c, alpha, first, beta);
  if (has_second) {
    store_result(c + 1, alpha, second, beta);
  }
}

/// A thread's place in C: four sums that belong together are in two columns of row `row` and in
/// those of row `row` + 8; by columns the other way round.
struct SumsPlace {
  unsigned row;
  unsigned column;
};
template <typename Tile>
__device__ SumsPlace place_of_sums(unsigned first_row, unsigned first_column, unsigned group,
                                   unsigned warp, unsigned lane, unsigned quad) {
  const unsigned first = group * 64 + warp * 16 + lane / 4;
  const unsigned second = quad * 8 + lane % 4 * 2;
  return Tile::by_columns ? SumsPlace{first_row + second, first_column + first}
                          : SumsPlace{first_row + first, first_column + second};
}

template <typename Tile, typename Result>
__device__ void store_sums(Result* c, const Extents& extents, SumsPlace at, float4 sums,
                           float alpha, float beta) {
  const auto store = [&](unsigned row, unsigned column, float first, float second) {
    if (row < extents.m && column < extents.n) {
      store_two(c + std::size_t{row} * extents.ldc + column, column + 1 < extents.n, alpha, first,
                second, beta);
    }
  };
  const auto store_one = [&](unsigned row, unsigned column, float sum) {
    if (row < extents.m && column < extents.n) {
      store_result(c + std::size_t{row} * extents.ldc + column, alpha, sum, beta);
    }
  };
  if constexpr (Tile::by_columns) {
    store_one(at.row, at.column, sums.x);
    store_one(at.row + 1, at.column, sums.y);
    store_one(at.row, at.column + 8, sums.z);
    store_one(at.row + 1, at.column + 8, sums.w);
  } else {
    store(at.row, at.column, sums.x, sums.y);
    store(at.row + 8, at.column, sums.z, sums.w);
  }
}

/// This block's sums to memory, and its share of the tile, of all blocks' sums, to C.
template <typename Tile, typename Result>
__device__ void add_parts(const float (&sums)[Tile::sums], const Parts& parts, unsigned tile,
                          unsigned part, const Extents& extents, unsigned first_row,
                          unsigned first_column, float alpha, float beta, Result* c) {
  constexpr unsigned quads = Tile::sums / 4;  // of a thread
  constexpr unsigned warps = Tile::groups * 4;
  constexpr unsigned parts_at_once = 16;  // loads in flight
  constexpr unsigned quads_of_tile = Tile::groups * quads * Tile::group_threads;
  const unsigned lane = threadIdx.x % 32;
  const unsigned my_warp = threadIdx.x / 32;
  float4* const of_tile = parts.sums + std::size_t{tile} * parts.count * quads_of_tile;
  const auto is_in_c = [&](unsigned warp, unsigned quad) {  // some of a warp's part
    const SumsPlace first =
        place_of_sums<Tile>(first_row, first_column, warp / 4, warp % 4, 0, quad);
    return first.row < extents.m && first.column < extents.n;
  };
  const auto offset = [&](unsigned warp, unsigned quad) {
    return (warp / 4 * quads + quad) * Tile::group_threads + warp % 4 * 32 + lane;
  };
#pragma unroll
  for (unsigned quad = 0; quad < quads; ++quad) {
    if (is_in_c(my_warp, quad)) {
      __stcg(of_tile + part * quads_of_tile + offset(my_warp, quad),
             float4{sums[4 * quad], sums[4 * quad + 1], sums[4 * quad + 2], sums[4 * quad + 3]});
    }
  }
  barrier_of(Tile::groups + 1, Tile::groups * Tile::group_threads);
  if (threadIdx.x == 0) {
    arrive_for_all(&parts.arrived[tile]);
    wait_for_arrivals(&parts.arrived[tile], parts.count);
  }
  barrier_of(Tile::groups + 1, Tile::groups * Tile::group_threads);
  for (unsigned i = my_warp * parts.count + part; i < warps * quads; i += warps * parts.count) {
    const unsigned warp = i % warps;
    const unsigned quad = i / warps;
    if (is_in_c(warp, quad)) {
      const float4* const first = of_tile + offset(warp, quad);
      float4 sum = {0, 0, 0, 0};
      for (unsigned p = 0; p < parts.count; p += parts_at_once) {
        float4 loaded[parts_at_once];
#pragma unroll
        for (unsigned j = 0; j < parts_at_once; ++j) {
          loaded[j] = p + j < parts.count ? __ldcg(first + std::size_t{p + j} * quads_of_tile)
                                          : float4{0, 0, 0, 0};
        }
#pragma unroll
        for (unsigned j = 0; j < parts_at_once; ++j) {
          sum = {sum.x + loaded[j].x, sum.y + loaded[j].y, sum.z + loaded[j].z,
                 sum.w + loaded[j].w};
        }
      }
      store_sums<Tile>(c, extents,
                       place_of_sums<Tile>(first_row, first_column, warp / 4, warp % 4, lane, quad),
                       sum, alpha, beta);
    }
  }
  // Whoever is last to have seen that all came leaves 0 for the next kernel.
  if (threadIdx.x == 0 && atomicAdd(&parts.arrived[tile], 1U) + 1 == 2 * parts.count) {
    parts.arrived[tile] = 0;
  }
}

constexpr unsigned most_blocks = 1024;  ///< that can be on any device at once, one per SM
constexpr std::size_t arrived_bytes = most_blocks * sizeof(unsigned);

/// What the sums of all parts take.
inline std::uint64_t bytes_of_parts(const Extents& e, const SplitChoice& choice) {
  const TileSize tile = split_tile_sizes[choice.tile];
  return choice.parts == 1
             ? 0
             : sizeof(float) * tile.rows * tile.columns * choice.parts *
                   std::uint64_t{blocks_of(e.m, tile.rows)} * blocks_of(e.n, tile.columns);
}

#endif

}  // namespace hgemm
