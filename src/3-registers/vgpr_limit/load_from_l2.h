// A load that does not stop at the CU's own cache.
#pragma once

#include <hip/hip_runtime.h>

/// The word at `word`, from L2: a dependent chain of these waits long and costs the CU next to
/// nothing.
__device__ inline unsigned load_from_l2(const unsigned* word) {
#if defined(__HIP_DEVICE_COMPILE__)
  return __hip_atomic_load(word, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
#else
  return *static_cast<const volatile unsigned*>(word);
#endif
}
