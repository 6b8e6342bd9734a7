// The ladder of part 2: all its stages in order.
#pragma once

#include <vector>

#include "4.01-two-loads-per-fma.h"
#include "4.02-sums-in-registers.h"
#include "4.03-register-prefetch.h"
#include "4.04-lds-staging.h"
#include "4.05-lds-double-buffer.h"
#include "4.08-eight-by-eight.h"
#include "4.09-split-along-k.h"
#include "4.10-mfma.h"
#include "4.12-asynchronous-copies.h"
#include "4.14-matrix-instructions.h"
#include "4.16-eight-k-per-instruction.h"
#include "4.16.1-two-blocks-per-unit.h"
#include "4.17-small-tiles.h"
#include "4.17.1-tensor-copies.h"
#include "4.18-tile-by-size.h"
#include "8-kernels/gemm/mfma/stages.h"
#include "stage.h"

namespace dgemm {

/// AMD has other matrix instructions, and no cp.async; its last stages are gemm/mfma's.
inline std::vector<Stage> numbered_stages() {
  return {
    two_loads_stage(), sums_in_registers_stage(), register_prefetch_stage(), lds_staging_stage(),
        lds_double_buffer_stage<Spread::together>("LDS double buffer"),
        lds_double_buffer_stage<Spread::pairs>("fewer bank conflicts"),
        lds_double_buffer_stage<Spread::apart>("no bank conflicts"), register_tile_stage(),
        split_tile_stage(), mfma_stage(), mfma_split_stage(),
#if !defined(HIPSCOPE_BACKEND_AMD)
        asynchronous_copies_stage(), asynchronous_copies_split_stage(), matrix_instructions_stage(),
        matrix_instructions_split_stage(), eight_k_stage(), two_blocks_stage(), small_tiles_stage(),
        tensor_copies_stage(), tile_by_size_stage()
#endif
  };
}

inline std::vector<Stage> all_stages() { return gemm::with_mfma_stages(numbered_stages()); }

}  // namespace dgemm
