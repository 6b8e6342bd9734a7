// A tile, and a number of blocks for it, for each size.
//
// Against 21.1: eight tiles, of 21 and of 21.1, and rung 19 for large products; and for a tile as
// many blocks as fit, in clusters of 1, 2, 4 or 8. Which of them, says the model of
// ../gemm/tile_choice.h with the numbers below: what a step takes with a full SM, what at least,
// and a block's end. They come from an H200, by kernels of each tile and split at 39 sizes, to
// which the model is fitted; it is not asked for more than which is least.
#pragma once

#include <vector>

#include "../gemm/chosen_tile.h"
#include "19-split-along-k.h"
#include "21-small-tiles.h"
#include "21.1-rows-as-they-lie.h"
#include "stage.h"

namespace sgemm {

#if !defined(HIPSCOPE_BACKEND_AMD)

namespace tile_by_size {

using SizedKernel = gemm::SizedKernel<float>;

/// On the host backend, which takes its time, a few.
inline const std::vector<SizedKernel>& kernels() {
  using gemm::sized_kernel;
  namespace small = small_tiles;
  namespace lying = rows_as_they_lie;
  using Small = small::Shape<32, 32, 4, 4, 2, 4, 6>;
#if !defined(HIPSCOPE_BACKEND_HOST)
  using Widest = small::Shape<64, 128, 8, 8, 2, 4, 1>;
  using Wide = small::Shape<32, 128, 8, 16, 4, 3, 2>;
  using Narrow = lying::Shape<16, 64, 4, 4, 8, 4, 8, 4, 4>;
  using Tall = lying::Shape<64, 16, 16, 4, 8, 4, 16, 3, 3>;
  using Least = lying::Shape<16, 16, 8, 2, 4, 8, 8, 4, 3>;
#endif
  static const std::vector<SizedKernel> all = {
    sized_kernel<Small>(small::enqueue<Small>, {322, 376, 479}),
    sized_kernel<small::Tile>(small::enqueue<small::Tile>, {423, 521, 1328}),
    sized_kernel<lying::Tile>(lying::enqueue<lying::Tile>, {949, 995, 1458}),
#if !defined(HIPSCOPE_BACKEND_HOST)
    sized_kernel<Wide>(small::enqueue<Wide>, {1418, 1626, 4986}),
    sized_kernel<Widest>(small::enqueue<Widest>, {1493, 909, 5218}),
    sized_kernel<Narrow>(lying::enqueue<Narrow>, {500, 623, 867}),
    sized_kernel<Tall>(lying::enqueue<Tall>, {1114, 1286, 1167}),
    sized_kernel<Least>(lying::enqueue<Least>, {359, 348, 998}),
#endif
    gemm::dealing_kernel<float, split_along_k_stage>(2557, 6736, true)
  };
  return all;
}

inline gemm::DeviceCosts costs() {
  using small_tiles::Tile;
  const bool has_clusters = gemm::uses_clusters(small_tiles::small_tiles_kernel<Tile, true>);
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
          .memory_round_cycles = 400,
          .aligning_cycles = 32733,
          .aligned_per_cycle = 688};
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
