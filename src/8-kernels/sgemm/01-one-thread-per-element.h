// The product as it is defined: each thread computes one element of C from a row of A and a column
// of B. Blocks of 32 threads, all in one row of the grid; a thread divides to find its element.
//
// For each FMA a thread loads two values, 8 bytes. The 32 threads of a block load the same value of
// A and 32 neighbours in B, so the caches serve most loads; but a block of 32 is half a wave of 64,
// and one block shares nothing with the next. fileaccent states no launch bounds; clang then
// assumes blocks of 1024 threads: `assumed_threads` (device_code.h) states that, here and in the
// next stages.
// On the H200 4.09 TFLOP/s, 6.1 % of the peak.
#pragma once

#include "device_code.h"
#include "stage.h"

namespace sgemm {

static __global__ void __launch_bounds__(assumed_threads)
    one_thread_per_element_kernel(Sizes size, float alpha, const float* __restrict__ a,
                                  const float* __restrict__ b, float beta, float* __restrict__ c) {
  const int element = static_cast<int>(threadIdx.x + blockIdx.x * blockDim.x);
  if (element >= size.m * size.n) {
    return;
  }
  const int row = element / size.n;
  const int column = element % size.n;
  float sum = 0;
  for (int k = 0; k < size.k; ++k) {
    sum += a[row * size.lda + k] * b[k * size.ldb + column];
  }
  store_result(c + row * size.ldc + column, alpha, sum, beta);
}

}  // namespace sgemm
