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
constexpr unsigned most_blocks = 32;  // of a tile

/// The tile with most rows. (On the host backend one of two slices of k.)
#if defined(HIPSCOPE_BACKEND_HOST)
using Widest = small_tiles::Shape<32, 32, 32, 32, 2, 2, 2>;
#else
using Widest = small_tiles::Shape<128, 64, 32, 32, 1, 4, 1>;
#endif

template <typename Shape>
SizedKernel kernel_of(double step_cycles, double least_step_cycles, double end_cycles) {
  return {.option = {.rows = Shape::rows,
                     .columns = Shape::columns,
                     .depth = Shape::depth,
                     .resident = Shape::blocks_per_unit,
                     .step_cycles = step_cycles,
                     .least_step_cycles = least_step_cycles,
                     .end_cycles = end_cycles,
                     .most_blocks = most_blocks},
          .enqueue = small_tiles::enqueue<Shape>,
          .workspace_bytes = gemm::bytes_of_shared_tiles<double, Shape>};
}

/// Rung 4.16, which deals out all steps.
inline void enqueue_large(const Product& product, unsigned) {
  static const Stage stage = eight_k_stage();
  stage.enqueue(stage, product);
}
inline std::uint64_t bytes_of_large(const Extents& extents, unsigned) {
  static const Stage stage = eight_k_stage();
  return stage.workspace_bytes(extents);
}
inline SizedKernel large_tiles() {
  return {.option = {.rows = pipeline_side,
                     .columns = pipeline_side,
                     .depth = pipeline_depth,
                     .resident = 1,
                     .step_cycles = 2090,
                     .least_step_cycles = 2090,
                     .end_cycles = 8000,
                     .most_blocks = 1,
                     .deals_out_steps = true},
          .enqueue = enqueue_large,
          .workspace_bytes = bytes_of_large};
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
    large_tiles()
  };
  return all;
}

inline gemm::DeviceCosts costs() {
  const unsigned units = gemm::compute_units();
  // The H200's 132: of clusters of four and more times fit 120.
  const unsigned for_clusters = units * 10 / 11;
  return {.units = {units, units, for_clusters, for_clusters},
          .value_bytes = sizeof(double),
          .start_cycles = 2495,
          .copy_cycles = 12,
          .bytes_per_cycle = 3671,
          .meeting_cycles = 2062,
          .summed_per_cycle = 27};
}

inline gemm::TileChoice choice_for(const Extents& extents) {
  static gemm::Chooser<double> chooser(kernels(), costs());
  return chooser.choice_for(extents);
}

}  // namespace tile_by_size

inline Stage tile_by_size_stage() {
  Stage stage = eight_k_stage();  // what is shown is what large products take
  stage.technique = "matrix instructions, a tile and a split for each size";
  stage.enqueue = [](const Stage&, const Product& product) {
    const gemm::TileChoice choice = tile_by_size::choice_for(product.extents);
    tile_by_size::kernels()[choice.option].enqueue(product, choice.blocks);
  };
  stage.workspace_bytes = [](const Extents& extents) {
    const gemm::TileChoice choice = tile_by_size::choice_for(extents);
    return tile_by_size::kernels()[choice.option].workspace_bytes(extents, choice.blocks);
  };
  return stage;
}

#endif

}  // namespace dgemm
