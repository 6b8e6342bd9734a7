// Tiles of 64 to 192 rows, chosen by what the SM's LDS can give, and launches that overlap.
//
// Against 13: what small tiles wait for is LDS, which gives 128 bytes per cycle: for each step of
// 64 along k a group of warps reads its 64 rows of A and all columns of B, while the copy engine
// writes the next ones. From that each tile's time follows, and the choice among them for a size.
// One warp copies instead of four, so that nobody has to give registers away. Rows that do not
// begin at multiples of 16 bytes leave LDS row by row, in whole lines. And a kernel begins while
// the one before still runs: its barriers and maps are ready when that ends.
// On the H200 1.12 to 1.18 x cuBLAS up to 512, 0.99 x at 768, 1.04 x at 1024, 0.92 x at 1536, 0.97
// to 1.00 x from 2048 on; 2.9 x at odd sizes.
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
#include "tile_model.h"
#include "wgmma.h"

namespace hgemm {

#if defined(HGEMM_HAS_HOPPER)

/// What a block has of C, and of its operands in LDS.
template <unsigned tile_rows, unsigned tile_columns>
struct TileShape {
  static constexpr unsigned rows = tile_rows;
  static constexpr unsigned columns = tile_columns;
  static constexpr unsigned depth = 64;
  static constexpr unsigned groups = rows / 64;           ///< of four warps, which multiply
  static constexpr unsigned threads = groups * 128 + 32;  ///< and a warp that copies
  static constexpr unsigned row_bytes = depth * 2;        ///< of a box: 64 values of 16 bits
  static constexpr unsigned boxes = (columns + 63) / 64;  ///< of a tile of B, 64 columns each
  static constexpr unsigned a_bytes = rows * row_bytes;
  static constexpr unsigned b_bytes = boxes * 64 * row_bytes;
  // C on its way to memory: so many columns at once, in boxes that hold nothing else. (Of B what a
  // box has too much is not read; boxes of 32 columns, in rows of 64 bytes, made wgmma slower.)
  static constexpr unsigned c_box_rows = 64;
  static constexpr unsigned c_box_columns = columns % 64 == 0 ? 64 : 32;
  static constexpr unsigned stored_columns = columns == 256 ? 128 : columns;
  static constexpr unsigned c_bytes = 64 * stored_columns * 2;  ///< of a group
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

/// Where a value of a group's part of C lies in LDS, as the swizzle of tensor copies wants it.
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

template <typename Tile, typename Value, typename Result>
static __global__ void __launch_bounds__(Tile::threads)
    tile_by_model_kernel(const __grid_constant__ TensorMap a_map,
                         const __grid_constant__ TensorMap b_map,
                         const __grid_constant__ TensorMap c_map, TileOrder order, Extents extents,
                         float alpha, float beta, Store store, Result* c) {
#if defined(HGEMM_IN_HOPPER_CODE)
  constexpr unsigned places = Tile::places;
  constexpr unsigned group_threads = 128;
  extern __shared__ unsigned char lds[];
  // The swizzle goes by addresses: tiles begin at multiples of 1024 bytes.
  unsigned char* const a_tiles = lds + (1024 - lds_address(lds) % 1024) % 1024;
  unsigned char* const b_tiles = a_tiles + places * Tile::a_bytes;
  __shared__ std::uint64_t full[places];
  __shared__ std::uint64_t empty[places];
  const unsigned group = threadIdx.x / group_threads;
  const unsigned in_group = threadIdx.x % group_threads;
  const unsigned steps = (extents.k + Tile::depth - 1) / Tile::depth;
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
      for (unsigned t = blockIdx.x; t < order.rows * order.columns; t += gridDim.x) {
        const uint2 tile = tile_at(order, t);
        for (unsigned step = 0; step < steps; ++step, ++count) {
          const unsigned place = count % places;
          wait_for(&empty[place], count / places % 2 ^ 1U);
          arrive_expecting(&full[place], Tile::a_bytes + Tile::b_bytes);
          copy_box(a_tiles + place * Tile::a_bytes, &a_map, step * Tile::depth, tile.x * Tile::rows,
                   &full[place]);
          for (unsigned box = 0; box < Tile::boxes; ++box) {
            copy_box(b_tiles + place * Tile::b_bytes + box * Tile::b_bytes / Tile::boxes, &b_map,
                     tile.y * Tile::columns + box * 64, step * Tile::depth, &full[place]);
          }
        }
      }
    }
    return;
  }
  unsigned char* const c_tile = b_tiles + places * Tile::b_bytes + group * Tile::c_bytes;
  const unsigned lane = threadIdx.x % 32;
  const unsigned warp = in_group / 32;
  float sums[Tile::columns / 2];
  for (unsigned t = blockIdx.x; t < order.rows * order.columns; t += gridDim.x) {
    const uint2 tile = tile_at(order, t);
    const unsigned first_row = tile.x * Tile::rows + group * 64;
    const unsigned first_column = tile.y * Tile::columns;
    for (unsigned step = 0; step < steps; ++step, ++count) {
      const unsigned place = count % places;
      wait_for(&full[place], count / places % 2);
      begin_products();
      const unsigned char* const a = a_tiles + place * Tile::a_bytes + group * 64 * Tile::row_bytes;
      const unsigned char* const b = b_tiles + place * Tile::b_bytes;
#pragma unroll
      for (unsigned part = 0; part < 4; ++part) {  // of 16 along k
        multiply<Value>(sums, descriptor_of(a + part * 32, 0),
                        descriptor_of(b + part * 16 * Tile::row_bytes, Tile::b_bytes / Tile::boxes),
                        step + part > 0);
      }
      commit_products();
      wait_for_products<1>();
      if (step > 0 && in_group == 0) {
        arrive(&empty[(count - 1) % places]);
      }
    }
    wait_for_products<0>();
    if (in_group == 0) {
      arrive(&empty[(count - 1) % places]);
    }
    if (store == Store::by_lanes) {
#pragma unroll
      for (unsigned i = 0; i < Tile::columns / 2; i += 2) {
        const unsigned row = first_row + warp * 16 + lane / 4 + i / 2 % 2 * 8;
        const unsigned column = first_column + lane % 4 * 2 + i / 4 * 8;
        if (row < extents.m && column < extents.n) {
          store_two(c + std::size_t{row} * extents.ldc + column, column + 1 < extents.n, alpha,
                    sums[i], sums[i + 1], beta);
        }
      }
      continue;
    }
    if constexpr (std::is_same_v<Value, Result>) {
#pragma unroll
      for (unsigned part = 0; part < Tile::columns / Tile::stored_columns; ++part) {
        const unsigned part_column = first_column + part * Tile::stored_columns;
        if (store == Store::by_copies && in_group == 0) {
          wait_until_stores_have_read();
        }
        barrier_of(group + 1, group_threads);
#pragma unroll
        for (unsigned i = 0; i < Tile::stored_columns / 16; ++i) {  // four matrices of 8 x 8
          const unsigned first = (part * Tile::stored_columns / 16 + i) * 8;
          const auto pair = [&](unsigned j) {
            return two_of<Value>(alpha * sums[first + j], alpha * sums[first + j + 1]);
          };
          store_matrices(c_tile + place_in_c<Tile>(warp * 16 + lane % 16, i * 16 + lane / 16 * 8),
                         pair(0), pair(2), pair(4), pair(6));
        }
        if (store == Store::by_copies) {
          show_lds_to_copies();
        }
        barrier_of(group + 1, group_threads);
        if (store == Store::by_rows) {
          if (first_row < extents.m && part_column < extents.n) {
            store_rows<Tile>(c_tile, warp, lane, extents.m - first_row,
                             min(Tile::stored_columns, extents.n - part_column), extents.ldc,
                             c + std::size_t{first_row} * extents.ldc + part_column);
          }
        } else if (in_group == 0) {
          for (unsigned box = 0; box < Tile::stored_columns / Tile::c_box_columns; ++box) {
            store_box(&c_map, c_tile + box * 64 * Tile::c_box_columns * 2,
                      part_column + box * Tile::c_box_columns, first_row);
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

constexpr unsigned pack_threads = 256;
constexpr unsigned rows_per_block = 8;

// Two neighbours per thread, of eight rows, whose loads run at the same time.
template <typename Value>
static __global__ void __launch_bounds__(pack_threads)
    pack_kernel(unsigned* __restrict__ to, unsigned to_pairs, const Value* __restrict__ from,
                unsigned rows, unsigned columns, unsigned from_pitch) {
  const unsigned pair = blockIdx.x * pack_threads + threadIdx.x;
  const unsigned first_row = blockIdx.y * rows_per_block;
  if (pair < to_pairs) {
#pragma unroll
    for (unsigned i = 0; i < rows_per_block; ++i) {
      if (first_row + i < rows) {
        const Value* const at = from + std::size_t{first_row + i} * from_pitch + 2 * pair;
        const unsigned low = 2 * pair < columns ? at[0].bits : 0;
        const unsigned high = 2 * pair + 1 < columns ? at[1].bits : 0;
        to[std::size_t{first_row + i} * to_pairs + pair] = low | high << 16U;
      }
    }
  }
}

// Rows for tensor copies: 16 bytes are 8 values, of which a copy to memory always stores all.
inline unsigned whole_pitch(std::uint64_t columns) {
  return static_cast<unsigned>((columns + 7) / 8 * 8);
}
template <typename Value>
bool has_whole_rows(const Value* matrix, unsigned columns, unsigned pitch) {
  return columns % 8 == 0 && pitch % 8 == 0 && reinterpret_cast<std::uintptr_t>(matrix) % 16 == 0;
}

// The matrix, or a copy of it in the workspace, which then begins behind it.
template <typename Value>
const Value* with_whole_rows(const Value* matrix, unsigned rows, unsigned columns, unsigned& pitch,
                             Value*& workspace) {
  if (has_whole_rows(matrix, columns, pitch) || rows == 0 || columns == 0) {
    return matrix;
  }
  Value* const copy = workspace;
  const unsigned from_pitch = pitch;
  pitch = whole_pitch(columns);
  workspace += std::size_t{rows} * pitch;
  hipscope::launch(
      pack_kernel<Value>,
      {.grid = dim3(blocks_of(pitch / 2, pack_threads), blocks_of(rows, rows_per_block)),
       .block = dim3(pack_threads)},
      reinterpret_cast<unsigned*>(copy), pitch / 2, matrix, rows, columns, from_pitch);
  return copy;
}

// With k = 0 both operands are zeros in the workspace, 8 deep.
inline std::uint64_t tile_by_model_workspace(const Extents& e) {
  const std::uint64_t k = std::max(8U, e.k);
  return sizeof(Half) * (e.m * std::uint64_t{whole_pitch(k)} + k * whole_pitch(e.n));
}

/// Of operands with whole rows. Where it `overlaps`, the kernel begins before the one before ends.
template <typename Tile, typename Value, typename Result>
void enqueue_tile_shape(const gemm::Product<Value, Result>& product, bool overlaps) {
  constexpr auto kernel = tile_by_model_kernel<Tile, Value, Result>;
  static const bool has_room = [] {
    hipscope::check(hipFuncSetAttribute(reinterpret_cast<const void*>(kernel),
                                        hipFuncAttributeMaxDynamicSharedMemorySize,
                                        Tile::lds_bytes));
    return true;
  }();
  static_cast<void>(has_room);
  const Extents& e = product.extents;
  const TileOrder order = {.rows = blocks_of(e.m, Tile::rows),
                           .columns = blocks_of(e.n, Tile::columns)};
  const TensorMap a_map = map_of(product.a, e.m, e.k, e.lda, Tile::rows, 64);
  TensorMap c_map = a_map;  // of any matrix, where no copy stores
  Store store = Store::by_lanes;
  if constexpr (std::is_same_v<Value, Result>) {
    if (product.beta == 0) {
      store = Store::by_rows;
      if (has_whole_rows(product.c, e.n, e.ldc)) {
        store = Store::by_copies;
        c_map = map_of(product.c, e.m, e.n, e.ldc, 64, Tile::c_box_columns);
      }
    }
  }
  launch_clusters(kernel,
                  {.grid = dim3(std::min(order.rows * order.columns, compute_units())),
                   .block = dim3(Tile::threads),
                   .lds_bytes = Tile::lds_bytes},
                  dim3(1), overlaps, a_map, map_of(product.b, e.k, e.n, e.ldb, 64, 64), c_map,
                  order, e, product.alpha, product.beta, store, product.c);
}

template <typename Value, typename Result>
using EnqueueTile = void (*)(const gemm::Product<Value, Result>&, bool overlaps);

/// In the order of `tile_sizes`.
template <typename Value, typename Result, std::size_t... i>
constexpr std::array<EnqueueTile<Value, Result>, sizeof...(i)> enqueues_of(
    std::index_sequence<i...>) {
  return {
      enqueue_tile_shape<TileShape<tile_sizes[i].rows, tile_sizes[i].columns>, Value, Result>...};
}

template <typename Value, typename Result>
void enqueue_tile_by_model(const gemm::Stage<Value, Result>&,
                           const gemm::Product<Value, Result>& original) {
  static constexpr auto enqueues =
      enqueues_of<Value, Result>(std::make_index_sequence<std::size(tile_sizes)>());
  gemm::Product<Value, Result> product = original;
  Extents& e = product.extents;
  auto* workspace = static_cast<Value*>(product.workspace);
  if (e.k == 0) {
    e.k = e.lda = 8;
    e.ldb = whole_pitch(e.n);
    product.a = workspace;
    product.b = workspace + std::size_t{e.m} * e.lda;
  }
  product.a = with_whole_rows(product.a, e.m, e.k, e.lda, workspace);
  product.b = with_whole_rows(product.b, e.k, e.n, e.ldb, workspace);
  enqueues[best_tile(e.m, e.n, e.k, compute_units())](product, true);
}

#endif

template <typename Value = Half, typename Result = Value>
gemm::Stage<Value, Result> tile_by_model_stage() {
  gemm::Stage<Value, Result> stage{.technique = "a tile by what LDS gives, launches overlap",
                                   .tiles = {.block_rows = 128,
                                             .block_columns = 256,
                                             .depth = 64,
                                             .threads = 288,
                                             .thread_rows = 64,
                                             .thread_columns = 256},
                                   .unit = gemm::Unit::matrix,
                                   .any_size = true,
                                   .is_contender = true};
#if defined(HGEMM_HAS_HOPPER)
  using Tile = TileShape<128, 256>;
  stage.dynamic_lds_bytes = Tile::lds_bytes;
  stage.kernel = reinterpret_cast<const void*>(tile_by_model_kernel<Tile, Value, Result>);
  stage.enqueue = enqueue_tile_by_model<Value, Result>;
  stage.workspace_bytes = tile_by_model_workspace;
#endif
  stage.is_on = has_hopper_kernels;
  return stage;
}

}  // namespace hgemm
