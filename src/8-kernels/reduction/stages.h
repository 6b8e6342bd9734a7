// The ladder: every stage.
#pragma once

#include <vector>

#include "00-read.h"
#include "02-values-per-step.h"
#include "03-first-add-on-load.h"
#include "04-wave-shuffle.h"
#include "05-vector-loads.h"
#include "06-atomic-add.h"
#include "07-last-block.h"
#include "08-early-ticket.h"
#include "stage.h"

namespace hipscope::reduction {

template <typename Value>
std::vector<Stage<Value>> stages() {
  return {values_per_step_stage<Value, 2>(), values_per_step_stage<Value, 4>(),
          values_per_step_stage<Value, 8>(), first_add_on_load_stage<Value>(),
          wave_shuffle_stage<Value>(),       vector_load_stage<Value>(),
          eight_vector_loads_stage<Value>(), grid_stride_stage<Value>(),
          atomic_add_stage<Value>(),         last_block_stage<Value>(),
          early_ticket_stage<Value>()};
}

// The fastest whose total is the same every time.
template <typename Value>
Stage<Value> best_stage() {
  return early_ticket_stage<Value>();
}

}  // namespace hipscope::reduction
