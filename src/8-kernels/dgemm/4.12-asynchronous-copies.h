// 4.12, against 4.08, where the hardware copies from memory to LDS (NVIDIA, sm_80 and later): tiles
// go there without a register or a store, four buffers, up to three tiles in flight while one is
// multiplied, one barrier per tile. 8 x 8 per thread, in groups of 32 lanes on 32 x 64.
//
// Fragments of the next k are loaded while this one's FMAs run. What an FP64 FMA costs on the H200
// is not its issue slot, as in FP32, but its operands: the registers give two of 64 bits in the two
// cycles that it takes, and it has three. The third must be the one of the FMA before, which the
// hardware keeps: hence rows of FMAs with one factor of A, to and fro along B's. Sweep operands
// measures this. The loop over k is not unrolled further than two: in a longer body ptxas moves the
// FMAs, and the order is lost.
// On the H200 24.95 TFLOP/s, 1.18 times 4.08; 75.2 % of the peak at its clock.
//
// 4.13, against 4.12: tiles that are split along k among blocks, as 4.09 against 4.08.
// On the H200 25.18 TFLOP/s at 1945 MHz, where 4.12 had 1963: 76.6 % of the peak, 4.12 has 75.2 %.
#pragma once

#include "pipeline.h"
#include "stage.h"

namespace dgemm {

#if !defined(HIPSCOPE_BACKEND_AMD)

/// 8 x 8 of a thread.
class VectorPart {
 public:
  using Tile = PipelineTile<VectorPart, WholeTile>;
  /// Rows are longer by 16 bytes, so that the rows of four lanes begin in banks of their own.
  static constexpr unsigned a_pitch = pipeline_depth + 2;
  __device__ static constexpr unsigned place_of_pair(unsigned, unsigned pair) { return pair * 2; }
  static constexpr unsigned rows = 8;
  static constexpr unsigned pairs = 4;  // of neighbouring columns

  /// The thread's first element in its group's 32 x 64: lanes stand in 4 rows of 8.
  __device__ static Place place() {
    const unsigned lane = threadIdx.x % 32;
    return {lane / 8, lane % 8 * 2};
  }
  __device__ static constexpr unsigned row_of(unsigned i) { return i * 4; }

  /// Adds the products of `steps` tiles.
  template <typename Copies>
  __device__ void multiply(Copies& copies, Place first, unsigned steps) {
    constexpr unsigned b_pitch = Tile::b_pitch;
    unsigned buffer = 0;
    const double* a = copies.a_tile(0) + first.row * a_pitch;
    const double* b = copies.b_tile(0) + first.column;
    load<0>(a, b);
#pragma unroll 1
    for (unsigned step = 0; step < steps; ++step) {
#pragma unroll 1
      for (unsigned k = 0; k < pipeline_depth - 2; k += 2) {
        load<1>(a + 1, b + b_pitch);
        multiply_add<0>();
        load<0>(a + 2, b + 2 * b_pitch);
        multiply_add<1>();
        a += 2;
        b += 2 * b_pitch;
      }
      // The last two k, and between them the next tile.
      load<1>(a + 1, b + b_pitch);
      copies.begin();
      multiply_add<0>();
      copies.wait();
      buffer = buffer + 1 == pipeline_buffers ? 0 : buffer + 1;
      a = copies.a_tile(buffer) + first.row * a_pitch;
      b = copies.b_tile(buffer) + first.column;
      load<0>(a, b);
      multiply_add<1>();
    }
  }

  double sums[rows][pairs][2] = {};

 private:
  template <unsigned set>
  __device__ void load(const double* a, const double* b) {
#pragma unroll
    for (unsigned j = 0; j < pairs; ++j) {
      const double2 two = load_two(b + j * 16);
      b_[set][2 * j] = two.x;
      b_[set][2 * j + 1] = two.y;
    }
#pragma unroll
    for (unsigned i = 0; i < rows; ++i) {
      a_[set][i] = a[row_of(i) * a_pitch];
    }
  }

  template <unsigned set>
  __device__ void multiply_add() {
#pragma unroll
    for (unsigned i = 0; i < rows; ++i) {
#pragma unroll
      for (unsigned j = 0; j < 2 * pairs; ++j) {
        const unsigned column = i % 2 == 0 ? j : 2 * pairs - 1 - j;
        multiply_add_in_order(sums[i][column / 2][column % 2], a_[set][i], b_[set][column]);
      }
    }
  }

  double a_[2][rows];
  double b_[2][2 * pairs];
};

#endif

}  // namespace dgemm
