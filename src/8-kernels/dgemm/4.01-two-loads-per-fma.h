// Part 2 begins as part 1 did: 3.5.3 for any size. All matrices are stored row by row, so k runs
// along A's rows and lanes go along a row of C; blocks of 256 threads take 64 x 64. A thread
// computes its 4 x 4 elements one after the other, each FMA loads both of its factors. On the
// H200 1.60 TFLOP/s, 4.8 % of the peak.
#pragma once

#include "stage.h"

namespace dgemm {

static __global__ void __launch_bounds__(256)
    two_loads_kernel(Extents extents, double alpha, const double* a, const double* b, double beta,
                     double* c) {
  const unsigned row = blockIdx.y * 64 + threadIdx.x / 16 * 4;
  const unsigned column = blockIdx.x * 64 + threadIdx.x % 16 * 4;
  for (unsigned i = 0; i < 4; ++i) {
    const double* const a_row = a + std::size_t{row + i} * extents.lda;
    double* const c_row = c + std::size_t{row + i} * extents.ldc;
    for (unsigned j = 0; j < 4; ++j) {
      const double* const b_column = b + column + j;
      double sum = 0;
      for (unsigned k = 0; k < extents.k; ++k) {
        sum += a_row[k] * b_column[std::size_t{k} * extents.ldb];
      }
      store_result(c_row + column + j, alpha, sum, beta);
    }
  }
}

}  // namespace dgemm
