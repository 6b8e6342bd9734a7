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
  std::vector<Stage> all = {
      square_stage<one_thread_per_element_kernel, 1>("one thread per element", 1),
      square_stage<lds_tile_kernel, 1>("tiles of 16 x 16 in LDS", 16),
      // The last one that every device has.
      contender(square_stage<thread_tile_kernel, 8>("8 x 8 per thread", 16)),
      square_stage<dot_products_kernel, 8>("products of two halves", 16)};
  const auto add = [&](const std::vector<Stage>& stages) {
    all.insert(all.end(), stages.begin(), stages.end());
  };
  // As many stages as there are matrix instructions; a device has one of them.
  add(stages_by_instruction([]<typename Code>(Instruction<Code>) {
    return matrix_stage<Code, matrix_from_memory_kernel<Code>>(", operands from memory", 1);
  }));
  add(stages_by_instruction([]<typename Code>(Instruction<Code>) {
    return matrix_stage<Code, matrix_from_lds_kernel<Code>>(", operands from LDS", 32);
  }));
  add(two_lds_buffers_stages());
#if !defined(HIPSCOPE_BACKEND_NVIDIA)
  add(stages_by_fragment([]<typename Code>(Instruction<Code>) {
    return matrix_stage<Code, fragments_of_16_bytes_kernel<Code>>(", fragments of 16 bytes", 32);
  }));
  add(stages_by_fragment([]<typename Code>(Instruction<Code>) {
    return large_tile_stage<Code, larger_tile_kernel<Code, Half, Half>>(", larger tile");
  }));
  add(stages_by_fragment([]<typename Code>(Instruction<Code>) {
    return large_tile_stage<Code, fragments_ahead_kernel<Code, Half, Half>>(", fragments ahead");
  }));
  add(stages_by_fragment(
      []<typename Code>(Instruction<Code>) { return tiles_by_xcd_stage<Code, Half, Half>(); }));
  using Codes = Instructions<Half>;
  add({stage_of_lds_loads<LargeTile<Codes::Mfma>, 1>(", loads to LDS"),
       stage_of_lds_loads<LargeTile<Codes::MfmaOf950>, 1>(", loads to LDS")});
  add(three_lds_buffers_stages());
  add({tile_rows_by_cus_stage()});
  add(waves_take_turns_stages());
  add(rows_of_c_stages());
  add({transposing_loads_stage()});
  add(tile_by_size_of_amd_stages());
#endif
  add({asynchronous_copies_stage(), tensor_copies_stage(), wider_tile_stage(), shared_tiles_stage(),
       persistent_blocks_stage(), tile_by_size_stage(), tile_by_model_stage(),
       tiles_by_columns_stage(), little_code_stage(), shared_steps_stage()});
  return all;
}

}  // namespace hgemm
