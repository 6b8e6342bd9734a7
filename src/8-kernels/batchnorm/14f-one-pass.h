// One pass. Against 14b: all loads are in flight before the first value is used; thread p of
// `Parts` that share an activation has images p, p + Parts, ..., in another wave than its siblings,
// so that lanes have neighbouring activations; the threads take the mean before the deviations from
// it, and exchange both through LDS. Where a wave has rows of its own, their addresses are scalar.
// 14g is the same for fewer images too; 14h has other ways to the variance, which are as fast,
// within 1 %: using values in registers twice costs nothing. For their cost in digits see sweep
// accuracy.
#pragma once

#include "accesses.h"

namespace hipscope::batch_norm {

constexpr unsigned one_pass_images = 128;

/// Sum of a thread's values, and of the squares of what `Way` takes them for.
struct Partial {
  float sum;
  float spread;
};

/// The variance from deviations from the mean. Each thread takes its own values' mean.
struct MeanFirst {
  static constexpr Moments moments = Moments::centred;

  /// Of the first `rows` of `Values` values; value(k) is the k-th.
  template <unsigned Values, typename Value>
  __device__ static Partial of(const Value& value, unsigned rows) {
    Partial partial{};
#pragma unroll
    for (unsigned k = 0; k < Values; ++k) {
      partial.sum += k < rows ? value(k) : 0;
    }
    const float mean = partial.sum / static_cast<float>(rows > 0 ? rows : 1);
#pragma unroll
    for (unsigned k = 0; k < Values; ++k) {
      const float difference = value(k) - mean;
      partial.spread = k < rows ? fmaf(difference, difference, partial.spread) : partial.spread;
    }
    return partial;
  }
};

/// 14h, for all rows only. From the sum of squares: where the mean is large against the deviation,
/// nothing right is left.
struct SumOfSquares {
  static constexpr Moments moments = Moments::squares;

  template <unsigned Values, typename Value>
  __device__ static Partial of(const Value& value, unsigned /*rows*/) {
    Partial partial{};
#pragma unroll
    for (unsigned k = 0; k < Values; ++k) {
      partial.sum += value(k);
      partial.spread = fmaf(value(k), value(k), partial.spread);
    }
    return partial;
  }
};

/// The same, but the activation's first value is taken off each before it is squared.
struct LessFirstValue : SumOfSquares {
  static constexpr Moments moments = Moments::shifted;
};

/// Welford (1962): one value after the other, mean and squared deviations so far are kept, so that
/// no value is wanted twice. As exact as the mean first.
struct Welford {
  static constexpr Moments moments = Moments::welford;

  template <unsigned Values, typename Value>
  __device__ static Partial of(const Value& value, unsigned /*rows*/) {
    float mean = 0;
    float spread = 0;
#pragma unroll
    for (unsigned k = 0; k < Values; ++k) {
      const float difference = value(k) - mean;
      mean = fmaf(difference, 1.0F / static_cast<float>(k + 1), mean);
      spread = fmaf(difference, value(k) - mean, spread);
    }
    return {.sum = mean * static_cast<float>(Values), .spread = spread};
  }
};

/// `Parts` threads share an activation; a part has `Lanes` threads, each with `Width` neighbouring
/// activations. Of the images there are 128, or up to 128 where `IsAnyNumber`.
template <unsigned Parts, unsigned Lanes, unsigned Width, typename Way, bool IsAnyNumber = false>
__device__ __forceinline__ void one_pass(const float* __restrict__ input,
                                         const float* __restrict__ gamma,
                                         const float* __restrict__ beta, float* __restrict__ output,
                                         const Tensor& tensor) {
  using Vector = Access<Width>;
  constexpr unsigned values = one_pass_images / Parts;
  constexpr unsigned columns = Lanes * Width;
  constexpr bool is_shifted = Way::moments == Moments::shifted;
  static_assert(columns <= Parts * Lanes, "a thread merges no more than one activation");
  __shared__ Vector sums[Parts][Lanes];
  __shared__ Vector spreads[Parts][Lanes];
  __shared__ Vector means[Lanes];
  __shared__ Vector scales[Lanes];
  __shared__ Vector shifts[Lanes];
  const unsigned images = IsAnyNumber ? tensor.images : one_pass_images;
  const auto rows_of = [&](unsigned p) {
    return IsAnyNumber ? (images + Parts - 1 - p) / Parts : values;
  };
  const unsigned activations = activations_of(tensor);
  const unsigned part = part_of_thread<Lanes>();
  const unsigned lane = threadIdx.x % Lanes;
  const unsigned wanted = blockIdx.x * columns + lane * Width;
  // Threads beyond the last activation take the last ones again and store nothing.
  const unsigned activation = min(wanted, activations - Width);
  Vector x[values];
#pragma unroll
  for (unsigned k = 0; k < values; ++k) {
    const unsigned n = k * Parts + part;  // this thread's k-th image
    // Beyond the last image that is taken again, and does not count.
    const unsigned row = IsAnyNumber ? min(n, images - 1) : n;
    x[k] = *reinterpret_cast<const Vector*>(
        at<Lanes, Width>(input, std::size_t{row} * activations, activation));
  }
  // The activation that this thread will merge.
  const unsigned merged = min(blockIdx.x * columns + threadIdx.x, activations - 1);
  const bool merges = threadIdx.x < columns;
  const float merged_gamma = merges ? gamma[merged] : 0;
  const float merged_beta = merges ? beta[merged] : 0;
  const float merged_first = is_shifted && merges ? input[merged] : 0;
  Vector first{};
  if constexpr (is_shifted) {
    first = *reinterpret_cast<const Vector*>(input + activation);
  }
  scheduling_barrier();
#pragma unroll
  for (unsigned w = 0; w < Width; ++w) {
    const Partial mine = Way::template of<values>(
        [&](unsigned k) {
          return is_shifted ? component(x[k], w) - component(first, w) : component(x[k], w);
        },
        rows_of(part));
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
    const auto all_rows = static_cast<float>(images);
    const float mean = all_sum / all_rows;
    float variance = 0;
    if constexpr (is_shifted || Way::moments == Moments::squares) {
      // Rounding may leave less than nothing.
      variance = fmaxf(all_spread / all_rows - mean * mean, 0);
    } else {
      // The parts' own means deviate from the whole one (Chan, Golub and LeVeque 1979).
#pragma unroll 8
      for (unsigned p = 0; p < Parts; ++p) {
        const auto rows = static_cast<float>(rows_of(p));
        const float difference = rows > 0 ? component(sums[p][0], threadIdx.x) / rows - mean : 0;
        all_spread = fmaf(rows * difference, difference, all_spread);
      }
      variance = all_spread / all_rows;
    }
    component(means[0], threadIdx.x) = is_shifted ? mean + merged_first : mean;
    component(scales[0], threadIdx.x) = scale_of(merged_gamma, variance);
    component(shifts[0], threadIdx.x) = merged_beta;
  }
  __syncthreads();
  if (wanted >= activations) {
    return;
  }
  Vector mean = means[lane];
  Vector scale = scales[lane];
  Vector shift = shifts[lane];
#pragma unroll
  for (unsigned k = 0; k < values; ++k) {
#pragma unroll
    for (unsigned w = 0; w < Width; ++w) {
      component(x[k], w) =
          fmaf(component(x[k], w) - component(mean, w), component(scale, w), component(shift, w));
    }
    const unsigned n = k * Parts + part;
    if (!IsAnyNumber || n < images) {
      *reinterpret_cast<Vector*>(
          at<Lanes, Width>(output, std::size_t{n} * activations, activation)) = x[k];
    }
  }
}

template <unsigned Parts, unsigned Lanes, unsigned Width, typename Way = MeanFirst>
__global__ void __launch_bounds__(Parts* Lanes,
                                  second_bound(Parts* Lanes, one_pass_images / Parts * Width))
    one_pass_kernel(const float* __restrict__ input, const float* __restrict__ gamma,
                    const float* __restrict__ beta, float* __restrict__ output, Tensor tensor) {
  one_pass<Parts, Lanes, Width, Way>(input, gamma, beta, output, tensor);
}

/// 14g, at the cost of a comparison for each image.
template <unsigned Parts, unsigned Lanes>
__global__ void __launch_bounds__(Parts* Lanes, second_bound(Parts* Lanes, one_pass_images / Parts))
    any_number_kernel(const float* __restrict__ input, const float* __restrict__ gamma,
                      const float* __restrict__ beta, float* __restrict__ output, Tensor tensor) {
  one_pass<Parts, Lanes, 1, MeanFirst, true>(input, gamma, beta, output, tensor);
}

}  // namespace hipscope::batch_norm
