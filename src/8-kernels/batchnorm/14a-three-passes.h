// The source's example 14a (fsword73's VEGA64 repository, 2.14). One thread per activation goes
// three times over its images: mean, variance, result. Plain loops, one value after the other;
// neighbouring lanes have neighbouring activations.
//
// It shows: the same values are loaded from memory three times, since they are 802816 floats apart
// and L1 keeps none of them. The source measured 22 Gpixel/s on an MI25.
// Work: the source's. gamma and beta are one number each for all activations, and blocks must fill
// an image.
//
// On the H200 240 Gpixel/s, 45.2 % of the copy.
#pragma once

#include "accesses.h"

namespace hipscope::batch_norm::source_three_passes {

constexpr unsigned threads = 256;

static __global__ void __launch_bounds__(threads)
    kernel(const float* __restrict__ input, float* __restrict__ output, int images, int activations,
           float gamma, float beta) {
  const int activation = static_cast<int>(blockDim.x * blockIdx.x + threadIdx.x);
  float mean = 0;
  for (int n = 0; n < images; ++n) {
    mean += input[activation + n * activations];
  }
  mean = mean / static_cast<float>(images);
  float variance = 0;
  for (int n = 0; n < images; ++n) {
    const float difference = input[activation + n * activations] - mean;
    variance += difference * difference;
  }
  variance = variance / static_cast<float>(images);
  const float scale = rsqrtf(variance + epsilon);
  for (int n = 0; n < images; ++n) {
    const float x = input[activation + n * activations];
    output[activation + n * activations] = gamma * (x - mean) * scale + beta;
  }
}

}  // namespace hipscope::batch_norm::source_three_passes
