// Mean and variance of a set of values in FP32: ways to take them of a part of the values, and how
// the parts become one. Device code.
#pragma once

#include <hip/hip_runtime.h>

namespace hipscope::batch_norm {

constexpr float epsilon = 1e-6F;  // as in the source; keeps a variance of 0 from dividing by 0

/// How a part of the values is summed up.
enum class Moments {
  squares,  // sum and sum of squares: cancels where the mean is large against the deviation
  shifted,  // the same of value - first value of all: nothing is large any more
  welford,  // one value after the other: mean and squared deviations so far (Welford 1962)
  centred,  // the mean first, then the squared deviations from it: wants the values twice
};

/// A part's sum, and: with `squares` and `shifted` its sum of squares, else the sum of the squared
/// deviations from the part's own mean.
struct Partial {
  float sum;
  float spread;
};

struct Statistics {
  float mean;
  float variance;  // divided by the number of values (biased), as batch normalization has it
};

/// The first `count` of at most `Most` values; value(k) is the k-th. `shift` is what `shifted`
/// takes off.
template <Moments moments, unsigned Most, typename Value>
__device__ Partial partial_of(const Value& value, unsigned count, float shift) {
  Partial partial{};
  if constexpr (moments == Moments::squares || moments == Moments::shifted) {
#pragma unroll
    for (unsigned k = 0; k < Most; ++k) {
      const float x = moments == Moments::shifted ? value(k) - shift : value(k);
      partial.sum += k < count ? x : 0;
      partial.spread = k < count ? fmaf(x, x, partial.spread) : partial.spread;
    }
  } else if constexpr (moments == Moments::welford) {
    float mean = 0;
#pragma unroll
    for (unsigned k = 0; k < Most; ++k) {
      const float difference = value(k) - mean;
      mean = k < count ? fmaf(difference, 1.0F / static_cast<float>(k + 1), mean) : mean;
      partial.spread =
          k < count ? fmaf(difference, value(k) - mean, partial.spread) : partial.spread;
    }
    partial.sum = mean * static_cast<float>(count);
  } else {
#pragma unroll
    for (unsigned k = 0; k < Most; ++k) {
      partial.sum += k < count ? value(k) : 0;
    }
    const float mean = partial.sum / static_cast<float>(count > 0 ? count : 1);
#pragma unroll
    for (unsigned k = 0; k < Most; ++k) {
      const float difference = value(k) - mean;
      partial.spread = k < count ? fmaf(difference, difference, partial.spread) : partial.spread;
    }
  }
  return partial;
}

/// Statistics of all values, `total` of them in `parts` parts: partial(p), of count(p) values.
template <Moments moments, typename PartialOf, typename CountOf>
__device__ Statistics merge(unsigned parts, unsigned total, float shift, const PartialOf& partial,
                            const CountOf& count) {
  const auto values = static_cast<float>(total);
  float sum = 0;
  float spread = 0;
#pragma unroll 8
  for (unsigned p = 0; p < parts; ++p) {
    sum += partial(p).sum;
    spread += partial(p).spread;
  }
  const float mean = sum / values;
  if constexpr (moments == Moments::squares || moments == Moments::shifted) {
    // Rounding may leave less than nothing.
    return {.mean = mean + shift, .variance = fmaxf(spread / values - mean * mean, 0)};
  } else {
    // The parts' own means deviate from the whole one (Chan, Golub and LeVeque, "Updating formulae
    // and a pairwise algorithm for computing sample variances", 1979).
#pragma unroll 8
    for (unsigned p = 0; p < parts; ++p) {
      const auto values_here = static_cast<float>(count(p));
      const float difference = values_here > 0 ? partial(p).sum / values_here - mean : 0;
      spread = fmaf(values_here * difference, difference, spread);
    }
    return {.mean = mean, .variance = spread / values};
  }
}

/// What a value is multiplied by once the mean is off.
__device__ inline float scale_of(float gamma, float variance) {
  return gamma * (1.0F / sqrtf(variance + epsilon));
}

// --- Accesses of one, two and four floats -----------------------------------------------------

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
