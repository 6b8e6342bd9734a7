// The DCU textbook, section 3.5.3: a thread computes the 16 elements of its 4 x 4 tile one after
// the other, each a loop over k of its own, whose sum stays in a register.
//
// One block of 256 threads for 64 x 64; lane by lane the tiles go down C's rows. A and B are stored
// with m and n along memory: A's element (i, k) at k * m + i. Each FMA loads both of its factors:
// every element of A is loaded by 16 threads, by each of them once for each of its four columns. On
// the H200 10.59 GFLOP/s, by its clock.
#pragma once

#include "one_block_step.h"

namespace dgemm {

static __global__ void __launch_bounds__(one_block_threads)
    one_element_kernel(const double* a, const double* b, double* c, double alpha, double beta,
                       int size_m, int size_n, int size_k) {
  const unsigned row = threadIdx.x % 16 * 4;
  const unsigned column = threadIdx.x / 16 * 4;
  a += row;
  b += column;
  c += row * size_n + column;
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < 4; ++j) {
      double sum = 0;
      for (int k = 0; k < size_k; k += 4) {
        const double a0 = a[k * size_m + i];
        const double a1 = a[(k + 1) * size_m + i];
        const double a2 = a[(k + 2) * size_m + i];
        const double a3 = a[(k + 3) * size_m + i];
        const double b0 = b[k * size_n + j];
        const double b1 = b[(k + 1) * size_n + j];
        const double b2 = b[(k + 2) * size_n + j];
        const double b3 = b[(k + 3) * size_n + j];
        sum += a0 * b0 + a1 * b1 + a2 * b2 + a3 * b3;
      }
      c[j] = alpha * sum + beta * c[j];
    }
    c += size_n;
  }
}

}  // namespace dgemm
