// A kernel that learns its tile's extents when it is launched, and copies by a helper for any tile.
//
// Against tile_64.h with Fragments::of_2_k: LDS is taken at launch, no loop over the tile has a
// length that the compiler knows, and the helper divides to find a row. The thread tile of 4 x 4
// must stay known, since registers cannot be indexed. What generality costs is the difference.
#pragma once

#include "device_code.h"
#include "stage.h"
#include "thread_tile.h"

namespace sgemm {

/// The extents of a block's tile, all of them multiples of 4, for rows x columns / 16 threads.
struct RunTimeTile {
  unsigned rows;
  unsigned columns;
  unsigned depth;
  unsigned padding;
};

/// Copies a matrix of `rows` x `columns` to LDS, four values at a time, by all threads of the
/// block.
__device__ inline void copy_to_lds(float* to, unsigned to_pitch, const float* from,
                                   unsigned from_pitch, unsigned rows, unsigned columns) {
  const unsigned fours = columns / 4;
  for (unsigned i = threadIdx.x; i < rows * fours; i += blockDim.x) {
    const unsigned row = i / fours;
    const unsigned column = i % fours * 4;
    store_four(to + row * to_pitch + column, load_four(from + row * from_pitch + column));
  }
}

static __global__ void __launch_bounds__(assumed_threads)
    run_time_tile_kernel(RunTimeTile tile, Extents extents, float alpha,
                         const float* __restrict__ a, const float* __restrict__ b, float beta,
                         float* __restrict__ c) {
  constexpr unsigned thread_rows = 4;
  constexpr unsigned thread_columns = 4;
  constexpr unsigned step = 2;
  HIP_DYNAMIC_SHARED(float4, lds)
  const unsigned a_pitch = tile.depth + tile.padding;
  const unsigned b_pitch = tile.columns + tile.padding;
  float* const a_tile = reinterpret_cast<float*>(lds);
  float* const b_tile = a_tile + tile.rows * a_pitch;
  const unsigned threads_per_row = tile.columns / thread_columns;
  const unsigned first_row = threadIdx.x / threads_per_row * thread_rows;
  const unsigned first_column = threadIdx.x % threads_per_row * thread_columns;
  a += blockIdx.y * tile.rows * extents.lda;
  b += blockIdx.x * tile.columns;
  c += blockIdx.y * tile.rows * extents.ldc + blockIdx.x * tile.columns;
  float sums[thread_rows][thread_columns] = {};
  for (unsigned done = 0; done < extents.k; done += tile.depth) {
    copy_to_lds(a_tile, a_pitch, a + done, extents.lda, tile.rows, tile.depth);
    copy_to_lds(b_tile, b_pitch, b + done * extents.ldb, extents.ldb, tile.depth, tile.columns);
    __syncthreads();
    for (unsigned k = 0; k < tile.depth; k += step) {
      float a_fragment[thread_rows][step];
      float b_fragment[step][thread_columns];
#pragma unroll
      for (unsigned i = 0; i < thread_rows; ++i) {
        load(a_fragment[i], a_tile + (first_row + i) * a_pitch + k);
      }
#pragma unroll
      for (unsigned s = 0; s < step; ++s) {
        load(b_fragment[s], b_tile + (k + s) * b_pitch + first_column);
      }
      multiply_add(sums, a_fragment, b_fragment);
    }
    __syncthreads();
  }
#pragma unroll
  for (unsigned i = 0; i < thread_rows; ++i) {
    store_results(c + (first_row + i) * extents.ldc + first_column, alpha, sums[i], beta);
  }
}

inline Stage run_time_tile_stage() {
  constexpr unsigned padding = 4;
  Stage stage{.technique = "tile's extents at run time",
              .source_kernel = "7.2",
              .tiles = tiles_64,
              .kernel = reinterpret_cast<const void*>(run_time_tile_kernel)};
  const unsigned a_values = tiles_64.block_rows * (tiles_64.depth + padding);
  const unsigned b_values = tiles_64.depth * (tiles_64.block_columns + padding);
  stage.dynamic_lds_bytes = (a_values + b_values) * sizeof(float);
  stage.enqueue = [](const Stage& self, const Product& product) {
    const RunTimeTile tile = {.rows = self.tiles.block_rows,
                              .columns = self.tiles.block_columns,
                              .depth = self.tiles.depth,
                              .padding = padding};
    hipscope::launch(run_time_tile_kernel,
                     {.grid = grid_of(self.tiles, product.extents),
                      .block = dim3(self.tiles.threads),
                      .lds_bytes = self.dynamic_lds_bytes},
                     tile, product.extents, product.alpha, product.a, product.b, product.beta,
                     product.c);
  };
  return stage;
}

}  // namespace sgemm
