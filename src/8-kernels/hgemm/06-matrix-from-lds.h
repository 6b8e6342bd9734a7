// Operands of matrix instructions from LDS.
//
// Against 05: a tile of 128 rows of A and one of 128 columns of B, 32 deep, are loaded once for all
// waves, 16 bytes at a time. B's is column-major in LDS, so that neighbours along k, which share a
// register, are neighbours in LDS too: each thread takes 8 columns of two rows and stores 8 pairs.
// Rows have 40 halves in place of 32: eight of them begin in different banks; of the sixteen that
// gfx9 serves together, two share one.
// On the H200 137 TFLOP/s, 1.78 x 05.
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
  alignas(16) __shared__ Half a_tile[block_rows][pitch];
  alignas(16) __shared__ Half b_tile[block_columns][pitch];
  // Of A a thread copies 16 bytes of two rows; of B 16 bytes of two rows that are neighbours.
  const unsigned a_row = threadIdx.x / 4;
  const unsigned a_k = threadIdx.x % 4 * 8;
  const unsigned b_k = threadIdx.x % 16 * 2;
  const unsigned b_column = threadIdx.x / 16 * 8;
  a += std::size_t{blockIdx.y * block_rows + a_row} * extents.lda + a_k;
  b += std::size_t{b_k} * extents.ldb + blockIdx.x * block_columns + b_column;
  WaveTile<Code> wave;
  for (unsigned first_k = 0; first_k < extents.k; first_k += depth) {
    piece_at(&a_tile[a_row][a_k]) = piece_at(a);
    piece_at(&a_tile[a_row + 64][a_k]) = piece_at(a + std::size_t{64} * extents.lda);
    store_pairs(&b_tile[b_column][b_k], pitch, piece_at(b), piece_at(b + extents.ldb));
    a += depth;
    b += std::size_t{depth} * extents.ldb;
    __syncthreads();
#pragma unroll
    for (unsigned k = 0; k < depth; k += Code::k) {
      wave.multiply_add(a_tile, b_tile, k);
    }
    __syncthreads();  // nobody may overwrite what another still reads
  }
  wave.store(c + std::size_t{blockIdx.y * block_rows} * extents.ldc + blockIdx.x * block_columns,
             extents.ldc, alpha, beta);
}

}  // namespace hgemm
