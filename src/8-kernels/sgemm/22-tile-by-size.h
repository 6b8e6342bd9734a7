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
constexpr unsigned most_blocks = 32;  // of a tile

/// The widest tile.
#if defined(HIPSCOPE_BACKEND_HOST)
using Widest = small_tiles::Tile;
#else
using Widest = small_tiles::Shape<64, 128, 8, 8, 2, 4, 1>;
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
          .workspace_bytes = gemm::bytes_of_shared_tiles<float, Shape>};
}

/// Rung 19, which deals out all steps.
inline void enqueue_large(const Product& product, unsigned) {
  static const Stage stage = split_along_k_stage();
  stage.enqueue(stage, product);
}
inline std::uint64_t bytes_of_large(const Extents& extents, unsigned) {
  static const Stage stage = split_along_k_stage();
  return stage.workspace_bytes(extents);
}
inline SizedKernel large_tiles() {
  return {.option = {.rows = split_along_k::block_rows,
                     .columns = split_along_k::block_columns,
                     .depth = pipeline_depth,
                     .resident = 1,
                     .step_cycles = 2520,
                     .least_step_cycles = 2520,
                     .end_cycles = 12000,
                     .most_blocks = 1,
                     .deals_out_steps = true},
          .enqueue = enqueue_large,
          .workspace_bytes = bytes_of_large};
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
    large_tiles()
  };
  return all;
}

inline gemm::DeviceCosts costs() {
  const unsigned units = gemm::compute_units();
  // The H200's 132: of clusters of four and more times fit 120.
  const unsigned for_clusters = units * 10 / 11;
  return {.units = {units, units, for_clusters, for_clusters},
          .value_bytes = sizeof(float),
          .start_cycles = 3050,
          .copy_cycles = 0,  // hidden behind the FMAs
          .bytes_per_cycle = 4000,
          .meeting_cycles = 1677,
          .summed_per_cycle = 13};
}

inline gemm::TileChoice choice_for(const Extents& extents) {
  static gemm::Chooser<float> chooser(kernels(), costs());
  return chooser.choice_for(extents);
}

}  // namespace tile_by_size

inline Stage tile_by_size_stage() {
  Stage stage = split_along_k_stage();  // what of it is shown is what large products take
  stage.technique = "a tile and a split for each size";
  stage.is_contender = true;
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

}  // namespace sgemm
