// A tile of A and a tile of B in LDS (NVIDIA: shared memory), each loaded by all threads of a block
// and used 16 times.
//
// Against one thread per element: device memory and its caches are asked for a sixteenth. What is
// left is 8 bytes per FMA, now from LDS: a CU that computes 64 FMAs per cycle would need 512 bytes
// per cycle of it, and gets 128.
#pragma once

#include "device_code.h"
#include "stage.h"

namespace sgemm {

static __global__ void __launch_bounds__(assumed_threads)
    lds_tile_kernel(Extents extents, float alpha, const float* __restrict__ a,
                    const float* __restrict__ b, float beta, float* __restrict__ c) {
  constexpr unsigned side = 16;
  __shared__ float a_tile[side][side];
  __shared__ float b_tile[side][side];
  const Place place = place_of<Layout::rows_of_16>(threadIdx.x);
  const unsigned row = blockIdx.y * side + place.row;
  const unsigned column = blockIdx.x * side + place.column;
  float sum = 0;
  for (unsigned tile = 0; tile < extents.k; tile += side) {
    a_tile[place.row][place.column] = a[row * extents.lda + tile + place.column];
    b_tile[place.row][place.column] = b[(tile + place.row) * extents.ldb + column];
    __syncthreads();
    for (unsigned k = 0; k < side; ++k) {
      sum += a_tile[place.row][k] * b_tile[k][place.column];
    }
    __syncthreads();  // nobody may overwrite what another still reads
  }
  store_result(c + row * extents.ldc + column, alpha, sum, beta);
}

inline Stage lds_tile_stage() {
  return stage_of<lds_tile_kernel>("tiles of 16 x 16 in LDS", "2",
                                   {.block_rows = 16,
                                    .block_columns = 16,
                                    .depth = 16,
                                    .threads = 256,
                                    .thread_rows = 1,
                                    .thread_columns = 1});
}

}  // namespace sgemm
