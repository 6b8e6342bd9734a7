// NVIDIA's FP64 matrix instruction (sm_80 and later), and what it does where there is none.
//
// mma.sync.m16n8k4 multiplies 16 x 4 by 4 x 8 values in the registers of a warp. A lane
// has two values of the first matrix, in rows g and g + 8 (g = lane / 4) of column t (t = lane %
// 4), one of the second, in row t of column g, and four sums: PTX's manual has the picture. (sm_80
// has the instruction as 8 x 8 x 4 only.)
#pragma once

#include <hipscope/hipscope.h>

#include "stage.h"

namespace dgemm {

#if !defined(HIPSCOPE_BACKEND_AMD)

/// sums += transposed[16 x 4] * other[4 x 8]; `transposed` are rows g and g + 8, `other` is the one
/// value. Sums: rows g, g + 8 x columns 2 t, 2 t + 1, by row.
__device__ inline void multiply_add_matrix(double (&sums)[4], double2 transposed, double other) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm("mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 "
      "{%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
      : "+d"(sums[0]), "+d"(sums[1]), "+d"(sums[2]), "+d"(sums[3])
      : "d"(transposed.x), "d"(transposed.y), "d"(other));
#elif defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
      : "+d"(sums[0]), "+d"(sums[1])
      : "d"(transposed.x), "d"(other));
  asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
      : "+d"(sums[2]), "+d"(sums[3])
      : "d"(transposed.y), "d"(other));
#elif defined(__CUDA_ARCH__)
  __trap();  // never launched there
#else
  // What the instruction does, through LDS.
  constexpr unsigned most_threads = 128;
  __shared__ double2 transposed_of_lanes[most_threads];
  __shared__ double other_of_lanes[most_threads];
  transposed_of_lanes[threadIdx.x] = transposed;
  other_of_lanes[threadIdx.x] = other;
  __syncthreads();
  const unsigned lane = threadIdx.x % 32;
  const unsigned group = threadIdx.x - lane;
  for (unsigned column = 0; column < 2; ++column) {
    for (unsigned k = 0; k < 4; ++k) {
      const double2 left = transposed_of_lanes[group + lane / 4 * 4 + k];
      const double right = other_of_lanes[group + (lane % 4 * 2 + column) * 4 + k];
      sums[column] += left.x * right;
      sums[2 + column] += left.y * right;
    }
  }
  __syncthreads();
#endif
}

/// The same for 8 k, of which lane t has 2 t and 2 t + 1: which of them are the instruction's first
/// four is free. In one instruction, m16n8k8, where there is one.
__device__ inline void multiply_add_eight_k(double (&sums)[4], const double2 (&transposed)[2],
                                            double2 other) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+d"(sums[0]), "+d"(sums[1]), "+d"(sums[2]), "+d"(sums[3])
      : "d"(transposed[0].x), "d"(transposed[0].y), "d"(transposed[1].x), "d"(transposed[1].y),
        "d"(other.x), "d"(other.y));
#else
  multiply_add_matrix(sums, transposed[0], other.x);
  multiply_add_matrix(sums, transposed[1], other.y);
#endif
}

/// And the host backend, which computes what the instruction does.
inline constexpr gemm::Needs matrix_instruction = {
    .what = "mma.sync of FP64, sm_80 and later", .on = [](const std::string& architecture) {
      return gemm::sm_of(architecture) >= 80 || gemm::is_host(architecture);
    }};

#endif

}  // namespace dgemm
