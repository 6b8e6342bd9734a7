// What the kernels of batchnorm say in one line each: epsilon, loads that stay together, floats of
// an access. Device code.
#pragma once

#include <hip/hip_runtime.h>

#include <cstdint>

namespace hipscope::batch_norm {

constexpr float epsilon = 1e-6F;  // V's; keeps a variance of 0 from dividing by 0

/// What a value is multiplied by once the mean is off.
__device__ inline float scale_of(float gamma, float variance) {
  return gamma * (1.0F / sqrtf(variance + epsilon));
}

/// An access of one, two or four floats.
template <unsigned Width>
struct FloatVector;
template <>
struct FloatVector<1> {
  using Type = float;
};
template <>
struct FloatVector<2> {
  using Type = float2;
};
template <>
struct FloatVector<4> {
  using Type = float4;
};

/// Float `i` of an access of one, two or four.
template <typename Access>
__device__ float& component(Access& access, unsigned i) {
  return static_cast<float*>(static_cast<void*>(&access))[i];
}

/// All loads before this are under way before anything after it waits for the first. Left to
/// itself, clang loads a few at a time where that saves registers.
__device__ inline void end_of_loads() {
#if defined(__HIP_DEVICE_COMPILE__)
  __builtin_amdgcn_sched_barrier(0);
#endif
}

/// Which part of its activations a thread takes, of `Lanes` threads each. Where that is the same
/// for all lanes of a wave, AMD's compiler is told so: addresses of rows then are scalar, and cost
/// no VGPRs.
template <unsigned Lanes>
__device__ unsigned part_of_thread() {
  const unsigned part = threadIdx.x / Lanes;
#if defined(__HIP_DEVICE_COMPILE__)
  constexpr unsigned largest_wave = 64;
  if constexpr (Lanes % largest_wave == 0) {
    return __builtin_amdgcn_readfirstlane(part);
  }
#endif
  return part;
}

/// The second launch bound of a kernel whose threads keep `floats` in registers. For NVIDIA's
/// compiler it is blocks per SM: as many as the registers allow, or else it may serialize the loads
/// to save registers, or take so many that fewer blocks fit. For AMD's it is waves per SIMD.
constexpr unsigned second_bound([[maybe_unused]] unsigned threads,
                                [[maybe_unused]] unsigned floats) {
#if defined(HIPSCOPE_BACKEND_AMD)
  return 1;
#else
  constexpr unsigned registers_per_unit = 65536;  // of sm_70 to sm_100
  constexpr unsigned threads_per_unit = 2048;
  constexpr unsigned other_registers = 24;  // addresses, sums
  const unsigned by_registers = registers_per_unit / ((floats + other_registers) * threads);
  const unsigned most =
      by_registers < threads_per_unit / threads ? by_registers : threads_per_unit / threads;
  return most > 0 ? most : 1;
#endif
}

constexpr unsigned blocks_for(std::uint64_t threads, unsigned block) {
  return static_cast<unsigned>((threads + block - 1) / block);
}

}  // namespace hipscope::batch_norm
