// A wave multiplies matrices in its registers: matrix instructions, with operands straight from
// memory.
//
// Against 04: a wave has 64 rows of C and as many columns as lanes, 64 sums per lane. For each
// instruction a lane loads its own few elements of A and B, which no other lane of its wave holds:
// no LDS, and no more loads per lane, for 8 (mma.sync) to 16 times the FMAs per cycle. The loads,
// of two or four bytes, go through L1 once for each wave that needs them.
// On the H200 77.1 TFLOP/s, 2.26 x 04, a tenth of cuBLAS.
#pragma once

#include "matrix_instructions.h"
#include "stage.h"

namespace hgemm {

template <typename Code>
static __global__ void __launch_bounds__(256)
    matrix_from_memory_kernel(Extents extents, float alpha, const Half* __restrict__ a,
                              const Half* __restrict__ b, float beta, Half* __restrict__ c) {
  constexpr unsigned block_rows = 128;
  constexpr unsigned block_columns = 128;
  const unsigned lane = threadIdx.x % Code::lanes;
  using Wave = WaveTile<Code>;
  Wave wave;
  const unsigned row = blockIdx.y * block_rows + Wave::first_row();
  const unsigned column = blockIdx.x * block_columns + Wave::first_column();
  for (unsigned k = 0; k < extents.k; k += Code::k) {
    typename Code::A left[Wave::down];
#pragma unroll
    for (unsigned i = 0; i < Wave::down; ++i) {
#pragma unroll
      for (unsigned r = 0; r < Code::A::count; ++r) {
        const matrix_rate::Place at = Code::a_place(lane, 2 * r);
        left[i].value[r] =
            pair_at(a + std::size_t{row + i * Code::m + at.row} * extents.lda + k + at.column);
      }
    }
    typename Code::B right[Wave::across];
#pragma unroll
    for (unsigned j = 0; j < Wave::across; ++j) {
#pragma unroll
      for (unsigned r = 0; r < Code::B::count; ++r) {
        const matrix_rate::Place at = Code::b_place(lane, 2 * r);
        const Half* const of_b =
            b + std::size_t{k + at.row} * extents.ldb + column + j * Code::n + at.column;
        right[j].value[r] = pair_of(of_b[0], of_b[extents.ldb]);
      }
    }
    wave.multiply_add(left, right);
  }
  wave.store(c + std::size_t{blockIdx.y * block_rows} * extents.ldc + blockIdx.x * block_columns,
             extents.ldc, alpha, beta);
}

}  // namespace hgemm
