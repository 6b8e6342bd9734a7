// One pass in every shape, for the sweep `shapes`: so many threads for an activation, so many lanes
// side by side, accesses of so many floats. What the rungs 14h to 14n are, with the numbers as
// parameters.
#pragma once

#include "accesses.h"
#include "reference.h"

namespace hipscope::batch_norm {

constexpr unsigned one_pass_images = 128;

/// Sum of a part's values, and of their squared deviations from the part's own mean.
struct Partial {
  float sum;
  float spread;
};

/// Of `Values` values; value(k) is the k-th.
template <unsigned Values, typename Value>
__device__ Partial partial_of(const Value& value) {
  Partial partial{};
#pragma unroll
  for (unsigned k = 0; k < Values; ++k) {
    partial.sum += value(k);
  }
  const float mean = partial.sum / static_cast<float>(Values);
#pragma unroll
  for (unsigned k = 0; k < Values; ++k) {
    const float difference = value(k) - mean;
    partial.spread = fmaf(difference, difference, partial.spread);
  }
  return partial;
}

/// `Parts` threads share an activation: part p has images p, p + Parts ... of `Width` neighbouring
/// activations; a part has `Lanes` threads.
template <unsigned Parts, unsigned Lanes, unsigned Width>
__global__ void __launch_bounds__(Parts* Lanes,
                                  second_bound(Parts* Lanes, one_pass_images / Parts * Width))
    one_pass_kernel(const float* __restrict__ input, const float* __restrict__ gamma,
                    const float* __restrict__ beta, float* __restrict__ output, Tensor tensor) {
  using Access = typename FloatVector<Width>::Type;
  constexpr unsigned images = one_pass_images;
  constexpr unsigned values = images / Parts;
  constexpr unsigned columns = Lanes * Width;
  static_assert(columns <= Parts * Lanes, "a thread merges no more than one activation");
  __shared__ Access sums[Parts][Lanes];
  __shared__ Access spreads[Parts][Lanes];
  __shared__ Access means[Lanes];
  __shared__ Access scales[Lanes];
  __shared__ Access shifts[Lanes];
  const unsigned activations = activations_of(tensor);
  const unsigned part = part_of_thread<Lanes>();
  const unsigned lane = threadIdx.x % Lanes;
  const unsigned wanted = blockIdx.x * columns + lane * Width;
  // Threads beyond the last activation take the last ones again and store nothing.
  const unsigned activation = min(wanted, activations - Width);
  Access x[values];
#pragma unroll
  for (unsigned k = 0; k < values; ++k) {
    const unsigned n = k * Parts + part;
    x[k] = *reinterpret_cast<const Access*>(input + std::size_t{n} * activations + activation);
  }
  // The activation that this thread will merge.
  const unsigned merged = min(blockIdx.x * columns + threadIdx.x, activations - 1);
  const bool merges = threadIdx.x < columns;
  const float merged_gamma = merges ? gamma[merged] : 0;
  const float merged_beta = merges ? beta[merged] : 0;
  end_of_loads();
#pragma unroll
  for (unsigned w = 0; w < Width; ++w) {
    const Partial mine = partial_of<values>([&](unsigned k) { return component(x[k], w); });
    component(sums[part][lane], w) = mine.sum;
    component(spreads[part][lane], w) = mine.spread;
  }
  __syncthreads();
  if (merges) {
    float all_sum = 0;
    float all_spread = 0;
#pragma unroll 8
    for (unsigned p = 0; p < Parts; ++p) {
      all_sum += component(sums[p][0], threadIdx.x);
      all_spread += component(spreads[p][0], threadIdx.x);
    }
    const float mean = all_sum / images;
#pragma unroll 8
    for (unsigned p = 0; p < Parts; ++p) {
      const float difference = component(sums[p][0], threadIdx.x) / values - mean;
      all_spread = fmaf(values * difference, difference, all_spread);
    }
    component(means[0], threadIdx.x) = mean;
    component(scales[0], threadIdx.x) = scale_of(merged_gamma, all_spread / images);
    component(shifts[0], threadIdx.x) = merged_beta;
  }
  __syncthreads();
  if (wanted >= activations) {
    return;
  }
  Access mean = means[lane];
  Access scale = scales[lane];
  Access shift = shifts[lane];
#pragma unroll
  for (unsigned k = 0; k < values; ++k) {
#pragma unroll
    for (unsigned w = 0; w < Width; ++w) {
      component(x[k], w) =
          fmaf(component(x[k], w) - component(mean, w), component(scale, w), component(shift, w));
    }
    const unsigned n = k * Parts + part;
    *reinterpret_cast<Access*>(output + std::size_t{n} * activations + activation) = x[k];
  }
}

}  // namespace hipscope::batch_norm
