// The ladder: all stages in order, the source's first.
#pragma once

#include <vector>

#include "double_buffers.h"
#include "lds_arrays.h"
#include "lds_tile.h"
#include "loading_waves.h"
#include "matrix_instructions.h"
#include "one_thread_per_element.h"
#include "pipelined.h"
#include "placed_reads.h"
#include "register_tile.h"
#include "run_time_buffers.h"
#include "run_time_tile.h"
#include "stage.h"
#include "thread_tile.h"
#include "tile_128.h"
#include "tile_128_double_buffers.h"
#include "tile_128_four_k.h"
#include "tile_64.h"
#include "z_order.h"

namespace sgemm {

/// What ends the names of stages that are compiled for their own number of threads.
inline constexpr const char* bounded_suffix = ", launch bounds";

/// The source's stages of 128 x 128, compiled for blocks of up to `planned_threads`; `suffix` ends
/// their names, `numbered`: with the source's numbers.
template <unsigned planned_threads>
std::vector<Stage> stages_of_128(const std::string& suffix, bool numbered) {
  std::vector<Stage> stages = {
      tile_128_stage<TileOfA::by_row, Copying::all_threads, planned_threads>("8 x 8 per thread",
                                                                             "3.2"),
      tile_128_stage<TileOfA::transposed, Copying::all_threads, planned_threads>(
          "8 x 8, A transposed", "3.3"),
      tile_128_stage<TileOfA::transposed, Copying::halves, planned_threads>(
          "8 x 8, half of the threads copy A", "3.4"),
      tile_128_double_buffers_stage<ThreadTile::one_piece, RegisterBuffers::one, planned_threads>(
          "8 x 8, two LDS buffers", "3.5"),
      tile_128_four_k_stage<planned_threads>("8 x 8, four k per step", "3.6"),
      tile_128_double_buffers_stage<ThreadTile::halves, RegisterBuffers::one, planned_threads>(
          "8 x 8 in halves, two LDS buffers", "9.1"),
      tile_128_double_buffers_stage<ThreadTile::one_piece, RegisterBuffers::two, planned_threads>(
          "8 x 8, buffers in LDS and registers", "10")};
  for (Stage& stage : stages) {
    stage.technique += suffix;
    stage.source_kernel = numbered ? stage.source_kernel : "";
  }
  return stages;
}

/// All stages, in the order of the source's numbers.
inline std::vector<Stage> all_stages() {
  const std::vector<Stage> large = stages_of_128<assumed_threads>("", true);
  std::vector<Stage> stages = {one_thread_per_element_stage(), lds_tile_stage(),
                               operands_in_lds_stage(), operands_in_registers_stage()};
  stages.insert(stages.end(), large.begin(), large.begin() + 5);
  const std::vector<Stage> small = {
      tile_64_stage<Fragments::none>("4 x 4, padding, copies of 16 bytes", "4"),
      tile_64_stage<Fragments::of_4_k>("4 x 4 values of A and B in registers", "5"),
      run_time_buffers_stage(),
      tile_64_stage<Fragments::of_2_k>("two k per step", "7"),
      lds_arrays_stage(),
      run_time_tile_stage(),
      placed_reads_stage(),
      double_buffers_stage<Reads::by_compiler, 8>("two LDS buffers, early loads, padding 8", "7.4"),
      double_buffers_stage<Reads::one_step_ahead, 8, tiles_64.threads>(
          "two register buffers too, launch bounds", "7.5"),
      double_buffers_stage<Reads::in_assembly, 8>("LDS loads in assembly", "7.6"),
      loading_waves_stage(),
      double_buffers_stage<Reads::by_compiler, 4>("two LDS buffers, early loads, padding 4", "7.8"),
      tile_64_stage<Fragments::of_1_k, Layout::waves_8x8>("waves of 8 x 8 lanes", "8.1"),
      tile_64_stage<Fragments::of_1_k, Layout::waves_4x16>("waves of 4 x 16 lanes", "8.2"),
      tile_64_stage<Fragments::of_1_k, Layout::waves_4x16, TileOfB::transposed>(
          "4 x 16 lanes, B transposed", "8.3"),
      tile_64_stage<Fragments::of_4_k, Layout::waves_4x16_z_order>("4 x 16 lanes in z-order",
                                                                   "8.4"),
      z_order_stage()};
  stages.insert(stages.end(), small.begin(), small.end());
  stages.insert(stages.end(), large.begin() + 5, large.end());
  const std::vector<Stage> bounded = stages_of_128<tiles_128.threads>(bounded_suffix, false);
  stages.insert(stages.end(), bounded.begin(), bounded.end());
  // Ours. What is measured at all sizes and against the vendor's library says so.
  stages.push_back(register_tile_stage<2, 2>("register tile of 8 x 8"));
  stages.push_back(register_tile_stage<2, 4>("register tile of 8 x 16"));
  stages.push_back(matrix_instructions_stage());
  for (const Stage& stage : pipelined_stages()) {
    stages.push_back(stage);
  }
  return stages;
}

}  // namespace sgemm
