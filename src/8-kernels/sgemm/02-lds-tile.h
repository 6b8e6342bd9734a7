// A tile of A and a tile of B in LDS (NVIDIA: shared memory), each loaded by all 256 threads of a
// block; each value is used 16 times. All blocks are in one row of the grid, and the compiler does
// not know the tile's extents: they come with the launch. The tiles of A, B and C are 16 x 16, so
// `row` and `column` give a thread its element of each. The matrices are padded to whole tiles
// beforehand, so nothing is past a matrix's end; fileaccent's kernel checks nevertheless.
//
// Against 01: a sixteenth of the loads from memory and its caches. The 8 bytes per FMA now come
// from LDS. A gfx908's CU does 64 FMAs per cycle and would need 512 bytes per cycle, the H200's SM
// does 128 and would need 1024. LDS gives 128 on both.
// On the H200 6.34 TFLOP/s, 1.55 times 01: 9.5 % of the peak, of 12.5 that LDS allows.
#pragma once

#include "device_code.h"
#include "stage.h"

namespace sgemm {

static __global__ void __launch_bounds__(assumed_threads)
    lds_tile_kernel(TileSizes tile, Sizes size, float alpha, const float* __restrict__ a,
                    const float* __restrict__ b, float beta, float* __restrict__ c) {
  HIP_DYNAMIC_SHARED(float4, lds)
  float* const a_tile = reinterpret_cast<float*>(lds);
  float* const b_tile = a_tile + tile.rows * tile.depth;
  const int a_end = size.m * size.lda;
  const int b_end = size.k * size.ldb;
  const int tiles_in_row = (size.n + tile.columns - 1) / tile.columns;
  const int block_row = static_cast<int>(blockIdx.x) / tiles_in_row * tile.rows;
  const int block_column = static_cast<int>(blockIdx.x) % tiles_in_row * tile.columns;
  const int row = static_cast<int>(threadIdx.x) / tile.columns;
  const int column = static_cast<int>(threadIdx.x) % tile.columns;
  float sum = 0;
  for (int first_k = 0; first_k < size.k; first_k += tile.depth) {
    const int a_place = (block_row + row) * size.lda + first_k + column;
    const int b_place = (first_k + row) * size.ldb + block_column + column;
    a_tile[row * tile.depth + column] = a_place < a_end ? a[a_place] : 0.0F;
    b_tile[row * tile.columns + column] = b_place < b_end ? b[b_place] : 0.0F;
    __syncthreads();
    for (int k = 0; k < tile.depth; ++k) {
      sum += a_tile[row * tile.depth + k] * b_tile[k * tile.columns + column];
    }
    __syncthreads();  // nobody may overwrite what another still reads
  }
  store_result(c + (block_row + row) * size.ldc + block_column + column, alpha, sum, beta);
}

}  // namespace sgemm
