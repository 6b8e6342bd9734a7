// Values that go to LDS: on NVIDIA from sm_80 on by cp.async, which takes no register on the way;
// elsewhere by a plain load and store. A thread waits for its own and reads no other's, so that no
// barrier is needed. Device code.
#pragma once

#include <hip/hip_runtime.h>

namespace hipscope::batch_norm {

/// 16 bytes; not waited for.
__device__ inline void fetch(float4* to, const float* from) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  const auto address = static_cast<unsigned>(__cvta_generic_to_shared(to));
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" : : "r"(address), "l"(from) : "memory");
#else
  *to = *reinterpret_cast<const float4*>(from);
#endif
}

/// Waits until all that this thread has fetched is there.
__device__ inline void wait_for_fetches() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_all;" : : : "memory");
#endif
}

/// What a thread keeps, in accesses of 16 bytes, and how many blocks of so many threads are to fit
/// into a CU.
struct InLdsShape {
  unsigned in_lds;
  unsigned in_registers;
  unsigned block;
  unsigned blocks;
};

}  // namespace hipscope::batch_norm
