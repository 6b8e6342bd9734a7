// Blocks that stay share the steps of tiles that do not fill a round.
//
// Against 12 and 13, whose blocks stay too: 800 tiles on 132 SMs take 7 rounds where 6.06 would do.
// Here those that would not fill the last round, and one round more, come first: as one long row of
// steps along k, of which each block takes an equal part (../gemm/split_tiles.h says more). Where a
// part ends inside a tile, its sums go through memory to the block that finishes the tile: the
// giver has that tile first and the taker has it last, so nobody waits. It costs as much as some 15
// steps: a model decides (lean_choice.h). Smaller sizes are left to 15.1. On the H200 802 TFLOP/s
// at 4096^3; 0.95 to 1.00 x the library from 2048 on, in graphs.
#pragma once

#include <hipscope/divisor.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <type_traits>

#include "15.1-little-code.h"
#include "8-kernels/gemm/split_tiles.h"
#include "8-kernels/gemm/tile_order.h"
#include "hopper.h"
#include "lean_choice.h"
#include "stage.h"
#include "whole_rows.h"

namespace hgemm {

#if defined(HGEMM_HAS_HOPPER)

/// The steps of the first `tiles` tiles, one tile's after the other's: a part for each cluster.
struct SharedSteps {
  unsigned tiles = 0;
  unsigned each = 0;    ///< steps of a cluster
  unsigned longer = 0;  ///< clusters, the first, that have one more
  hipscope::Divisor by_tile{};
  float* sums = nullptr;  ///< per warp what the same warp of the next cluster is to add
  /// Per warp 1 when they are there; whoever takes them sets it to 0.
  unsigned* ready = nullptr;
};

/// Some of a tile's steps.
struct Segment {
  unsigned tile;
  unsigned begin;
  unsigned end;
};

/// What a cluster multiplies: its part of the shared steps, from its end on, and then whole tiles.
class Work {
 public:
  __device__ Work(const SharedSteps& shared, unsigned tiles, unsigned steps)
      : by_tile_(shared.by_tile),
        tiles_(tiles),
        steps_(steps),
        begin_(blockIdx.y * shared.each + min(blockIdx.y, shared.longer)),
        end_(begin_ + shared.each + (blockIdx.y < shared.longer ? 1 : 0)),
        tile_(shared.tiles + blockIdx.y) {}

  /// All that are left.
  [[nodiscard]] __device__ unsigned steps() const {
    const unsigned whole = tile_ < tiles_ ? (tiles_ - tile_ + gridDim.y - 1) / gridDim.y : 0;
    return end_ - begin_ + whole * steps_;
  }

  __device__ bool next(Segment& segment) {
    if (end_ > begin_) {
      const unsigned tile = hipscope::divide(end_ - 1, by_tile_);
      const unsigned first = tile * steps_;
      segment = {tile, max(begin_, first) - first, end_ - first};
      end_ = first + segment.begin;
      return true;
    }
    if (tile_ >= tiles_) {
      return false;
    }
    segment = {tile_, 0, steps_};
    tile_ += gridDim.y;
    return true;
  }

 private:
  hipscope::Divisor by_tile_;
  unsigned tiles_;
  unsigned steps_;  // of a tile
  unsigned begin_;
  unsigned end_;
  unsigned tile_;
};

/// Stores the sums of warp `warp` for the one that is to add them.
template <unsigned count>
__device__ void give_sums(const float (&sums)[count], const SharedSteps& shared, unsigned warp) {
  const unsigned lane = threadIdx.x % 32;
  float* const to = shared.sums + std::size_t{warp} * count * 32 + lane * 4;
#pragma unroll
  for (unsigned i = 0; i < count; i += 4) {
    *reinterpret_cast<float4*>(to + i * 32) =
        float4{sums[i], sums[i + 1], sums[i + 2], sums[i + 3]};
  }
  __threadfence();
  __syncwarp();
  if (lane == 0) {
    atomicExch(&shared.ready[warp], 1U);
  }
}

/// Adds what warp `warp` gave. Blocks begin in the order of their numbers, so the giver is always
/// ahead: no check of results sees a wait that is missing.
template <unsigned count>
__device__ void take_sums(float (&sums)[count], const SharedSteps& shared, unsigned warp) {
  const unsigned lane = threadIdx.x % 32;
  if (lane == 0) {
    while (atomicCAS(&shared.ready[warp], 1U, 0U) == 0) {
    }
  }
  __syncwarp();
  __threadfence();
  const float* const from = shared.sums + std::size_t{warp} * count * 32 + lane * 4;
#pragma unroll
  for (unsigned i = 0; i < count; i += 4) {
    const float4 given = __ldcg(reinterpret_cast<const float4*>(from + i * 32));
    sums[i] += given.x;
    sums[i + 1] += given.y;
    sums[i + 2] += given.z;
    sums[i + 3] += given.w;
  }
}

/// A group's sums, rounded, to C by the copy engine, by way of LDS at `own`.
template <typename Tile, typename Result>
__device__ void store_by_group(const float (&sums)[Tile::sums], unsigned own,
                               const TensorMap& c_map, uint2 first, float alpha) {
  const unsigned group = threadIdx.x / Tile::group_threads;
  const unsigned warp = threadIdx.x / 32 % 4;
  auto* const c_tile = static_cast<unsigned char*>(lds_at(own));
#pragma unroll
  for (unsigned part = 0; part < Tile::columns / Tile::stored_columns; ++part) {
    if (warp == 0) {
      wait_until_stores_have_read();
    }
    barrier_of(group + 1, Tile::group_threads);
    put_into_lds<Tile, Result>(c_tile, sums, part, warp, threadIdx.x % 32, alpha);
    show_lds_to_copies();
    barrier_of(group + 1, Tile::group_threads);
    if (warp == 0 && elect()) {
      for (unsigned box = 0; box < Tile::stored_columns / 64; ++box) {
        store_box(&c_map, c_tile + box * 64 * Tile::row_bytes,
                  first.y + part * Tile::stored_columns + box * 64, first.x + group * 64);
      }
    }
  }
}

/// A cluster (of the grid's y) is one block, or two above each other that share copies of B.
template <typename Tile, typename Value, typename Result>
static __global__ void __launch_bounds__(Tile::threads, 1)
    shared_steps_kernel(const __grid_constant__ TensorMap a_map,
                        const __grid_constant__ TensorMap b_map,
                        const __grid_constant__ TensorMap c_map, const gemm::TileOrder order,
                        const SharedSteps shared, unsigned steps, float alpha) {
#if defined(HGEMM_IN_HOPPER_CODE)
  constexpr unsigned places = Tile::places;
  constexpr unsigned step_bytes = Tile::a_bytes + Tile::b_bytes;
  constexpr unsigned box_bytes = Tile::b_bytes / Tile::boxes;
  constexpr unsigned warps = Tile::groups * 4;  // that multiply
  extern __shared__ unsigned char lds[];
  __shared__ std::uint64_t full[places];
  __shared__ std::uint64_t empty[places];
  // The swizzle goes by addresses: tiles begin at multiples of 1024 bytes.
  const unsigned tiles_at = (lds_address(lds) + 1023) / 1024 * 1024;
  const unsigned warp = __shfl_sync(0xFFFFFFFFU, threadIdx.x / 32, 0);
  const unsigned blocks = gridDim.x;  // of a cluster
  const unsigned block = blockIdx.x;
  if (warp == warps && elect()) {
    prefetch_map(&a_map);
    prefetch_map(&b_map);
#pragma unroll
    for (unsigned place = 0; place < places; ++place) {
      init_barrier(&full[place], 1);
      init_barrier(&empty[place], blocks * Tile::groups);
    }
    publish_barriers();
  }
  __syncwarp();
  cluster_barrier();
  let_next_kernel_begin();
  wait_for_kernel_before();
  Work work(shared, order.tiles, steps);
  const auto first_element_of = [&](unsigned tile) -> uint2 {
    const gemm::TilePlace at = gemm::place_of(order, tile);
    return {(at.row * blocks + block) * Tile::rows, at.column * Tile::columns};
  };
  unsigned place = 0;
  unsigned parity = 0;
  const auto go_on = [&] {
    if (++place == places) {
      place = 0;
      parity ^= 1U;
    }
  };
  if (warp == warps) {
    if (elect()) {
#pragma unroll 1
      for (Segment segment{}; work.next(segment);) {
        const uint2 at = first_element_of(segment.tile);
#pragma unroll 1
        for (unsigned step = segment.begin; step < segment.end; ++step) {
          const unsigned a = tiles_at + place * step_bytes;
          const unsigned k = step * Tile::depth;
          wait_for(&empty[place], parity ^ 1U);
          arrive_expecting(&full[place], step_bytes);
          copy_box(lds_at(a), &a_map, k, at.x, &full[place]);
#pragma unroll
          for (unsigned box = 0; box < Tile::boxes; ++box) {
            void* const b = lds_at(a + Tile::a_bytes + box * box_bytes);
            if (blocks == 1) {
              copy_box(b, &b_map, at.y + box * 64, k, &full[place]);
            } else if ((step + box) % 2 == block) {
              copy_box_to(0b11, b, &b_map, at.y + box * 64, k, &full[place]);
            }
          }
          go_on();
        }
      }
    }
    return;
  }
  const unsigned lane = threadIdx.x % 32;
  const unsigned group = warp / 4;
  const unsigned of_all = (blockIdx.y * blocks + block) * warps + warp;
  const std::uint64_t a_first = descriptor_at(tiles_at + group * 64 * Tile::row_bytes, 0);
  const std::uint64_t b_first = descriptor_at(tiles_at + Tile::a_bytes, box_bytes);
  // Nobody waits for the last steps' places, and a block that is told of one may have ended.
  const unsigned all_steps = work.steps();
  unsigned to_leave = all_steps > places ? all_steps - places : 0;
  const auto leave = [&](unsigned left) {
    if (to_leave == 0) {
      return;
    }
    --to_leave;
    if (warp % 4 == 0 && lane < blocks) {
      arrive_at(&empty[left], lane);
    }
  };
  float sums[Tile::sums];
#pragma unroll 1
  for (Segment segment{}; work.next(segment);) {
    unsigned last = 0;
#pragma unroll 1
    for (unsigned step = segment.begin; step < segment.end; ++step) {
      wait_for(&full[place], parity);
      begin_products();
      const std::uint64_t a = a_first + place * (step_bytes / 16);
      const std::uint64_t b = b_first + place * (step_bytes / 16);
#pragma unroll
      for (unsigned i = 0; i < 4; ++i) {  // of 16 along k
        multiply<Value>(sums, a + i * 2, b + i * Tile::row_bytes, i > 0 || step > segment.begin);
      }
      commit_products();
      wait_for_products<1>();
      if (step > segment.begin) {
        leave(last);
      }
      last = place;
      go_on();
    }
    wait_for_products<0>();
    leave(last);
    // A cluster has at least a tile's steps: what it takes it finishes.
    if (segment.end < steps) {
      give_sums(sums, shared, of_all);
      continue;
    }
    if (segment.begin > 0) {
      take_sums(sums, shared, of_all - blocks * warps);
    }
    store_by_group<Tile, Result>(sums, tiles_at + places * step_bytes + group * Tile::c_bytes,
                                 c_map, first_element_of(segment.tile), alpha);
  }
  if (warp % 4 == 0) {
    wait_until_stores_have_read();  // they end with the kernel
  }
#endif
}

template <typename Value, std::size_t i>
using StayingTile = ModelTile<Value, lean_sizes[i].tile.rows, lean_sizes[i].tile.columns>;

/// Where marks and sums are in the workspace: after packed operands.
inline std::uint64_t bytes_before_marks(const Extents& e) {
  constexpr std::uint64_t alignment = 256;
  return (whole_rows_workspace(e) + alignment - 1) / alignment * alignment;
}

inline std::uint64_t shared_steps_workspace(const Extents& e) {
  using Largest = StayingTile<Half, 0>;
  if (!may_share_steps(e.m, e.n, compute_units())) {
    return whole_rows_workspace(e);
  }
  return bytes_before_marks(e) + gemm::bytes_of_marks(compute_units() * Largest::groups * 4) +
         std::uint64_t{compute_units()} * Largest::rows * Largest::columns * sizeof(float);
}

/// C = alpha A B, of whole rows of 16 bits.
template <typename Tile, typename Value>
void enqueue_staying_blocks(const gemm::Product<Value>& product, const LeanChoice& choice,
                            unsigned char* marks) {
  static const auto kernel =
      hipscope::allow_lds(shared_steps_kernel<Tile, Value, Value>, Tile::lds_bytes);
  constexpr unsigned rows_at_once = 2048;
  const Extents& e = product.extents;
  const unsigned blocks = choice.cluster.rows;
  const unsigned steps = blocks_of(e.k, Tile::depth);
  const gemm::TileOrder order =
      gemm::tile_order(blocks_of(e.m, Tile::rows * blocks), blocks_of(e.n, Tile::columns),
                       rows_at_once / (Tile::rows * blocks));
  const unsigned clusters = std::min(order.tiles, clusters_at_once(compute_units(), blocks));
  SharedSteps shared;
  if (choice.shares_steps) {
    shared.tiles = shared_tiles(order.tiles, clusters);
    shared.each = shared.tiles * steps / clusters;
    shared.longer = shared.tiles * steps % clusters;
    shared.by_tile = hipscope::divisor_of(steps);
    shared.ready = reinterpret_cast<unsigned*>(marks);
    shared.sums =
        reinterpret_cast<float*>(marks + gemm::bytes_of_marks(compute_units() * Tile::groups * 4));
  }
  launch_clusters(
      kernel,
      {.grid = dim3(blocks, clusters), .block = dim3(Tile::threads), .lds_bytes = Tile::lds_bytes},
      dim3(blocks), true, map_of(product.a, e.m, e.k, e.lda, Tile::rows, Tile::depth),
      map_of(product.b, e.k, e.n, e.ldb, Tile::depth, 64),
      map_of(product.c, e.m, e.n, e.ldc, 64, 64), order, shared, steps, product.alpha);
}

template <typename Value>
using EnqueueStaying = void(const gemm::Product<Value>&, const LeanChoice&, unsigned char* marks);

/// Where a result has 16 bits, beta is 0 and rows of C are whole; otherwise 15's tiles.
template <typename Value, typename Result>
void enqueue_shared_steps(const gemm::Stage<Value, Result>& stage,
                          const gemm::Product<Value, Result>& product) {
  if constexpr (std::is_same_v<Value, Result>) {
    const Extents& e = product.extents;
    if (product.beta == 0 && has_whole_rows(product.c, e.n, e.ldc)) {
      constexpr EnqueueStaying<Value>* enqueues[] = {enqueue_staying_blocks<StayingTile<Value, 0>>,
                                                     enqueue_staying_blocks<StayingTile<Value, 1>>,
                                                     enqueue_staying_blocks<StayingTile<Value, 2>>};
      static_assert(lean_sizes[2].blocks == LeanBlocks::stay &&
                    lean_sizes[3].blocks != LeanBlocks::stay);
      const LeanChoice& choice = lean_choice_of<Staying::chosen>(product);
      const auto whole = with_whole_rows(product, product.workspace, pack<Value>);
      if (choice.size >= std::size(enqueues)) {
        enqueue_lean_choice(whole, choice);
        return;
      }
      enqueues[choice.size](whole, choice,
                            static_cast<unsigned char*>(product.workspace) + bytes_before_marks(e));
      return;
    }
  }
  enqueue_tiles_by_columns(stage, product);
}

#endif

template <typename Value = Half, typename Result = Value>
gemm::Stage<Value, Result> shared_steps_stage() {
  auto stage = little_code_stage<Value, Result>();
  stage.technique = "blocks that stay share the last steps";
  stage.tiles.block_columns = stage.tiles.thread_columns = 256;
#if defined(HGEMM_HAS_HOPPER)
  if constexpr (std::is_same_v<Value, Result>) {
    using Tile = StayingTile<Value, 0>;
    stage.dynamic_lds_bytes = Tile::lds_bytes;
    stage.kernel = reinterpret_cast<const void*>(shared_steps_kernel<Tile, Value, Value>);
  }
  stage.enqueue = enqueue_shared_steps<Value, Result>;
  stage.workspace_bytes = shared_steps_workspace;
#endif
  return stage;
}

}  // namespace hgemm
