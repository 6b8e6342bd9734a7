// One helper copies any matrix to anywhere: to LDS and to registers (fileaccent's also to C, by the
// same stores of 16 bytes). The tile's extents are known at launch.
//
// Against 05, whose tiles it has: two k per step, and every copy by the helper, which takes the
// length of a row as an argument. Against 07: the compiler knows the length of no loop over the
// tile, and a thread divides to find what it copies. The thread tile of 4 x 4 must stay known,
// since registers cannot be indexed. The difference is the cost of generality. (fileaccent's list
// mentions arrays of two dimensions here; its kernel 7 has them, and this is its 7.1.)
// On the H200 26.83 TFLOP/s, 0.880 of 07.
#pragma once

#include "device_code.h"
#include "stage.h"

namespace sgemm {

/// Copies `count` values of a row, by accesses of up to 16 bytes.
__device__ inline void copy_row(float* to, const float* from, int count) {
  if (count == 1) {
    to[0] = from[0];
  } else if (count == 2) {
    *reinterpret_cast<float2*>(to) = *reinterpret_cast<const float2*>(from);
  } else if (count == 4) {
    store_four(to, load_four(from));
  } else {
    int done = 0;
    while (done < count) {
      if (done + 3 < count) {
        store_four(to + done, load_four(from + done));
        done += 4;
      } else if (done + 1 < count) {
        *reinterpret_cast<float2*>(to + done) = *reinterpret_cast<const float2*>(from + done);
        done += 2;
      } else {
        to[done] = from[done];
        ++done;
      }
    }
  }
}

/// Copies a matrix of `rows` x `columns`.
__device__ inline void copy_matrix(float* to, const float* from, int rows, int columns,
                                   int to_pitch, int from_pitch) {
  for (int row = 0; row < rows; ++row) {
    copy_row(to + row * to_pitch, from + row * from_pitch, columns);
  }
}

static __global__ void __launch_bounds__(assumed_threads)
    copy_helper_kernel(TileSizes tile, Sizes size, float alpha, const float* __restrict__ a,
                       const float* __restrict__ b, float beta, float* __restrict__ c) {
  constexpr int side = 4;  // of a thread's elements
  constexpr int padding = 4;
  HIP_DYNAMIC_SHARED(float4, lds)
  const int a_pitch = tile.depth + padding;
  const int b_pitch = tile.columns + padding;
  float* const a_tile = reinterpret_cast<float*>(lds);
  float* const b_tile = a_tile + tile.rows * a_pitch;
  const int threads = static_cast<int>(blockDim.x);
  const int thread = static_cast<int>(threadIdx.x);
  const int block_row = static_cast<int>(blockIdx.y) * tile.rows;
  const int block_column = static_cast<int>(blockIdx.x) * tile.columns;
  const int threads_in_row = (tile.columns + side - 1) / side;
  const int first_row = thread / threads_in_row * side;
  const int first_column = thread % threads_in_row * side;
  const int tiles = (size.k + tile.depth - 1) / tile.depth;
  float sums[side][side] = {};
  for (int index = 0; index < tiles; ++index) {
    const int a_values = (tile.rows * tile.depth + threads - 1) / threads;
    const auto [a_copy_row, a_copy_k] = place_to_copy(tile.rows, tile.depth, thread, threads);
    copy_matrix(a_tile + a_copy_row * a_pitch + a_copy_k,
                a + (block_row + a_copy_row) * size.lda + index * tile.depth + a_copy_k,
                (a_values + tile.depth - 1) / tile.depth, a_values % tile.depth, a_pitch, size.lda);
    const int b_values = (tile.depth * tile.columns + threads - 1) / threads;
    const auto [b_copy_k, b_copy_column] = place_to_copy(tile.depth, tile.columns, thread, threads);
    copy_matrix(b_tile + b_copy_k * b_pitch + b_copy_column,
                b + (index * tile.depth + b_copy_k) * size.ldb + block_column + b_copy_column,
                (b_values + tile.columns - 1) / tile.columns, b_values % tile.columns, b_pitch,
                size.ldb);
    __syncthreads();
    for (int step = 0; step < tile.depth; step += 2) {
      alignas(16) float a_fragment[side][2];
      alignas(16) float b_fragment[2][side];
      copy_matrix(a_fragment[0], a_tile + first_row * a_pitch + step, side, 2, 2, a_pitch);
      copy_matrix(b_fragment[0], b_tile + step * b_pitch + first_column, 2, side, side, b_pitch);
      for (int i = 0; i < side; ++i) {
        for (int j = 0; j < side; ++j) {
          for (int k = 0; k < 2; ++k) {
            sums[i][j] += a_fragment[i][k] * b_fragment[k][j];
          }
        }
      }
    }
    __syncthreads();
  }
  c += (block_row + first_row) * size.ldc + block_column + first_column;
  for (int i = 0; i < side; ++i) {
    store_results(c + i * size.ldc, alpha, sums[i], beta);
  }
}

}  // namespace sgemm
