// Helpers of the batchnorm kernels: epsilon, an access of several floats, loads in batches. Device
// code.
#pragma once

#include <hip/hip_runtime.h>
#include <hipscope/scheduling_barrier.h>

#include <type_traits>

#include "data.h"

namespace hipscope::batch_norm {

constexpr float epsilon = 1e-6F;  // the source's; keeps a variance of 0 from dividing by 0

/// How the variance is summed up.
enum class Moments {
  none,     // not at all: a copy
  squares,  // sum and sum of squares: cancels where the mean is large against the deviation
  shifted,  // the same of value - first value of all: nothing is large any more
  welford,  // one value after the other: mean and squared deviations so far (Welford 1962)
  centred,  // the mean first, then the squared deviations from it: wants the values twice
};

/// What a value is multiplied by once the mean is off.
__device__ inline float scale_of(float gamma, float variance) {
  return gamma * (1.0F / sqrtf(variance + epsilon));
}

/// An access of one, two or four floats.
template <unsigned Width>
using Access =
    std::conditional_t<Width == 4, float4, std::conditional_t<Width == 2, float2, float>>;

/// Float `i` of an access.
template <typename Access>
__device__ float& component(Access& access, unsigned i) {
  return static_cast<float*>(static_cast<void*>(&access))[i];
}

/// take(load(i), i) for i from 0 to count - 1, with `Batch` loads in flight at a time. Left to
/// itself, clang loads a few at a time where that saves registers.
template <unsigned Batch, typename Load, typename Take>
__device__ void in_batches(unsigned count, const Load& load, const Take& take) {
  unsigned i = 0;
#pragma unroll 1
  for (; i + Batch <= count; i += Batch) {
    decltype(load(i)) x[Batch];
#pragma unroll
    for (unsigned k = 0; k < Batch; ++k) {
      x[k] = load(i + k);
    }
    scheduling_barrier();
#pragma unroll
    for (unsigned k = 0; k < Batch; ++k) {
      take(x[k], i + k);
    }
  }
#pragma unroll 1
  for (; i < count; ++i) {
    take(load(i), i);
  }
}

/// Mean and variance.
struct Statistics {
  float mean;
  float variance;
};

/// Of `count` values in one pass or two, where pass(take) calls take(x) for each of this thread's,
/// and total(sum, i) makes the i-th sum that of all threads. Shifted values are less `first`.
template <Moments Way, typename Pass, typename Total>
__device__ Statistics statistics_of(float count, float first, const Pass& pass,
                                    const Total& total) {
  float sum = 0;
  float squares = 0;
  if constexpr (Way == Moments::centred) {
    pass([&](float x) { sum += x; });
    const float mean = total(sum, 0) / count;
    pass([&](float x) {
      const float difference = x - mean;
      squares = fmaf(difference, difference, squares);
    });
    return {.mean = mean, .variance = total(squares, 1) / count};
  } else {
    constexpr bool is_shifted = Way == Moments::shifted;
    pass([&](float x) {
      const float difference = is_shifted ? x - first : x;
      sum += difference;
      squares = fmaf(difference, difference, squares);
    });
    const float mean = total(sum, 0) / count;
    const float mean_square = total(squares, 1) / count;
    // Rounding may leave less than nothing.
    return {.mean = is_shifted ? mean + first : mean,
            .variance = fmaxf(mean_square - mean * mean, 0)};
  }
}

constexpr unsigned largest_wave = 64;

/// Which part of its activations a thread takes, of `Lanes` threads each. Where that is the same
/// for all lanes of a wave, AMD's compiler is told so: addresses of rows then are scalar, and cost
/// no VGPRs.
template <unsigned Lanes>
__device__ unsigned part_of_thread() {
  const unsigned part = threadIdx.x / Lanes;
#if defined(__HIP_DEVICE_COMPILE__)
  if constexpr (Lanes % largest_wave == 0) {
    return __builtin_amdgcn_readfirstlane(part);
  }
#endif
  return part;
}

/// Float `column` of the row that begins at float `row`, as AMD's compiler does best with it: from
/// the row's address, which may be scalar, or for wider accesses from one sum of 64 bits.
template <unsigned Lanes, unsigned Width, typename Float>
__device__ Float* at(Float* tensor, std::size_t row, unsigned column) {
  constexpr bool may_be_scalar = Width == 1 || Lanes % largest_wave == 0;
  return may_be_scalar ? tensor + row + column : tensor + (row + column);
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

}  // namespace hipscope::batch_norm
