// Against 4.12: the tile is multiplied by NVIDIA's FP64 matrix instructions. Which of our rows,
// columns and k those of the instruction are is free, as long as both matrices agree:
//   the first matrix is B, turned: rows g and g + 8 are neighbouring columns of B, so that one load
//     of 16 bytes brings both, into registers side by side, as the instruction wants them
//   the second is A: of two k that lie side by side the first goes to one instruction, the second
//     to the next
// Four k at a time, since the fragments of 8 or 16 would not fit twice: the next ones load while
// these multiply. matrix_instruction.h says what the instruction does.
// On the H200 58.33 TFLOP/s, 2.32 times 4.12; 91.7 % of the matrix instructions' peak, 95.5 % of
// cuBLAS.
#pragma once

#include <cstdint>
#include <string>

#include "copies.h"
#include "matrix_instruction.h"
#include "stage.h"
#include "tiles.h"

namespace dgemm {

#if !defined(HIPSCOPE_BACKEND_AMD)

/// 32 x 64 per group of lanes: as 4 x 4 instructions of 8 rows and 16 columns.
class CopiedMatrixPart {
 public:
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

/// The thread's first element in its block's tile.
__device__ inline Place place_in_tile(const CopiedMatrixPart&) {
  constexpr unsigned groups_of_rows = pipeline_side / group_rows;
  const unsigned group = threadIdx.x / 32;
  const Place place = CopiedMatrixPart::place();
  return {group % groups_of_rows * group_rows + place.row,
          group / groups_of_rows * group_columns + place.column};
}

/// Stores a thread's part of C, two columns at a time where C's rows allow it.
__device__ inline void store_part(const CopiedMatrixPart& part, Extents extents, Place tile,
                                  double alpha, double beta, double* c) {
  const Place place = place_in_tile(part);
  const bool is_aligned = extents.ldc % 2 == 0 && reinterpret_cast<std::uintptr_t>(c) % 16 == 0;
#pragma unroll
  for (unsigned i = 0; i < CopiedMatrixPart::rows; ++i) {
    const unsigned row = tile.row + place.row + CopiedMatrixPart::row_of(i);
    if (row < extents.m) {
      double* const c_row = c + std::size_t{row} * extents.ldc;
#pragma unroll
      for (unsigned j = 0; j < CopiedMatrixPart::pairs; ++j) {
        const unsigned column = tile.column + place.column + j * 16;
        const double(&pair)[2] = part.sums[i][j];
        if (is_aligned && column + 2 <= extents.n) {
          auto* const two = reinterpret_cast<double2*>(c_row + column);
          const double2 before = beta == 0 ? make_double2(0, 0) : *two;
          *two = beta == 0 ? make_double2(alpha * pair[0], alpha * pair[1])
                           : make_double2(alpha * pair[0] + beta * before.x,
                                          alpha * pair[1] + beta * before.y);
        } else {
#pragma unroll
          for (unsigned piece = 0; piece < 2; ++piece) {
            if (column + piece < extents.n) {
              store_result(c_row + column + piece, alpha, pair[piece], beta);
            }
          }
        }
      }
    }
  }
}

/// m and n are not 0. No tile is split here, and the loop runs once: it is there for the next rung.
template <bool is_even>
__global__ void __launch_bounds__(pipeline_threads, 1)
    matrix_instructions_kernel(Extents extents, double alpha, const double* __restrict__ a,
                               const double* __restrict__ b, double beta, double* __restrict__ c,
                               SplitTiles split) {
  HIP_DYNAMIC_SHARED(double2, lds)
  const unsigned steps = steps_of(extents.k, pipeline_depth);
  const unsigned begin = first_step(blockIdx.x, split, steps);
  unsigned end = first_step(blockIdx.x + 1, split, steps);
#pragma unroll 1
  while (end > begin) {
    const unsigned tile = (end - 1) / steps;
    const unsigned tile_begin = tile * steps;
    const unsigned first = begin > tile_begin ? begin : tile_begin;
    const Place place = place_of_tile(tile, extents, pipeline_side);
    CopiedMatrixPart part;
    Copies<CopiedMatrixPart::TileOfA, is_even> copies(extents, a, b, reinterpret_cast<double*>(lds),
                                                      place, (first - tile_begin) * pipeline_depth);
#pragma unroll
    for (unsigned i = 0; i + 1 < pipeline_buffers; ++i) {
      copies.begin();
    }
    copies.wait();
    part.multiply(copies, place_in_tile(part), end - first);
    // What is still on its way would be written over the next tile.
    copies.template wait<0>();
    store_part(part, extents, place, alpha, beta, c);
    end = first;
  }
}

inline Stage matrix_instructions_stage() {
  constexpr unsigned lds_bytes = Copies<CopiedMatrixPart::TileOfA, true>::lds_bytes;
  return {.technique = "matrix instructions, asynchronous copies",
          .tiles = {.block_rows = pipeline_side,
                    .block_columns = pipeline_side,
                    .depth = pipeline_depth,
                    .threads = pipeline_threads,
                    .thread_rows = group_rows,
                    .thread_columns = group_columns},
          .unit = Unit::matrix,
          .dynamic_lds_bytes = lds_bytes,
          .any_size = true,
          .kernel = reinterpret_cast<const void*>(matrix_instructions_kernel<true>),
          .enqueue =
              [](const Stage& stage, const Product& product) {
                static const auto even =
                    hipscope::allow_lds(matrix_instructions_kernel<true>, lds_bytes);
                static const auto odd =
                    hipscope::allow_lds(matrix_instructions_kernel<false>, lds_bytes);
                enqueue_whole(is_even(product) ? even : odd, stage, product);
              },
          .is_on = has_matrix_instruction};
}

#endif

}  // namespace dgemm
