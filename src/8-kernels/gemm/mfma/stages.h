// The stages by MFMA that sgemm and dgemm share, FP32 and FP64. The first improves on sgemm's 15
// and dgemm's 4.10; read the files in the order of their numbers.
#pragma once

#include <vector>

#include "6-tile-by-size.h"
#include "8-kernels/gemm/stage.h"

namespace gemm {

/// A ladder's own stages, and after them those by MFMA, where the backend has any.
template <typename Value>
std::vector<Stage<Value>> with_mfma_stages(std::vector<Stage<Value>> all) {
#if !defined(HIPSCOPE_BACKEND_NVIDIA)
  for (const Stage<Value>& stage :
       {mfma::fragments_of_16_bytes_stage<Value>(), mfma::larger_tile_stage<Value>(),
        mfma::fragments_ahead_stage<Value>(), mfma::tiles_by_xcd_stage<Value>(),
        mfma::split_along_k_stage<Value>(), mfma::small_tiles_stage<Value>(),
        mfma::tile_by_size_stage<Value>()}) {
    all.push_back(stage);
  }
#endif
  return all;
}

}  // namespace gemm
