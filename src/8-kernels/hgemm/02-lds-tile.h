// A tile of A and a tile of B in LDS (NVIDIA: shared memory), each value used 16 times.
//
// Against 01: a sixteenth of the loads from memory and its caches. What is left is 4 bytes from LDS
// per FMA.
// On the H200 9.20 TFLOP/s, 1.99 x 01.
#pragma once

#include "stage.h"

namespace hgemm {

static __global__ void __launch_bounds__(256)
    lds_tile_kernel(Extents extents, float alpha, const Half* __restrict__ a,
                    const Half* __restrict__ b, float beta, Half* __restrict__ c) {
  constexpr unsigned side = 16;
  __shared__ Half a_tile[side][side];
  __shared__ Half b_tile[side][side];
  const unsigned tile_row = threadIdx.x / side;
  const unsigned tile_column = threadIdx.x % side;
  const unsigned row = blockIdx.y * side + tile_row;
  const unsigned column = blockIdx.x * side + tile_column;
  float sum = 0;
  for (unsigned first_k = 0; first_k < extents.k; first_k += side) {
    a_tile[tile_row][tile_column] = a[std::size_t{row} * extents.lda + first_k + tile_column];
    b_tile[tile_row][tile_column] = b[std::size_t{first_k + tile_row} * extents.ldb + column];
    __syncthreads();
    for (unsigned k = 0; k < side; ++k) {
      sum += hipscope::to_float(a_tile[tile_row][k]) * hipscope::to_float(b_tile[k][tile_column]);
    }
    __syncthreads();  // nobody may overwrite what another still reads
  }
  store_result(c + std::size_t{row} * extents.ldc + column, alpha, sum, beta);
}

}  // namespace hgemm
