// Floats of 8 bits (E4M3): the same tiles hold twice as many, and the instruction multiplies them
// at twice the rate.
//
// Against 15: 128 bytes of a row are 128 values of k. B is column-major, with k along its memory as
// along A's (the library's "TN"): wgmma can transpose an operand of 16 bits, but none of 8. C is
// FP16 or FP32. The registers of the sums hold FP32, but the instruction keeps 13 bits of what it
// adds (chapter 2 measures it): a long sum loses small terms. That is the first of two kernels, the
// fastest; the second one takes the sums of every 128 of k out of the instruction, and adds them in
// FP32. For that its tile is half as large: a lane has each
// sum twice. On the H200, 4096^3, C in FP16, in graphs: 106.5 us, 0.95 x cuBLASLt with fast sums
// and 1.05 x its default; with sums in FP32 172.9 us, 0.64 x its default.
#pragma once

#include "15-tiles-by-columns.h"
#include "stage.h"
#include "tile_places.h"

namespace hgemm {

/// Where no instruction multiplies them.
template <typename Result>
static __global__ void __launch_bounds__(256)
    one_thread_per_element_of_8_bits_kernel(Extents extents, float alpha,
                                            const E4M3* __restrict__ a, const E4M3* __restrict__ b,
                                            float beta, Result* __restrict__ c) {
  constexpr unsigned side = 16;
  const unsigned row = blockIdx.y * side + threadIdx.x / side;
  const unsigned column = blockIdx.x * side + threadIdx.x % side;
  float sum = 0;
  for (unsigned k = 0; k < extents.k; ++k) {
    sum += hipscope::to_float(a[std::size_t{row} * extents.lda + k]) *
           hipscope::to_float(b[std::size_t{column} * extents.ldb + k]);
  }
  store_result(c + std::size_t{row} * extents.ldc + column, alpha, sum, beta);
}

template <typename Result>
gemm::Stage<E4M3, Result> one_thread_per_element_of_8_bits_stage() {
  return gemm::stage_of<E4M3, one_thread_per_element_of_8_bits_kernel<Result>, Result>(
      "FP8, one thread per element", {16, 16, 1, 256, 1, 1});
}

/// By the tiles of stage 15.
template <bool adds_steps, typename Result>
gemm::Stage<E4M3, Result> tiles_of_8_bits_stage(const char* technique) {
  constexpr unsigned columns = adds_steps ? 128 : 256;
  auto stage = hopper_stage<E4M3, Result>(technique, 128, columns, 288);
#if defined(HGEMM_HAS_HOPPER)
  using Tile = ModelTile<E4M3, 128, columns, 16, false, adds_steps>;
  stage.dynamic_lds_bytes = Tile::lds_bytes;
  stage.kernel = reinterpret_cast<const void*>(model_tiles_kernel<Tile, E4M3, Result>);
  stage.enqueue = [](const gemm::Stage<E4M3, Result>&, const gemm::Product<E4M3, Result>& product) {
    enqueue_model_tile<Tile>(product);
  };
#endif
  return stage;
}

}  // namespace hgemm
