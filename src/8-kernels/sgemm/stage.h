// The stages of this ladder: FP32.
#pragma once

#include <string>

#include "../gemm/stage.h"

namespace sgemm {

using gemm::blocks_of;
using gemm::Extents;
using gemm::Tiles;
using Kernel = gemm::Kernel<float>;
using Product = gemm::Product<float>;
using Stage = gemm::Stage<float>;

template <Kernel kernel>
void enqueue(const Stage& stage, const Product& product) {
  gemm::enqueue<float, kernel>(stage, product);
}

template <Kernel kernel>
Stage stage_of(const std::string& technique, const std::string& source_kernel, const Tiles& tiles) {
  return gemm::stage_of<float, kernel>(technique, source_kernel, tiles);
}

}  // namespace sgemm
