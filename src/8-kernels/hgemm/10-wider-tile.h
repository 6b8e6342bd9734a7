// Tiles of 128 x 256.
//
// Against 09: a product of 64 x 256 reads B's 32 KiB for twice as many products as A's 8 KiB need,
// so that an FMA costs 0.75 times the bytes of LDS. The sums take 128 registers of each lane that
// multiplies: the warps that copy give up theirs. And the next products begin before the last ones
// have ended: a place is free one tile later.
// On the H200 600 TFLOP/s, 1.12 x 09.
#pragma once

#include "hopper.h"
#include "stage.h"
#include "wgmma.h"

namespace hgemm {

#if defined(HGEMM_HAS_HOPPER)

static __global__ void __launch_bounds__(384)
    wider_tile_kernel(const __grid_constant__ TensorMap a_map,
                      const __grid_constant__ TensorMap b_map, Extents extents, float alpha,
                      float beta, Half* c) {
#if defined(HGEMM_IN_HOPPER_CODE)
  constexpr unsigned block_rows = 128;
  constexpr unsigned block_columns = 256;
  constexpr unsigned depth = 64;
  constexpr unsigned places = 4;
  constexpr unsigned group_threads = 128;
  constexpr unsigned row_bytes = depth * sizeof(Half);  // of a box: 64 values
  constexpr unsigned a_bytes = block_rows * row_bytes;
  constexpr unsigned b_bytes = block_columns * row_bytes;
  extern __shared__ unsigned char lds[];
  // The swizzle goes by addresses: tiles begin at multiples of 1024 bytes.
  unsigned char* const a_tiles = lds + (1024 - lds_address(lds) % 1024) % 1024;
  unsigned char* const b_tiles = a_tiles + places * a_bytes;
  __shared__ std::uint64_t full[places];
  __shared__ std::uint64_t empty[places];
  if (threadIdx.x == 0) {
    for (unsigned place = 0; place < places; ++place) {
      init_barrier(&full[place], 1);
      init_barrier(&empty[place], 2);  // groups that multiply
    }
    publish_barriers();
  }
  __syncthreads();
  const unsigned group = threadIdx.x / group_threads;
  const unsigned first_row = blockIdx.y * block_rows;
  const unsigned first_column = blockIdx.x * block_columns;
  const unsigned tiles = extents.k / depth;
  if (group == 2) {
    give_registers<40>();
    if (threadIdx.x % group_threads == 0) {
      for (unsigned tile = 0; tile < tiles; ++tile) {
        const unsigned place = tile % places;
        wait_for(&empty[place], tile / places % 2 ^ 1U);
        arrive_expecting(&full[place], a_bytes + b_bytes);
        copy_box(a_tiles + place * a_bytes, &a_map, tile * depth, first_row, &full[place]);
        for (unsigned box = 0; box < 4; ++box) {
          copy_box(b_tiles + place * b_bytes + box * b_bytes / 4, &b_map, first_column + box * 64,
                   tile * depth, &full[place]);
        }
      }
    }
    return;
  }
  take_registers<232>();
  float sums[block_columns / 2];
  for (unsigned tile = 0; tile < tiles; ++tile) {
    const unsigned place = tile % places;
    wait_for(&full[place], tile / places % 2);
    begin_products();
    const unsigned char* const a = a_tiles + place * a_bytes + group * 64 * row_bytes;
    const unsigned char* const b = b_tiles + place * b_bytes;
#pragma unroll
    for (unsigned step = 0; step < 4; ++step) {  // of 16 along k
      multiply(sums, descriptor_of(a + step * 32, 0),
               descriptor_of(b + step * 16 * row_bytes, b_bytes / 4), tile + step > 0);
    }
    commit_products();
    wait_for_products<1>();
    if (tile > 0 && threadIdx.x % group_threads == 0) {
      arrive(&empty[(tile - 1) % places]);
    }
  }
  wait_for_products<0>();
  const unsigned lane = threadIdx.x % 32;
  const unsigned row = first_row + group * 64 + threadIdx.x % group_threads / 32 * 16 + lane / 4;
  const unsigned column = first_column + lane % 4 * 2;
#pragma unroll
  for (unsigned i = 0; i < block_columns / 2; ++i) {
    store_result(c + std::size_t{row + i / 2 % 2 * 8} * extents.ldc + column + i / 4 * 8 + i % 2,
                 alpha, sums[i], beta);
  }
#endif
}

inline void enqueue_wider_tile(const Stage& stage, const Product& product) {
  static const bool has_room = [&] {
    hipscope::check(hipFuncSetAttribute(stage.kernel, hipFuncAttributeMaxDynamicSharedMemorySize,
                                        static_cast<int>(stage.dynamic_lds_bytes)));
    return true;
  }();
  static_cast<void>(has_room);
  const Extents& e = product.extents;
  hipscope::launch(wider_tile_kernel,
                   {.grid = grid_of(stage.tiles, e),
                    .block = dim3(stage.tiles.threads),
                    .lds_bytes = stage.dynamic_lds_bytes},
                   map_of(product.a, e.m, e.k, e.lda, 128, 64),
                   map_of(product.b, e.k, e.n, e.ldb, 64, 64), e, product.alpha, product.beta,
                   product.c);
}

#endif

inline Stage wider_tile_stage() {
  Stage stage{.technique = "tiles of 128 x 256",
              .tiles = {.block_rows = 128,
                        .block_columns = 256,
                        .depth = 64,
                        .threads = 384,
                        .thread_rows = 64,
                        .thread_columns = 256},
              .unit = gemm::Unit::matrix,
              .dynamic_lds_bytes = 4 * (128 + 256) * 64 * sizeof(Half) + 1024};
#if defined(HGEMM_HAS_HOPPER)
  stage.kernel = reinterpret_cast<const void*>(wider_tile_kernel);
  stage.enqueue = enqueue_wider_tile;
#endif
  stage.is_on = has_hopper_kernels;
  return stage;
}

}  // namespace hgemm
