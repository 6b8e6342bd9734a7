// 4.14, against 4.12: NVIDIA's FP64 matrix instructions multiply the tile. The mapping of our rows,
// columns and k to the instruction's is free, as long as both matrices agree:
//   the first matrix is B, transposed: rows g and g + 8 are neighbouring columns of B, so one load
//     of 16 bytes puts both into the register pair that the instruction takes
//   the second is A: of two neighbouring k the first goes to one instruction, the second to the
//     next
// Four k at a time, since the fragments of 8 or 16 would not fit twice: the next ones load while
// these multiply. matrix_instruction.h says what the instruction does.
// On the H200 58.79 TFLOP/s, 2.36 times 4.12; 91.8 % of the matrix instructions' peak, 96.9 % of
// cuBLAS.
//
// 4.15, against 4.14: tiles that are split along k among blocks, as 4.13 against 4.12.
// On the H200 58.76 TFLOP/s at 1862 MHz, where 4.14 had 1896: 93.4 % of the peak, 4.14 has 91.8 %.
#pragma once

#include "matrix_instruction.h"
#include "pipeline.h"
#include "stage.h"

namespace dgemm {

#if !defined(HIPSCOPE_BACKEND_AMD)

/// Which of its group's 32 x 64 a thread has: 4 x 4 instructions of 8 rows and 16 columns.
struct MatrixLanes {
  /// Four lanes read 64 bytes of a row, four others of the next: the pairs of every other row are
  /// exchanged (by XOR), so that both do not want the same half of the banks.
  static constexpr unsigned a_pitch = pipeline_depth;
  __device__ static constexpr unsigned place_of_pair(unsigned row, unsigned pair) {
    return (pair ^ (row % 2 * 4)) * 2;
  }
  static constexpr unsigned rows = 8;
  static constexpr unsigned pairs = 4;

  /// The thread's first element: its rows are 2 t and 2 t + 1, its pair of columns 2 g.
  __device__ static Place place() {
    const unsigned lane = threadIdx.x % 32;
    return {lane % 4 * 2, lane / 4 * 2};
  }
  __device__ static constexpr unsigned row_of(unsigned i) { return i / 2 * 8 + i % 2; }

  /// Where a thread whose first element is at `first` reads: of A row g and k 2 t, then 8 k
  /// further; of B k 2 t, or one more, and columns 2 g, then 8 k further.
  __device__ static unsigned a_offset(Place first) {
    const unsigned lane = threadIdx.x % 32;
    const unsigned row = first.row - place().row + lane / 4;
    return row * a_pitch + place_of_pair(row, lane % 4);
  }
  template <typename Tile>
  __device__ static unsigned b_offset(Place first, unsigned more = 0) {
    const unsigned k = threadIdx.x % 32 % 4 * 2 + more;
    return (first.column ^ Tile::exchange_of_b(k)) + k * Tile::b_pitch;
  }

  /// From the instructions' sums to pairs of columns.
  __device__ void take(const double (&of_instruction)[rows / 2][pairs][4]) {
#pragma unroll
    for (unsigned i = 0; i < rows; ++i) {
#pragma unroll
      for (unsigned j = 0; j < pairs; ++j) {
        sums[i][j][0] = of_instruction[i / 2][j][i % 2];
        sums[i][j][1] = of_instruction[i / 2][j][2 + i % 2];
      }
    }
  }

  double sums[rows][pairs][2];
};

class MatrixPart : public MatrixLanes {
 public:
  using Tile = PipelineTile<MatrixLanes, WholeTile>;

  template <typename Copies>
  __device__ void multiply(Copies& copies, Place first, unsigned steps) {
    const unsigned of_a = a_offset(first);
    const unsigned of_b = b_offset<Tile>(first);
    unsigned buffer = 0;
    const double* a = copies.a_tile(0);
    const double* b = copies.b_tile(0) + of_b;
    load<0>(a, of_a, b);
#pragma unroll 1
    for (unsigned step = 0; step < steps; ++step) {
      load<1>(a, of_a, b);
      copies.begin();
      multiply_add<0>();
      load<2>(a, of_a, b);
      multiply_add<1>();
      load<3>(a, of_a, b);
      multiply_add<2>();
      copies.wait();
      buffer = buffer + 1 == pipeline_buffers ? 0 : buffer + 1;
      a = copies.a_tile(buffer);
      b = copies.b_tile(buffer) + of_b;
      load<0>(a, of_a, b);
      multiply_add<3>();
    }
    take(of_instruction_);
  }

 private:
  // The operands of k 2 t + `quarter` % 2 of the first or second 8 k; of A both at once.
  template <unsigned quarter>
  __device__ void load(const double* a, unsigned of_a, const double* b) {
    constexpr unsigned b_pitch = Tile::b_pitch;
#pragma unroll
    for (unsigned j = 0; j < pairs; ++j) {
      b_[quarter % 2][j] = load_two(b + (quarter / 2 * 8 + quarter % 2) * b_pitch + j * 16);
    }
    if constexpr (quarter % 2 == 0) {
#pragma unroll
      for (unsigned i = 0; i < rows / 2; ++i) {
        // Four pairs further is a bit of the offset, exchanged or not.
        const double2 two = load_two(a + (of_a ^ (quarter / 2 * 8)) + i * 8 * a_pitch);
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
