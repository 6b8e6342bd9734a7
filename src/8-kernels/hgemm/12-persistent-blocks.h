// One block per SM for the whole product, and C stored by the copy engine.
//
// Against 11: a block takes tile after tile, so that the copies for the next one run while the last
// one's sums are stored. Tiles go down groups of 8 pairs of rows before the next column, and back
// in the next group: what runs at the same time reads few rows and columns, which L2 holds. Sums
// are rounded, put into LDS half a tile at a time, as the swizzle of tensor copies wants it, and
// stored from there in whole lines.
// On the H200 781 TFLOP/s, 1.33 x 11, 0.992 x the library's rate.
#pragma once

#include <algorithm>

#include "hopper.h"
#include "stage.h"
#include "wgmma.h"

namespace hgemm {

#if defined(HGEMM_HAS_HOPPER)

/// Tiles of C, counted in tiles of a cluster, and the order in which they are taken.
struct TileOrder {
  unsigned rows;
  unsigned columns;
};

/// The row and the column of tile `number`.
template <unsigned group_rows = 8>
__device__ uint2 tile_at(const TileOrder& order, unsigned number) {
  const unsigned group = number / (group_rows * order.columns);
  const unsigned in_group = number % (group_rows * order.columns);
  const unsigned rows = min(group_rows, order.rows - group * group_rows);
  const unsigned column = in_group / rows;
  return {group * group_rows + in_group % rows,
          group % 2 == 0 ? column : order.columns - 1 - column};
}

// `by_copies` where C's old content does not matter; otherwise the lanes that have the sums store
// them.
template <bool by_copies>
static __global__ void __launch_bounds__(384)
    persistent_blocks_kernel(const __grid_constant__ TensorMap a_map,
                             const __grid_constant__ TensorMap b_map,
                             const __grid_constant__ TensorMap c_map, TileOrder order,
                             Extents extents, float alpha, float beta, Half* c) {
#if defined(HGEMM_IN_HOPPER_CODE)
  constexpr unsigned block_rows = 128;
  constexpr unsigned block_columns = 256;
  constexpr unsigned depth = 64;
  constexpr unsigned places = 4;
  constexpr unsigned group_threads = 128;
  constexpr unsigned row_bytes = depth * sizeof(Half);  // of a box: 64 values
  constexpr unsigned a_bytes = block_rows * row_bytes;
  constexpr unsigned b_bytes = block_columns * row_bytes;
  constexpr unsigned stored_columns = 128;  // at a time
  constexpr unsigned c_bytes = 64 * stored_columns * sizeof(Half);
  extern __shared__ unsigned char lds[];
  // The swizzle goes by addresses: tiles begin at multiples of 1024 bytes.
  unsigned char* const a_tiles = lds + (1024 - lds_address(lds) % 1024) % 1024;
  unsigned char* const b_tiles = a_tiles + places * a_bytes;
  __shared__ std::uint64_t full[places];
  __shared__ std::uint64_t empty[places];
  if (threadIdx.x == 0) {
    for (unsigned place = 0; place < places; ++place) {
      init_barrier(&full[place], 1);
      init_barrier(&empty[place], 4);  // groups that multiply, in both blocks
    }
    publish_barriers();
  }
  cluster_barrier();
  const unsigned block = block_of_cluster();
  const unsigned group = threadIdx.x / group_threads;
  const unsigned in_group = threadIdx.x % group_threads;
  const unsigned steps = extents.k / depth;
  unsigned count = 0;  // of steps, over all tiles
  if (group == 2) {
    give_registers<40>();
    if (in_group == 0) {
      for (unsigned t = blockIdx.x / 2; t < order.rows * order.columns; t += gridDim.x / 2) {
        const uint2 tile = tile_at(order, t);
        const unsigned first_row = (tile.x * 2 + block) * block_rows;
        const unsigned first_column = tile.y * block_columns;
        for (unsigned step = 0; step < steps; ++step, ++count) {
          const unsigned place = count % places;
          wait_for(&empty[place], count / places % 2 ^ 1U);
          arrive_expecting(&full[place], a_bytes + b_bytes);
          copy_box(a_tiles + place * a_bytes, &a_map, step * depth, first_row, &full[place]);
          for (unsigned box = 2 * block; box < 2 * block + 2; ++box) {
            copy_box_to(0b11, b_tiles + place * b_bytes + box * b_bytes / 4, &b_map,
                        first_column + box * 64, step * depth, &full[place]);
          }
        }
      }
    }
    __syncwarp();
    cluster_barrier();
    return;
  }
  take_registers<232>();
  unsigned char* const c_tile = b_tiles + places * b_bytes + group * c_bytes;
  const unsigned lane = threadIdx.x % 32;
  const unsigned warp_row = in_group / 32 * 16;
  float sums[block_columns / 2];
  for (unsigned t = blockIdx.x / 2; t < order.rows * order.columns; t += gridDim.x / 2) {
    const uint2 tile = tile_at(order, t);
    const unsigned first_row = (tile.x * 2 + block) * block_rows + group * 64;
    const unsigned first_column = tile.y * block_columns;
    for (unsigned step = 0; step < steps; ++step, ++count) {
      const unsigned place = count % places;
      wait_for(&full[place], count / places % 2);
      begin_products();
      const unsigned char* const a = a_tiles + place * a_bytes + group * 64 * row_bytes;
      const unsigned char* const b = b_tiles + place * b_bytes;
#pragma unroll
      for (unsigned part = 0; part < 4; ++part) {  // of 16 along k
        multiply(sums, descriptor_of(a + part * 32, 0),
                 descriptor_of(b + part * 16 * row_bytes, b_bytes / 4), step + part > 0);
      }
      commit_products();
      wait_for_products<1>();
      if (step > 0 && in_group < 2) {
        arrive_at(&empty[(count - 1) % places], in_group);
      }
    }
    wait_for_products<0>();
    if (in_group < 2) {
      arrive_at(&empty[(count - 1) % places], in_group);
    }
    if constexpr (!by_copies) {
#pragma unroll
      for (unsigned i = 0; i < block_columns / 2; ++i) {
        store_result(
            c + std::size_t{first_row + warp_row + lane / 4 + i / 2 % 2 * 8} * extents.ldc +
                first_column + lane % 4 * 2 + i / 4 * 8 + i % 2,
            alpha, sums[i], beta);
      }
      continue;
    }
    const auto pair = [&](unsigned i) -> unsigned {  // sums i and i + 1, rounded
      return hipscope::to_half(alpha * sums[i]).bits |
             unsigned{hipscope::to_half(alpha * sums[i + 1]).bits} << 16U;
    };
#pragma unroll
    for (unsigned part = 0; part < block_columns / stored_columns; ++part) {
      if (in_group == 0) {
        wait_until_stores_have_read();
      }
      barrier_of(group + 1, group_threads);
#pragma unroll
      for (unsigned i = 0; i < stored_columns / 16; ++i) {  // 16 columns: four matrices of 8 x 8
        const unsigned row = warp_row + lane % 16;
        const unsigned piece = i % 4 * 2 + lane / 16;
        const unsigned first = (part * stored_columns / 16 + i) * 8;
        store_matrices(c_tile + i / 4 * 64 * row_bytes + row * row_bytes + (piece ^ row % 8) * 16,
                       pair(first), pair(first + 2), pair(first + 4), pair(first + 6));
      }
      show_lds_to_copies();
      barrier_of(group + 1, group_threads);
      if (in_group == 0) {
        for (unsigned box = 0; box < stored_columns / 64; ++box) {
          store_box(&c_map, c_tile + box * 64 * row_bytes,
                    first_column + part * stored_columns + box * 64, first_row);
        }
      }
    }
  }
  if (in_group == 0) {
    wait_for_stores();
  }
  __syncwarp();
  cluster_barrier();  // until then the other block may arrive here
#endif
}

template <bool by_copies>
void enqueue_persistent_blocks(const Stage& stage, const Product& product) {
  constexpr auto kernel = persistent_blocks_kernel<by_copies>;
  static const unsigned units = [&] {
    hipscope::check(hipFuncSetAttribute(reinterpret_cast<const void*>(kernel),
                                        hipFuncAttributeMaxDynamicSharedMemorySize,
                                        static_cast<int>(stage.dynamic_lds_bytes)));
    return compute_units();
  }();
  const Extents& e = product.extents;
  const TileOrder order = {.rows = blocks_of(e.m, 256), .columns = blocks_of(e.n, 256)};
  launch_clusters(kernel,
                  {.grid = dim3(2 * std::min(order.rows * order.columns, units / 2)),
                   .block = dim3(stage.tiles.threads),
                   .lds_bytes = stage.dynamic_lds_bytes},
                  dim3(2), false, map_of(product.a, e.m, e.k, e.lda, 128, 64),
                  map_of(product.b, e.k, e.n, e.ldb, 64, 64),
                  map_of(product.c, e.m, e.n, e.ldc, 64, 64), order, e, product.alpha, product.beta,
                  product.c);
}

inline void enqueue_persistent_blocks(const Stage& stage, const Product& product) {
  if (product.beta == 0) {
    enqueue_persistent_blocks<true>(stage, product);
  } else {
    enqueue_persistent_blocks<false>(stage, product);
  }
}

#endif

inline Stage persistent_blocks_stage() {
  Stage stage{.technique = "persistent blocks, C by the copy engine",
              .tiles = {.block_rows = 256,
                        .block_columns = 256,
                        .depth = 64,
                        .threads = 384,
                        .thread_rows = 64,
                        .thread_columns = 256},
              .unit = gemm::Unit::matrix,
              .dynamic_lds_bytes = (4 * (128 + 256) * 64 + 2 * 64 * 128) * sizeof(Half) + 1024};
#if defined(HGEMM_HAS_HOPPER)
  stage.kernel = reinterpret_cast<const void*>(persistent_blocks_kernel<true>);
  stage.enqueue = enqueue_persistent_blocks;
#endif
  stage.is_on = has_hopper_kernels;
  return stage;
}

}  // namespace hgemm
