// Over 16 threads, 16 bytes. Against 14l: four neighbouring activations, twice the threads for
// each; a row stays 256 bytes.
//
// On the H200 486 Gpixel/s, 91.9 % of the copy.
#pragma once

#include "accesses.h"
#include "reference.h"

namespace hipscope::batch_norm::over_16_threads_16_bytes {

constexpr unsigned images = 128;
constexpr unsigned parts = 16;               // threads that share an activation
constexpr unsigned lanes = 16;               // threads of a part, one beside the other
constexpr unsigned width = 4;                // floats of an access
constexpr unsigned columns = lanes * width;  // activations of a block
constexpr unsigned values = images / parts;  // that a thread keeps of each of its activations
constexpr unsigned threads = parts * lanes;

static __global__ void __launch_bounds__(threads, second_bound(threads, values* width))
    kernel(const float* __restrict__ input, const float* __restrict__ gamma,
           const float* __restrict__ beta, float* __restrict__ output, Tensor tensor) {
  __shared__ float4 sums[parts][lanes];
  __shared__ float4 spreads[parts][lanes];
  __shared__ float4 means[lanes];
  __shared__ float4 scales[lanes];
  __shared__ float4 shifts[lanes];
  const unsigned activations = activations_of(tensor);
  const unsigned part = part_of_thread<lanes>();
  const unsigned lane = threadIdx.x % lanes;
  const unsigned wanted = blockIdx.x * columns + lane * width;
  // Threads beyond the last activation take the last ones again and store nothing.
  const unsigned activation = min(wanted, activations - width);
  float4 x[values];
#pragma unroll
  for (unsigned k = 0; k < values; ++k) {
    const unsigned n = k * parts + part;
    x[k] = *reinterpret_cast<const float4*>(input + (std::size_t{n} * activations + activation));
  }
  // The activation that this thread will merge.
  const unsigned merged = min(blockIdx.x * columns + threadIdx.x, activations - 1);
  const bool merges = threadIdx.x < columns;
  const float merged_gamma = merges ? gamma[merged] : 0;
  const float merged_beta = merges ? beta[merged] : 0;
  end_of_loads();
#pragma unroll
  for (unsigned w = 0; w < width; ++w) {
    float sum = 0;
#pragma unroll
    for (unsigned k = 0; k < values; ++k) {
      sum += component(x[k], w);
    }
    const float own_mean = sum / static_cast<float>(values);
    float spread = 0;
#pragma unroll
    for (unsigned k = 0; k < values; ++k) {
      const float difference = component(x[k], w) - own_mean;
      spread = fmaf(difference, difference, spread);
    }
    component(sums[part][lane], w) = sum;
    component(spreads[part][lane], w) = spread;
  }
  __syncthreads();
  if (merges) {
    float all_sum = 0;
    float all_spread = 0;
#pragma unroll 8
    for (unsigned p = 0; p < parts; ++p) {
      all_sum += component(sums[p][0], threadIdx.x);
      all_spread += component(spreads[p][0], threadIdx.x);
    }
    const float mean = all_sum / images;
    // The parts' own means deviate from the whole one (Chan, Golub and LeVeque 1979).
#pragma unroll 8
    for (unsigned p = 0; p < parts; ++p) {
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
  float4 mean = means[lane];
  float4 scale = scales[lane];
  float4 shift = shifts[lane];
#pragma unroll
  for (unsigned k = 0; k < values; ++k) {
#pragma unroll
    for (unsigned w = 0; w < width; ++w) {
      component(x[k], w) =
          fmaf(component(x[k], w) - component(mean, w), component(scale, w), component(shift, w));
    }
    const unsigned n = k * parts + part;
    *reinterpret_cast<float4*>(output + (std::size_t{n} * activations + activation)) = x[k];
  }
}

inline void run(const Arrays& arrays) {
  launch(kernel, {.grid = dim3(blocks_for(arrays.populations, columns)), .block = dim3(threads)},
         arrays.input.data(), arrays.gamma.data(), arrays.beta.data(), arrays.output.data(),
         arrays.tensor);
}

}  // namespace hipscope::batch_norm::over_16_threads_16_bytes
