// The ladder of part 2: all its rungs in order, a file each.
#pragma once

#include <vector>

#include "4.01-two-loads-per-fma.h"
#include "4.02-sums-in-registers.h"
#include "4.03-register-prefetch.h"
#include "4.04-lds-staging.h"
#include "4.05-lds-double-buffer.h"
#include "4.06-fewer-bank-conflicts.h"
#include "4.07-no-bank-conflicts.h"
#include "4.08-eight-by-eight.h"
#include "4.09-mfma.h"
#include "pipelined.h"
#include "stage.h"

namespace dgemm {

inline std::vector<Stage> all_stages() {
  std::vector<Stage> stages = {
      two_loads_stage(),    sums_in_registers_stage(), register_prefetch_stage(),
      lds_staging_stage(),  lds_double_buffer_stage(), fewer_conflicts_stage(),
      no_conflicts_stage(), register_tile_stage(),     mfma_stage()};
  for (const Stage& stage : pipelined_stages()) {
    stages.push_back(stage);
  }
  return stages;
}

}  // namespace dgemm
