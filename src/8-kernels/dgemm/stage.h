// The stages of this ladder: FP64.
#pragma once

#include <string>

#include "../gemm/stage.h"

namespace dgemm {

using gemm::blocks_of;
using gemm::Extents;
using gemm::Tiles;
using gemm::Unit;
using Kernel = gemm::Kernel<double>;
using Product = gemm::Product<double>;
using Stage = gemm::Stage<double>;

/// How B is stored. A always lies row by row, so that k runs along memory.
enum class LayoutOfB {
  rows,     ///< k x n, row by row, `ldb` from one row to the next
  columns,  ///< column by column, `ldb` from one to the next: k runs along memory as in A
};

/// A tile's place in C, a thread's in a tile, or an FMA's in a thread's part.
struct Place {
  unsigned row;
  unsigned column;
};

/// sum += a * b; on a GPU it stays where it is among its like.
__device__ inline void multiply_add_in_order(double& sum, double a, double b) {
#if defined(__CUDA_ARCH__)
  asm volatile("fma.rn.f64 %0, %1, %2, %0;" : "+d"(sum) : "d"(a), "d"(b));
#elif defined(__HIP_DEVICE_COMPILE__)
  asm volatile("v_fma_f64 %0, %1, %2, %0" : "+v"(sum) : "v"(a), "v"(b));
#else
  sum = fma(a, b, sum);
#endif
}

/// C = alpha sum + beta C. Where beta is 0, C is not read: it may hold anything, NaN as well.
__device__ inline void store_result(double* c, double alpha, double sum, double beta) {
  *c = beta == 0 ? alpha * sum : alpha * sum + beta * *c;
}

/// Two values by one access; the address is a multiple of 16 bytes.
__device__ inline double2 load_two(const double* from) {
  return *reinterpret_cast<const double2*>(from);
}

/// The FMAs of a thread tile for one k.
template <unsigned rows, unsigned columns>
__device__ void multiply_add(double (&sums)[rows][columns], const double (&a)[rows],
                             const double (&b)[columns]) {
#pragma unroll
  for (unsigned i = 0; i < rows; ++i) {
#pragma unroll
    for (unsigned j = 0; j < columns; ++j) {
      sums[i][j] += a[i] * b[j];
    }
  }
}

}  // namespace dgemm
