// The source's first three stages: operands come from memory, there is no LDS. A thread computes
// 4 x 4 elements, a block of 256 threads 64 x 64.
//
// The source counts memory operations per FMA. With nothing kept, each FMA loads its elements of A,
// B and C and stores C: 4. An element of A that is kept for the tile's four columns costs a
// quarter: 3.25; the same for B: 2.5. Sums that stay in registers until k ends leave 0.25 + 0.25 =
// 0.5, and C's one load and store, which do not grow with k.
//   no reuse            as said; `volatile` keeps the compiler from what it would do at once
//   register reuse      sums in registers, the operands of 8 k loaded together
//   register prefetch   the operands of the next 4 k are loaded before the FMAs of these: twice
//                       the registers, so a depth of 8 would not fit
#pragma once

#include "stage.h"

namespace dgemm {

inline constexpr unsigned block_side = 64;
inline constexpr unsigned block_threads = 256;
inline constexpr unsigned thread_side = 4;

inline constexpr Tiles tiles_without_lds = {.block_rows = block_side,
                                            .block_columns = block_side,
                                            .depth = 1,
                                            .threads = block_threads,
                                            .thread_rows = thread_side,
                                            .thread_columns = thread_side};

/// Where a thread's tile begins in its matrices; threads lie in rows of 16.
template <LayoutOfB layout>
struct ThreadTile {
  const double* a;  ///< of the first row
  const double* b;  ///< of the first column
  double* c;

  __device__ ThreadTile(Extents extents, const double* all_of_a, const double* all_of_b,
                        double* all_of_c) {
    const unsigned row = blockIdx.y * block_side + threadIdx.x / 16 * thread_side;
    const unsigned column = blockIdx.x * block_side + threadIdx.x % 16 * thread_side;
    a = all_of_a + row * extents.lda;
    b = all_of_b + (layout == LayoutOfB::rows ? column : column * extents.ldb);
    c = all_of_c + row * extents.ldc + column;
  }
};

/// From B's first element to the one of this k and column.
template <LayoutOfB layout>
__device__ unsigned offset_in_b(Extents extents, unsigned k, unsigned column) {
  return layout == LayoutOfB::rows ? k * extents.ldb + column : column * extents.ldb + k;
}

/// What is kept in registers while it is used again.
enum class Reuse { nothing, a, a_and_b };

template <LayoutOfB layout, Reuse reuse>
__global__ void __launch_bounds__(block_threads)
    no_reuse_kernel(Extents extents, double alpha, const double* all_of_a, const double* all_of_b,
                    double beta, double* all_of_c) {
  const ThreadTile<layout> tile(extents, all_of_a, all_of_b, all_of_c);
  const volatile double* const a = tile.a;
  const volatile double* const b = tile.b;
  volatile double* const c = tile.c;
  for (unsigned i = 0; i < thread_side; ++i) {
    for (unsigned j = 0; j < thread_side; ++j) {
      double* const element = tile.c + i * extents.ldc + j;
      *element = beta == 0 ? 0 : beta * *element;
    }
  }
#pragma unroll 1
  for (unsigned k = 0; k < extents.k; ++k) {
    double b_kept[thread_side];
    if constexpr (reuse == Reuse::a_and_b) {
#pragma unroll
      for (unsigned j = 0; j < thread_side; ++j) {
        b_kept[j] = b[offset_in_b<layout>(extents, k, j)];
      }
    }
#pragma unroll
    for (unsigned i = 0; i < thread_side; ++i) {
      double a_kept = 0;
      if constexpr (reuse != Reuse::nothing) {
        a_kept = alpha * a[i * extents.lda + k];
      }
#pragma unroll
      for (unsigned j = 0; j < thread_side; ++j) {
        const double left = reuse == Reuse::nothing ? alpha * a[i * extents.lda + k] : a_kept;
        const double right =
            reuse == Reuse::a_and_b ? b_kept[j] : b[offset_in_b<layout>(extents, k, j)];
        c[i * extents.ldc + j] = c[i * extents.ldc + j] + left * right;
      }
    }
  }
}

/// A thread tile's operands of `depth` k.
template <LayoutOfB layout, unsigned depth>
struct Fragments {
  double a[depth][thread_side];
  double b[depth][thread_side];

  /// Loads them from `first_k` on; 16 bytes at a time, where memory has them side by side.
  __device__ void load(const ThreadTile<layout>& tile, Extents extents, unsigned first_k) {
#pragma unroll
    for (unsigned i = 0; i < thread_side; ++i) {
#pragma unroll
      for (unsigned k = 0; k < depth; k += 2) {
        const double2 two = load_two(tile.a + i * extents.lda + first_k + k);
        a[k][i] = two.x;
        a[k + 1][i] = two.y;
      }
    }
    if constexpr (layout == LayoutOfB::columns) {
#pragma unroll
      for (unsigned j = 0; j < thread_side; ++j) {
#pragma unroll
        for (unsigned k = 0; k < depth; k += 2) {
          const double2 two = load_two(tile.b + j * extents.ldb + first_k + k);
          b[k][j] = two.x;
          b[k + 1][j] = two.y;
        }
      }
    } else {
#pragma unroll
      for (unsigned k = 0; k < depth; ++k) {
#pragma unroll
        for (unsigned j = 0; j < thread_side; j += 2) {
          const double2 two = load_two(tile.b + (first_k + k) * extents.ldb + j);
          b[k][j] = two.x;
          b[k][j + 1] = two.y;
        }
      }
    }
  }

  __device__ void multiply(double (&sums)[thread_side][thread_side]) const {
#pragma unroll
    for (unsigned k = 0; k < depth; ++k) {
      multiply_add(sums, a[k], b[k]);
    }
  }
};

__device__ inline void store_tile(double* c, Extents extents, double alpha,
                                  const double (&sums)[thread_side][thread_side], double beta) {
#pragma unroll
  for (unsigned i = 0; i < thread_side; ++i) {
#pragma unroll
    for (unsigned j = 0; j < thread_side; ++j) {
      store_result(c + i * extents.ldc + j, alpha, sums[i][j], beta);
    }
  }
}

template <LayoutOfB layout>
__global__ void __launch_bounds__(block_threads)
    register_reuse_kernel(Extents extents, double alpha, const double* __restrict__ a,
                          const double* __restrict__ b, double beta, double* __restrict__ c) {
  constexpr unsigned depth = 8;
  const ThreadTile<layout> tile(extents, a, b, c);
  double sums[thread_side][thread_side] = {};
#pragma unroll 1
  for (unsigned k = 0; k < extents.k; k += depth) {
    Fragments<layout, depth> fragments;
    fragments.load(tile, extents, k);
    fragments.multiply(sums);
  }
  store_tile(tile.c, extents, alpha, sums, beta);
}

template <LayoutOfB layout>
__global__ void __launch_bounds__(block_threads)
    register_prefetch_kernel(Extents extents, double alpha, const double* __restrict__ a,
                             const double* __restrict__ b, double beta, double* __restrict__ c) {
  constexpr unsigned depth = 4;
  const ThreadTile<layout> tile(extents, a, b, c);
  double sums[thread_side][thread_side] = {};
  Fragments<layout, depth> first;
  Fragments<layout, depth> second;
  first.load(tile, extents, 0);
  // Two steps per turn, so that which fragments are which is known when it compiles. K is a
  // multiple of both, and behind the end nothing is loaded: the last turn loads its own k again.
#pragma unroll 1
  for (unsigned k = 0; k < extents.k; k += 2 * depth) {
    second.load(tile, extents, k + depth);
    first.multiply(sums);
    first.load(tile, extents, k + 2 * depth < extents.k ? k + 2 * depth : k);
    second.multiply(sums);
  }
  store_tile(tile.c, extents, alpha, sums, beta);
}

}  // namespace dgemm
