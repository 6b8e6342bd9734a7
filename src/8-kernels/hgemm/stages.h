// The ladder: all stages in order. Read the files in the order of their numbers; a diff of two
// neighbours shows what changed.
#pragma once

#include <vector>

#include "01-one-thread-per-element.h"
#include "02-lds-tile.h"
#include "03-thread-tile.h"
#include "04-dot-products.h"
#include "05-matrix-from-memory.h"
#include "06-matrix-from-lds.h"
#include "07-two-lds-buffers.h"
#if !defined(HIPSCOPE_BACKEND_NVIDIA)
#include "07.1-fragments-of-16-bytes.h"
#include "07.2-larger-tile.h"
#include "07.3-fragments-ahead.h"
#include "07.4-tiles-by-xcd.h"
#include "07.5-loads-to-lds.h"
#include "07.6-three-lds-buffers.h"
#include "07.7-tile-rows-by-cus.h"
#include "07.8-waves-take-turns.h"
#include "07.8.1-rows-of-c.h"
#include "07.8.2-transposing-loads.h"
#include "07.9-tile-by-size.h"
#endif
#include "08-asynchronous-copies.h"
#include "09-tensor-copies.h"
#include "10-wider-tile.h"
#include "11-shared-tiles.h"
#include "12-persistent-blocks.h"
#include "13-tile-by-size.h"
#include "14-tile-by-model.h"
#include "15-tiles-by-columns.h"
#include "15.1-little-code.h"
#include "15.2-shared-steps.h"
#include "stage.h"

namespace hgemm {

inline std::vector<Stage> all_stages() {
  std::vector<Stage> all = {one_thread_per_element_stage(), lds_tile_stage(), thread_tile_stage(),
                            dot_products_stage()};
  // The next three are as many stages as there are matrix instructions; a device has one of them.
  for (const auto& stages :
       {matrix_from_memory_stages(), matrix_from_lds_stages(), two_lds_buffers_stages()}) {
    all.insert(all.end(), stages.begin(), stages.end());
  }
#if !defined(HIPSCOPE_BACKEND_NVIDIA)
  for (const auto& stages :
       {fragments_of_16_bytes_stages(), larger_tile_stages(), fragments_ahead_stages(),
        tiles_by_xcd_stages(), loads_to_lds_stages(), three_lds_buffers_stages(),
        tile_rows_by_cus_stages(), waves_take_turns_stages(), rows_of_c_stages(),
        transposing_loads_stages(), tile_by_size_of_amd_stages()}) {
    all.insert(all.end(), stages.begin(), stages.end());
  }
#endif
  for (const Stage& stage : {asynchronous_copies_stage(), tensor_copies_stage(), wider_tile_stage(),
                             shared_tiles_stage(), persistent_blocks_stage(), tile_by_size_stage(),
                             tile_by_model_stage(), tiles_by_columns_stage(), little_code_stage(),
                             shared_steps_stage()}) {
    all.push_back(stage);
  }
  return all;
}

}  // namespace hgemm
