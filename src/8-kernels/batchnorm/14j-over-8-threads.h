// Over 8 threads. Against 14i: 16 images for each thread, blocks of 512 threads.
//
// On the H200 479 Gpixel/s, 90.7 % of the copy.
#pragma once

#include "accesses.h"
#include "reference.h"

namespace hipscope::batch_norm::over_8_threads {

constexpr unsigned images = 128;
constexpr unsigned parts = 8;                // threads that share an activation
constexpr unsigned lanes = 64;               // threads of a part, one beside the other
constexpr unsigned values = images / parts;  // that a thread keeps
constexpr unsigned threads = parts * lanes;

static __global__ void __launch_bounds__(threads, second_bound(threads, values))
    kernel(const float* __restrict__ input, const float* __restrict__ gamma,
           const float* __restrict__ beta, float* __restrict__ output, Tensor tensor) {
  __shared__ float sums[parts][lanes];
  __shared__ float spreads[parts][lanes];
  __shared__ float means[lanes];
  __shared__ float scales[lanes];
  __shared__ float shifts[lanes];
  const unsigned activations = activations_of(tensor);
  const unsigned part = part_of_thread<lanes>();
  const unsigned lane = threadIdx.x % lanes;
  const unsigned wanted = blockIdx.x * lanes + lane;
  // Threads beyond the last activation take the last one again and store nothing.
  const unsigned activation = min(wanted, activations - 1);
  float x[values];
#pragma unroll
  for (unsigned k = 0; k < values; ++k) {
    const unsigned n = k * parts + part;
    x[k] = (input + std::size_t{n} * activations)[activation];
  }
  // The activation that this thread will merge.
  const unsigned merged = min(blockIdx.x * lanes + threadIdx.x, activations - 1);
  const bool merges = threadIdx.x < lanes;
  const float merged_gamma = merges ? gamma[merged] : 0;
  const float merged_beta = merges ? beta[merged] : 0;
  end_of_loads();
  float sum = 0;
#pragma unroll
  for (unsigned k = 0; k < values; ++k) {
    sum += x[k];
  }
  const float own_mean = sum / static_cast<float>(values);
  float spread = 0;
#pragma unroll
  for (unsigned k = 0; k < values; ++k) {
    const float difference = x[k] - own_mean;
    spread = fmaf(difference, difference, spread);
  }
  sums[part][lane] = sum;
  spreads[part][lane] = spread;
  __syncthreads();
  if (merges) {
    float all_sum = 0;
    float all_spread = 0;
#pragma unroll 8
    for (unsigned p = 0; p < parts; ++p) {
      all_sum += sums[p][threadIdx.x];
      all_spread += spreads[p][threadIdx.x];
    }
    const float mean = all_sum / images;
    // The parts' own means deviate from the whole one (Chan, Golub and LeVeque 1979).
#pragma unroll 8
    for (unsigned p = 0; p < parts; ++p) {
      const float difference = sums[p][threadIdx.x] / values - mean;
      all_spread = fmaf(values * difference, difference, all_spread);
    }
    means[threadIdx.x] = mean;
    scales[threadIdx.x] = scale_of(merged_gamma, all_spread / images);
    shifts[threadIdx.x] = merged_beta;
  }
  __syncthreads();
  if (wanted >= activations) {
    return;
  }
  const float mean = means[lane];
  const float scale = scales[lane];
  const float shift = shifts[lane];
#pragma unroll
  for (unsigned k = 0; k < values; ++k) {
    const unsigned n = k * parts + part;
    (output + std::size_t{n} * activations)[activation] = fmaf(x[k] - mean, scale, shift);
  }
}

inline void run(const Arrays& arrays) {
  launch(kernel, {.grid = dim3(blocks_for(arrays.populations, lanes)), .block = dim3(threads)},
         arrays.input.data(), arrays.gamma.data(), arrays.beta.data(), arrays.output.data(),
         arrays.tensor);
}

}  // namespace hipscope::batch_norm::over_8_threads
