// What blocks tell each other while they run: words of 8 bytes, loaded and stored whole, past L1,
// where all CUs see the same. Nothing is said of other accesses before or after. Device code.
#pragma once

#include <hip/hip_runtime.h>

namespace hipscope {

/// A relaxed atomic load. (NVIDIA's volatile accesses are such: PTX ISA, chapter 8, "Volatile
/// operations".)
__device__ inline unsigned long long load_message(const unsigned long long* message) {
#if defined(__HIP_DEVICE_COMPILE__)
  return __hip_atomic_load(message, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
#else
  return *static_cast<const volatile unsigned long long*>(message);
#endif
}

/// A relaxed atomic store.
__device__ inline void store_message(unsigned long long* message, unsigned long long value) {
#if defined(__HIP_DEVICE_COMPILE__)
  __hip_atomic_store(message, value, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
#else
  *static_cast<volatile unsigned long long*>(message) = value;
#endif
}

}  // namespace hipscope
