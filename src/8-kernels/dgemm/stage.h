// The stages of this ladder: FP64.
#pragma once

#include <string>

#include "8-kernels/gemm/split_tiles.h"
#include "8-kernels/gemm/stage.h"

namespace dgemm {

using gemm::blocks_of;
using gemm::compute_units;
using gemm::Extents;
using gemm::Place;
using gemm::Tiles;
using gemm::Unit;
using SplitTiles = gemm::SplitTiles<double>;
using Kernel = gemm::Kernel<double>;
using Product = gemm::Product<double>;
using Stage = gemm::Stage<double>;

/// sum += a * b; on a GPU it stays where it is among its like.
__device__ inline void multiply_add_in_order(double& sum, double a, double b) {
#if defined(__CUDA_ARCH__)
  asm volatile("fma.rn.f64 %0, %1, %2, %0;" : "+d"(sum) : "d"(a), "d"(b));
#elif defined(__HIP_DEVICE_COMPILE__)
  asm volatile("v_fma_f64 %0, %1, %2, %0" : "+v"(sum) : "v"(a), "v"(b));
#else
  sum = fma(a, b, sum);
#endif
}

/// C = alpha sum + beta C. Where beta is 0, C is not read: it may hold anything, NaN as well.
__device__ inline void store_result(double* c, double alpha, double sum, double beta) {
  *c = beta == 0 ? alpha * sum : alpha * sum + beta * *c;
}

/// A stage of blocks of 64 x 64 by 256 threads with 4 x 4 elements each.
template <auto kernel>
Stage stage_of_64(const std::string& technique, unsigned depth, unsigned k_multiple) {
  Stage stage = gemm::stage_of<double, kernel>(technique, {64, 64, depth, 256, 4, 4});
  stage.k_multiple = k_multiple;
  return stage;
}

/// Two values by one access; the address is a multiple of 16 bytes.
__device__ inline double2 load_two(const double* from) {
  return *reinterpret_cast<const double2*>(from);
}

}  // namespace dgemm
