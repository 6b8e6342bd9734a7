// The copy engine of an SM brings whole tiles (TMA), and four warps together multiply from LDS
// (wgmma); compute capability 9.0.
//
// Against 08: no lane computes an address or holds an operand. One thread asks for a tile of A and
// one of B; a barrier that counts bytes tells when they are there, another when their buffer is
// free. Two groups of four warps each multiply 64 x 64 by 64 x 128 with four instructions. Four
// buffers for tiles: the next are in flight while one is used.
// On the H200 540 TFLOP/s, 1.87 x 08, 0.69 x cuBLAS.
#pragma once

#include "hopper.h"
#include "stage.h"
#include "tile_places.h"

namespace hgemm {

#if defined(HGEMM_HAS_HOPPER)

static __global__ void __launch_bounds__(384)
    tensor_copies_kernel(const __grid_constant__ TensorMap a_map,
                         const __grid_constant__ TensorMap b_map, Extents extents, float alpha,
                         float beta, Half* c) {
#if defined(HGEMM_IN_HOPPER_CODE)
  using Places = TilePlaces<128>;
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
  const unsigned first_column = blockIdx.x * 128;
  const unsigned tiles = extents.k / Places::depth;
  if (group == 2) {
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
  float sums[128 / 2];
  for (unsigned tile = 0; tile < tiles; ++tile) {
    places.begin_multiply(sums, tile, group, tile == 0);
    wait_for_products<0>();
    if (threadIdx.x % Places::group_threads == 0) {
      places.leave(tile);
    }
  }
  store_by_lanes(sums, alpha, beta,
                 c + std::size_t{first_row + group * 64} * extents.ldc + first_column, extents.ldc);
#endif
}

#endif

inline Stage tensor_copies_stage() {
  Stage stage = hopper_stage("tensor copies, products of four warps", 128, 128, 384);
#if defined(HGEMM_HAS_HOPPER)
  stage.dynamic_lds_bytes = TilePlaces<128>::lds_bytes;
  stage.kernel = reinterpret_cast<const void*>(tensor_copies_kernel);
  stage.enqueue = enqueue_tensor_copies<tensor_copies_kernel, 128>;
#endif
  return stage;
}

}  // namespace hgemm
