// The product as it is defined: each thread computes one element of C from a row of A and a column
// of B, in blocks of 32 threads along a row of C.
//
// For each FMA a thread loads two values, 8 bytes. The 32 threads of a block ask for the same value
// of A and for 32 neighbours in B, so the caches serve most of it; but a block of 32 is half a wave
// of 64, and one block shares nothing with the next.
#pragma once

#include "device_code.h"
#include "stage.h"

namespace sgemm {

static __global__ void __launch_bounds__(assumed_threads)
    one_thread_per_element_kernel(Extents extents, float alpha, const float* __restrict__ a,
                                  const float* __restrict__ b, float beta, float* __restrict__ c) {
  const unsigned row = blockIdx.y;
  const unsigned column = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (unsigned k = 0; k < extents.k; ++k) {
    sum += a[row * extents.lda + k] * b[k * extents.ldb + column];
  }
  store_result(c + row * extents.ldc + column, alpha, sum, beta);
}

inline Stage one_thread_per_element_stage() {
  constexpr unsigned threads = 32;
  return stage_of<one_thread_per_element_kernel>("one thread per element", "1",
                                                 {.block_rows = 1,
                                                  .block_columns = threads,
                                                  .depth = 1,
                                                  .threads = threads,
                                                  .thread_rows = 1,
                                                  .thread_columns = 1});
}

}  // namespace sgemm
