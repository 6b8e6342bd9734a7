// Kernels that fill matrices, compute the reference of their product, and compare a result with it;
// see problem.h.
#pragma once

#include <hipscope/hipscope.h>

#include <cmath>
#include <cstdint>

#include "exact.h"
#include "stage.h"

namespace gemm {

inline constexpr unsigned reference_side = 16;
inline constexpr unsigned reference_threads = reference_side * reference_side;

enum class Values {
  random,    ///< in [-1, 1)
  integers,  ///< -2 ... 2
};

/// Fills the matrix; what is between its rows stays poisoned.
template <typename Value>
__global__ void __launch_bounds__(reference_threads)
    fill_kernel(Value* matrix, unsigned rows, unsigned columns, unsigned pitch, unsigned key,
                Values values) {
  const unsigned column = blockIdx.x * reference_threads + threadIdx.x;
  if (column < columns) {
    for (unsigned row = blockIdx.y; row < rows; row += gridDim.y) {
      const unsigned bits = hipscope::random_bits(row * columns + column + key);
      matrix[std::size_t{row} * pitch + column] =
          values == Values::random ? Exact<Value>::random(bits, hipscope::random_bits(bits))
                                   : Exact<Value>::integer(static_cast<int>(bits % 5) - 2);
    }
  }
}

/// Copies a matrix into one of other extents: what is not there is 0, what is too much is left out.
template <typename Value>
__global__ void __launch_bounds__(reference_threads)
    copy_kernel(Value* to, unsigned to_rows, unsigned to_columns, unsigned to_pitch,
                const Value* from, unsigned from_rows, unsigned from_columns, unsigned from_pitch) {
  const unsigned column = blockIdx.x * reference_threads + threadIdx.x;
  if (column < to_columns) {
    for (unsigned row = blockIdx.y; row < to_rows; row += gridDim.y) {
      const bool is_there = row < from_rows && column < from_columns;
      to[std::size_t{row} * to_pitch + column] =
          is_there ? from[std::size_t{row} * from_pitch + column] : Value{};
    }
  }
}

/// A matrix column by column, without gaps.
template <typename Value>
__global__ void __launch_bounds__(reference_threads)
    columns_kernel(Value* to, const Value* from, unsigned rows, unsigned columns, unsigned pitch) {
  const unsigned column = blockIdx.x * reference_threads + threadIdx.x;
  if (column < columns) {
    for (unsigned row = blockIdx.y; row < rows; row += gridDim.y) {
      to[std::size_t{column} * rows + row] = from[std::size_t{row} * pitch + column];
    }
  }
}

/// The product and the sum of its terms' magnitudes, both m x n without gaps.
template <typename Value>
__global__ void __launch_bounds__(reference_threads)
    reference_kernel(Extents extents, const Value* __restrict__ a, const Value* __restrict__ b,
                     typename Exact<Value>::Type* __restrict__ product,
                     double* __restrict__ magnitude) {
  __shared__ Value a_tile[reference_side][reference_side];
  __shared__ Value b_tile[reference_side][reference_side];
  const unsigned row_of_tile = threadIdx.x / reference_side;
  const unsigned column_of_tile = threadIdx.x % reference_side;
  const unsigned row = blockIdx.y * reference_side + row_of_tile;
  const unsigned column = blockIdx.x * reference_side + column_of_tile;
  typename Exact<Value>::Type sum = {};
  double sum_of_magnitudes = 0;
  for (unsigned tile = 0; tile < extents.k; tile += reference_side) {
    const unsigned a_k = tile + column_of_tile;
    const unsigned b_k = tile + row_of_tile;
    a_tile[row_of_tile][column_of_tile] =
        row < extents.m && a_k < extents.k ? a[std::size_t{row} * extents.lda + a_k] : Value{};
    b_tile[row_of_tile][column_of_tile] = b_k < extents.k && column < extents.n
                                              ? b[place_in_b<Value>(extents, b_k, column)]
                                              : Value{};
    __syncthreads();
    for (unsigned k = 0; k < reference_side; ++k) {
      const Value left = a_tile[row_of_tile][k];
      const Value right = b_tile[k][column_of_tile];
      sum = sum + Exact<Value>::product(left, right);
      sum_of_magnitudes += fabs(to_double(left) * to_double(right));
    }
    __syncthreads();
  }
  if (row < extents.m && column < extents.n) {
    product[std::size_t{row} * extents.n + column] = sum;
    magnitude[std::size_t{row} * extents.n + column] = sum_of_magnitudes;
  }
}

/// What the comparison of a result with its reference finds.
struct Findings {
  unsigned long long right;  ///< elements of C
  unsigned long long clean;  ///< elements between C's rows that are as they were
  unsigned largest_error;    ///< bits of a float: in units of eps (|alpha| sum |a b| + |beta c|)
};

__device__ inline bool have_same_bits(float a, float b) {
  return __float_as_uint(a) == __float_as_uint(b);
}
__device__ inline bool have_same_bits(double a, double b) {
  return __double_as_longlong(a) == __double_as_longlong(b);
}
template <typename Value>  // of 16 bits
__device__ bool have_same_bits(Value a, Value b) {
  return a.bits == b.bits;
}

// What is added to an error's bound, or compared with, where results are stored in fewer bits than
// they are computed in. Below the smallest normal one the spacing stays.
template <typename Result>
__device__ double stored_error(double wanted) {
  return Exact<Result>::stored_rounding * fmax(fabs(wanted), Exact<Result>::smallest_normal);
}

/// A wrong element; both 0 for one that is right.
struct WrongElement {
  double expected;
  double got;
};

/// Compares C, of which `before` was the content, row by row. With `tolerance` 0 it must be exact.
/// Where `elements` are given it tells each of them.
template <typename Value, typename Result>
__global__ void __launch_bounds__(reference_threads)
    compare_kernel(Extents extents, const typename Exact<Value>::Type* product,
                   const double* magnitude, Factor<Value> alpha, Factor<Value> beta,
                   const Result* before, const Result* c, double tolerance, Findings* findings,
                   WrongElement* elements) {
  unsigned long long right = 0;
  unsigned long long clean = 0;
  double largest = 0;
  const unsigned column = blockIdx.x * reference_threads + threadIdx.x;
  for (unsigned row = blockIdx.y; row < extents.m; row += gridDim.y) {
    const std::size_t place = std::size_t{row} * extents.ldc + column;
    if (column < extents.n) {
      const std::size_t i = std::size_t{row} * extents.n + column;
      const auto old = Exact<Result>::product(beta == 0 ? Result{} : before[place], beta);
      const auto wanted = Exact<Value>::scaled(product[i], alpha) + old;
      const auto got = Exact<Result>::product(c[place], 1);
      const double error = fabs(to_double(got + (-wanted)));
      const double scale =
          Exact<Value>::rounding * (fabs(double{alpha}) * magnitude[i] + fabs(to_double(old)));
      double beyond = error;
      bool is_right = error <= tolerance * scale;  // not for a NaN
      if constexpr (Exact<Result>::stored_rounding > 0) {
        beyond -= stored_error<Result>(to_double(wanted));
        is_right = tolerance == 0 ? to_double(c[place]) == to_double(Exact<Result>::stored(wanted))
                                  : beyond <= tolerance * scale;
      }
      right += is_right ? 1 : 0;
      if (elements != nullptr && !is_right) {
        elements[place] = {to_double(wanted), to_double(c[place])};
      }
      largest = beyond > largest * scale && scale > 0 ? beyond / scale : largest;
    } else if (column < extents.ldc) {
      const bool is_clean = have_same_bits(c[place], before[place]);
      clean += is_clean ? 1 : 0;
      if (elements != nullptr && !is_clean) {
        elements[place] = {to_double(before[place]), to_double(c[place])};
      }
    }
  }
  atomicAdd(&findings->right, right);
  atomicAdd(&findings->clean, clean);
  atomicMax(&findings->largest_error, __float_as_uint(static_cast<float>(largest)));
}

/// The grid of the kernels above: threads go along a row, blocks take rows in turn.
inline hipscope::LaunchShape row_shape(unsigned rows, unsigned columns) {
  constexpr unsigned rows_per_block = 16;
  return {.grid = dim3(blocks_of(columns, reference_threads), blocks_of(rows, rows_per_block)),
          .block = dim3(reference_threads)};
}

}  // namespace gemm
