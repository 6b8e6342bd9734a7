// How long the chains of fsword73's examples 2a to 2e and 5a are, and their operands.
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

}  // namespace source_loop
