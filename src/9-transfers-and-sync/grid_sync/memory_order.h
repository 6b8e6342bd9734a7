// Words by which running blocks signal each other, and what orders a block's plain accesses around
// them: without it a word that says "stored" may be seen before what was stored, or beside a stale
// line in a CU's cache. All of it is for the whole device (AMD: the agent, of as many XCDs as it
// has, each with its own L2; NVIDIA: .gpu). Device code.
#pragma once

#include <hip/hip_runtime.h>

namespace grid_sync {

/// A word, read anew past the CU's cache. On NVIDIA the read acquires, which costs less than a
/// fence after it.
__device__ inline unsigned look_at(const unsigned* word) {
#if defined(__HIP_DEVICE_COMPILE__)
  return __hip_atomic_load(word, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
#elif defined(__CUDA_ARCH__)
  unsigned value = 0;
  asm volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(value) : "l"(word) : "memory");
  return value;
#else
  return *static_cast<const volatile unsigned*>(word);
#endif
}

__device__ inline void put(unsigned* word, unsigned value) {
#if defined(__HIP_DEVICE_COMPILE__)
  __hip_atomic_store(word, value, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
#elif defined(__CUDA_ARCH__)
  asm volatile("st.relaxed.gpu.u32 [%0], %1;" ::"l"(word), "r"(value) : "memory");
#else
  *static_cast<volatile unsigned*>(word) = value;
#endif
}

/// Adds one and returns the sum. On NVIDIA it acquires, as look_at does.
__device__ inline unsigned add_one(unsigned* word) {
#if defined(__CUDA_ARCH__)
  unsigned before = 0;
  asm volatile("atom.acquire.gpu.add.u32 %0, [%1], 1;" : "=r"(before) : "l"(word) : "memory");
  return before + 1;
#else
  return atomicAdd(word, 1U) + 1;
#endif
}

/// What the calling thread knows of is seen by whoever sees a word that it puts or adds to later.
__device__ inline void release() {
#if defined(__HIP_DEVICE_COMPILE__)
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "agent");
#elif defined(__CUDA_ARCH__)
  asm volatile("fence.acq_rel.gpu;" ::: "memory");
#endif
}

/// After it the calling thread's accesses find what was released before a word that it has seen.
/// (On NVIDIA look_at does that.)
__device__ inline void acquire() {
#if defined(__HIP_DEVICE_COMPILE__)
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "agent");
#endif
}

/// Both, for a thread that passes on what it was told.
__device__ inline void acquire_and_release() {
#if defined(__HIP_DEVICE_COMPILE__)
  __builtin_amdgcn_fence(__ATOMIC_ACQ_REL, "agent");
#else
  release();
#endif
}

/// Releases what the whole block knows of, for a word of its first thread. (NVIDIA: a fence of that
/// thread is for all that it has met at a block barrier. On AMD each wave waits for its own
/// stores.)
__device__ inline void hand_over() {
#if defined(__HIP_DEVICE_COMPILE__)
  release();
  __syncthreads();
#else
  __syncthreads();
  if (threadIdx.x == 0) {
    release();
  }
#endif
}

/// How long a thread waits: a few seconds in all, counted in looks. Then it waits no more, neither
/// here nor later, so that a barrier that never opens ends and says so.
class Patience {
 public:
  template <typename Test>
  __device__ void wait_until(Test is_so) {
    while (looks_left_ > 0 && !is_so()) {
      --looks_left_;
#if defined(HIPSCOPE_BACKEND_HOST)
      hip_host::let_others_run();
#endif
    }
  }

  [[nodiscard]] __device__ bool is_at_its_end() const { return looks_left_ == 0; }

 private:
  unsigned looks_left_ = 1U << 22;
};

}  // namespace grid_sync
