// Three passes, eight loads at a time. Against 14a: each loop issues eight loads before it uses the
// first, so that a thread waits for memory an eighth as often; gamma and beta are each activation's
// own, and any number of activations will do.
//
// On the H200 243 Gpixel/s, 46.1 % of the copy, as 14a: the bytes say 50 %, for 4 transfers
// against 2.
#pragma once

#include "accesses.h"

namespace hipscope::batch_norm {

constexpr unsigned streaming_threads = 256;
constexpr unsigned loads_in_flight = 8;

static __global__ void __launch_bounds__(streaming_threads,
                                         second_bound(streaming_threads, loads_in_flight))
    three_passes_kernel(const float* __restrict__ input, const float* __restrict__ gamma,
                        const float* __restrict__ beta, float* __restrict__ output, Tensor tensor) {
  const unsigned activation = blockIdx.x * streaming_threads + threadIdx.x;
  const unsigned activations = activations_of(tensor);
  if (activation >= activations) {
    return;
  }
  const auto images = static_cast<float>(tensor.images);
  const auto load = [&](unsigned n) { return (input + std::size_t{n} * activations)[activation]; };
  float sum = 0;
  in_batches<loads_in_flight>(tensor.images, load, [&](float x, unsigned) { sum += x; });
  const float mean = sum / images;
  float spread = 0;
  in_batches<loads_in_flight>(tensor.images, load, [&](float x, unsigned) {
    const float difference = x - mean;
    spread = fmaf(difference, difference, spread);
  });
  const float scale = scale_of(gamma[activation], spread / images);
  const float shift = beta[activation];
  in_batches<loads_in_flight>(tensor.images, load, [&](float x, unsigned n) {
    (output + std::size_t{n} * activations)[activation] = fmaf(x - mean, scale, shift);
  });
}

}  // namespace hipscope::batch_norm
