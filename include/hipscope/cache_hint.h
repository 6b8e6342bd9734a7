// Loads and stores of 4, 8 and 16 bytes that tell the caches what to do. Device code.
#pragma once

#include <hip/hip_runtime.h>

namespace hipscope {

/// A hint to the caches. clang has one such access for AMD, nontemporal: glc and slc on gfx9, which
/// bypass L1, but only slc on RDNA, which does not bypass its L0.
enum class Hint {
  none,
  past_l1,    // NVIDIA's .cg: L2 is the first cache that is asked
  streaming,  // NVIDIA's .cs: not needed again
};

#if defined(__HIP_DEVICE_COMPILE__)
// clang's own vectors: its nontemporal accesses do not take HIP's.
template <typename Access>
using NativeVector = unsigned __attribute__((ext_vector_type(sizeof(Access) / sizeof(unsigned))));
#endif

/// `Access` is unsigned, uint2 or uint4.
template <Hint hint, typename Access>
__device__ Access load(const Access* address) {
#if defined(__CUDA_ARCH__)
  if constexpr (hint == Hint::past_l1) {
    return __ldcg(address);
  } else if constexpr (hint == Hint::streaming) {
    return __ldcs(address);
  }
#elif defined(__HIP_DEVICE_COMPILE__)
  if constexpr (hint != Hint::none) {
    NativeVector<Access> value =
        __builtin_nontemporal_load(reinterpret_cast<const NativeVector<Access>*>(address));
    return reinterpret_cast<Access&>(value);
  }
#endif
  return *address;
}

template <Hint hint, typename Access>
__device__ void store(Access* address, Access value) {
#if defined(__CUDA_ARCH__)
  if constexpr (hint == Hint::streaming) {
    __stcs(address, value);
    return;
  }
#elif defined(__HIP_DEVICE_COMPILE__)
  if constexpr (hint == Hint::streaming) {
    __builtin_nontemporal_store(reinterpret_cast<NativeVector<Access>&>(value),
                                reinterpret_cast<NativeVector<Access>*>(address));
    // Otherwise clang 15 may hoist the store out of a loop of one iteration (LICM), and forget the
    // hint.
    asm volatile("" ::: "memory");
    return;
  }
#endif
  *address = value;
}

}  // namespace hipscope
