// Several passes, eight loads at a time. Against 14a and 14d: each loop issues eight loads before
// it uses the first, so that a thread waits for memory an eighth as often; gamma and beta are each
// activation's own, and any number of activations will do. By the way to the variance:
//   centred  three passes, as in 14a
//   squares  two: sum and sum of squares in one loop, as in 14d. The difference cancels: where the
//            mean is large against the deviation, no digit is right (sweep accuracy)
//   shifted  two: the activation's first value is subtracted from each before it is squared, so
//            the values are small and nothing cancels
#pragma once

#include "accesses.h"

namespace hipscope::batch_norm {

constexpr unsigned streaming_threads = 256;
constexpr unsigned loads_in_flight = 8;

template <Moments Way>
__global__ void __launch_bounds__(streaming_threads,
                                  second_bound(streaming_threads, loads_in_flight))
    streaming_kernel(const float* __restrict__ input, const float* __restrict__ gamma,
                     const float* __restrict__ beta, float* __restrict__ output, Tensor tensor) {
  const unsigned activation = blockIdx.x * streaming_threads + threadIdx.x;
  const unsigned activations = activations_of(tensor);
  if (activation >= activations) {
    return;
  }
  const auto images = static_cast<float>(tensor.images);
  const auto load = [&](unsigned n) { return (input + std::size_t{n} * activations)[activation]; };
  const auto [mean, variance] = statistics_of<Way>(
      images, Way == Moments::shifted ? input[activation] : 0,
      [&](const auto& take) {
        in_batches<loads_in_flight>(tensor.images, load, [&](float x, unsigned) { take(x); });
      },
      [](float sum, unsigned) { return sum; });
  const float scale = scale_of(gamma[activation], variance);
  const float shift = beta[activation];
  in_batches<loads_in_flight>(tensor.images, load, [&, mean = mean](float x, unsigned n) {
    (output + std::size_t{n} * activations)[activation] = fmaf(x - mean, scale, shift);
  });
}

}  // namespace hipscope::batch_norm
