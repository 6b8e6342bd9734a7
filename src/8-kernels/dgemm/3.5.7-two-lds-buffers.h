// The DCU textbook, section 3.5.7, against 3.5.6: both halves of LDS. While one tile is multiplied,
// the next is in flight from memory, and goes to the other half before the last of the 8 k: one
// barrier per tile. After the barrier the next tile's first k is loaded before this one's last is
// multiplied.
//
// Corrected: the textbook's last turn loads one tile past the end of A and B. Here it loads the
// last one again, which nobody reads either: the loads stay as many.
// On the H200 53.84 GFLOP/s, 1.11 times 3.5.6.
//
// Section 3.5.8, against 3.5.7: a thread's four rows are two pairs, 32 apart, and so are its
// columns. LDS has 32 banks of 4 bytes: of 16 lanes that read A's values from four neighbours each,
// four want the same banks, from pairs two.
// On the H200 67.48 GFLOP/s, 1.25 times 3.5.7.
//
// Ours, against 3.5.8: a thread's rows and columns are 16 apart. 16 lanes then read 16 neighbours,
// which fill all banks once.
// On the H200 61.29 GFLOP/s, 0.91 of 3.5.8: what is apart is loaded one by one, 64 loads from LDS
// for 128 FMAs in place of 34.
#pragma once

#include <type_traits>

#include "bank_conflicts.h"
#include "one_block_step.h"

namespace dgemm {

/// `spread`: together is 3.5.7, pairs 3.5.8, apart ours.
template <Spread spread>
__global__ void __launch_bounds__(one_block_threads)
    two_lds_buffers_kernel(const double* a, const double* b, double* c, double alpha, double beta,
                           int size_m, int size_n, int size_k) {
  // As each was written.
  using Row = std::conditional_t<spread == Spread::together, int, unsigned>;
  constexpr unsigned side = 64;
  constexpr unsigned neighbour = place_of<spread>(1, 0);  // the next thread's first row or column
  constexpr unsigned depth = 8;
  constexpr unsigned begin_of_b = side * depth;
  constexpr unsigned buffer = 2 * side * depth;
  constexpr unsigned all = 2 * buffer;
  __shared__ double lds[all];
  const unsigned copied_k = threadIdx.x / 32;
  const unsigned copied = threadIdx.x % 32 * 2;
  a += copied_k * size_m + copied;
  b += copied_k * size_n + copied;
  unsigned a_to = threadIdx.x * 2;
  unsigned b_to = threadIdx.x * 2 + begin_of_b;
  const unsigned row = threadIdx.x % 16;
  const unsigned column = threadIdx.x / 16;
  unsigned a_begin = row * neighbour;
  unsigned b_begin = column * neighbour + begin_of_b;
  const double* a_from = lds + a_begin;
  const double* b_from = lds + b_begin;
  c += (row * size_n + column) * neighbour;
  double of_a[2][4];
  double of_b[2][4];
  double sums[4][4] = {};
  const auto load = [&](int set) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      of_a[set][i] = a_from[place_of<spread>(0, i)];
    }
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      of_b[set][j] = b_from[place_of<spread>(0, j)];
    }
  };
  const auto multiply = [&](int set) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        sums[i][j] += of_a[set][i] * of_b[set][j];
      }
    }
  };
  double a0 = a[0];
  double a1 = a[1];
  double b0 = b[0];
  double b1 = b[1];
  a += static_cast<int>(depth) < size_k ? depth * size_m : 0;  // the correction
  b += static_cast<int>(depth) < size_k ? depth * size_n : 0;
  lds[a_to] = a0;
  lds[a_to + 1] = a1;
  lds[b_to] = b0;
  lds[b_to + 1] = b1;
  a_to = (a_to + buffer) % all;
  b_to = (b_to + buffer) % all;
  __syncthreads();
  load(0);
  for (int k = 0; k < size_k; k += 8) {
    a0 = a[0];
    a1 = a[1];
    b0 = b[0];
    b1 = b[1];
    const bool is_another_after = k + 2 * static_cast<int>(depth) < size_k;
    a += is_another_after ? depth * size_m : 0;  // the correction
    b += is_another_after ? depth * size_n : 0;
#pragma unroll
    for (int step = 0; step < 6; ++step) {
      a_from += side;
      b_from += side;
      load((step + 1) % 2);
      multiply(step % 2);
    }
    a_from += side;
    b_from += side;
    load(1);
    lds[a_to] = a0;
    lds[a_to + 1] = a1;
    lds[b_to] = b0;
    lds[b_to + 1] = b1;
    a_to = (a_to + buffer) % all;
    b_to = (b_to + buffer) % all;
    a_begin = (a_begin + buffer) % all;
    b_begin = (b_begin + buffer) % all;
    a_from = lds + a_begin;
    b_from = lds + b_begin;
    multiply(0);
    __syncthreads();
    load(0);
    multiply(1);
  }
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const auto of_c = static_cast<Row>(place_of<spread>(0, i));
    double* const c_row = c + of_c * size_n;
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      store_result(c_row + place_of<spread>(0, j), alpha, sums[i][j], beta);
    }
  }
}

}  // namespace dgemm
