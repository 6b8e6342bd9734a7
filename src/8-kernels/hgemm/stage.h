// What a stage of this ladder is: halves in, sums in FP32, halves out; the last ones also take
// bfloat16, or floats of 8 bits, and give floats.
#pragma once

#include <hipscope/half_values.h>

#include <string>

#include "8-kernels/gemm/stage.h"

namespace hgemm {

using gemm::blocks_of;
using gemm::compute_units;
using gemm::Extents;
using gemm::grid_of;
using gemm::stage_of;
using gemm::Tiles;
using hipscope::BFloat16;
using hipscope::E4M3;
using hipscope::E4M3Fnuz;
using hipscope::Half;
using Product = gemm::Product<Half>;
using Stage = gemm::Stage<Half>;

/// A stage of blocks of 256 threads with `side` x `side` elements each.
template <auto kernel, unsigned side>
Stage square_stage(const std::string& technique, unsigned depth) {
  return stage_of<Half, kernel>(technique, {16 * side, 16 * side, depth, 256, side, side});
}

/// alpha sum + beta C, of which the old content is not read with beta = 0.
__device__ inline void store_result(Half* c, float alpha, float sum, float beta) {
  *c = hipscope::to_half(beta == 0 ? alpha * sum : alpha * sum + beta * hipscope::to_float(*c));
}
__device__ inline void store_result(BFloat16* c, float alpha, float sum, float beta) {
  *c = hipscope::to_bfloat16(beta == 0 ? alpha * sum : alpha * sum + beta * hipscope::to_float(*c));
}
__device__ inline void store_result(float* c, float alpha, float sum, float beta) {
  *c = beta == 0 ? alpha * sum : alpha * sum + beta * *c;
}

}  // namespace hgemm
