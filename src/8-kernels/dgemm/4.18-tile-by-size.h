// A tile, and a number of blocks for it, for each size.
//
// Against 4.17: five tiles, and rung 4.16 for large products; and 1, 2, 4 ... blocks for a tile, up
// to 32. Which of them, says the model of ../gemm/tile_choice.h with the numbers below: what a step
// takes with a full SM, what at least, and a block's end. They come from an H200, by kernels of
// each tile and split at 20 sizes, to which the model is fitted; it is right within 8 % of most
// times, and is not asked for more than which is least.
// On the H200 60.65 TFLOP/s at 4096, where it takes 4.16; 0.99 to 1.05 times cuBLAS from 1536 on,
// 0.77 to 1.35 times from 128 to 1024 (from 256 on under it), 0.92 to 1.41 times at odd sizes.
#pragma once

#include <cstdint>
#include <vector>

#include "../gemm/chosen_tile.h"
#include "4.16-eight-k-per-instruction.h"
#include "4.17-small-tiles.h"
#include "stage.h"

namespace dgemm {

#if !defined(HIPSCOPE_BACKEND_AMD)

namespace tile_by_size {

using SizedKernel = gemm::SizedKernel<double>;

/// The tile with most rows. (On the host backend one of two slices of k.)
#if defined(HIPSCOPE_BACKEND_HOST)
using Widest = small_tiles::Shape<32, 32, 32, 32, 2, 2, 2>;
#else
using Widest = small_tiles::Shape<128, 64, 32, 32, 1, 4, 1>;
#endif

template <typename Shape>
SizedKernel kernel_of(double step_cycles, double least_step_cycles, double end_cycles) {
  return gemm::sized_kernel<Shape>(small_tiles::enqueue<Shape>, step_cycles, least_step_cycles,
                                   end_cycles);
}

inline const std::vector<SizedKernel>& kernels() {
  using small_tiles::Shape;
  static const std::vector<SizedKernel> all = {
#if defined(HIPSCOPE_BACKEND_HOST)
    kernel_of<small_tiles::Tile>(188, 342, 790),
    kernel_of<Widest>(600, 1000, 500),
#else
    kernel_of<Shape<32, 32, 16, 16, 1, 4, 4> >(188, 342, 790),
    kernel_of<small_tiles::Tile>(555, 632, 2099),
    kernel_of<Shape<96, 64, 48, 32, 1, 4, 2> >(780, 875, 2977),
    kernel_of<Shape<64, 128, 32, 64, 1, 4, 2> >(1045, 1214, 3395),
    kernel_of<Widest>(1020, 1065, 5201),
#endif
    gemm::dealing_kernel<double, eight_k_stage>(2090, 8000)
  };
  return all;
}

inline gemm::DeviceCosts costs() {
  using small_tiles::Tile;
  const bool has_clusters = gemm::uses_clusters(small_tiles::small_tiles_kernel<Tile, true>);
  return {.units = gemm::units_for_clusters(has_clusters),
          .value_bytes = sizeof(double),
          .start_cycles = 2495,
          .copy_cycles = 12,
          .bytes_per_cycle = 3671,
          .bytes_from_memory = 2350,
          .meeting_cycles = 2062,
          .summed_per_cycle = 27,
          .memory_meeting_cycles = 2062,
          .memory_summed_per_cycle = 30};
}

}  // namespace tile_by_size

inline Stage tile_by_size_stage() {
  Stage stage = eight_k_stage();  // what is shown is what large products take
  stage.technique = "matrix instructions, a tile and a split for each size";
  return gemm::by_choice<double, tile_by_size::kernels, tile_by_size::costs>(stage);
}

#endif

}  // namespace dgemm
