// A tile, and a number of blocks for it, for each size.
//
// Against 4.17.1: its tiles and those of 4.17, three of them for sides of 16, and for large
// products 4.16.1, or 4.16 where rows are copied value by value; and for a tile as many blocks as
// fit, in clusters of 1, 2, 4 or 8. The model of ../gemm/tile_choice.h chooses, with the numbers
// below: the time of a step on a full SM, its latency, and a block's end. They are fitted to times
// of each tile and split on an H200 at 39 sizes, for 4.17.1's tiles on an H100 at 15 sizes, and set
// by hand for 4.16.1; the model only has to tell which is fastest.
#pragma once

#include <cstdint>
#include <vector>

#include "4.16.1-two-blocks-per-unit.h"
#include "4.17-small-tiles.h"
#include "4.17.1-tensor-copies.h"
#include "8-kernels/gemm/tile_by_size.h"
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
SizedKernel kernel_of(const gemm::TileCycles& cycles) {
  return gemm::sized_kernel<Shape>(small_tiles::enqueue<Shape>, cycles);
}

#if defined(HIPSCOPE_BACKEND_NVIDIA)
template <typename Shape>
SizedKernel tensor_kernel_of(const gemm::TileCycles& cycles) {
  SizedKernel kernel = gemm::sized_kernel<Shape>(tensor_tiles::enqueue<Shape>, cycles);
  kernel.option.only_whole_rows = true;
  return kernel;
}

/// Those of 4.17.1, where the device has what they need.
inline std::vector<SizedKernel> tensor_kernels() {
  using tensor_tiles::Shape;
  if (!gemm::uses_clusters(tensor_tiles::tensor_tiles_kernel<tensor_tiles::Tile>)) {
    return {};
  }
  return {tensor_kernel_of<Shape<32, 32, 16, 16, 2, 4>>({1000, 895, 584}),
          tensor_kernel_of<Shape<32, 64, 16, 32, 2, 4>>({1180, 1200, 1650}),
          tensor_kernel_of<Shape<64, 32, 32, 16, 2, 4>>({1250, 1300, 2000}),
          tensor_kernel_of<tensor_tiles::Tile>({1100, 1100, 1500}),
          tensor_kernel_of<Shape<48, 96, 48, 16, 2, 2>>({1290, 1290, 2500}),
          tensor_kernel_of<Shape<16, 32, 16, 16, 4, 4>>({520, 480, 450}),
          tensor_kernel_of<Shape<24, 48, 24, 16, 4, 4>>({700, 650, 900})};
}
#endif

inline std::vector<SizedKernel> make_kernels() {
  using small_tiles::Shape;
  std::vector<SizedKernel> all = {
#if defined(HIPSCOPE_BACKEND_HOST)
    kernel_of<small_tiles::Tile>({61, 249, 1150}),
    kernel_of<Widest>({600, 1000, 500}),
#else
    kernel_of<Shape<32, 32, 16, 16, 1, 4, 4>>({61, 213, 823}),
    kernel_of<Shape<64, 32, 32, 16, 1, 4, 4>>({252, 334, 1414}),
    kernel_of<small_tiles::Tile>({680, 569, 3707}),
    kernel_of<Shape<64, 128, 32, 64, 1, 4, 2>>({1168, 1335, 4582}),
    kernel_of<Widest>({1192, 562, 4023}),
    kernel_of<Shape<64, 128, 32, 64, 2, 3, 1>>({2400, 2400, 5000}),
    // For sides of 16:
    kernel_of<Shape<16, 64, 16, 16, 1, 4, 5>>({235, 273, 922}),
    kernel_of<Shape<64, 16, 16, 16, 1, 3, 3, 32>>({214, 1076, 781}),
    kernel_of<Shape<16, 32, 16, 16, 2, 4, 4>>({442, 251, 1180}),
#endif
    gemm::stream_k_kernel<double, two_blocks_stage>(1120, 25000),
    gemm::stream_k_kernel<double, eight_k_stage>(2331, 10639)
  };
#if defined(HIPSCOPE_BACKEND_NVIDIA)
  const std::vector<SizedKernel> tensor = tensor_kernels();
  all.insert(all.end(), tensor.begin(), tensor.end());
#endif
  return all;
}
inline const std::vector<SizedKernel>& kernels() {
  static const std::vector<SizedKernel> all = make_kernels();
  return all;
}

inline gemm::DeviceCosts costs() {
  using small_tiles::Tile;
  const bool has_clusters = gemm::uses_clusters(small_tiles::small_tiles_kernel<Tile, true>);
  return {.units = gemm::units_for_clusters(has_clusters),
          .value_bytes = sizeof(double),
          .start_cycles = 3076,
          .copy_cycles = 12.2,
          .copy_slots = 2.29,
          .bytes_per_cycle = 3641,
          .bytes_from_memory = 2353,
          .memory_cycles = 2113,
          .meeting_cycles = 1685,
          .summed_per_cycle = 36.1,
          .memory_meeting_cycles = 2273,
          .memory_round_cycles = 903};
}

}  // namespace tile_by_size

inline Stage tile_by_size_stage() {
  Stage stage = two_blocks_stage();  // what is shown is what large products take
  stage.technique = "matrix instructions, a tile and a split for each size";
  return gemm::by_choice<double, tile_by_size::kernels, tile_by_size::costs>(stage);
}

#endif

}  // namespace dgemm
