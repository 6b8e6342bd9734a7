// A lane's operands come from LDS 16 bytes at a time.
//
// Against dgemm's 4.10 and sgemm's 15, which load each operand by itself: FP64 takes 8 loads from
// LDS for 32 instructions in place of 64 (a load of two places counts as two), FP32 5 for 16 in
// place of 24. Nothing is transposed on its way to LDS, which is 16 bytes at a time as well, and no
// row is padded (place_of_piece.h). In FP32 a wave has 32 x 128 of C, so that its four blocks of
// sums are side by side.
//
// And the same with a larger tile, of 512 threads: 256 x 128 in FP64, 256 x 256 in FP32, where a
// wave has 64 x 128. An MI210's L2 gives each CU 20 bytes per cycle, and 128 x 128 of FP64 need 16;
// 256 x 128 need 12. Two buffers take 48 and 64 KiB of LDS. Not measured.
#pragma once

#include <hipscope/scheduling_barrier.h>

#include "tile.h"

#if !defined(HIPSCOPE_BACKEND_NVIDIA)

namespace gemm::mfma {

template <typename Value>
inline constexpr bool is_double = sizeof(Value) == 8;

template <typename Value>
using SmallTile = Tile<Value, 128, 128, is_double<Value> ? 64 : 32, is_double<Value> ? 64 : 128>;
template <typename Value>
using LargeTile = Tile<Value, 256, is_double<Value> ? 128 : 256, 64, is_double<Value> ? 64 : 128>;

/// Of the small tile two blocks are to fit on a CU, where clang would take more registers.
inline constexpr unsigned waves_per_simd = 2;

template <typename Tile>
static __global__ void __launch_bounds__(Tile::threads, waves_per_simd)
    fragments_of_16_bytes_kernel(Extents extents, typename Tile::Value alpha,
                                 const typename Tile::Value* __restrict__ a,
                                 const typename Tile::Value* __restrict__ b,
                                 typename Tile::Value beta, typename Tile::Value* __restrict__ c) {
  __shared__ Lds<Tile> lds[2];
  const unsigned row = blockIdx.y * Tile::rows;
  const unsigned column = blockIdx.x * Tile::columns;
  const unsigned tiles = extents.k / Tile::depth;
  Copy<Tile> copy(extents, a, b, row, column, 0, tiles);
  Sums<Tile> sums;
  copy.load();
  copy.store(lds[0]);
  __syncthreads();
#pragma unroll 1
  for (unsigned pair = 0; pair < tiles; pair += 2) {
#pragma unroll
    for (unsigned buffer = 0; buffer < 2; ++buffer) {
      copy.load();
      hipscope::scheduling_barrier();
#pragma unroll
      for (unsigned k = 0; k < Tile::depth; k += Tile::fragment_k) {
        Fragments<Tile> fragments;
        fragments.load(lds[buffer], k, copy.thread());
        sums.multiply_add(fragments);
      }
      hipscope::scheduling_barrier();
      copy.store(lds[1 - buffer]);
      __syncthreads();
    }
  }
  sums.store(c + std::size_t{row} * extents.ldc + column, extents.ldc, alpha, beta);
}

template <typename Value>
Stage<Value> fragments_of_16_bytes_stage() {
  using Tile = SmallTile<Value>;
  return stage_of_tile<Tile, fragments_of_16_bytes_kernel<Tile>>("fragments of 16 bytes");
}
template <typename Value>
Stage<Value> larger_tile_stage() {
  using Tile = LargeTile<Value>;
  return stage_of_tile<Tile, fragments_of_16_bytes_kernel<Tile>>("larger tile");
}

}  // namespace gemm::mfma

#endif
