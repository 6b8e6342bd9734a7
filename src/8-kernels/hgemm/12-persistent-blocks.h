// One block per SM for the whole product, and C stored by the copy engine.
//
// Against 11: a block takes tile after tile, so the copies for the next one run while the last
// one's sums are stored. Tiles go down groups of 8 pairs of rows before the next column, and back
// in the next group: blocks that run together read few rows and columns, which L2 holds. Sums are
// rounded, put into LDS half a tile at a time, in the swizzle of tensor copies, and stored from
// there in whole lines.
// On the H200 775 TFLOP/s, 1.28 x 11, 0.987 x the library's rate.
#pragma once

#include <algorithm>

#include "hopper.h"
#include "stage.h"
#include "tile_places.h"

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

/// A group's sums, rounded, to C by the copy engine, `stored_columns` at a time, by way of
/// `c_tile`.
template <unsigned columns, unsigned stored_columns>
__device__ void store_by_copies(const float (&sums)[columns / 2], float alpha,
                                unsigned char* c_tile, const TensorMap& c_map, unsigned group,
                                unsigned first_row, unsigned first_column) {
  constexpr unsigned row_bytes = 128;  // of a box: 64 values
  constexpr unsigned group_threads = 128;
  const unsigned in_group = threadIdx.x % group_threads;
  const unsigned lane = threadIdx.x % 32;
  const auto pair = [&](unsigned i) -> unsigned {  // sums i and i + 1, rounded
    return hipscope::to_half(alpha * sums[i]).bits |
           unsigned{hipscope::to_half(alpha * sums[i + 1]).bits} << 16U;
  };
#pragma unroll
  for (unsigned part = 0; part < columns / stored_columns; ++part) {
    if (in_group == 0) {
      wait_until_stores_have_read();
    }
    barrier_of(group + 1, group_threads);
#pragma unroll
    for (unsigned i = 0; i < stored_columns / 16; ++i) {  // 16 columns: four matrices of 8 x 8
      const unsigned row = in_group / 32 * 16 + lane % 16;
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

// `by_copies` where C's old content does not matter; otherwise the lanes that have the sums store
// them.
template <bool by_copies>
static __global__ void __launch_bounds__(384)
    persistent_blocks_kernel(const __grid_constant__ TensorMap a_map,
                             const __grid_constant__ TensorMap b_map,
                             const __grid_constant__ TensorMap c_map, TileOrder order,
                             Extents extents, float alpha, float beta, Half* c) {
#if defined(HGEMM_IN_HOPPER_CODE)
  using Places = TilePlaces<256>;
  constexpr unsigned stored_columns = 128;  // at a time
  constexpr unsigned c_bytes = 64 * stored_columns * sizeof(Half);
  extern __shared__ unsigned char lds[];
  __shared__ std::uint64_t full[Places::count];
  __shared__ std::uint64_t empty[Places::count];
  Places places(lds, full, empty);
  if (threadIdx.x == 0) {
    places.init(4);  // two in each block
  }
  cluster_barrier();
  const unsigned block = block_of_cluster();
  const unsigned group = threadIdx.x / Places::group_threads;
  const unsigned in_group = threadIdx.x % Places::group_threads;
  const unsigned steps = extents.k / Places::depth;
  unsigned count = 0;  // of steps, over all tiles
  if (group == 2) {
    give_registers<40>();
    if (in_group == 0) {
      for (unsigned t = blockIdx.x / 2; t < order.rows * order.columns; t += gridDim.x / 2) {
        const uint2 tile = tile_at(order, t);
        const unsigned first_row = (tile.x * 2 + block) * Places::block_rows;
        const unsigned first_column = tile.y * 256;
        for (unsigned step = 0; step < steps; ++step, ++count) {
          places.expect(count);
          places.copy_a(count, a_map, step * Places::depth, first_row);
          for (unsigned box = 2 * block; box < 2 * block + 2; ++box) {
            places.copy_b_to_both(count, b_map, box, first_column, step * Places::depth);
          }
        }
      }
    }
    __syncwarp();
    cluster_barrier();
    return;
  }
  take_registers<232>();
  float sums[256 / 2];
  for (unsigned t = blockIdx.x / 2; t < order.rows * order.columns; t += gridDim.x / 2) {
    const uint2 tile = tile_at(order, t);
    const unsigned first_row = (tile.x * 2 + block) * Places::block_rows + group * 64;
    const unsigned first_column = tile.y * 256;
    for (unsigned step = 0; step < steps; ++step, ++count) {
      places.begin_multiply(sums, count, group, step == 0);
      wait_for_products<1>();
      if (step > 0 && in_group < 2) {
        places.leave_at(count - 1, in_group);
      }
    }
    wait_for_products<0>();
    if (in_group < 2) {
      places.leave_at(count - 1, in_group);
    }
    if constexpr (by_copies) {
      store_by_copies<256, stored_columns>(sums, alpha, places.end() + group * c_bytes, c_map,
                                           group, first_row, first_column);
    } else {
      store_by_lanes(sums, alpha, beta, c + std::size_t{first_row} * extents.ldc + first_column,
                     extents.ldc);
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
  static const auto kernel =
      hipscope::allow_lds(persistent_blocks_kernel<by_copies>, stage.dynamic_lds_bytes);
  const Extents& e = product.extents;
  const TileOrder order = {.rows = blocks_of(e.m, 256), .columns = blocks_of(e.n, 256)};
  launch_clusters(kernel,
                  {.grid = dim3(2 * std::min(order.rows * order.columns, compute_units() / 2)),
                   .block = dim3(stage.tiles.threads),
                   .lds_bytes = stage.dynamic_lds_bytes},
                  dim3(2), false, map_of(product.a, e.m, e.k, e.lda, 128, 64),
                  map_of(product.b, e.k, e.n, e.ldb, 64, 64),
                  map_of(product.c, e.m, e.n, e.ldc, 64, 64), order, e, product.alpha, product.beta,
                  product.c);
}

#endif

inline Stage persistent_blocks_stage() {
  Stage stage = hopper_stage("persistent blocks, C by the copy engine", 256, 256, 384);
#if defined(HGEMM_HAS_HOPPER)
  stage.dynamic_lds_bytes = TilePlaces<256>::lds_bytes + 2 * 64 * 128 * sizeof(Half);
  stage.kernel = reinterpret_cast<const void*>(persistent_blocks_kernel<true>);
  stage.enqueue = [](const Stage& self, const Product& product) {
    product.beta == 0 ? enqueue_persistent_blocks<true>(self, product)
                      : enqueue_persistent_blocks<false>(self, product);
  };
#endif
  return stage;
}

}  // namespace hgemm
