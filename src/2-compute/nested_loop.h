// The loop of fsword73's examples 2c, 2d and 2e, which are one kernel.
#pragma once

#include <hip/hip_runtime.h>

#include "2-compute/source_operands.h"

namespace source_loop {

// An outer loop around 100. His compiler unrolled the inner loop by itself; clang 15 unrolls only
// 25 of the 100, so a pragma asks for it. He stores a sum under a condition that none fulfils; here
// each is stored and checked. He writes factor * sum + addend, which his compiler made one
// v_mad_f32; fmaf makes it one FMA.
static __global__ void __launch_bounds__(1024) nested_kernel(float* sums, int first) {
  const Operands given = operands_of(first);
  float sum = 0;
#pragma unroll 1
  for (unsigned i = 0; i < fmas / 100; ++i) {
#pragma unroll
    for (unsigned j = 0; j < 100; ++j) {
      sum = fmaf(given.factor, sum, given.addend);
    }
  }
  sums[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

}  // namespace source_loop
