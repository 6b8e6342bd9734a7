// A width of tiles for each size, and any size.
//
// Against 12: tiles of 128 x 128, 192 or 256, whichever leaves the fewest SMs idle in the last
// round. Blocks do not work in pairs, which would leave more idle. Copies fill places outside of a
// matrix with zeros, and leave them out of C. Rows that do not begin at multiples of 16 bytes,
// which tensor copies cannot read, are packed into a workspace first, which counts; the lanes store
// such rows of C.
// On the H200 776 TFLOP/s at 4096^3, where its tiles are those of 12; in graphs 0.96 to 0.99 x the
// library from 2048 on, 0.69 to 0.80 x below, where most SMs have no tile.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>

#include "12-persistent-blocks.h"
#include "hopper.h"
#include "stage.h"
#include "tile_places.h"
#include "whole_rows.h"

namespace hgemm {

#if defined(HGEMM_HAS_HOPPER)

/// How many columns of a tile are in LDS at once on their way to C.
__host__ __device__ constexpr unsigned columns_stored(unsigned block_columns) {
  return block_columns == 256 ? 128 : block_columns;
}

template <unsigned block_columns, unsigned places_count, bool by_copies>
static __global__ void __launch_bounds__(384)
    tile_by_size_kernel(const __grid_constant__ TensorMap a_map,
                        const __grid_constant__ TensorMap b_map,
                        const __grid_constant__ TensorMap c_map, TileOrder order, Extents extents,
                        float alpha, float beta, Half* c) {
#if defined(HGEMM_IN_HOPPER_CODE)
  using Places = TilePlaces<block_columns, places_count>;
  constexpr unsigned stored_columns = columns_stored(block_columns);  // at a time
  constexpr unsigned c_bytes = 64 * stored_columns * sizeof(Half);
  extern __shared__ unsigned char lds[];
  __shared__ std::uint64_t full[Places::count];
  __shared__ std::uint64_t empty[Places::count];
  Places places(lds, full, empty);
  const unsigned group = threadIdx.x / Places::group_threads;
  const unsigned in_group = threadIdx.x % Places::group_threads;
  const unsigned steps = (extents.k + Places::depth - 1) / Places::depth;
  unsigned count = 0;  // of steps, over all tiles
  if (group == 2) {
    give_registers<40>();
    if (in_group == 0) {
      prefetch_map(&a_map);
      prefetch_map(&b_map);
      places.init(2);
    }
    __syncwarp();
  }
  __syncthreads();
  if (group == 2) {
    if (in_group == 0) {
      for (unsigned t = blockIdx.x; t < order.rows * order.columns; t += gridDim.x) {
        const uint2 tile = tile_at(order, t);
        for (unsigned step = 0; step < steps; ++step, ++count) {
          places.expect(count);
          places.copy_a(count, a_map, step * Places::depth, tile.x * Places::block_rows);
          for (unsigned box = 0; box < Places::boxes; ++box) {
            places.copy_b(count, b_map, box, tile.y * block_columns, step * Places::depth);
          }
        }
      }
    }
    return;
  }
  take_registers<232>();
  float sums[block_columns / 2];
  for (unsigned t = blockIdx.x; t < order.rows * order.columns; t += gridDim.x) {
    const uint2 tile = tile_at(order, t);
    const unsigned first_row = tile.x * Places::block_rows + group * 64;
    const unsigned first_column = tile.y * block_columns;
    for (unsigned step = 0; step < steps; ++step, ++count) {
      places.begin_multiply(sums, count, group, step == 0);
      wait_for_products<1>();
      if (step > 0 && in_group == 0) {
        places.leave(count - 1);
      }
    }
    wait_for_products<0>();
    if (in_group == 0) {
      places.leave(count - 1);
    }
    if constexpr (by_copies) {
      store_by_copies<block_columns, stored_columns>(sums, alpha, places.end() + group * c_bytes,
                                                     c_map, group, first_row, first_column);
    } else {
#pragma unroll
      for (unsigned i = 0; i < block_columns / 2; ++i) {
        const unsigned row = first_row + place_of_sum(i).x;
        const unsigned column = first_column + place_of_sum(i).y;
        if (row < extents.m && column < extents.n) {
          store_result(c + std::size_t{row} * extents.ldc + column, alpha, sums[i], beta);
        }
      }
    }
  }
  if (in_group == 0) {
    wait_until_stores_have_read();  // they end with the kernel
  }
#endif
}

template <unsigned block_columns, unsigned places, bool by_copies>
void enqueue_tile(const Product& product) {
  constexpr auto lds_bytes =
      static_cast<unsigned>(TilePlaces<block_columns, places>::lds_bytes +
                            2 * 64 * columns_stored(block_columns) * sizeof(Half));
  static const auto kernel =
      hipscope::allow_lds(tile_by_size_kernel<block_columns, places, by_copies>, lds_bytes);
  const Extents& e = product.extents;
  const TileOrder order = {.rows = blocks_of(e.m, 128), .columns = blocks_of(e.n, block_columns)};
  const TensorMap a_map = map_of(product.a, e.m, e.k, e.lda, 128, 64);
  // Where C is stored by lanes its map is not used, and must only be one.
  hipscope::launch(kernel,
                   {.grid = dim3(std::min(order.rows * order.columns, compute_units())),
                    .block = dim3(384),
                    .lds_bytes = lds_bytes},
                   a_map, map_of(product.b, e.k, e.n, e.ldb, 64, 64),
                   by_copies ? map_of(product.c, e.m, e.n, e.ldc, 64, 64) : a_map, order, e,
                   product.alpha, product.beta, product.c);
}

// What all rounds of the SMs cost with tiles of `block_columns`, in cycles. A step of 64 along k
// takes 4 cycles per column; narrow tiles ask LDS for more bytes per product than it gives at full
// rate.
inline double cost_of(const Extents& e, unsigned block_columns) {
  const unsigned tiles = blocks_of(e.m, 128) * blocks_of(e.n, block_columns);
  const double slower = block_columns == 64 ? 1.3 : block_columns == 128 ? 1.08 : 1.0;
  constexpr double start_and_end = 1500;  // of a tile
  return blocks_of(tiles, compute_units()) *
         (blocks_of(e.k, 64) * 4.0 * block_columns * slower + start_and_end);
}

template <unsigned block_columns, unsigned places>
void enqueue_width(const Product& product) {
  if (product.beta == 0 && has_whole_rows(product.c, product.extents.n, product.extents.ldc)) {
    enqueue_tile<block_columns, places, true>(product);
  } else {
    enqueue_tile<block_columns, places, false>(product);
  }
}

inline void enqueue_tile_by_size(const Stage&, const Product& original) {
  struct Width {
    unsigned columns;
    void (*enqueue)(const Product&);
  };
  static constexpr Width widths[] = {{256, enqueue_width<256, 4>},
                                     {192, enqueue_width<192, 4>},
                                     {128, enqueue_width<128, 6>},
                                     {64, enqueue_width<64, 8>}};
  const Product product = with_whole_rows(original, original.workspace, pack_by_values);
  const auto costs_less = [&](const Width& one, const Width& other) {
    return cost_of(product.extents, one.columns) < cost_of(product.extents, other.columns);
  };
  std::min_element(std::begin(widths), std::end(widths), costs_less)->enqueue(product);
}

#endif

inline Stage tile_by_size_stage() {
  Stage stage = hopper_stage("a width of tiles for each size", 128, 256, 384);
  stage.any_size = true;
  stage.is_contender = true;
#if defined(HGEMM_HAS_HOPPER)
  stage.dynamic_lds_bytes = TilePlaces<256>::lds_bytes + 2 * 64 * 128 * sizeof(Half);
  stage.kernel = reinterpret_cast<const void*>(tile_by_size_kernel<256, 4, true>);
  stage.enqueue = enqueue_tile_by_size;
  stage.workspace_bytes = whole_rows_workspace;
#endif
  return stage;
}

}  // namespace hgemm
