// Tiles of 64 to 192 rows, chosen by the rate of the SM's LDS, and launches that overlap.
//
// Against 13: small tiles wait for LDS, which gives 128 bytes per cycle: for each step of 64 along
// k a group of warps reads its 64 rows of A and all columns of B, while the copy engine writes the
// next ones. Each tile's time follows from that, and the choice among them for a size. One warp
// copies instead of four, so no registers need to be reassigned. Rows that do not begin at
// multiples of 16 bytes leave LDS row by row, in whole lines. And a kernel begins while the one
// before still runs: its barriers and maps are ready when that ends.
// On the H200, in graphs, where launches do not overlap, 0.90 to 0.98 x the library up to 512, 0.80
// x at 768, 0.86 x at 1024, 0.81 x at 1536, 0.94 to 0.96 x from 2048 on; 3.0 x at odd sizes.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <type_traits>
#include <utility>

#include "12-persistent-blocks.h"
#include "hopper.h"
#include "stage.h"
#include "store_sums.h"
#include "tile_model.h"
#include "tile_places.h"
#include "wgmma.h"
#include "whole_rows.h"

namespace hgemm {

#if defined(HGEMM_HAS_HOPPER)

/// What a block has of C, and of its operands in LDS.
/// `columns_first` is stage 15's, which also has more rows of tiles before the next column.
template <typename Value, unsigned tile_rows, unsigned tile_columns, unsigned tiles_at_once = 8,
          bool columns_first = false, bool each_step_in_fp32 = false>
struct ModelTile {
  static constexpr unsigned rows = tile_rows;
  static constexpr unsigned columns = tile_columns;
  static constexpr bool by_columns = columns_first;  ///< a group has 64 columns and all rows
  static constexpr Operands operands = by_columns ? Operands::columns_first : Operands::rows_first;
  static constexpr unsigned groups = (by_columns ? columns : rows) / 64;  ///< of four warps
  static constexpr unsigned group_threads = 128;
  static constexpr unsigned threads = groups * group_threads + 32;  ///< and a warp that copies
  static constexpr unsigned rows_at_once = tiles_at_once;  ///< of tiles, before the next column
  static constexpr unsigned sums = (by_columns ? rows : columns) / 2;  ///< of a thread
  static constexpr unsigned row_bytes = 128;                           ///< of a box
  static constexpr unsigned depth = row_bytes / sizeof(Value);
  /// B is stored column by column, k along its rows, as A does.
  static constexpr bool b_along_k = gemm::has_b_by_columns<Value>;
  static constexpr unsigned boxes = b_along_k ? 1 : (columns + 63) / 64;  ///< of a tile of B
  /// The sums of each step are added up outside the instruction, which keeps fewer bits.
  static constexpr bool adds_steps = each_step_in_fp32;
  static constexpr unsigned a_bytes = rows * row_bytes;
  // Of B what a box has too much is not read; boxes of 32 columns made wgmma slower.
  static constexpr unsigned b_bytes = (b_along_k ? columns : boxes * 64) * row_bytes;
  // A group's part of C on its way to memory: this many columns at once, in boxes.
  static constexpr unsigned c_box_rows = by_columns ? rows : 64;
  static constexpr unsigned c_box_columns = by_columns || columns % 64 == 0 ? 64 : 32;
  static constexpr unsigned stored_columns = by_columns ? 64 : columns == 256 ? 128 : columns;
  static constexpr unsigned c_bytes = c_box_rows * stored_columns * 2;
  // LDS: 227 KiB less what barriers take; tiles begin at multiples of 1024 bytes.
  static constexpr unsigned room = 226 * 1024 - 1024;
  static constexpr unsigned places = std::min(8U, (room - groups * c_bytes) / (a_bytes + b_bytes));
  static constexpr unsigned lds_bytes = 1024 + places * (a_bytes + b_bytes) + groups * c_bytes;
};

/// How sums come to C.
enum class Store {
  by_copies,  ///< by the copy engine: 16 bits, rows at multiples of 16 bytes, beta = 0
  by_rows,    ///< from LDS, a row after the other: 16 bits, beta = 0
  by_lanes,   ///< by the lanes that have them
};

/// Where a value of a group's part of C is in LDS, as the swizzle of tensor copies wants it.
template <typename Tile>
__device__ unsigned place_in_c(unsigned row, unsigned column) {
  constexpr unsigned pieces = Tile::c_box_columns / 8;  // of 16 bytes in a row of a box
  const unsigned in_box = column % Tile::c_box_columns;
  const unsigned swizzle = pieces == 8 ? row % 8 : row / 2 % 4;
  return (column / Tile::c_box_columns * Tile::c_box_rows + row) * pieces * 16 +
         (in_box / 8 ^ swizzle) * 16 + in_box % 8 * 2;
}

// Two neighbours at once where they share 4 bytes of memory.
template <typename Tile, typename Value>
__device__ void store_rows(const unsigned char* c_tile, unsigned warp, unsigned lane, unsigned rows,
                           unsigned columns, unsigned pitch, Value* c) {
  for (unsigned row = warp; row < min(Tile::c_box_rows, rows); row += 4) {
    Value* const at = c + std::size_t{row} * pitch;
    const unsigned odd = reinterpret_cast<std::uintptr_t>(at) / 2 % 2;
    for (unsigned second = 2 * lane + 1 - odd; second <= columns; second += 64) {
      const auto value = [&](unsigned column) {
        return *reinterpret_cast<const std::uint16_t*>(c_tile + place_in_c<Tile>(row, column));
      };
      if (second > 0 && second < columns) {
        *reinterpret_cast<unsigned*>(at + second - 1) = value(second - 1) | value(second) << 16U;
      } else {
        const unsigned alone = second == 0 ? 0 : second - 1;
        at[alone] = {value(alone)};
      }
    }
  }
}

/// `part` of a group's sums, rounded, to its place in LDS.
template <typename Tile, typename Result>
__device__ void put_into_lds(unsigned char* c_tile, const float (&sums)[Tile::sums], unsigned part,
                             unsigned warp, unsigned lane, float alpha) {
  constexpr unsigned times = (Tile::by_columns ? Tile::rows : Tile::stored_columns) / 16;
#pragma unroll
  for (unsigned i = 0; i < times; ++i) {  // four matrices of 8 x 8
    const unsigned first = (part * times + i) * 8;
    const auto pair = [&](unsigned j) {
      return two_of<Result>(alpha * sums[first + j], alpha * sums[first + j + 1]);
    };
    if constexpr (Tile::by_columns) {
      const unsigned row = i * 16 + lane / 16 * 8 + lane % 8;
      store_transposed(c_tile + place_in_c<Tile>(row, warp * 16 + lane / 8 % 2 * 8), pair(0),
                       pair(2), pair(4), pair(6));
    } else {
      store_matrices(c_tile + place_in_c<Tile>(warp * 16 + lane % 16, i * 16 + lane / 16 * 8),
                     pair(0), pair(2), pair(4), pair(6));
    }
  }
}

/// Adds the products of a step's part, 32 bytes along k, to a group's sums.
template <typename Tile, typename Value>
__device__ void multiply_part(float (&sums)[Tile::sums], const unsigned char* a,
                              const unsigned char* b, unsigned group, unsigned part, bool add) {
  constexpr unsigned group_bytes = 64 * Tile::row_bytes;  // 64 rows of A, or columns of B
  constexpr unsigned part_bytes = Tile::b_along_k ? 32 : 16 * Tile::row_bytes;  // of B
  const unsigned of_group = group * group_bytes;
  const std::uint64_t rows = descriptor_of(a + (Tile::by_columns ? 0 : of_group) + part * 32, 0);
  const std::uint64_t columns =
      descriptor_of(b + (Tile::by_columns ? of_group : 0) + part * part_bytes,
                    Tile::by_columns || Tile::b_along_k ? 0 : Tile::b_bytes / Tile::boxes);
  multiply<Value, Tile::operands>(sums, Tile::by_columns ? columns : rows,
                                  Tile::by_columns ? rows : columns, add);
}

template <typename Tile, typename Value, typename Result>
static __global__ void __launch_bounds__(Tile::threads)
    model_tiles_kernel(const __grid_constant__ TensorMap a_map,
                       const __grid_constant__ TensorMap b_map,
                       const __grid_constant__ TensorMap c_map, TileOrder order, Extents extents,
                       float alpha, float beta, Store store, Result* c) {
#if defined(HGEMM_IN_HOPPER_CODE)
  constexpr unsigned places = Tile::places;
  constexpr unsigned group_threads = Tile::group_threads;
  extern __shared__ unsigned char lds[];
  // The swizzle goes by addresses: tiles begin at multiples of 1024 bytes.
  unsigned char* const a_tiles = lds + (1024 - lds_address(lds) % 1024) % 1024;
  unsigned char* const b_tiles = a_tiles + places * Tile::a_bytes;
  __shared__ std::uint64_t full[places];
  __shared__ std::uint64_t empty[places];
  const unsigned group = threadIdx.x / group_threads;
  const unsigned in_group = threadIdx.x % group_threads;
  const unsigned steps = (extents.k + Tile::depth - 1) / Tile::depth;
  const unsigned tiles = order.rows * order.columns;
  unsigned count = 0;  // of steps, over all tiles
  if (group == Tile::groups && in_group == 0) {
    prefetch_map(&a_map);
    prefetch_map(&b_map);
    for (unsigned place = 0; place < places; ++place) {
      init_barrier(&full[place], 1);
      init_barrier(&empty[place], Tile::groups);
    }
    publish_barriers();
  }
  __syncthreads();
  let_next_kernel_begin();
  wait_for_kernel_before();
  if (group == Tile::groups) {
    if (in_group == 0) {
      for (unsigned t = blockIdx.x; t < tiles; t += gridDim.x) {
        const uint2 tile = tile_at<Tile::rows_at_once>(order, t);
        for (unsigned step = 0; step < steps; ++step, ++count) {
          const unsigned place = count % places;
          wait_for(&empty[place], count / places % 2 ^ 1U);
          arrive_expecting(&full[place], Tile::a_bytes + Tile::b_bytes);
          copy_box(a_tiles + place * Tile::a_bytes, &a_map, step * Tile::depth, tile.x * Tile::rows,
                   &full[place]);
          unsigned char* const b = b_tiles + place * Tile::b_bytes;
          if constexpr (Tile::b_along_k) {
            copy_box(b, &b_map, step * Tile::depth, tile.y * Tile::columns, &full[place]);
          } else {
            for (unsigned box = 0; box < Tile::boxes; ++box) {
              copy_box(b + box * Tile::b_bytes / Tile::boxes, &b_map,
                       tile.y * Tile::columns + box * 64, step * Tile::depth, &full[place]);
            }
          }
        }
      }
    }
    return;
  }
  unsigned char* const c_tile = b_tiles + places * Tile::b_bytes + group * Tile::c_bytes;
  const unsigned lane = threadIdx.x % 32;
  const unsigned warp = in_group / 32;
  float sums[Tile::sums];
  [[maybe_unused]] float totals[Tile::adds_steps ? Tile::sums : 1];
  for (unsigned t = blockIdx.x; t < tiles; t += gridDim.x) {
    const uint2 tile = tile_at<Tile::rows_at_once>(order, t);
    const unsigned tile_row = tile.x * Tile::rows;
    const unsigned tile_column = tile.y * Tile::columns;
    for (unsigned step = 0; step < steps; ++step, ++count) {
      const unsigned place = count % places;
      wait_for(&full[place], count / places % 2);
      begin_products();
      const unsigned char* const a = a_tiles + place * Tile::a_bytes;
      const unsigned char* const b = b_tiles + place * Tile::b_bytes;
#pragma unroll
      for (unsigned i = 0; i < 4; ++i) {  // of 32 bytes along k
        multiply_part<Tile, Value>(sums, a, b, group, i, i > 0 || (step > 0 && !Tile::adds_steps));
      }
      commit_products();
      if constexpr (Tile::adds_steps) {
        wait_for_products<0>();
        if (in_group == 0) {
          arrive(&empty[place]);
        }
#pragma unroll
        for (unsigned i = 0; i < Tile::sums; ++i) {
          totals[i] = step > 0 ? totals[i] + sums[i] : sums[i];
        }
      } else {
        wait_for_products<1>();
        if (step > 0 && in_group == 0) {
          arrive(&empty[(count - 1) % places]);
        }
      }
    }
    if constexpr (Tile::adds_steps) {
#pragma unroll
      for (unsigned i = 0; i < Tile::sums; ++i) {
        sums[i] = totals[i];
      }
    } else {
      wait_for_products<0>();
      if (in_group == 0) {
        arrive(&empty[(count - 1) % places]);
      }
    }
    if (store == Store::by_lanes) {
#pragma unroll
      for (unsigned quad = 0; quad < Tile::sums / 4; ++quad) {
        store_sums<Tile>(
            c, extents, place_of_sums<Tile>(tile_row, tile_column, group, warp, lane, quad),
            {sums[4 * quad], sums[4 * quad + 1], sums[4 * quad + 2], sums[4 * quad + 3]}, alpha,
            beta);
      }
      continue;
    }
    if constexpr (sizeof(Result) == 2) {
      constexpr unsigned stored_parts = Tile::by_columns ? 1 : Tile::columns / Tile::stored_columns;
      const unsigned first_row = tile_row + (Tile::by_columns ? 0 : group * 64);
      const unsigned first_column = tile_column + (Tile::by_columns ? group * 64 : 0);
#pragma unroll
      for (unsigned stored = 0; stored < stored_parts; ++stored) {
        const unsigned column = first_column + stored * Tile::stored_columns;
        if (store == Store::by_copies && in_group == 0) {
          wait_until_stores_have_read();
        }
        barrier_of(group + 1, group_threads);
        put_into_lds<Tile, Result>(c_tile, sums, stored, warp, lane, alpha);
        if (store == Store::by_copies) {
          show_lds_to_copies();
        }
        barrier_of(group + 1, group_threads);
        if (store == Store::by_rows) {
          if (first_row < extents.m && column < extents.n) {
            store_rows<Tile>(c_tile, warp, lane, extents.m - first_row,
                             min(Tile::stored_columns, extents.n - column), extents.ldc,
                             c + std::size_t{first_row} * extents.ldc + column);
          }
        } else if (in_group == 0) {
          for (unsigned box = 0; box < Tile::stored_columns / Tile::c_box_columns; ++box) {
            store_box(&c_map, c_tile + box * Tile::c_box_rows * Tile::c_box_columns * 2,
                      column + box * Tile::c_box_columns, first_row);
          }
        }
      }
    }
  }
  if (in_group == 0) {
    wait_until_stores_have_read();  // they end with the kernel
  }
#endif
}

/// Of operands with whole rows: a block for each tile, or one for each SM. The kernel begins before
/// the one before it ends.
template <typename Tile, typename Value, typename Result>
void enqueue_model_tile(const gemm::Product<Value, Result>& product) {
  static const auto kernel =
      hipscope::allow_lds(model_tiles_kernel<Tile, Value, Result>, Tile::lds_bytes);
  const Extents& e = product.extents;
  const TileOrder order = {.rows = blocks_of(e.m, Tile::rows),
                           .columns = blocks_of(e.n, Tile::columns)};
  const TensorMap a_map = map_of(product.a, e.m, e.k, e.lda, Tile::rows, Tile::depth);
  const TensorMap b_map = Tile::b_along_k
                              ? map_of(product.b, e.n, e.k, e.ldb, Tile::columns, Tile::depth)
                              : map_of(product.b, e.k, e.n, e.ldb, Tile::depth, 64);
  TensorMap c_map = a_map;  // of any matrix, where no copy stores
  Store store = Store::by_lanes;
  if constexpr (sizeof(Result) == 2) {
    if (product.beta == 0) {
      store = Store::by_rows;
      if (has_whole_rows(product.c, e.n, e.ldc)) {
        store = Store::by_copies;
        c_map = map_of(product.c, e.m, e.n, e.ldc, Tile::c_box_rows, Tile::c_box_columns);
      }
    }
  }
  launch_clusters(kernel,
                  {.grid = dim3(std::min(order.rows * order.columns, compute_units())),
                   .block = dim3(Tile::threads),
                   .lds_bytes = Tile::lds_bytes},
                  dim3(1), true, a_map, b_map, c_map, order, e, product.alpha, product.beta, store,
                  product.c);
}

template <typename Value, typename Result>
using EnqueueTile = void (*)(const gemm::Product<Value, Result>&);

/// For each tile of a table of them, of which those of so many rows of C come before the next
/// column (0: eight tiles).
template <typename Value, typename Result, const auto& sizes, unsigned rows_at_once,
          std::size_t... i>
constexpr std::array<EnqueueTile<Value, Result>, sizeof...(i)> enqueues_of(
    std::index_sequence<i...>) {
  return {enqueue_model_tile<
      ModelTile<Value, sizes[i].rows, sizes[i].columns,
                rows_at_once == 0 ? 8 : rows_at_once / sizes[i].rows, sizes[i].by_columns>,
      Value, Result>...};
}

inline void enqueue_tile_by_model(const Stage&, const Product& product) {
  static constexpr auto enqueues =
      enqueues_of<Half, Half, tile_sizes, 0>(std::make_index_sequence<std::size(tile_sizes)>());
  const Extents& e = product.extents;
  enqueues[best_tile(e.m, e.n, std::max(8U, e.k), compute_units())](
      with_whole_rows(product, product.workspace, pack<Half>));
}

#endif

inline Stage tile_by_model_stage() {
  Stage stage = hopper_stage("a tile by what LDS gives, launches overlap", 128, 256, 288);
  stage.any_size = true;
  stage.is_contender = true;
#if defined(HGEMM_HAS_HOPPER)
  using Tile = ModelTile<Half, 128, 256>;
  stage.dynamic_lds_bytes = Tile::lds_bytes;
  stage.kernel = reinterpret_cast<const void*>(model_tiles_kernel<Tile, Half, Half>);
  stage.enqueue = enqueue_tile_by_model;
  stage.workspace_bytes = whole_rows_workspace;
#endif
  return stage;
}

}  // namespace hgemm
