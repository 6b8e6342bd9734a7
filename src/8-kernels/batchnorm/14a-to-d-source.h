// The source's examples 14a to 14d (fsword73's VEGA64 repository, 2.14): plain loops, one value
// after the other. gamma and beta are one number each for all activations, and blocks must fill an
// image. One correction in 14b to 14d: a variance that rounding has left below 0 counts as 0 (the
// source's root makes it a NaN, and with it all 128 results).
#pragma once

#include "accesses.h"

namespace hipscope::batch_norm {

constexpr unsigned source_threads = 256;

// 14a. One thread per activation goes three times over its images: mean, variance, result. It
// shows: the same values are loaded from memory three times, since they are 802816 floats apart and
// L1 keeps none of them. The source measured 22 Gpixel/s on an MI25.
namespace source_three_passes {
static __global__ void __launch_bounds__(source_threads)
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
}  // namespace source_three_passes

/// 14b and 14c. Against 14d: one pass. `parts` threads share an activation, each keeps its part of
/// the 128 images in an array that should become registers, and they meet in LDS.
template <int parts>
__device__ __forceinline__ void source_one_pass(const float* __restrict__ input,
                                                float* __restrict__ output, int activations,
                                                float gamma, float beta) {
  constexpr int images = 128;
  constexpr int values = images / parts;              // that a thread keeps
  constexpr unsigned lanes = source_threads / parts;  // threads that hold the same images
  int place = static_cast<int>(blockDim.x / parts * blockIdx.x + threadIdx.x % lanes);
  if (threadIdx.x >= lanes) {
    place += activations * values * static_cast<int>(threadIdx.x / lanes);
  }
  __shared__ float sums[source_threads];
  __shared__ float squares[source_threads];
  float x[values];
  float sum = 0;
  float square = 0;
  for (int n = 0; n < values; ++n) {
    x[n] = input[place + n * activations];
    sum += x[n];
    square += x[n] * x[n];
  }
  sums[threadIdx.x] = sum;
  squares[threadIdx.x] = square;
  __syncthreads();
  if (threadIdx.x < lanes) {
    const auto add_others = [&](float* all) {
      float others = all[threadIdx.x + lanes];
      for (unsigned part = 2; part < parts; ++part) {
        others += all[threadIdx.x + part * lanes];
      }
      all[threadIdx.x] += others;
    };
    add_others(sums);
    add_others(squares);
  }
  __syncthreads();
  const float mean = sums[threadIdx.x % lanes] / images;
  const float variance = fmaxf(squares[threadIdx.x % lanes] / images - mean * mean, 0);
  const float scale = rsqrtf(variance + epsilon);
  for (int n = 0; n < values; ++n) {
    output[place + n * activations] = gamma * (x[n] - mean) * scale + beta;
  }
}

// Their compiler planned for blocks of 256 threads where nothing was said; today's must be told.

// 14b. The source expected it far ahead of 14d and measured 15 Gpixel/s on an MI25: the compiler
// took 255 VGPRs and spilled; the source blames register allocation and address arithmetic.
namespace source_2_threads {
static __global__ void __launch_bounds__(source_threads)
    kernel(const float* __restrict__ input, float* __restrict__ output, int activations,
           float gamma, float beta) {
  source_one_pass<2>(input, output, activations, gamma, beta);
}
}  // namespace source_2_threads

// 14c. The source measured 32 Gpixel/s on an MI25, with 105 to 128 VGPRs and no spills; but of 96
// images only: threads 64 to 127 repeat images 0 to 31, so images 32 to 63 are neither read nor
// written, while the rate counts all 128. Corrected: each quarter has images of its own.
namespace source_4_threads {
static __global__ void __launch_bounds__(source_threads)
    kernel(const float* __restrict__ input, float* __restrict__ output, int activations,
           float gamma, float beta) {
  source_one_pass<4>(input, output, activations, gamma, beta);
}
}  // namespace source_4_threads

// 14d. Against 14a: sum and sum of squares come from one loop, and the variance from them, so that
// the input is read twice, not three times. The source measured 30 Gpixel/s on an MI25.
namespace source_two_passes {
static __global__ void __launch_bounds__(source_threads)
    kernel(const float* __restrict__ input, float* __restrict__ output, int images, int activations,
           float gamma, float beta) {
  const int activation = static_cast<int>(blockDim.x * blockIdx.x + threadIdx.x);
  float sum = 0;
  float squares = 0;
  for (int n = 0; n < images; ++n) {
    const float x = input[activation + n * activations];
    sum += x;
    squares += x * x;
  }
  const float mean = sum / static_cast<float>(images);
  const float variance = fmaxf(squares / static_cast<float>(images) - mean * mean, 0);
  const float scale = rsqrtf(variance + epsilon);
  for (int n = 0; n < images; ++n) {
    const float x = input[activation + n * activations];
    output[activation + n * activations] = gamma * (x - mean) * scale + beta;
  }
}
}  // namespace source_two_passes

}  // namespace hipscope::batch_norm
