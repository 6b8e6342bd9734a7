// Operands of matrix instructions from LDS.
//
// Against 05: a tile of 128 rows of A and one of 128 columns of B, 32 deep, are brought once for
// all waves, 16 bytes a load. B's lies there column by column, so that neighbours along k, which
// share a register, are neighbours in LDS too: each thread takes 8 columns of two rows and stores
// 8 pairs. Rows of 40 halves in place of 32 begin in different banks.
// On the H200 139 TFLOP/s, 1.81 x 05.
#pragma once

#include "matrix_instructions.h"
#include "stage.h"

namespace hgemm {

template <typename Code>
static __global__ void __launch_bounds__(256)
    matrix_from_lds_kernel(Extents extents, float alpha, const Half* __restrict__ a,
                           const Half* __restrict__ b, float beta, Half* __restrict__ c) {
  constexpr unsigned block_rows = 128;
  constexpr unsigned block_columns = 128;
  constexpr unsigned depth = 32;
  constexpr unsigned pitch = depth + 8;
  constexpr unsigned wave_rows = 64;
  constexpr unsigned wave_columns = Code::lanes;
  constexpr unsigned down = wave_rows / Code::m;
  constexpr unsigned across = wave_columns / Code::n;
  alignas(16) __shared__ Half a_tile[block_rows][pitch];
  alignas(16) __shared__ Half b_tile[block_columns][pitch];
  // Of A a thread copies 16 bytes of two rows; of B 16 bytes of two rows that are neighbours.
  const unsigned a_row = threadIdx.x / 4;
  const unsigned a_k = threadIdx.x % 4 * 8;
  const unsigned b_k = threadIdx.x % 16 * 2;
  const unsigned b_column = threadIdx.x / 16 * 8;
  a += std::size_t{blockIdx.y * block_rows + a_row} * extents.lda + a_k;
  b += std::size_t{b_k} * extents.ldb + blockIdx.x * block_columns + b_column;
  const unsigned lane = threadIdx.x % Code::lanes;
  const unsigned wave = threadIdx.x / Code::lanes;
  const unsigned row = wave % 2 * wave_rows;
  const unsigned column = wave / 2 * wave_columns;
  typename Code::Sum sums[down][across] = {};
  for (unsigned first_k = 0; first_k < extents.k; first_k += depth) {
    piece_at(&a_tile[a_row][a_k]) = piece_at(a);
    piece_at(&a_tile[a_row + 64][a_k]) = piece_at(a + std::size_t{64} * extents.lda);
    store_pairs(&b_tile[b_column][b_k], pitch, piece_at(b), piece_at(b + extents.ldb));
    a += depth;
    b += std::size_t{depth} * extents.ldb;
    __syncthreads();
#pragma unroll
    for (unsigned k = 0; k < depth; k += Code::k) {
      typename Code::A left[down];
#pragma unroll
      for (unsigned i = 0; i < down; ++i) {
#pragma unroll
        for (unsigned r = 0; r < Code::A::count; ++r) {
          const matrix_rate::Place at = Code::a_place(lane, 2 * r);
          left[i].value[r] = pair_at(&a_tile[row + i * Code::m + at.row][k + at.column]);
        }
      }
      typename Code::B right[across];
#pragma unroll
      for (unsigned j = 0; j < across; ++j) {
#pragma unroll
        for (unsigned r = 0; r < Code::B::count; ++r) {
          const matrix_rate::Place at = Code::b_place(lane, 2 * r);
          right[j].value[r] = pair_at(&b_tile[column + j * Code::n + at.column][k + at.row]);
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
    __syncthreads();  // nobody may overwrite what another still reads
  }
  c += std::size_t{blockIdx.y * block_rows + row} * extents.ldc + blockIdx.x * block_columns +
       column;
#pragma unroll
  for (unsigned i = 0; i < down; ++i) {
#pragma unroll
    for (unsigned j = 0; j < across; ++j) {
#pragma unroll
      for (unsigned e = 0; e < Code::sum_elements; ++e) {
        const matrix_rate::Place at = Code::sum_place(lane, e);
        store_result(c + std::size_t{i * Code::m + at.row} * extents.ldc + j * Code::n + at.column,
                     alpha, sums[i][j].value[e], beta);
      }
    }
  }
}

inline std::vector<Stage> matrix_from_lds_stages() {
  return stages_by_instruction([](auto instruction) {
    using Code = typename decltype(instruction)::Type;
    Stage stage =
        stage_of<Half, matrix_from_lds_kernel<Code>>(name_of<Code>() + ", operands from LDS", "",
                                                     {.block_rows = 128,
                                                      .block_columns = 128,
                                                      .depth = 32,
                                                      .threads = 256,
                                                      .thread_rows = 64,
                                                      .thread_columns = Code::lanes});
    stage.unit = gemm::Unit::matrix;
    stage.is_on = has_instruction<Code>;
    return stage;
  });
}

}  // namespace hgemm
