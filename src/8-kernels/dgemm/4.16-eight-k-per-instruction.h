// Against 4.15: eight k per instruction (m16n8k8) in place of four. Half as many instructions,
// which read and write the sums half as often. That saves power too, which limits the clock at
// large sizes. Both k that a lane loads side by side go into one instruction. The operands of 8 k
// fit twice into 255 registers, but for 8 bytes.
// On the H200 59.15 TFLOP/s at 1866 MHz, where 4.15 had 1852: 93.8 % of the peak, 4.15 has 92.9 %.
// In graphs, in turn with the library, 0.990 times its rate, 4.15 0.984 times.
#pragma once

#include "4.14-matrix-instructions.h"
#include "matrix_instruction.h"
#include "pipeline.h"
#include "stage.h"

namespace dgemm {

#if !defined(HIPSCOPE_BACKEND_AMD)

template <typename Layout>
class EightKPart : public MatrixLanes {
 public:
  using Tile = PipelineTile<MatrixLanes, Layout>;

  template <typename Copies>
  __device__ void multiply(Copies& copies, Place first, unsigned steps) {
    const unsigned of_a = a_offset(first);
    const unsigned of_b = b_offset<Tile>(first);
    to_next_k_ = static_cast<int>(b_offset<Tile>(first, 1) - of_b);
    unsigned buffer = 0;
    const double* a = copies.a_tile(0);
    const double* b = copies.b_tile(0) + of_b;
    load<0>(a, of_a, b);
#pragma unroll 1
    for (unsigned step = 0; step < steps; ++step) {
      load<1>(a, of_a, b);
      copies.begin();
      multiply_add<0>();
      copies.wait();
      buffer = buffer + 1 == pipeline_buffers ? 0 : buffer + 1;
      a = copies.a_tile(buffer);
      b = copies.b_tile(buffer) + of_b;
      load<0>(a, of_a, b);
      multiply_add<1>();
    }
    take(of_instruction_);
  }

 private:
  // The operands of the first or second 8 k: a lane has k 2 t and 2 t + 1 of them.
  template <unsigned half>
  __device__ void load(const double* a, unsigned of_a, const double* b) {
    constexpr unsigned b_pitch = Tile::b_pitch;
#pragma unroll
    for (unsigned j = 0; j < pairs; ++j) {
      b_[half][j][0] = load_two(b + half * 8 * b_pitch + j * 16);
      b_[half][j][1] = load_two(b + half * 8 * b_pitch + to_next_k_ + j * 16);
    }
#pragma unroll
    for (unsigned i = 0; i < rows / 2; ++i) {
      // Four pairs further is a bit of the offset, exchanged or not.
      a_[half][i] = load_two(a + (of_a ^ (half * 8)) + i * 8 * a_pitch);
    }
  }

  template <unsigned half>
  __device__ void multiply_add() {
#pragma unroll
    for (unsigned j = 0; j < pairs; ++j) {
#pragma unroll
      for (unsigned i = 0; i < rows / 2; ++i) {
        const unsigned row = j % 2 == 0 ? i : rows / 2 - 1 - i;
        multiply_add_eight_k(of_instruction_[row][j], b_[half][j], a_[half][row]);
      }
    }
  }

  int to_next_k_;  // of B; a constant, unless pieces of rows are exchanged
  double of_instruction_[rows / 2][pairs][4] = {};
  double2 a_[2][rows / 2];
  double2 b_[2][pairs][2];
};

inline Stage eight_k_stage() {
  return pipeline_stage<EightKPart<WholeTile>, true>("matrix instructions of eight k",
                                                     Unit::matrix);
}

#endif

}  // namespace dgemm
