// A thread's part of a pipelined tile by NVIDIA's FP64 matrix instructions (sm_80 and later).
//
// mma.sync.m16n8k4 multiplies 16 x 4 by 4 x 8 values that lie in the registers of a warp. A lane
// has two values of the first matrix, in rows g and g + 8 (g = lane / 4) of column t (t = lane %
// 4), one of the second, in row t of column g, and four sums: PTX's manual has the picture. Which
// of our rows, columns and k these are is free, as long as both matrices agree:
//   the first matrix is B, turned: rows g and g + 8 are neighbouring columns of B, so that one load
//     of 16 bytes brings both, into registers side by side, as the instruction wants them
//   the second is A: of two k that lie side by side the first goes to one instruction, the second
//     to the next
// Four k at a time, since the fragments of 8 or 16 would not fit twice: the next ones load while
// these multiply. (sm_80 has the instruction as 8 x 8 x 4 only.)
#pragma once

#include "copies.h"
#include "stage.h"

namespace dgemm {

#if !defined(HIPSCOPE_BACKEND_AMD)

/// sums += turned[16 x 4] * other[4 x 8]; `turned` are rows g and g + 8, `other` is the one value.
/// Sums: rows g, g + 8 x columns 2 t, 2 t + 1, by row.
__device__ inline void multiply_add_matrix(double (&sums)[4], double2 turned, double other) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm("mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 "
      "{%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
      : "+d"(sums[0]), "+d"(sums[1]), "+d"(sums[2]), "+d"(sums[3])
      : "d"(turned.x), "d"(turned.y), "d"(other));
#elif defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
      : "+d"(sums[0]), "+d"(sums[1])
      : "d"(turned.x), "d"(other));
  asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
      : "+d"(sums[2]), "+d"(sums[3])
      : "d"(turned.y), "d"(other));
#elif defined(__CUDA_ARCH__)
  __trap();  // never launched there
#else
  // What the instruction does, through LDS.
  __shared__ double2 turned_of_lanes[pipeline_threads];
  __shared__ double other_of_lanes[pipeline_threads];
  turned_of_lanes[threadIdx.x] = turned;
  other_of_lanes[threadIdx.x] = other;
  __syncthreads();
  const unsigned lane = threadIdx.x % 32;
  const unsigned group = threadIdx.x - lane;
  for (unsigned column = 0; column < 2; ++column) {
    for (unsigned k = 0; k < 4; ++k) {
      const double2 left = turned_of_lanes[group + lane / 4 * 4 + k];
      const double right = other_of_lanes[group + (lane % 4 * 2 + column) * 4 + k];
      sums[column] += left.x * right;
      sums[2 + column] += left.y * right;
    }
  }
  __syncthreads();
#endif
}

/// 32 x 64 per group of lanes: as 4 x 4 instructions of 8 rows and 16 columns.
class MatrixPart {
 public:
  static constexpr Unit unit = Unit::matrix;
  /// Four lanes read 64 bytes of a row, four others of the next: the pairs of every other row are
  /// exchanged (by XOR), so that both do not want the same half of the banks.
  struct TileOfA {
    static constexpr unsigned pitch = pipeline_depth;
    __device__ static constexpr unsigned place_of_pair(unsigned row, unsigned pair) {
      return (pair ^ (row % 2 * 4)) * 2;
    }
  };
  static constexpr unsigned rows = 8;
  static constexpr unsigned pairs = 4;

  /// The thread's first element: its rows are 2 t and 2 t + 1, its pair of columns 2 g.
  __device__ static Place place() {
    const unsigned lane = threadIdx.x % 32;
    return {lane % 4 * 2, lane / 4 * 2};
  }
  __device__ static constexpr unsigned row_of(unsigned i) { return i / 2 * 8 + i % 2; }

  template <typename Copies>
  __device__ void multiply(Copies& copies, Place first, unsigned steps) {
    // Of A it reads row g and k 2 t, then 8 k further; of B k 2 t and columns 2 g.
    const unsigned lane = threadIdx.x % 32;
    const unsigned a_row = first.row - place().row + lane / 4;
    const unsigned a_offset = a_row * TileOfA::pitch + TileOfA::place_of_pair(a_row, lane % 4);
    const unsigned b_offset = first.column + lane % 4 * 2 * Copies::b_pitch;
    unsigned buffer = 0;
    const double* a = copies.a_tile(0);
    const double* b = copies.b_tile(0) + b_offset;
    load<0, Copies::b_pitch>(a, a_offset, b);
#pragma unroll 1
    for (unsigned step = 0; step < steps; ++step) {
      load<1, Copies::b_pitch>(a, a_offset, b);
      copies.begin();
      multiply_add<0>();
      load<2, Copies::b_pitch>(a, a_offset, b);
      multiply_add<1>();
      load<3, Copies::b_pitch>(a, a_offset, b);
      multiply_add<2>();
      copies.wait();
      buffer = buffer + 1 == pipeline_buffers ? 0 : buffer + 1;
      a = copies.a_tile(buffer);
      b = copies.b_tile(buffer) + b_offset;
      load<0, Copies::b_pitch>(a, a_offset, b);
      multiply_add<3>();
    }
    // From the instructions' sums to pairs of columns.
#pragma unroll
    for (unsigned i = 0; i < rows; ++i) {
#pragma unroll
      for (unsigned j = 0; j < pairs; ++j) {
        sums[i][j][0] = of_instruction_[i / 2][j][i % 2];
        sums[i][j][1] = of_instruction_[i / 2][j][2 + i % 2];
      }
    }
  }

  double sums[rows][pairs][2];

 private:
  // The operands of k 2 t + `quarter` % 2 of the first or second 8 k; of A both at once.
  template <unsigned quarter, unsigned b_pitch>
  __device__ void load(const double* a, unsigned a_offset, const double* b) {
#pragma unroll
    for (unsigned j = 0; j < pairs; ++j) {
      b_[quarter % 2][j] = load_two(b + (quarter / 2 * 8 + quarter % 2) * b_pitch + j * 16);
    }
    if constexpr (quarter % 2 == 0) {
#pragma unroll
      for (unsigned i = 0; i < rows / 2; ++i) {
        // Four pairs further is a bit of the offset, exchanged or not.
        const double2 two = load_two(a + (a_offset ^ (quarter / 2 * 8)) + i * 8 * TileOfA::pitch);
        a_[quarter / 2][i][0] = two.x;
        a_[quarter / 2][i][1] = two.y;
      }
    }
  }

  template <unsigned quarter>
  __device__ void multiply_add() {
#pragma unroll
    for (unsigned j = 0; j < pairs; ++j) {
#pragma unroll
      for (unsigned i = 0; i < rows / 2; ++i) {
        const unsigned row = j % 2 == 0 ? i : rows / 2 - 1 - i;
        multiply_add_matrix(of_instruction_[row][j], b_[quarter % 2][j],
                            a_[quarter / 2][row][quarter % 2]);
      }
    }
  }

  double of_instruction_[rows / 2][pairs][4] = {};
  double a_[2][rows / 2][2];
  double2 b_[2][pairs];
};

#endif

}  // namespace dgemm
