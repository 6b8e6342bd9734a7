// Tiles of 128 x 256.
//
// Against 09: a product of 64 x 256 uses A's 8 KiB for twice as many products, so an FMA costs 0.75
// times the bytes of LDS. The sums take 128 registers of each lane that multiplies: the warps that
// copy give up theirs. And the next products begin before the last ones have ended: a buffer is
// free one tile later.
// On the H200 615 TFLOP/s, 1.14 x 09.
#pragma once

#include "hopper.h"
#include "stage.h"
#include "tile_places.h"

namespace hgemm {

#if defined(HGEMM_HAS_HOPPER)

static __global__ void __launch_bounds__(384)
    wider_tile_kernel(const __grid_constant__ TensorMap a_map,
                      const __grid_constant__ TensorMap b_map, Extents extents, float alpha,
                      float beta, Half* c) {
#if defined(HGEMM_IN_HOPPER_CODE)
  using Places = TilePlaces<256>;
  extern __shared__ unsigned char lds[];
  __shared__ std::uint64_t full[Places::count];
  __shared__ std::uint64_t empty[Places::count];
  Places places(lds, full, empty);
  if (threadIdx.x == 0) {
    places.init(2);
  }
  __syncthreads();
  const unsigned group = threadIdx.x / Places::group_threads;
  const unsigned first_row = blockIdx.y * Places::block_rows;
  const unsigned first_column = blockIdx.x * 256;
  const unsigned tiles = extents.k / Places::depth;
  if (group == 2) {
    give_registers<40>();
    if (threadIdx.x % Places::group_threads == 0) {
      for (unsigned tile = 0; tile < tiles; ++tile) {
        places.expect(tile);
        places.copy_a(tile, a_map, tile * Places::depth, first_row);
        for (unsigned box = 0; box < Places::boxes; ++box) {
          places.copy_b(tile, b_map, box, first_column, tile * Places::depth);
        }
      }
    }
    return;
  }
  take_registers<232>();
  float sums[256 / 2];
  for (unsigned tile = 0; tile < tiles; ++tile) {
    places.begin_multiply(sums, tile, group, tile == 0);
    wait_for_products<1>();
    if (tile > 0 && threadIdx.x % Places::group_threads == 0) {
      places.leave(tile - 1);
    }
  }
  wait_for_products<0>();
  store_by_lanes(sums, alpha, beta,
                 c + std::size_t{first_row + group * 64} * extents.ldc + first_column, extents.ldc);
#endif
}

#endif

inline Stage wider_tile_stage() {
  Stage stage = hopper_stage("tiles of 128 x 256", 128, 256, 384);
#if defined(HGEMM_HAS_HOPPER)
  stage.dynamic_lds_bytes = TilePlaces<256>::lds_bytes;
  stage.kernel = reinterpret_cast<const void*>(wider_tile_kernel);
  stage.enqueue = enqueue_tensor_copies<wider_tile_kernel, 256>;
#endif
  return stage;
}

}  // namespace hgemm
