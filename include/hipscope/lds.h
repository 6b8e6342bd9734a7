// Loads from LDS (NVIDIA: shared memory) and stores to it, each as one instruction of a chosen
// width. Addresses are as the instruction takes them; on the host backend, offsets from `lds`.
#pragma once

#include <hip/hip_runtime.h>

#include <cstring>

namespace hipscope {

/// The registers of an access of 1, 4, 8 or 16 bytes.
template <unsigned Bytes>
struct LdsWords {
  static constexpr unsigned count = Bytes < sizeof(unsigned) ? 1 : Bytes / sizeof(unsigned);
  unsigned word[count];
};

#if defined(__HIP_DEVICE_COMPILE__)
template <typename T>
using LdsPointer = __attribute__((address_space(3))) T*;
template <unsigned Dwords>
using DwordVector = unsigned __attribute__((ext_vector_type(Dwords)));
#endif

/// The address of `lds`.
__device__ inline unsigned lds_address([[maybe_unused]] const void* lds) {
#if defined(__CUDA_ARCH__)
  return static_cast<unsigned>(__cvta_generic_to_shared(lds));
#elif defined(__HIP_DEVICE_COMPILE__)
  return reinterpret_cast<unsigned>((LdsPointer<const void>)lds);
#else
  return 0;
#endif
}

/// Hides from the compiler where `address` comes from, so that it neither drops an access that
/// repeats an earlier one nor joins two. Nothing to do for NVIDIA, whose accesses are volatile.
__device__ inline void lds_forget([[maybe_unused]] unsigned& address) {
#if defined(__HIP_DEVICE_COMPILE__)
  asm("" : "+v"(address));
#endif
}

/// Loads `Bytes` bytes, even unused ones.
template <unsigned Bytes>
__device__ LdsWords<Bytes> lds_load([[maybe_unused]] const unsigned* lds, unsigned address) {
  LdsWords<Bytes> loaded{};
  [[maybe_unused]] auto& w = loaded.word;
#if defined(__CUDA_ARCH__)
  if constexpr (Bytes == 1) {
    asm volatile("ld.volatile.shared.u8 %0, [%1];" : "=r"(w[0]) : "r"(address) : "memory");
  } else if constexpr (Bytes == 4) {
    asm volatile("ld.volatile.shared.u32 %0, [%1];" : "=r"(w[0]) : "r"(address) : "memory");
  } else if constexpr (Bytes == 8) {
    asm volatile("ld.volatile.shared.v2.u32 {%0, %1}, [%2];"
                 : "=r"(w[0]), "=r"(w[1])
                 : "r"(address)
                 : "memory");
  } else {
    asm volatile("ld.volatile.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(w[0]), "=r"(w[1]), "=r"(w[2]), "=r"(w[3])
                 : "r"(address)
                 : "memory");
  }
#elif defined(__HIP_DEVICE_COMPILE__)
  if constexpr (Bytes == 1) {
    w[0] = *reinterpret_cast<LdsPointer<const unsigned char> >(address);
  } else {
    using Vector = DwordVector<LdsWords<Bytes>::count>;
    Vector vector = *reinterpret_cast<LdsPointer<const Vector> >(address);
    if constexpr (Bytes > sizeof(unsigned)) {
      asm("" : "+v"(vector));  // to clang a use of the whole vector
    }
#pragma unroll
    for (unsigned i = 0; i < LdsWords<Bytes>::count; ++i) {
      w[i] = vector[i];
    }
  }
#else
  std::memcpy(w, reinterpret_cast<const unsigned char*>(lds) + address, Bytes);
#endif
  return loaded;
}

/// Stores `Bytes` bytes, 4 at least.
template <unsigned Bytes>
__device__ void lds_store([[maybe_unused]] unsigned* lds, unsigned address,
                          const LdsWords<Bytes>& stored) {
  [[maybe_unused]] const auto& w = stored.word;
#if defined(__CUDA_ARCH__)
  if constexpr (Bytes == 4) {
    asm volatile("st.volatile.shared.u32 [%0], %1;" : : "r"(address), "r"(w[0]) : "memory");
  } else if constexpr (Bytes == 8) {
    asm volatile("st.volatile.shared.v2.u32 [%0], {%1, %2};"
                 :
                 : "r"(address), "r"(w[0]), "r"(w[1])
                 : "memory");
  } else {
    asm volatile("st.volatile.shared.v4.u32 [%0], {%1, %2, %3, %4};"
                 :
                 : "r"(address), "r"(w[0]), "r"(w[1]), "r"(w[2]), "r"(w[3])
                 : "memory");
  }
#elif defined(__HIP_DEVICE_COMPILE__)
  using Vector = DwordVector<LdsWords<Bytes>::count>;
  Vector vector;
#pragma unroll
  for (unsigned i = 0; i < LdsWords<Bytes>::count; ++i) {
    vector[i] = w[i];
  }
  *reinterpret_cast<LdsPointer<Vector> >(address) = vector;
#else
  std::memcpy(reinterpret_cast<unsigned char*>(lds) + address, w, Bytes);
#endif
}

}  // namespace hipscope
