// Adds up the sums of blocks that share a tile of C, each with its part of k.
//
// In the same kernel, and always in the same order, so that a result has the same bits each time:
//   on sm_90 the blocks of a tile are a cluster, or several. Each block leaves its sums in its LDS;
//     after a barrier of the cluster each adds an equal part of the tile, which it reads from the
//     LDS of all of them. Elsewhere a block is a cluster of its own.
//   the clusters of a tile store their sums to memory, and the last to reach a part adds it up.
//     None waits, so they need not run at the same time.
#pragma once

#include <hipscope/hipscope.h>

#include <cstdint>

#include "clusters.h"
#include "stage.h"
#include "tile_order.h"

namespace gemm {

/// A cluster has no more blocks on every GPU that has clusters.
inline constexpr unsigned most_blocks_of_a_cluster = 8;

/// How many blocks share a tile, and what their clusters need for it.
template <typename Value>
struct SharedTiles {
  unsigned cluster;   ///< blocks of a cluster; of the grid's x
  unsigned clusters;  ///< of a tile; the grid's y
  TileOrder order;
  unsigned steps;     ///< along k of a block
  unsigned longer;    ///< blocks of a tile, the first, that have one more
  Value* sums;        ///< of a tile after the other those of each of its clusters
  unsigned* arrived;  ///< clusters at each block's part of each tile: 0 before and after
};

/// Sixteen bytes of neighbours in a row.
template <typename Value>
struct Piece {
  static constexpr unsigned size = 16 / sizeof(Value);
  Value values[size];
};

template <typename Value>
__device__ Piece<Value> load_piece(const Value* from) {
  Piece<Value> piece;
  if constexpr (sizeof(Value) == 4) {
    const float4 four = *reinterpret_cast<const float4*>(from);
    piece.values[0] = four.x;
    piece.values[1] = four.y;
    piece.values[2] = four.z;
    piece.values[3] = four.w;
  } else {
    const double2 two = *reinterpret_cast<const double2*>(from);
    piece.values[0] = two.x;
    piece.values[1] = two.y;
  }
  return piece;
}

template <typename Value>
__device__ void store_piece(Value* to, const Piece<Value>& piece) {
  if constexpr (sizeof(Value) == 4) {
    *reinterpret_cast<float4*>(to) =
        make_float4(piece.values[0], piece.values[1], piece.values[2], piece.values[3]);
  } else {
    *reinterpret_cast<double2*>(to) = make_double2(piece.values[0], piece.values[1]);
  }
}

template <typename Value>
__device__ void add_piece(Piece<Value>& sum, const Piece<Value>& piece) {
#pragma unroll
  for (unsigned i = 0; i < Piece<Value>::size; ++i) {
    sum.values[i] += piece.values[i];
  }
}

/// Where C's rows begin at multiples of 16 bytes.
template <typename Value>
__device__ bool has_aligned_rows(const Value* c, const Extents& extents) {
  return extents.ldc % Piece<Value>::size == 0 && reinterpret_cast<std::uintptr_t>(c) % 16 == 0;
}

/// Where all that is stored of C are whole pieces, and C is not read.
template <typename Value>
__device__ bool takes_whole_pieces(const Value* c, const Extents& extents, Value beta) {
  return beta == 0 && extents.n % Piece<Value>::size == 0 && has_aligned_rows(c, extents);
}

/// C = alpha sum there, for what is within C.
template <typename Value>
__device__ void store_whole_piece(Value* c, const Extents& extents, unsigned row, unsigned column,
                                  Piece<Value> sums, Value alpha) {
  if (row < extents.m && column < extents.n) {
#pragma unroll
    for (unsigned i = 0; i < Piece<Value>::size; ++i) {
      sums.values[i] *= alpha;
    }
    store_piece(c + std::size_t{row} * extents.ldc + column, sums);
  }
}

/// C = alpha sum + beta C for what is within C. With beta = 0 C is not read.
template <typename Value>
__device__ void store_results(Value* c, const Extents& extents, bool is_aligned, unsigned row,
                              unsigned column, const Piece<Value>& sums, Value alpha, Value beta) {
  constexpr unsigned size = Piece<Value>::size;
  if (row >= extents.m) {
    return;
  }
  Value* const to = c + std::size_t{row} * extents.ldc + column;
  if (is_aligned && column + size <= extents.n) {
    Piece<Value> results;
    const Piece<Value> before = beta == 0 ? Piece<Value>{} : load_piece(to);
#pragma unroll
    for (unsigned i = 0; i < size; ++i) {
      results.values[i] =
          beta == 0 ? alpha * sums.values[i] : alpha * sums.values[i] + beta * before.values[i];
    }
    store_piece(to, results);
  } else {
#pragma unroll
    for (unsigned i = 0; i < size; ++i) {
      if (column + i < extents.n) {
        to[i] = beta == 0 ? alpha * sums.values[i] : alpha * sums.values[i] + beta * to[i];
      }
    }
  }
}

/// What of a tile is in LDS when its block has multiplied: `slices` times sums of all its
/// elements, row by row.
struct SumsInLds {
  unsigned rows;
  unsigned columns;
  unsigned pitch;
  unsigned slices;
  unsigned threads;
};

template <SumsInLds shape, typename Value>
__device__ Piece<Value> sum_of_slices(const Value* sums, unsigned row, unsigned column) {
  Piece<Value> sum = load_piece(sums + row * shape.pitch + column);
#pragma unroll
  for (unsigned slice = 1; slice < shape.slices; ++slice) {
    add_piece(sum, load_piece(sums + (slice * shape.rows + row) * shape.pitch + column));
  }
  return sum;
}

/// What another block of the cluster has at this place of its LDS.
template <typename Value>
__device__ const Value* in_lds_of([[maybe_unused]] unsigned block, Value* here) {
#if defined(HIPSCOPE_GEMM_CLUSTERS)
  return static_cast<const Value*>(__cluster_map_shared_rank(here, block));
#else
  return here;
#endif
}

/// Where a block is among those of its tile.
struct Rank {
  unsigned tile;
  unsigned cluster;  ///< of the tile
  unsigned block;    ///< of the cluster
};

__device__ inline Rank rank_of_block() {
#if defined(HIPSCOPE_GEMM_CLUSTERS)
  return {__clusterIdx().x, blockIdx.y, __clusterRelativeBlockRank()};
#else
  return {blockIdx.x, blockIdx.y, 0};
#endif
}

/// Which steps a block has: all blocks of a tile as many, but for one.
struct Steps {
  unsigned begin;
  unsigned end;
};
template <typename Value>
__device__ Steps steps_of(const SharedTiles<Value>& shared, Rank rank) {
  const unsigned block = rank.cluster * shared.cluster + rank.block;
  const bool is_longer = block < shared.longer;
  const unsigned begin = block * shared.steps + (is_longer ? block : shared.longer);
  return {begin, begin + shared.steps + (is_longer ? 1 : 0)};
}

/// The sum of the pieces that `load(0)` to `load(count - 1)` give; `at_once` of them are on their
/// way together.
template <unsigned at_once, typename Value, typename Load>
__device__ Piece<Value> sum_of_pieces(unsigned count, Load load) {
  if (count == 1) {
    return load(0);
  }
  Piece<Value> sum{};
#pragma unroll 1
  for (unsigned first = 0; first < count; first += at_once) {
    Piece<Value> loaded[at_once] = {};
#pragma unroll
    for (unsigned i = 0; i < at_once; ++i) {
      if (first + i < count) {
        loaded[i] = load(first + i);
      }
    }
#pragma unroll
    for (unsigned i = 0; i < at_once; ++i) {
      add_piece(sum, loaded[i]);
    }
  }
  return sum;
}

/// Whether this block, whose threads have all stored their part of its cluster's sums, is the last
/// of the tile's clusters to do so: it adds up. `answer`: in LDS, for all threads that come here,
/// which `meet` waits for.
template <typename Value, typename Meet>
__device__ bool comes_last(const SharedTiles<Value>& shared, Rank rank, unsigned* answer,
                           Meet meet) {
  __threadfence();
  meet();
  if (threadIdx.x == 0) {
    unsigned* const arrived = &shared.arrived[rank.tile * shared.cluster + rank.block];
    *answer = atomicAdd(arrived, 1U) + 1 == shared.clusters ? 1 : 0;
    if (*answer == 1) {
      *arrived = 0;
    }
    __threadfence();
  }
  meet();
  return *answer == 1;
}

/// The sums of a tile's blocks, which go through memory; `store(row, column, piece)` gets them in
/// the last one. All threads come here, with `for_each_piece(body)`, which calls body(row, column,
/// piece) for each of a thread's.
template <unsigned values, unsigned threads, typename Value, typename ForEachPiece, typename Store>
__device__ void add_through_memory(const SharedTiles<Value>& shared, Rank rank, unsigned* answer,
                                   ForEachPiece for_each_piece, Store store) {
  constexpr unsigned size = Piece<Value>::size;
  Value* const mine =
      shared.sums + std::size_t{rank.tile} * shared.clusters * values + threadIdx.x * size;
  unsigned number = 0;
  for_each_piece([&](unsigned, unsigned, Piece<Value> piece) {
    store_piece(mine + rank.cluster * values + number++ * (threads * size), piece);
  });
  if (!comes_last(shared, rank, answer, [] { __syncthreads(); })) {
    return;
  }
  number = 0;
  for_each_piece([&](unsigned row, unsigned column, Piece<Value>) {
    const Value* const of_piece = mine + number++ * (threads * size);
    store(row, column, sum_of_pieces<2, Value>(shared.clusters, [&](unsigned cluster) {
            return load_piece(of_piece + cluster * values);
          }));
  });
}

/// The sums of a tile's blocks to C. All threads come here, with their sums in LDS.
template <SumsInLds shape, typename Value>
__device__ void add_and_store(Value* sums, const SharedTiles<Value>& shared, Rank rank,
                              const Extents& extents, unsigned first_row, unsigned first_column,
                              Value alpha, Value beta, Value* c) {
  constexpr unsigned size = Piece<Value>::size;
  constexpr unsigned row_pieces = shape.columns / size;
  constexpr unsigned pieces = shape.rows * row_pieces;
  const bool is_aligned = has_aligned_rows(c, extents);
  const unsigned first = rank.block * shape.threads + threadIdx.x;
  const unsigned stride = shared.cluster * shape.threads;
  Value* const of_tile = shared.sums + std::size_t{rank.tile} * shared.clusters * (pieces * size);
  cluster_barrier();
  for (unsigned i = first; i < pieces; i += stride) {
    const unsigned row = i / row_pieces;
    const unsigned column = i % row_pieces * size;
    const Piece<Value> sum = sum_of_pieces<4, Value>(shared.cluster, [&](unsigned block) {
      return sum_of_slices<shape>(in_lds_of(block, sums), row, column);
    });
    if (shared.clusters == 1) {
      store_results(c, extents, is_aligned, first_row + row, first_column + column, sum, alpha,
                    beta);
    } else {
      store_piece(of_tile + (std::size_t{rank.cluster} * pieces + i) * size, sum);
    }
  }
  // A block's LDS is there until all have read it.
  cluster_barrier();
  if (shared.clusters == 1) {
    return;
  }
  // Where sums were: 16 bytes of LDS of its own would be before all tiles, and copies of 16 bytes
  // to places that are not aligned as in memory take longer.
  if (!comes_last(shared, rank, reinterpret_cast<unsigned*>(sums), [] { __syncthreads(); })) {
    return;
  }
  for (unsigned i = first; i < pieces; i += stride) {
    const Piece<Value> sum = sum_of_pieces<8, Value>(shared.clusters, [&](unsigned cluster) {
      return load_piece(of_tile + (std::size_t{cluster} * pieces + i) * size);
    });
    store_results(c, extents, is_aligned, first_row + i / row_pieces,
                  first_column + i % row_pieces * size, sum, alpha, beta);
  }
}

}  // namespace gemm
