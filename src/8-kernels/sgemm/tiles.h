// Shared by fileaccent's 7.3 to 7.6 and 7.8: their tiles, the values that a thread copies, and its
// rows of C.
#pragma once

#include "device_code.h"
#include "stage.h"

namespace sgemm {

/// Stores a thread's elements; `c` is the first of them.
template <int rows, int columns>
__device__ void store_rows(float* c, int ldc, float alpha, const float (&sums)[rows][columns],
                           float beta) {
#pragma unroll
  for (int i = 0; i < rows; ++i) {
    store_results(c + i * ldc, alpha, sums[i], beta);
  }
}

/// Tiles of 64 x 64 with a depth of 16 for 256 threads of 4 x 4 elements, all known when it
/// compiles. A thread copies four neighbours of each; neighbouring blocks share rows of A.
template <int padding>
struct TilesOf64 {
  static constexpr int side = 4;  // of a thread's elements
  static constexpr int depth = 16;
  static constexpr int a_pitch = depth + padding;
  static constexpr int b_pitch = 64 + padding;
  static constexpr int a_size = 64 * a_pitch;
  static constexpr int b_size = depth * b_pitch;

  __device__ explicit TilesOf64(const Sizes& size)
      : thread(static_cast<int>(threadIdx.x)),
        block_row(static_cast<int>(blockIdx.y) * 64),
        block_column(static_cast<int>(blockIdx.x) * 64),
        a_copy_row(thread >> 2),
        a_copy_k((thread & 3) << 2),
        b_copy_k(thread >> 4),
        b_copy_column((thread & 15) << 2),
        a_place((block_row + a_copy_row) * size.lda + a_copy_k),
        b_place(b_copy_k * size.ldb + block_column + b_copy_column),
        first_row((thread >> 4) * side),
        first_column((thread & 15) * side),
        tiles((size.k + depth - 1) / depth) {}

  /// Their place in a tile.
  __device__ float* a_to(float* tile) const { return tile + a_copy_row * a_pitch + a_copy_k; }
  __device__ float* b_to(float* tile) const { return tile + b_copy_k * b_pitch + b_copy_column; }

  int thread;
  int block_row;
  int block_column;
  int a_copy_row;
  int a_copy_k;
  int b_copy_k;
  int b_copy_column;
  int a_place;  ///< of the values that a thread copies, in A
  int b_place;
  int first_row;  ///< of a thread's elements, in the tile
  int first_column;
  int tiles;  ///< along k
};

}  // namespace sgemm
