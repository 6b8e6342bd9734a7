// A thread computes 4 x 4 elements of C: tiles of 64 x 64 with a depth of 16, 256 threads.
//
// Against one element per thread: for one k a thread loads 4 values of A and 4 of B from LDS and
// does 16 FMAs with them, 2 bytes per FMA instead of 8. At 128 bytes per cycle LDS needs 64 cycles
// for what 64 FMA lanes compute in 64: just enough, if nothing goes wrong. Rows of the A tile are
// 16 values apart, so that rows 4 apart begin in the same bank: lanes of two rows may wait for each
// other, unless the hardware takes loads of 16 bytes a few lanes at a time (the H200 seems to: ncu
// counts 0.3 % conflicts).
//   operands from LDS   every FMA names its operands in LDS
//   operands in registers, per k   they are loaded into registers first, by the source's text; the
//                       compilers do so for the first form too, and make the same of both
#pragma once

#include "device_code.h"
#include "stage.h"

namespace sgemm {

enum class Operands { in_lds, in_registers };

template <Operands operands>
__global__ void __launch_bounds__(assumed_threads)
    thread_tile_kernel(Extents extents, float alpha, const float* __restrict__ a,
                       const float* __restrict__ b, float beta, float* __restrict__ c) {
  constexpr unsigned block_rows = 64;
  constexpr unsigned block_columns = 64;
  constexpr unsigned depth = 16;
  constexpr unsigned threads = 256;
  constexpr unsigned thread_rows = 4;
  constexpr unsigned thread_columns = 4;
  __shared__ float a_tile[block_rows][depth];
  __shared__ float b_tile[depth][block_columns];
  const Place place = place_of<Layout::rows_of_16>(threadIdx.x);
  const unsigned first_row = place.row * thread_rows;
  const unsigned first_column = place.column * thread_columns;
  a += blockIdx.y * block_rows * extents.lda;
  b += blockIdx.x * block_columns;
  c += blockIdx.y * block_rows * extents.ldc + blockIdx.x * block_columns;
  float sums[thread_rows][thread_columns] = {};
  for (unsigned tile = 0; tile < extents.k; tile += depth) {
    for (unsigned part = 0; part < block_rows * depth / threads; ++part) {
      const unsigned i = part * threads + threadIdx.x;
      a_tile[i / depth][i % depth] = a[i / depth * extents.lda + tile + i % depth];
    }
    for (unsigned part = 0; part < depth * block_columns / threads; ++part) {
      const unsigned i = part * threads + threadIdx.x;
      b_tile[i / block_columns][i % block_columns] =
          b[(tile + i / block_columns) * extents.ldb + i % block_columns];
    }
    __syncthreads();
    for (unsigned k = 0; k < depth; ++k) {
      if constexpr (operands == Operands::in_registers) {
        float a_fragment[thread_rows];
        float b_fragment[thread_columns];
        for (unsigned i = 0; i < thread_rows; ++i) {
          a_fragment[i] = a_tile[first_row + i][k];
        }
        for (unsigned j = 0; j < thread_columns; ++j) {
          b_fragment[j] = b_tile[k][first_column + j];
        }
        multiply_add(sums, a_fragment, b_fragment);
      } else {
        for (unsigned i = 0; i < thread_rows; ++i) {
          for (unsigned j = 0; j < thread_columns; ++j) {
            sums[i][j] += a_tile[first_row + i][k] * b_tile[k][first_column + j];
          }
        }
      }
    }
    __syncthreads();
  }
  for (unsigned i = 0; i < thread_rows; ++i) {
    for (unsigned j = 0; j < thread_columns; ++j) {
      store_result(c + (first_row + i) * extents.ldc + first_column + j, alpha, sums[i][j], beta);
    }
  }
}

/// 64 x 64 x 16, 4 x 4 per thread: the source's tile for most of its stages.
inline constexpr Tiles tiles_64 = {.block_rows = 64,
                                   .block_columns = 64,
                                   .depth = 16,
                                   .threads = 256,
                                   .thread_rows = 4,
                                   .thread_columns = 4};

inline Stage operands_in_lds_stage() {
  return stage_of<thread_tile_kernel<Operands::in_lds>>("4 x 4 per thread", "3", tiles_64);
}

inline Stage operands_in_registers_stage() {
  return stage_of<thread_tile_kernel<Operands::in_registers>>("4 x 4, operands in registers", "3.1",
                                                              tiles_64);
}

}  // namespace sgemm
