// A wave multiplies matrices that lie in its registers: matrix instructions, with operands as they
// come from memory.
//
// Against 04: a wave has 64 rows of C and as many columns as lanes, 64 sums per lane. For each
// instruction a lane loads its own few elements of A and B, which nobody else of its wave holds:
// no LDS, and no more loads per lane, for 8 (mma.sync) to 16 times the FMAs per cycle. What is
// loaded, two or four bytes at a time, comes through L1 once for each wave that needs it.
// On the H200 76.9 TFLOP/s, 2.26 x 04, a tenth of cuBLAS.
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
  constexpr unsigned wave_rows = 64;
  constexpr unsigned wave_columns = Code::lanes;
  constexpr unsigned down = wave_rows / Code::m;
  constexpr unsigned across = wave_columns / Code::n;
  const unsigned lane = threadIdx.x % Code::lanes;
  const unsigned wave = threadIdx.x / Code::lanes;
  const unsigned row = blockIdx.y * block_rows + wave % 2 * wave_rows;
  const unsigned column = blockIdx.x * block_columns + wave / 2 * wave_columns;
  typename Code::Sum sums[down][across] = {};
  for (unsigned k = 0; k < extents.k; k += Code::k) {
    typename Code::A left[down];
#pragma unroll
    for (unsigned i = 0; i < down; ++i) {
#pragma unroll
      for (unsigned r = 0; r < Code::A::count; ++r) {
        const matrix_rate::Place at = Code::a_place(lane, 2 * r);
        left[i].value[r] =
            pair_at(a + std::size_t{row + i * Code::m + at.row} * extents.lda + k + at.column);
      }
    }
    typename Code::B right[across];
#pragma unroll
    for (unsigned j = 0; j < across; ++j) {
#pragma unroll
      for (unsigned r = 0; r < Code::B::count; ++r) {
        const matrix_rate::Place at = Code::b_place(lane, 2 * r);
        const Half* const of_b =
            b + std::size_t{k + at.row} * extents.ldb + column + j * Code::n + at.column;
        right[j].value[r] = pair_of(of_b[0], of_b[extents.ldb]);
      }
    }
#pragma unroll
    for (unsigned i = 0; i < down; ++i) {
#pragma unroll
      for (unsigned j = 0; j < across; ++j) {
        Code::multiply_add(sums[i][j], left[i], right[j]);
      }
    }
  }
#pragma unroll
  for (unsigned i = 0; i < down; ++i) {
#pragma unroll
    for (unsigned j = 0; j < across; ++j) {
#pragma unroll
      for (unsigned e = 0; e < Code::sum_elements; ++e) {
        const matrix_rate::Place at = Code::sum_place(lane, e);
        store_result(c + std::size_t{row + i * Code::m + at.row} * extents.ldc + column +
                         j * Code::n + at.column,
                     alpha, sums[i][j].value[e], beta);
      }
    }
  }
}

inline std::vector<Stage> matrix_from_memory_stages() {
  return stages_by_instruction([](auto instruction) {
    using Code = typename decltype(instruction)::Type;
    Stage stage = stage_of<Half, matrix_from_memory_kernel<Code>>(
        name_of<Code>() + ", operands from memory", "",
        {.block_rows = 128,
         .block_columns = 128,
         .depth = 1,
         .threads = 256,
         .thread_rows = 64,
         .thread_columns = Code::lanes});
    stage.unit = gemm::Unit::matrix;
    stage.k_multiple = Code::k;
    stage.is_on = has_instruction<Code>;
    return stage;
  });
}

}  // namespace hgemm
