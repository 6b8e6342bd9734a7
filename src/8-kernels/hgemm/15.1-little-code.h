// Little code, and clusters of blocks that share copies, or k.
//
// Against 15: a small product waits for instructions. An SM begins a kernel without them, and each
// jump to code that it has not run yet is a round trip to L2: the kernel of 15, with all its ways
// to store, has 36 KB of code for tiles of 64 x 64, this one 9. So it is compiled for one way (16
// bits, rows at multiples of 16 bytes, beta = 0; others are left to 15), for whole tiles or for
// parts of k, and a block has one tile, at its own place in the grid. The compiler
// knows that all lanes of a warp do the same (a shuffled warp number, an elected lane), and leaves
// addresses to the scalar unit. Each warp stores its own sums, and waits for no other.
// Blocks of a cluster share copies: of the blocks in a column one copies a tile of B for all, of
// the blocks in a row one a tile of A, in turns. Or they share k: each sends its sums to the LDS of
// the blocks that add them up, where a barrier counts the bytes.
// On an H100, in graphs, 1.07 to 1.17 x the library up to 512 (13 to 15: 0.91 to 0.98), 0.99 to
// 1.01 x at 768 to 1536 (0.79 to 0.86), 0.87 to 1.14 x at flat shapes (0.51 to 0.89).
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <type_traits>
#include <utility>
#include <vector>

#include "15-tiles-by-columns.h"
#include "hopper.h"
#include "lean_choice.h"
#include "stage.h"
#include "whole_rows.h"

namespace hgemm {

#if defined(HGEMM_HAS_HOPPER)

/// What a cluster's blocks share. Their row and column in it are in their number by these shifts.
struct Sharing {
  Cluster cluster;
  unsigned row_shift;
  unsigned column_shift;
  unsigned a_blocks;   ///< a bit each: those beside the first one, which get its copies of A
  unsigned b_blocks;   ///< those below the first one, which get its copies of B
  bool columns_first;  ///< the grid goes over columns first
};

/// What a block has of C, and of its operands in LDS.
template <typename Value, const auto& sizes, std::size_t i>
struct LeanTile
    : ModelTile<Value, sizes[i].tile.rows, sizes[i].tile.columns, 8, sizes[i].tile.by_columns> {
  using Model =
      ModelTile<Value, sizes[i].tile.rows, sizes[i].tile.columns, 8, sizes[i].tile.by_columns>;
  static constexpr unsigned rows = Model::rows;
  static constexpr unsigned columns = Model::columns;
  static constexpr unsigned groups = Model::groups;
  static constexpr unsigned sums = Model::sums;
  static constexpr unsigned deep = sizes[i].deep;  ///< boxes along k in a step
  static constexpr LeanBlocks blocks = sizes[i].blocks;
  static constexpr bool shares_k = blocks == LeanBlocks::share_k;
  static constexpr unsigned box_columns = std::min(columns, 64U);  ///< of B
  static constexpr unsigned box_bytes = 64 * box_columns * 2;
  static constexpr unsigned b_bytes = Model::boxes * box_bytes;
  static constexpr unsigned step_bytes = deep * (Model::a_bytes + b_bytes);
  static constexpr unsigned quads = sums / 4;  ///< of a thread, four sums each
  static constexpr unsigned multiplying_threads = groups * 128;
  /// C goes by the copy engine where what a warp has of it is large.
  static constexpr bool stores_by_copies = rows * columns >= 96 * 192;
  static constexpr unsigned warp_rows = Model::by_columns ? rows : 16;
  static constexpr unsigned warp_columns = Model::by_columns ? 16 : columns;
  static constexpr unsigned warp_pitch = warp_columns * 2 + 16;  ///< free of bank conflicts
  static constexpr unsigned end_bytes =
      shares_k           ? fours_to_add_up(sizes[i].tile) * multiplying_threads * 16
      : stores_by_copies ? groups * Model::c_bytes
                         : groups * 4 * warp_rows * warp_pitch;
  static constexpr unsigned places = std::min(12U, (Model::room - end_bytes) / step_bytes);
  static constexpr unsigned lds_bytes = 1024 + places * step_bytes + end_bytes;
};

/// A group's 64 columns, rounded, to C by the copy engine, by way of LDS at `own`.
template <typename Tile, typename Result>
__device__ void store_columns(const float (&sums)[Tile::sums], unsigned own, const TensorMap& c_map,
                              uint2 first, float alpha) {
  static_assert(Tile::by_columns);
  const unsigned group = threadIdx.x / Tile::group_threads;
  const unsigned warp = threadIdx.x / 32 % 4;
  auto* const c_tile = static_cast<unsigned char*>(lds_at(own));
  put_into_lds<Tile, Result>(c_tile, sums, 0, warp, threadIdx.x % 32, alpha);
  show_lds_to_copies();
  barrier_of(group + 1, Tile::group_threads);
  if (warp == 0 && elect()) {
    store_box(&c_map, c_tile, first.y + group * 64, first.x);
    wait_until_stores_have_read();  // they end with the kernel
  }
}

/// A warp's sums, rounded, to C by way of LDS at `own`, 16 bytes per lane.
template <typename Tile, typename Result>
__device__ void store_by_warp(const float (&sums)[Tile::sums], unsigned own, unsigned first_row,
                              unsigned first_column, const Extents& e, float alpha, Result* c) {
  const unsigned lane = threadIdx.x % 32;
#pragma unroll
  for (unsigned i = 0; i < Tile::sums / 8; ++i) {
    const auto pair = [&](unsigned j) {
      return two_of<Result>(alpha * sums[i * 8 + j], alpha * sums[i * 8 + j + 1]);
    };
    if constexpr (Tile::by_columns) {
      const unsigned row = i * 16 + lane / 16 * 8 + lane % 8;
      store_transposed(lds_at(own + row * Tile::warp_pitch + lane / 8 % 2 * 16), pair(0), pair(2),
                       pair(4), pair(6));
    } else {
      store_matrices(lds_at(own + lane % 16 * Tile::warp_pitch + lane / 16 * 16 + i * 32), pair(0),
                     pair(2), pair(4), pair(6));
    }
  }
  __syncwarp();
  constexpr unsigned pieces = Tile::warp_columns / 8;  // of 16 bytes in a row
  constexpr unsigned turns = Tile::warp_rows * pieces / 32;
  uint4 loaded[turns];
#pragma unroll
  for (unsigned i = 0; i < turns; ++i) {
    const unsigned piece = i * 32 + lane;
    loaded[i] = *static_cast<const uint4*>(
        lds_at(own + piece / pieces * Tile::warp_pitch + piece % pieces * 16));
  }
#pragma unroll
  for (unsigned i = 0; i < turns; ++i) {
    const unsigned piece = i * 32 + lane;
    const unsigned row = first_row + piece / pieces;
    const unsigned column = first_column + piece % pieces * 8;
    if (row < e.m && column < e.n) {
      *reinterpret_cast<uint4*>(c + std::size_t{row} * e.ldc + column) = loaded[i];
    }
  }
}

/// The sums of all blocks that share k to those that add them up, every `parts`th four to each,
/// and from there to C.
template <typename Tile, typename Result>
__device__ void add_up_in_cluster(const float (&sums)[Tile::sums], unsigned buffer,
                                  std::uint64_t* all_came, const Sharing& sharing, unsigned part,
                                  unsigned in_part, unsigned mine, uint2 first, const Extents& e,
                                  float alpha, Result* c) {
  const unsigned parts = sharing.cluster.parts;
  const unsigned blocks = sharing.cluster.rows * sharing.cluster.columns;  // of a part
  const unsigned each = (Tile::quads + parts - 1) / parts;
  const unsigned barrier_from_buffer = lds_address(all_came) - buffer;
  unsigned owner = 0;
  unsigned number = 0;  // among the owner's
#pragma unroll
  for (unsigned quad = 0; quad < Tile::quads; ++quad) {
    const unsigned there = address_at(buffer, owner * blocks + in_part);
    send(there + ((part * each + number) * Tile::multiplying_threads + threadIdx.x) * 16,
         float4{sums[4 * quad], sums[4 * quad + 1], sums[4 * quad + 2], sums[4 * quad + 3]},
         there + barrier_from_buffer);
    if (++owner == parts) {
      owner = 0;
      ++number;
    }
  }
  if (mine == 0) {
    return;
  }
  wait_for(all_came, 0);
#pragma unroll 1
  for (unsigned i = 0; i < mine; ++i) {
    float4 sum = {0, 0, 0, 0};
#pragma unroll 2
    for (unsigned p = 0; p < parts; ++p) {
      const float4 of_part = *static_cast<const float4*>(
          lds_at(buffer + ((p * each + i) * Tile::multiplying_threads + threadIdx.x) * 16));
      sum = {sum.x + of_part.x, sum.y + of_part.y, sum.z + of_part.z, sum.w + of_part.w};
    }
    store_sums<Tile>(c, e,
                     place_of_sums<Tile>(first.x, first.y, threadIdx.x / 128, threadIdx.x / 32 % 4,
                                         threadIdx.x % 32, i * parts + part),
                     sum, alpha, 0);
  }
}

template <typename Tile, typename Value, typename Result>
static __global__ void __launch_bounds__(Tile::threads, 1)
    lean_kernel(const __grid_constant__ TensorMap a_map, const __grid_constant__ TensorMap b_map,
                const __grid_constant__ TensorMap c_map, const Sharing sharing, const Extents e,
                unsigned all_steps, float alpha, Result* c) {
#if defined(HGEMM_IN_HOPPER_CODE)
  constexpr unsigned places = Tile::places;
  constexpr unsigned depth = Tile::deep * Tile::depth;
  extern __shared__ unsigned char lds[];
  __shared__ std::uint64_t full[places];
  __shared__ std::uint64_t empty[places];
  __shared__ std::uint64_t all_came;
  // The swizzle goes by addresses: tiles begin at multiples of 1024 bytes.
  const unsigned tiles_at = (lds_address(lds) + 1023) / 1024 * 1024;
  const unsigned warp = __shfl_sync(0xFFFFFFFFU, threadIdx.x / 32, 0);
  const bool is_copying = warp == Tile::groups * 4;
  const auto [rows, columns, parts] = sharing.cluster;
  const bool shares_copies = rows * columns > 1;
  const unsigned rank = shares_copies || Tile::shares_k ? block_of_cluster() : 0;
  const unsigned my_row = rank >> sharing.row_shift & (rows - 1);
  const unsigned my_column = rank >> sharing.column_shift & (columns - 1);
  const unsigned part = Tile::shares_k ? blockIdx.z : 0;
  const unsigned before_part = part * rows * columns;  // blocks of the cluster
  const unsigned begin = Tile::shares_k ? all_steps * part / parts : 0;
  const unsigned steps = Tile::shares_k ? all_steps * (part + 1) / parts - begin : all_steps;
  unsigned mine = 0;  // of each thread's fours, what this block adds up
  if (Tile::shares_k && part < Tile::quads) {
    mine = (Tile::quads - part + parts - 1) / parts;
  }
  if (is_copying) {
    if (elect()) {
      prefetch_map(&a_map);
      prefetch_map(&b_map);
#pragma unroll
      for (unsigned place = 0; place < places; ++place) {
        init_barrier(&full[place], 1);
        init_barrier(&empty[place], (rows + columns - 1) * Tile::groups);
      }
      if constexpr (Tile::shares_k) {
        init_barrier(&all_came, 1);
        if (mine > 0) {
          arrive_expecting(&all_came, mine * parts * Tile::multiplying_threads * 16);
        }
      }
      publish_barriers();
    }
    __syncwarp();
  }
  if (shares_copies || Tile::shares_k) {
    arrive_at_cluster_barrier();
  }
  if (shares_copies) {
    wait_at_cluster_barrier();
  } else if (is_copying) {
    arrive_at_barrier_of(15, Tile::threads);
  } else {
    barrier_of(15, Tile::threads);
  }
  let_next_kernel_begin();
  wait_for_kernel_before();
  uint2 at = {blockIdx.x, blockIdx.y};
  if constexpr (!Tile::shares_k) {
    at.x += blockIdx.z * gridDim.x;
  }
  if (sharing.columns_first) {
    at = {at.y, at.x};
  }
  at = {at.x * Tile::rows, at.y * Tile::columns};
  unsigned place = 0;
  unsigned parity = 0;
  const auto go_on = [&] {
    if (++place == places) {
      place = 0;
      parity ^= 1U;
    }
  };
  if (is_copying) {
    if (elect()) {
      const unsigned a_blocks = sharing.a_blocks << (before_part + (my_row << sharing.row_shift));
      const unsigned b_blocks = sharing.b_blocks
                                << (before_part + (my_column << sharing.column_shift));
      unsigned box = 0;  // along k
      unsigned k = begin * depth;
#pragma unroll 1
      for (unsigned step = 0; step < steps; ++step) {
        const unsigned a = tiles_at + place * Tile::step_bytes;
        const unsigned b = a + Tile::deep * Tile::a_bytes;
        wait_for(&empty[place], parity ^ 1U);
        arrive_expecting(&full[place], Tile::step_bytes);
#pragma unroll
        for (unsigned d = 0; d < Tile::deep; ++d, ++box, k += Tile::depth) {
          void* const to = lds_at(a + d * Tile::a_bytes);
          if (columns == 1) {
            copy_box(to, &a_map, k, at.x, &full[place]);
          } else if ((box & (columns - 1)) == my_column) {
            copy_box_to(a_blocks, to, &a_map, k, at.x, &full[place]);
          }
#pragma unroll
          for (unsigned i = 0; i < Tile::boxes; ++i) {
            void* const b_to = lds_at(b + d * Tile::b_bytes + i * Tile::box_bytes);
            if (rows == 1) {
              copy_box(b_to, &b_map, at.y + i * 64, k, &full[place]);
            } else if ((box & (rows - 1)) == my_row) {
              copy_box_to(b_blocks, b_to, &b_map, at.y + i * 64, k, &full[place]);
            }
          }
        }
        go_on();
      }
    }
    if (Tile::shares_k && !shares_copies) {
      __syncwarp();
      wait_at_cluster_barrier();
    }
    return;
  }
  const unsigned lane = threadIdx.x % 32;
  const unsigned group = warp / 4;
  const unsigned of_group = group * 64 * Tile::row_bytes;
  const std::uint64_t a_first =
      descriptor_at<Tile::row_bytes>(tiles_at + (Tile::by_columns ? 0 : of_group), 0);
  const std::uint64_t b_first = descriptor_at<Tile::box_columns * 2>(
      tiles_at + Tile::deep * Tile::a_bytes + (Tile::by_columns ? of_group : 0), Tile::box_bytes);
  // Nobody waits for the last steps' places, and a block that is told of one may have ended.
  unsigned to_leave = steps > places ? steps - places : 0;
  const auto leave = [&](unsigned left) {
    if (to_leave == 0) {
      return;
    }
    --to_leave;
    if (warp % 4 != 0) {
      return;
    }
    if (!shares_copies) {
      if (elect()) {
        arrive(&empty[left]);
      }
    } else if (lane < rows + columns - 1) {  // a lane for each block that copies to this one
      const unsigned below = lane - columns + (lane - columns >= my_row ? 1 : 0);
      const unsigned row = lane < columns ? my_row : below;
      const unsigned column = lane < columns ? lane : my_column;
      arrive_at(&empty[left],
                before_part + (row << sharing.row_shift | column << sharing.column_shift));
    }
  };
  float sums[Tile::sums];
  unsigned last = 0;
#pragma unroll 1
  for (unsigned step = 0; step < steps; ++step) {
    wait_for(&full[place], parity);
    begin_products();
    const std::uint64_t a = a_first + place * (Tile::step_bytes / 16);
    const std::uint64_t b = b_first + place * (Tile::step_bytes / 16);
#pragma unroll
    for (unsigned i = 0; i < 4 * Tile::deep; ++i) {  // of 16 along k
      const std::uint64_t of_a = a + (i / 4 * Tile::a_bytes + i % 4 * 32) / 16;
      const std::uint64_t of_b =
          b + (i / 4 * Tile::b_bytes + i % 4 * 16 * Tile::box_columns * 2) / 16;
      multiply<Value, Tile::operands>(sums, Tile::by_columns ? of_b : of_a,
                                      Tile::by_columns ? of_a : of_b, i > 0 || step > 0);
    }
    commit_products();
    wait_for_products<1>();
    if (step > 0) {
      leave(last);
    }
    last = place;
    go_on();
  }
  wait_for_products<0>();
  const unsigned end = tiles_at + places * Tile::step_bytes;
  if constexpr (Tile::shares_k) {
    if (!shares_copies) {
      wait_at_cluster_barrier();
    }
    add_up_in_cluster<Tile>(sums, end, &all_came, sharing, part, rank - before_part, mine, at, e,
                            alpha, c);
  } else if constexpr (Tile::stores_by_copies) {
    store_columns<Tile, Result>(sums, end + group * Tile::c_bytes, c_map, at, alpha);
  } else {
    store_by_warp<Tile>(sums, end + warp * Tile::warp_rows * Tile::warp_pitch,
                        at.x + (Tile::by_columns ? 0 : warp * 16),
                        at.y + (Tile::by_columns ? warp * 16 : 0), e, alpha, c);
  }
#endif
}

/// C = alpha A B, of whole rows of 16 bits.
template <typename Tile, typename Value>
void enqueue_lean_tile(const gemm::Product<Value>& product, const LeanChoice& choice) {
  static const auto kernel = [] {
    const auto allowed = hipscope::allow_lds(lean_kernel<Tile, Value, Value>, Tile::lds_bytes);
    hipscope::check(cudaFuncSetAttribute(reinterpret_cast<const void*>(allowed),
                                         cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
    return allowed;
  }();
  const Extents& e = product.extents;
  const bool by_pairs = choice.by_pairs;
  const auto [rows, columns, parts] = choice.cluster;
  const unsigned row_clusters = blocks_of(e.m, Tile::rows * rows);
  const unsigned column_clusters = blocks_of(e.n, Tile::columns * columns);
  const auto log = [](unsigned value) { return value / 2 - value / 8; };  // of 1, 2, 4
  const bool columns_first = by_pairs && Tile::columns > Tile::rows;
  Sharing sharing = {.cluster = choice.cluster,
                     .row_shift = columns_first ? log(columns) : 0,
                     .column_shift = columns_first ? 0 : log(rows),
                     .a_blocks = 0,
                     .b_blocks = 0,
                     .columns_first = columns_first};
  for (unsigned column = 0; column < columns; ++column) {
    sharing.a_blocks |= 1U << (column << sharing.column_shift);
  }
  for (unsigned row = 0; row < rows; ++row) {
    sharing.b_blocks |= 1U << (row << sharing.row_shift);
  }
  dim3 grid(row_clusters * rows, column_clusters * columns, parts);
  if (by_pairs) {
    grid = columns_first ? dim3(2 * columns, row_clusters * rows, column_clusters / 2)
                         : dim3(2 * rows, column_clusters * columns, row_clusters / 2);
  }
  const TensorMap a_map = map_of(product.a, e.m, e.k, e.lda, Tile::rows, Tile::depth);
  const TensorMap b_map = map_of(product.b, e.k, e.n, e.ldb, 64, Tile::box_columns);
  const TensorMap c_map =  // of any matrix, where no copy stores
      Tile::stores_by_copies
          ? map_of(product.c, e.m, e.n, e.ldc, Tile::c_box_rows, Tile::c_box_columns)
          : a_map;
  // Where another kernel fits beside it, its blocks would be on other SMs than those of the one
  // before, whose half of L2 does not have what they read.
  constexpr std::uint64_t large = std::uint64_t{8} << 20;
  const bool fits_twice = 2 * grid.x * grid.y * grid.z <= compute_units();
  const bool is_large = sizeof(Value) * e.k * (std::uint64_t{e.m} + e.n) > large;
  launch_clusters(kernel,
                  {.grid = grid, .block = dim3(Tile::threads), .lds_bytes = Tile::lds_bytes},
                  columns_first ? dim3(columns, rows) : dim3(rows, columns, parts),
                  !(fits_twice && is_large), a_map, b_map, c_map, sharing, e,
                  blocks_of(e.k, Tile::deep * Tile::depth), product.alpha, product.c);
}

template <typename Value>
using EnqueueLeanTile = void (*)(const gemm::Product<Value>&, const LeanChoice&);

// None for blocks that stay, which are 15.2's.
template <typename Value, std::size_t... i>
constexpr std::array<EnqueueLeanTile<Value>, sizeof...(i)> lean_enqueues(
    std::index_sequence<i...>) {
  return {[]() -> EnqueueLeanTile<Value> {
    if constexpr (lean_sizes[i].blocks == LeanBlocks::stay) {
      return nullptr;
    } else {
      return enqueue_lean_tile<LeanTile<Value, lean_sizes, i>, Value>;
    }
  }()...};
}

/// C = alpha A B, of whole rows of 16 bits, by a choice whose blocks do not stay.
template <typename Value>
void enqueue_lean_choice(const gemm::Product<Value>& product, const LeanChoice& choice) {
  static constexpr auto enqueues =
      lean_enqueues<Value>(std::make_index_sequence<std::size(lean_sizes)>());
  enqueues[choice.size](product, choice);
}

/// Of a product's choices, from the likely fastest on, that which it names.
template <Staying staying, typename Value>
const LeanChoice& lean_choice_of(const gemm::Product<Value>& product) {
  static gemm::LastChoices<ModelSize, std::vector<LeanChoice>> last;
  const ModelSize size = model_size(product.extents);
  const auto make = [&] {
    return likely_lean_choices(size[0], size[1], size[2], compute_units(), gemm::likely_choices,
                               staying);
  };
  return gemm::choice_of(last.of(size, make), product.choice);
}

/// Where a result has 16 bits, beta is 0 and rows of C are whole; otherwise 15's tiles.
template <typename Value, typename Result>
void enqueue_little_code(const gemm::Stage<Value, Result>& stage,
                         const gemm::Product<Value, Result>& product) {
  if constexpr (std::is_same_v<Value, Result>) {
    const Extents& e = product.extents;
    if (product.beta == 0 && has_whole_rows(product.c, e.n, e.ldc)) {
      enqueue_lean_choice(with_whole_rows(product, product.workspace, pack<Value>),
                          lean_choice_of<Staying::left_out>(product));
      return;
    }
  }
  enqueue_tiles_by_columns(stage, product);
}

#endif

template <typename Value = Half, typename Result = Value>
gemm::Stage<Value, Result> little_code_stage() {
  auto stage = tiles_by_columns_stage<Value, Result>();
  stage.technique = "little code, clusters share copies or k";
  stage.tiles.block_columns = stage.tiles.thread_columns = 128;
  stage.choices = gemm::likely_choices;
#if defined(HGEMM_HAS_HOPPER)
  if constexpr (std::is_same_v<Value, Result>) {
    constexpr std::size_t for_large_sizes = 4;  // 128 x 128
    using Tile = LeanTile<Value, lean_sizes, for_large_sizes>;
    stage.dynamic_lds_bytes = Tile::lds_bytes;
    stage.kernel = reinterpret_cast<const void*>(lean_kernel<Tile, Value, Value>);
  }
  stage.enqueue = enqueue_little_code<Value, Result>;
#endif
  return stage;
}

}  // namespace hgemm
