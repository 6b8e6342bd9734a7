// Two blocks, one above the other, share their tiles of B.
//
// Against 10: the two make a cluster; each copies half of B's tile and its copy engine delivers it
// to both (multicast). L2 is read for B once for two blocks: 0.67 times the bytes of both operands.
// A buffer is free when the groups of both blocks have read it, so each arrives at both blocks'
// barriers.
// On the H200 603 TFLOP/s, 0.98 x 10: L2 was not the limit.
#pragma once

#include "hopper.h"
#include "stage.h"
#include "tile_places.h"

namespace hgemm {

#if defined(HGEMM_HAS_HOPPER)

static __global__ void __launch_bounds__(384)
    shared_tiles_kernel(const __grid_constant__ TensorMap a_map,
                        const __grid_constant__ TensorMap b_map, Extents extents, float alpha,
                        float beta, Half* c) {
#if defined(HGEMM_IN_HOPPER_CODE)
  using Places = TilePlaces<256>;
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
  const unsigned first_row = blockIdx.y * Places::block_rows;
  const unsigned first_column = blockIdx.x * 256;
  const unsigned tiles = extents.k / Places::depth;
  if (group == 2) {
    give_registers<40>();
    if (threadIdx.x % Places::group_threads == 0) {
      for (unsigned tile = 0; tile < tiles; ++tile) {
        places.expect(tile);
        places.copy_a(tile, a_map, tile * Places::depth, first_row);
        for (unsigned box = 2 * block; box < 2 * block + 2; ++box) {
          places.copy_b_to_both(tile, b_map, box, first_column, tile * Places::depth);
        }
      }
    }
    __syncwarp();
    cluster_barrier();
    return;
  }
  take_registers<232>();
  float sums[256 / 2];
  for (unsigned tile = 0; tile < tiles; ++tile) {
    places.begin_multiply(sums, tile, group, tile == 0);
    wait_for_products<1>();
    if (tile > 0 && threadIdx.x % Places::group_threads < 2) {
      places.leave_at(tile - 1, threadIdx.x % Places::group_threads);
    }
  }
  wait_for_products<0>();
  store_by_lanes(sums, alpha, beta,
                 c + std::size_t{first_row + group * 64} * extents.ldc + first_column, extents.ldc);
  cluster_barrier();  // until then the other block may arrive here
#endif
}

#endif

inline Stage shared_tiles_stage() {
  Stage stage = hopper_stage("two blocks share B", 256, 256, 384);
#if defined(HGEMM_HAS_HOPPER)
  stage.dynamic_lds_bytes = TilePlaces<256>::lds_bytes;
  stage.kernel = reinterpret_cast<const void*>(shared_tiles_kernel);
  stage.enqueue = enqueue_tensor_copies<shared_tiles_kernel, 256, 2>;
#endif
  return stage;
}

}  // namespace hgemm
