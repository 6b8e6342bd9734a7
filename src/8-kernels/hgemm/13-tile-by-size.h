// A width of tiles for each size, and any size.
//
// Against 12: tiles of 128 x 128, 192 or 256, whichever leaves the fewest SMs idle in the last
// round, each block for itself: pairs of blocks are a tile's height more to be idle with. Copies
// fill with zeros what lies outside a matrix, and leave it out of C. Rows that do not begin at
// multiples of 16 bytes, which tensor copies cannot read, are packed into a workspace first, in the
// same time; such rows of C are stored by the lanes that have the sums.
// On the H200 772 TFLOP/s at 4096^3, where its tiles are those of 12; 0.99 to 1.01 x cuBLAS from
// 2048 on, 0.75 to 0.84 x below, where most SMs have no tile.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>

#include "../gemm/problem_kernels.h"
#include "12-persistent-blocks.h"
#include "hopper.h"
#include "stage.h"
#include "wgmma.h"

namespace hgemm {

#if defined(HGEMM_HAS_HOPPER)

/// How many columns of a tile are in LDS at once on their way to C.
__host__ __device__ constexpr unsigned columns_stored(unsigned block_columns) {
  return block_columns == 256 ? 128 : block_columns;
}

template <unsigned block_columns, unsigned places, bool by_copies>
static __global__ void __launch_bounds__(384)
    tile_by_size_kernel(const __grid_constant__ TensorMap a_map,
                        const __grid_constant__ TensorMap b_map,
                        const __grid_constant__ TensorMap c_map, TileOrder order, Extents extents,
                        float alpha, float beta, Half* c) {
#if defined(HGEMM_IN_HOPPER_CODE)
  constexpr unsigned block_rows = 128;
  constexpr unsigned depth = 64;
  constexpr unsigned group_threads = 128;
  constexpr unsigned row_bytes = depth * sizeof(Half);  // of a box: 64 values
  constexpr unsigned a_bytes = block_rows * row_bytes;
  constexpr unsigned b_bytes = block_columns * row_bytes;
  constexpr unsigned boxes = block_columns / 64;                      // of a tile of B
  constexpr unsigned stored_columns = columns_stored(block_columns);  // at a time
  constexpr unsigned c_bytes = 64 * stored_columns * sizeof(Half);
  extern __shared__ unsigned char lds[];
  // The swizzle goes by addresses: tiles begin at multiples of 1024 bytes.
  unsigned char* const a_tiles = lds + (1024 - lds_address(lds) % 1024) % 1024;
  unsigned char* const b_tiles = a_tiles + places * a_bytes;
  __shared__ std::uint64_t full[places];
  __shared__ std::uint64_t empty[places];
  const unsigned group = threadIdx.x / group_threads;
  const unsigned in_group = threadIdx.x % group_threads;
  const unsigned steps = (extents.k + depth - 1) / depth;
  unsigned count = 0;  // of steps, over all tiles
  if (group == 2) {
    give_registers<40>();
    if (in_group == 0) {
      prefetch_map(&a_map);
      prefetch_map(&b_map);
      for (unsigned place = 0; place < places; ++place) {
        init_barrier(&full[place], 1);
        init_barrier(&empty[place], 2);  // groups that multiply
      }
      publish_barriers();
    }
    __syncwarp();
  }
  __syncthreads();
  if (group == 2) {
    if (in_group == 0) {
      for (unsigned t = blockIdx.x; t < order.rows * order.columns; t += gridDim.x) {
        const uint2 tile = tile_at(order, t);
        const unsigned first_row = tile.x * block_rows;
        const unsigned first_column = tile.y * block_columns;
        for (unsigned step = 0; step < steps; ++step, ++count) {
          const unsigned place = count % places;
          wait_for(&empty[place], count / places % 2 ^ 1U);
          arrive_expecting(&full[place], a_bytes + b_bytes);
          copy_box(a_tiles + place * a_bytes, &a_map, step * depth, first_row, &full[place]);
          for (unsigned box = 0; box < boxes; ++box) {
            copy_box(b_tiles + place * b_bytes + box * b_bytes / boxes, &b_map,
                     first_column + box * 64, step * depth, &full[place]);
          }
        }
      }
    }
    return;
  }
  take_registers<232>();
  unsigned char* const c_tile = b_tiles + places * b_bytes + group * c_bytes;
  const unsigned lane = threadIdx.x % 32;
  const unsigned warp_row = in_group / 32 * 16;
  float sums[block_columns / 2];
  for (unsigned t = blockIdx.x; t < order.rows * order.columns; t += gridDim.x) {
    const uint2 tile = tile_at(order, t);
    const unsigned first_row = tile.x * block_rows + group * 64;
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
                 descriptor_of(b + part * 16 * row_bytes, b_bytes / boxes), step + part > 0);
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
    if constexpr (!by_copies) {
#pragma unroll
      for (unsigned i = 0; i < block_columns / 2; ++i) {
        const unsigned row = first_row + warp_row + lane / 4 + i / 2 % 2 * 8;
        const unsigned column = first_column + lane % 4 * 2 + i / 4 * 8 + i % 2;
        if (row < extents.m && column < extents.n) {
          store_result(c + std::size_t{row} * extents.ldc + column, alpha, sums[i], beta);
        }
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
        const unsigned row_in_group = warp_row + lane % 16;
        const unsigned piece = i % 4 * 2 + lane / 16;
        const unsigned first = (part * stored_columns / 16 + i) * 8;
        store_matrices(c_tile + i / 4 * 64 * row_bytes + row_in_group * row_bytes +
                           (piece ^ row_in_group % 8) * 16,
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
    wait_until_stores_have_read();  // they end with the kernel
  }
#endif
}

// Rows for tensor copies: 16 bytes are 8 values, of which a copy to memory always stores all.
inline unsigned packed_pitch(unsigned columns) { return (columns + 7) / 8 * 8; }
inline bool is_packed(const Half* matrix, unsigned columns, unsigned pitch) {
  return columns % 8 == 0 && pitch % 8 == 0 && reinterpret_cast<std::uintptr_t>(matrix) % 16 == 0;
}

// The matrix, or a copy of it in the workspace, which then begins behind it.
inline const Half* packed(const Half* matrix, unsigned rows, unsigned columns, unsigned& pitch,
                          Half*& workspace) {
  if (is_packed(matrix, columns, pitch) || rows == 0 || columns == 0) {
    return matrix;
  }
  Half* const copy = workspace;
  const unsigned from_pitch = pitch;
  pitch = packed_pitch(columns);
  workspace += std::size_t{rows} * pitch;
  hipscope::launch(gemm::copy_kernel<Half>, gemm::row_shape(rows, pitch), copy, rows, pitch, pitch,
                   matrix, rows, columns, from_pitch);
  return copy;
}

// With k = 0 both operands are zeros in the workspace, 8 deep.
inline std::uint64_t tile_by_size_workspace(const Extents& e) {
  const std::uint64_t k = std::max(8U, e.k);
  return sizeof(Half) *
         (e.m * std::uint64_t{packed_pitch(static_cast<unsigned>(k))} + k * packed_pitch(e.n));
}

template <unsigned block_columns, unsigned places, bool by_copies>
void enqueue_tile(const Product& product, const Half* a, const Half* b) {
  constexpr auto kernel = tile_by_size_kernel<block_columns, places, by_copies>;
  constexpr unsigned lds_bytes =
      (places * (128 + block_columns) * 64 + 2 * 64 * columns_stored(block_columns)) *
          sizeof(Half) +
      1024;
  static const bool has_room = [&] {
    hipscope::check(hipFuncSetAttribute(reinterpret_cast<const void*>(kernel),
                                        hipFuncAttributeMaxDynamicSharedMemorySize, lds_bytes));
    return true;
  }();
  static_cast<void>(has_room);
  const Extents& e = product.extents;
  const TileOrder order = {.rows = blocks_of(e.m, 128), .columns = blocks_of(e.n, block_columns)};
  const TensorMap a_map = map_of(a, e.m, e.k, e.lda, 128, 64);
  // Where C is stored by lanes its map is not used, and must only be one.
  hipscope::launch(kernel,
                   {.grid = dim3(std::min(order.rows * order.columns, compute_units())),
                    .block = dim3(384),
                    .lds_bytes = lds_bytes},
                   a_map, map_of(b, e.k, e.n, e.ldb, 64, 64),
                   by_copies ? map_of(product.c, e.m, e.n, e.ldc, 64, 64) : a_map, order, e,
                   product.alpha, product.beta, product.c);
}

// What all rounds of the SMs cost with tiles of so many columns, in cycles. A step of 64 along k
// takes 4 cycles per column; narrow tiles ask LDS for more bytes per product than it gives at full
// rate.
inline double cost_of(const Extents& e, unsigned block_columns) {
  const unsigned tiles = blocks_of(e.m, 128) * blocks_of(e.n, block_columns);
  const double slower = block_columns == 64 ? 1.3 : block_columns == 128 ? 1.08 : 1.0;
  constexpr double start_and_end = 1500;  // of a tile
  return blocks_of(tiles, compute_units()) *
         (blocks_of(e.k, 64) * 4.0 * block_columns * slower + start_and_end);
}

inline void enqueue_tile_by_size(const Stage&, const Product& original) {
  Product product = original;
  Extents& e = product.extents;
  auto* workspace = static_cast<Half*>(product.workspace);
  if (e.k == 0) {
    e.k = e.lda = 8;
    e.ldb = packed_pitch(e.n);
    product.a = workspace;
    product.b = workspace + std::size_t{e.m} * e.lda;
  }
  const Half* const a = packed(product.a, e.m, e.k, e.lda, workspace);
  const Half* const b = packed(product.b, e.k, e.n, e.ldb, workspace);
  const auto enqueue = [&]<unsigned block_columns, unsigned places>() {
    if (product.beta == 0 && is_packed(product.c, e.n, e.ldc)) {
      enqueue_tile<block_columns, places, true>(product, a, b);
    } else {
      enqueue_tile<block_columns, places, false>(product, a, b);
    }
  };
  const unsigned widths[] = {256, 192, 128, 64};
  switch (*std::min_element(
      std::begin(widths), std::end(widths),
      [&](unsigned one, unsigned other) { return cost_of(e, one) < cost_of(e, other); })) {
    case 256:
      return enqueue.template operator()<256, 4>();
    case 192:
      return enqueue.template operator()<192, 4>();
    case 128:
      return enqueue.template operator()<128, 6>();
    default:
      return enqueue.template operator()<64, 8>();
  }
}

#endif

inline Stage tile_by_size_stage() {
  Stage stage{.technique = "a width of tiles for each size",
              .tiles = {.block_rows = 128,
                        .block_columns = 256,
                        .depth = 64,
                        .threads = 384,
                        .thread_rows = 64,
                        .thread_columns = 256},
              .unit = gemm::Unit::matrix,
              .dynamic_lds_bytes = (4 * (128 + 256) * 64 + 2 * 64 * 128) * sizeof(Half) + 1024,
              .any_size = true,
              .is_contender = true};
#if defined(HGEMM_HAS_HOPPER)
  stage.kernel = reinterpret_cast<const void*>(tile_by_size_kernel<256, 4, true>);
  stage.enqueue = enqueue_tile_by_size;
  stage.workspace_bytes = tile_by_size_workspace;
#endif
  stage.is_on = has_hopper_kernels;
  return stage;
}

}  // namespace hgemm
