// A tile, and a number of blocks for it, for each size.
//
// Against 21.1: eleven tiles, of 21 and of 21.1, and stage 19 for large products, with tiles of
// 128 x 192 as well, which waste fewer columns beyond C at some widths (2843 is 14.8 times 192, and
// 11.1 times 256); and for a tile as many blocks as fit, in clusters of 1, 2, 4 or 8. The model of
// ../gemm/tile_choice.h chooses, with the numbers below: the time of a step on a full SM, its
// latency, and a block's end. They are fitted to times of each tile and split on an H200 at 39
// sizes, and for the tiles with four, and two, parts of k in a block and those of 128 x 192 on an
// H100 at 15 sizes; the model only has to tell which is fastest.
//
// On AMD four tiles of 21's way through registers, one of them for flat products, and stages 19 and
// 20 for large ones. The numbers are not measured but predicted, from the vendor's rates
// (../gemm/amd_rates.h): a step's time by FMAs and by LDS, its latency, the rates of L2 and memory.
// CUs, and the blocks that each has room for, are the runtime's. 21.1 has no counterpart: registers
// transpose A on its way whatever comes by 16 bytes, and the tile of 16 x 128 is as 21 has it.
#pragma once

#include <vector>

#include "19-split-along-k.h"
#include "21-small-tiles.h"
#include "21.1-row-major-lds.h"
#include "8-kernels/gemm/amd_rates.h"
#include "8-kernels/gemm/tile_by_size.h"
#include "pipelined_launch.h"
#include "stage.h"

namespace sgemm {

#if !defined(HIPSCOPE_BACKEND_AMD)

namespace tile_by_size {

/// Stage 19, for large products.
inline Stage large_tile_stage() {
  return pipelined_stage<TilesSplitAlongK>("a tile and a split for each size");
}

#if defined(HIPSCOPE_BACKEND_NVIDIA)
/// Stage 19 with 8 x 12 per thread: tiles of 128 x 192, 48 pieces of 16 bytes beside each other,
/// which 256 threads do not share evenly. So B comes by values, whatever its rows.
using EightByTwelve = BByValues<SplitAlongK<InColumns<AsynchronousCopies<ThreadTile<8, 12>>>>>;
inline Stage narrower_tile_stage() {
  Stage stage = large_tile_stage();
  stage.tiles.block_columns = EightByTwelve::block_columns;
  stage.tiles.thread_columns = EightByTwelve::thread_columns;
  stage.enqueue = [](const Stage& self, const Product& product) {
    if (product.extents.n < EightByTwelve::block_columns || !copies_to_lds<EightByTwelve>()) {
      enqueue_pipelined<TilesSplitAlongK>(self, product);
    } else {
      enqueue_tiles<EightByTwelve>(product, product.extents, product.b);
    }
  };
  return stage;
}
#endif

template <typename Shape>
gemm::SizedKernel<float> kernel_of(const gemm::TileCycles& cycles) {
  return gemm::sized_kernel<Shape>(enqueue_small_tiles<Shape>, cycles);
}

/// On the host backend, which takes its time, a few.
inline const std::vector<gemm::SizedKernel<float>>& kernels() {
  static const std::vector<gemm::SizedKernel<float>> all = {
    kernel_of<Transposed<32, 32, 4, 4, 2, 4, 6>>({322, 376, 479}),
    kernel_of<SmallTile>({423, 521, 1328}),
    kernel_of<RowMajorTile>({949, 995, 1458}),
#if !defined(HIPSCOPE_BACKEND_HOST)
    kernel_of<Transposed<32, 128, 8, 16, 4, 3, 2>>({1340, 1560, 4986}),
    kernel_of<Transposed<64, 128, 8, 16, 4, 4, 1>>({2650, 2650, 5000}),
    kernel_of<Transposed<64, 128, 8, 8, 2, 4, 1>>({1493, 909, 5218}),
    kernel_of<RowMajor<16, 64, 4, 4, 8, 4, 8, 4, 4>>({500, 623, 867}),
    kernel_of<RowMajor<64, 16, 16, 4, 8, 4, 16, 3, 3>>({1114, 1286, 1167}),
    kernel_of<RowMajor<16, 16, 8, 2, 4, 8, 8, 4, 3>>({359, 348, 998}),
    kernel_of<Transposed<64, 64, 8, 8, 4, 3, 1>>({1690, 1800, 2500}),
    kernel_of<Transposed<96, 96, 12, 12, 4, 3, 1>>({3300, 3300, 4500}),
    kernel_of<Transposed<128, 128, 8, 16, 2, 3, 1>>({2640, 2640, 5500}),
#endif
#if defined(HIPSCOPE_BACKEND_NVIDIA)
    gemm::stream_k_kernel<float, narrower_tile_stage>(1950, 5100),
#endif
    gemm::stream_k_kernel<float, large_tile_stage>(2557, 6736)
  };
  return all;
}

inline gemm::DeviceCosts costs() {
  const bool has_clusters = gemm::uses_clusters(small_tiles_kernel<SmallTile, true>);
  return {.units = gemm::units_for_clusters(has_clusters),
          .value_bytes = sizeof(float),
          .start_cycles = 4789,
          .copy_cycles = 10.3,
          .copy_slots = 0.57,
          .bytes_per_cycle = 2110,
          .bytes_from_memory = 1903,
          .memory_cycles = 1088,
          .meeting_cycles = 250,
          .summed_per_cycle = 1000,
          .memory_meeting_cycles = 2000,
          .memory_round_cycles = 400};
}

}  // namespace tile_by_size

/// What is shown of it is what large products take.
inline Stage tile_by_size_stage() {
  Stage stage = gemm::by_choice<float, tile_by_size::kernels, tile_by_size::costs>(
      tile_by_size::large_tile_stage());
  stage.needs = gemm::copies_to_any_place;
  return stage;
}

#endif

#if !defined(HIPSCOPE_BACKEND_NVIDIA)

namespace through_registers {

template <typename Shape>
gemm::SizedKernel<float> kernel_of(const gemm::AmdRates& of) {
  constexpr gemm::VectorTile tile = {Shape::rows, Shape::columns, Shape::depth, Shape::thread_rows,
                                     Shape::thread_columns};
  auto kernel = gemm::sized_kernel<Shape>(
      enqueue_small_tiles<Shape>,
      {.step = gemm::step_cycles(tile, of),
       .least_step = gemm::least_step_cycles(tile, of),
       .end = gemm::end_cycles(tile.rows, tile.columns, sizeof(float), of)});
  kernel.option.resident = gemm::resident_blocks<Shape, small_tiles_kernel<Shape, true>>();
  return kernel;
}

inline Stage large_tile_stage() {
  return pipelined_stage<TilesSplitAlongK>("through registers, a tile and a split for each size");
}
inline Stage square_tile_stage() { return pipelined_stage<EightByEightSplitAlongK>(""); }

/// `waits`: cycles of a step that nothing fills.
template <Stage (*make_stage)()>
gemm::SizedKernel<float> stream_k_kernel(const gemm::AmdRates& of, double waits) {
  const Tiles tiles = make_stage().tiles;
  const gemm::VectorTile tile = {tiles.block_rows, tiles.block_columns, tiles.depth,
                                 tiles.thread_rows, tiles.thread_columns};
  return gemm::stream_k_kernel<float, make_stage>(
      gemm::step_cycles(tile, of) + waits,
      gemm::end_cycles(tile.rows, tile.columns, sizeof(float), of));
}

inline const std::vector<gemm::SizedKernel<float>>& kernels() {
  static const gemm::AmdRates of = gemm::device_amd_rates();
  static const std::vector<gemm::SizedKernel<float>> all = {
      kernel_of<ThroughRegisters<32, 32, 4, 4>>(of), kernel_of<SmallTileThroughRegisters>(of),
      kernel_of<ThroughRegisters<16, 128, 4, 8>>(of),
      kernel_of<ThroughRegisters<64, 128, 8, 8>>(of), stream_k_kernel<square_tile_stage>(of, 0),
      // A SIMD of CDNA has one wave of it, which waits for LDS at each k.
      stream_k_kernel<large_tile_stage>(of, pipeline_depth * of.lds_cycles)};
  return all;
}

inline gemm::DeviceCosts costs() {
  return gemm::amd_costs(gemm::device_amd_rates(), gemm::compute_units(), sizeof(float));
}

inline Stage tile_by_size_stage() {
  Stage stage = gemm::by_choice<float, kernels, costs>(large_tile_stage());
  stage.needs = gemm::copies_through_registers;
  return stage;
}

}  // namespace through_registers

#endif

}  // namespace sgemm
