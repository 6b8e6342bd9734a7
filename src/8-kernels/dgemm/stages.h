// The ladder: all stages in order, the source's first.
#pragma once

#include <vector>

#include "lds_tiles.h"
#include "matrix_instructions.h"
#include "memory_operands.h"
#include "pipelined.h"
#include "register_tile.h"
#include "stage.h"

namespace dgemm {

/// A stage of the source's kind: what it costs by arithmetic stands beside it.
struct SourceStage {
  Stage stage;
  double memory_operations;    ///< per FMA, C's own not counted once its sums stay in registers
  double lds_loads;            ///< per FMA
  unsigned bank_conflict = 0;  ///< how many lanes of 16 want one bank's; 0: no LDS
  bool is_arithmetic = false;  ///< a step of the source's arithmetic, not a stage of its ladder
};

/// A stage of the source; `k_multiple` is what its loop takes at once.
template <gemm::Kernel<double> kernel>
Stage source_stage(const std::string& technique, const std::string& number, const Tiles& tiles,
                   unsigned k_multiple) {
  Stage stage = gemm::stage_of<double, kernel>(technique, number, tiles);
  stage.k_multiple = k_multiple;
  return stage;
}

/// The source's six stages, with the steps between them that its arithmetic takes. A tile of 64 x
/// 64 in LDS is loaded from memory once: 1/64 + 1/64 operations per FMA. From LDS a thread loads as
/// many values as it would from memory.
template <LayoutOfB layout>
std::vector<SourceStage> source_stages() {
  constexpr double reused = 1.0 / thread_side;
  constexpr double both_reused = 2 * reused;
  constexpr double from_tile = 2.0 / block_side;
  return {
      {source_stage<no_reuse_kernel<layout, Reuse::nothing>>("no reuse", "1", tiles_without_lds, 1),
       4, 0},
      {source_stage<no_reuse_kernel<layout, Reuse::a>>("A in a register", "", tiles_without_lds, 1),
       3 + reused, 0, 0, true},
      {source_stage<no_reuse_kernel<layout, Reuse::a_and_b>>("A and B in registers", "",
                                                             tiles_without_lds, 1),
       2 + both_reused, 0, 0, true},
      {source_stage<register_reuse_kernel<layout>>("sums in registers, depth 8", "2",
                                                   tiles_without_lds, 8),
       both_reused, 0},
      {source_stage<register_prefetch_kernel<layout>>("register prefetch", "3", tiles_without_lds,
                                                      8),
       both_reused, 0},
      {source_stage<lds_staging_kernel<layout>>("LDS staging", "4", tiles_in_lds, 8), from_tile,
       both_reused, conflict_degree<Spread::together>()},
      {source_stage<lds_double_buffer_kernel<layout, Spread::together>>("LDS double buffer", "5",
                                                                        tiles_in_lds, 8),
       from_tile, both_reused, conflict_degree<Spread::together>()},
      {source_stage<lds_double_buffer_kernel<layout, Spread::pairs>>("fewer bank conflicts", "6",
                                                                     tiles_in_lds, 8),
       from_tile, both_reused, conflict_degree<Spread::pairs>()},
      {source_stage<lds_double_buffer_kernel<layout, Spread::apart>>("no bank conflicts", "",
                                                                     tiles_in_lds, 8),
       from_tile, both_reused, conflict_degree<Spread::apart>()}};
}

/// All stages for matrices that lie row by row.
inline std::vector<Stage> all_stages() {
  std::vector<Stage> stages;
  for (const SourceStage& source : source_stages<LayoutOfB::rows>()) {
    if (!source.is_arithmetic) {
      stages.push_back(source.stage);
    }
  }
  stages.push_back(register_tile_stage());
  stages.push_back(mfma_stage());
  for (const Stage& stage : pipelined_stages()) {
    stages.push_back(stage);
  }
  return stages;
}

}  // namespace dgemm
