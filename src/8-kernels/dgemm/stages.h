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
    // With the depth of tiles in LDS, and what k must be a multiple of.
    stage_of_64<two_loads_kernel>("two loads per FMA", 1, 1),
        stage_of_64<sums_in_registers_kernel>("sums in registers, depth 8", 1, 8),
        stage_of_64<register_prefetch_kernel>("register prefetch", 1, 8),
        stage_of_64<lds_staging_kernel>("LDS staging", 8, 8),
        stage_of_64<lds_double_buffer_kernel<Spread::together>>("LDS double buffer", 8, 8),
        stage_of_64<lds_double_buffer_kernel<Spread::pairs>>("fewer bank conflicts", 8, 8),
        stage_of_64<lds_double_buffer_kernel<Spread::apart>>("no bank conflicts", 8, 8),
        register_tile_stage(), split_tile_stage(), mfma_stage(), mfma_split_stage(),
#if !defined(HIPSCOPE_BACKEND_AMD)
        pipeline_stage<VectorPart, false>("asynchronous copies", Unit::vector),
        pipeline_stage<VectorPart, true>("tiles split along k", Unit::vector),
        pipeline_stage<MatrixPart, false>("matrix instructions, asynchronous copies", Unit::matrix),
        pipeline_stage<MatrixPart, true>("matrix instructions, tiles split along k", Unit::matrix),
        eight_k_stage(), two_blocks_stage(), small_tiles_stage(), tensor_copies_stage(),
        tile_by_size_stage()
#endif
  };
}

inline std::vector<Stage> all_stages() { return gemm::with_mfma_stages(numbered_stages()); }

}  // namespace dgemm
