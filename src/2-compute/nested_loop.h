// The loop of fsword73's examples 2c, 2d and 2e, which are one kernel.
#pragma once

#include <hip/hip_runtime.h>

namespace source_loop {

// fsword73's count, known to the compiler, which cuts the loop as it likes.
#if defined(HIPSCOPE_BACKEND_HOST)
inline constexpr unsigned fmas = 1000;  // scaled down
#else
inline constexpr unsigned fmas = 1'000'000;
#endif

// The chain's two operands follow from the thread's place in the grid: no compiler can know them,
// and all three operands of the FMA are the lane's own registers.
struct Operands {
  float factor;
  float addend;
};

// His threads are counted from 0. Counted from `first` on they show how long a chain was: sums of
// small factors reach their end within a fraction of the FMAs.
__device__ inline Operands operands_of(int first) {
  const int x = first + static_cast<int>(blockDim.x * blockIdx.x + threadIdx.x);
  const int y = static_cast<int>(blockDim.y * blockIdx.y + threadIdx.y);
  return {static_cast<float>(x) / static_cast<float>(x + 1),
          static_cast<float>(y + 1) / static_cast<float>(y + 100'000'000)};
}

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
