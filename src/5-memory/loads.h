// The kinds of load that memory_latency and cache_sharing time, and the texture that one of them
// fetches from.
#pragma once

#include <hipscope/hipscope.h>

#include <cstdint>

namespace memory {

// Word `number` of `texture`. It must be less than 2^32, of which a node's number is far.
__device__ inline std::uint64_t texel([[maybe_unused]] unsigned long long texture,
                                      std::uint64_t number) {
#if defined(HIPSCOPE_BACKEND_HOST)
  return reinterpret_cast<const std::uint64_t*>(texture)[number];
#elif defined(__HIP_NO_IMAGE_SUPPORT)
  return number;  // never launched on such a device
#elif defined(HIPSCOPE_BACKEND_AMD)
  const auto object = reinterpret_cast<hipTextureObject_t>(texture);
  return tex1Dfetch<uint2>(object, static_cast<int>(number)).x;
#else
  return tex1Dfetch<uint2>(texture, static_cast<int>(number)).x;
#endif
}

// CDNA 3, for one, has no instructions for images, nor has HIP the functions there.
inline bool has_textures([[maybe_unused]] const hipscope::Sweep& sweep) {
#if defined(HIPSCOPE_BACKEND_AMD)
  int has = 0;
  hipscope::check(
      hipDeviceGetAttribute(&has, hipDeviceAttributeImageSupport, sweep.device().index));
  return has != 0;
#else
  return true;
#endif
}

// Words of device memory as a texture of one dimension.
class Texture {
 public:
  explicit Texture(const hipscope::DeviceBuffer<std::uint64_t>& words) {
#if defined(HIPSCOPE_BACKEND_HOST)
    object_ = reinterpret_cast<std::uint64_t>(words.data());
#else
    hipResourceDesc memory{};
    memory.resType = hipResourceTypeLinear;
    memory.res.linear.devPtr = words.data();
    constexpr int bits = 32;
    memory.res.linear.desc = {
        .x = bits, .y = bits, .z = 0, .w = 0, .f = hipChannelFormatKindUnsigned};
    memory.res.linear.sizeInBytes = words.size() * sizeof(std::uint64_t);
    hipTextureDesc description{};
    description.readMode = hipReadModeElementType;
    hipscope::check(hipCreateTextureObject(&object_, &memory, &description, nullptr));
#endif
  }
  ~Texture() {
#if !defined(HIPSCOPE_BACKEND_HOST)
    static_cast<void>(hipDestroyTextureObject(object_));
#endif
  }
  Texture(const Texture&) = delete;
  Texture& operator=(const Texture&) = delete;

  [[nodiscard]] unsigned long long object() const {
    return (unsigned long long)(object_);  // NOLINT: a number on some backends, a pointer on others
  }

 private:
#if defined(HIPSCOPE_BACKEND_HOST)
  std::uint64_t object_ = 0;
#else
  hipTextureObject_t object_{};
#endif
};

enum class Load {
  global,     // the plain load of device memory
  generic,    // what `p = *p` becomes: it must first find the kind of memory of the address
  l2,         // past the CU's own caches
  atomic,     // done where the line is at home, not in a copy
  read_only,  // NVIDIA's load of data that no thread writes while the kernel runs (texture path)
  scalar,     // one load for the whole wave: AMD's s_load, NVIDIA's load from the constant bank
  texture,    // a fetch of a texel; an address is the number of a word then
};

// A pointer that was loaded may point anywhere, for all that a compiler knows. That it points to
// device memory, or to constant memory, is what the address spaces and the assembly say.
template <Load kind>
__device__ std::uint64_t load(std::uint64_t address,
                              [[maybe_unused]] unsigned long long texture = 0) {
  if constexpr (kind == Load::texture) {
    return texel(texture, address);
  } else if constexpr (kind == Load::atomic) {
    // It changes nothing, for no node holds a 1. (Of adding 0 clang 15 makes a load.)
#if defined(__HIP_DEVICE_COMPILE__)
    // As atomicCAS, which does not know that the address is one of device memory.
    using Global = __attribute__((address_space(1))) std::uint64_t;
    std::uint64_t value = 1;
    __hip_atomic_compare_exchange_strong(reinterpret_cast<Global*>(address), &value,
                                         std::uint64_t{1}, __ATOMIC_RELAXED, __ATOMIC_RELAXED,
                                         __HIP_MEMORY_SCOPE_AGENT);
    return value;
#else
    return atomicCAS(reinterpret_cast<unsigned long long*>(address), 1ULL, 1ULL);
#endif
  } else if constexpr (kind == Load::generic) {
    return *reinterpret_cast<const std::uint64_t*>(address);
  } else {
#if defined(__CUDA_ARCH__)
    std::uint64_t next = 0;
    if constexpr (kind == Load::global) {
      asm volatile("ld.global.u64 %0, [%1];" : "=l"(next) : "l"(address));
    } else if constexpr (kind == Load::l2) {
      asm volatile("ld.global.cg.u64 %0, [%1];" : "=l"(next) : "l"(address));
    } else if constexpr (kind == Load::read_only) {
      asm volatile("ld.global.nc.u64 %0, [%1];" : "=l"(next) : "l"(address));
    } else {
      asm volatile("ld.const.u64 %0, [%1];" : "=l"(next) : "l"(address));
    }
    return next;
#elif defined(__HIP_DEVICE_COMPILE__)
    using Global = const __attribute__((address_space(1))) std::uint64_t;
    using Constant = const __attribute__((address_space(4))) std::uint64_t;
    if constexpr (kind == Load::l2) {
      return __hip_atomic_load(reinterpret_cast<Global*>(address), __ATOMIC_RELAXED,
                               __HIP_MEMORY_SCOPE_AGENT);
    } else if constexpr (kind == Load::scalar) {
      return *reinterpret_cast<Constant*>(address);
    } else {
      return *reinterpret_cast<Global*>(address);
    }
#else
    return *reinterpret_cast<const std::uint64_t*>(address);
#endif
  }
}

}  // namespace memory
