// A tile, and a number of blocks for it, for each size.
//
// Against 21: five tiles, and rung 19 for large products; and 1, 2, 4 ... blocks for a tile, up to
// 32. Which of them, says the model of ../gemm/tile_choice.h with the numbers below: what a step
// takes with a full SM, what at least, and a block's end. They come from an H200, by kernels of
// each tile and split at 20 sizes, to which the model is fitted; it is right within 8 % of most
// times, and is not asked for more than which is least.
// On the H200 1.01 to 1.73 times cuBLAS from 128 to 1024, 1.02 to 1.25 times from 1536 to 8192,
// 0.95 to 1.14 times at odd sizes; 0.69 to 1.65 times where sides are of 16, 64 or 256.
#pragma once

#include <cstdint>
#include <vector>

#include "../gemm/chosen_tile.h"
#include "19-split-along-k.h"
#include "21-small-tiles.h"
#include "stage.h"

namespace sgemm {

#if !defined(HIPSCOPE_BACKEND_AMD)

namespace tile_by_size {

using SizedKernel = gemm::SizedKernel<float>;

/// The widest tile.
#if defined(HIPSCOPE_BACKEND_HOST)
using Widest = small_tiles::Tile;
#else
using Widest = small_tiles::Shape<64, 128, 8, 8, 2, 4, 1>;
#endif

template <typename Shape>
SizedKernel kernel_of(double step_cycles, double least_step_cycles, double end_cycles) {
  return gemm::sized_kernel<Shape>(small_tiles::enqueue<Shape>, step_cycles, least_step_cycles,
                                   end_cycles);
}

/// On the host backend, which takes its time, the first two.
inline const std::vector<SizedKernel>& kernels() {
  using small_tiles::Shape;
  static const std::vector<SizedKernel> all = {
    kernel_of<Shape<32, 32, 4, 4, 2, 4, 6>>(322, 409, 584),
    kernel_of<small_tiles::Tile>(421, 529, 77),
#if !defined(HIPSCOPE_BACKEND_HOST)
    kernel_of<Shape<32, 64, 8, 8, 4, 4, 4>>(855, 1065, 2474),
    kernel_of<Shape<32, 128, 8, 16, 4, 3, 2>>(1609, 1515, 5606),
    kernel_of<Widest>(1352, 1499, 3443),
#endif
    gemm::dealing_kernel<float, split_along_k_stage>(2520, 12000)
  };
  return all;
}

inline gemm::DeviceCosts costs() {
  using small_tiles::Tile;
  const bool has_clusters = gemm::uses_clusters(small_tiles::small_tiles_kernel<Tile, true>);
  return {.units = gemm::units_for_clusters(has_clusters),
          .value_bytes = sizeof(float),
          .start_cycles = 3050,
          .copy_cycles = 0,  // hidden behind the FMAs
          .bytes_per_cycle = 4000,
          .bytes_from_memory = 2350,
          .meeting_cycles = 1677,
          .summed_per_cycle = 13,
          .memory_meeting_cycles = 1677,
          .memory_summed_per_cycle = 30};
}

}  // namespace tile_by_size

inline Stage tile_by_size_stage() {
  Stage stage = split_along_k_stage();  // what of it is shown is what large products take
  stage.technique = "a tile and a split for each size";
  stage.is_contender = true;
  return gemm::by_choice<float, tile_by_size::kernels, tile_by_size::costs>(stage);
}

#endif

}  // namespace sgemm
