// The source's example 14b. Against 14d: one pass. Two threads share an activation, each keeps 64
// images in an array that should become registers, and the two meet in LDS.
//
// The source expected it far ahead of 14d and measured 15 Gpixel/s on an MI25: the compiler took
// 255 VGPRs and spilled; the source blames register allocation and address arithmetic. Threads
// below 128 have images 0 to 63, the others 64 to 127. Work: the source's, with one correction: a
// variance that rounding has left below 0 counts as 0 (a NaN in the source's).
//
// On the H200 479 Gpixel/s, 90.1 % of the copy: nvcc takes 80 registers and spills none.
#pragma once

#include "accesses.h"

namespace hipscope::batch_norm::source_2_threads {

constexpr unsigned threads = 256;
constexpr unsigned lanes = 128;  // threads that hold the same images of as many activations
constexpr int images = 128;
constexpr int values = images / 2;  // that a thread keeps

// Its compiler planned for blocks of 256 threads where nothing was said; today's must be told.
static __global__ void __launch_bounds__(threads)
    kernel(const float* __restrict__ input, float* __restrict__ output, int activations,
           float gamma, float beta) {
  int place = static_cast<int>(blockDim.x / 2 * blockIdx.x + threadIdx.x % lanes);
  if (threadIdx.x >= lanes) {
    place += activations * values * static_cast<int>(threadIdx.x / lanes);
  }
  __shared__ float sums[threads];
  __shared__ float squares[threads];
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
    sums[threadIdx.x] += sums[threadIdx.x + lanes];
    squares[threadIdx.x] += squares[threadIdx.x + lanes];
  }
  __syncthreads();
  const float mean = sums[threadIdx.x % lanes] / images;
  const float variance = fmaxf(squares[threadIdx.x % lanes] / images - mean * mean, 0);
  const float scale = rsqrtf(variance + epsilon);
  for (int n = 0; n < values; ++n) {
    output[place + n * activations] = gamma * (x[n] - mean) * scale + beta;
  }
}

}  // namespace hipscope::batch_norm::source_2_threads
