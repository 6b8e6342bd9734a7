// The kinds of load that cache_sharing tells apart.
#pragma once

#include <hip/hip_runtime.h>

#include <cstdint>

#include "node_ring.h"

namespace cache_sharing {

// A pointer that was loaded may point anywhere, for all that a compiler knows. That it points to
// device memory, or to constants, is what the address spaces and the assembly say.
template <Path path>
__device__ std::uint64_t load(std::uint64_t place, [[maybe_unused]] unsigned long long texture) {
#if defined(__CUDA_ARCH__)
  std::uint64_t next = 0;
  if constexpr (path == Path::texture) {
    const uint2 word = tex1Dfetch<uint2>(texture, static_cast<int>(place));
    next = word.x;
  } else if constexpr (path == Path::read_only) {
    asm volatile("ld.global.nc.u64 %0, [%1];" : "=l"(next) : "l"(place));
  } else if constexpr (path == Path::constant) {
    asm volatile("ld.const.u64 %0, [%1];" : "=l"(next) : "l"(place));
  } else {
    asm volatile("ld.global.ca.u64 %0, [%1];" : "=l"(next) : "l"(place));
  }
  return next;
#elif defined(__HIP_DEVICE_COMPILE__)
  if constexpr (path == Path::constant) {
    using Constant = const __attribute__((address_space(4))) std::uint64_t;
    return *reinterpret_cast<Constant*>(place);
  } else {
    using Global = const __attribute__((address_space(1))) std::uint64_t;
    return *reinterpret_cast<Global*>(place);
  }
#else
  return *reinterpret_cast<const std::uint64_t*>(place);
#endif
}

// Past the CU's own caches.
__device__ inline std::uint64_t load_from_l2(std::uint64_t place) {
#if defined(__CUDA_ARCH__)
  std::uint64_t next = 0;
  asm volatile("ld.global.cg.u64 %0, [%1];" : "=l"(next) : "l"(place));
  return next;
#elif defined(__HIP_DEVICE_COMPILE__)
  using Global = const __attribute__((address_space(1))) std::uint64_t;
  return __hip_atomic_load(reinterpret_cast<Global*>(place), __ATOMIC_RELAXED,
                           __HIP_MEMORY_SCOPE_AGENT);
#else
  return *reinterpret_cast<const std::uint64_t*>(place);
#endif
}

// It changes nothing, for no node holds a 1.
__device__ inline std::uint64_t load_at_home(std::uint64_t place) {
#if defined(__HIP_DEVICE_COMPILE__)
  // As atomicCAS, which does not know that the address is one of device memory.
  using Global = __attribute__((address_space(1))) std::uint64_t;
  std::uint64_t value = 1;
  __hip_atomic_compare_exchange_strong(reinterpret_cast<Global*>(place), &value, std::uint64_t{1},
                                       __ATOMIC_RELAXED, __ATOMIC_RELAXED,
                                       __HIP_MEMORY_SCOPE_AGENT);
  return value;
#else
  return atomicCAS(reinterpret_cast<unsigned long long*>(place), 1ULL, 1ULL);
#endif
}

}  // namespace cache_sharing
