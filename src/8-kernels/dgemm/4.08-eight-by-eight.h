// Against 4.07: 8 x 8 elements per thread. 4 x 4 ask LDS for 4 bytes per FMA: at 128 bytes per
// cycle that feeds 32 FMAs per cycle and CU, half of what an H200, an MI200 or an MI300 can do. 8 x
// 8 ask for 2, exactly what 64 FMAs per cycle need. The sums take 128 registers; tiles of 128 x
// 128, read in pairs that are neighbours for neighbouring lanes.
// On the H200 21.12 TFLOP/s, 1.31 times 4.07, 63.3 % of the peak.
#pragma once

#include "staged_tiles.h"

namespace dgemm {

/// A thread's 8 x 8 of the tile: pairs of rows and columns, `distance` from one to the next.
class EightByEight {
 public:
  static constexpr unsigned groups = 8;      // of sums, each of a row
  static constexpr unsigned group_sums = 8;  // in it
  static constexpr unsigned distance = 32;
  static constexpr unsigned blocks_per_unit = 1;

  /// Of `steps` tiles, from the one that `copies` is at.
  __device__ void multiply(StagedCopies& copies, const TilesInLds& tiles, unsigned steps) {
    copies.load();
    copies.store(0);
    __syncthreads();
    const unsigned last = steps - 1;
#pragma unroll 1
    for (unsigned step = 0; step < last; ++step) {
      copies.advance(staged_depth);
      copies.load();
      multiply(tiles, step % 2);
      copies.store((step + 1) % 2);
      __syncthreads();
    }
    multiply(tiles, last % 2);
  }

  /// The thread's first element.
  __device__ static Place place() { return {threadIdx.x / 16 * 2, threadIdx.x % 16 * 2}; }
  /// Stores a group of sums; `c` is where the first element is.
  __device__ static void store(double* c, const Extents& extents, unsigned group,
                               const double (&values)[group_sums], double alpha, double beta) {
    double* const row = c + (group / 2 * distance + group % 2) * extents.ldc;
#pragma unroll
    for (unsigned j = 0; j < group_sums; ++j) {
      store_result(row + j / 2 * distance + j % 2, alpha, values[j], beta);
    }
  }

  double sums[groups][group_sums] = {};

 private:
  __device__ void multiply(const TilesInLds& tiles, unsigned buffer) {
    // No more k at once: clang would load all operands first, more than registers hold.
#pragma unroll 2
    for (unsigned k = 0; k < staged_depth; ++k) {
      double of_a[groups];
      double of_b[group_sums];
#pragma unroll
      for (unsigned i = 0; i < groups / 2; ++i) {
        const double2 left = load_two(&tiles.a[buffer][k][place().row + i * distance]);
        const double2 right = load_two(&tiles.b[buffer][k][place().column + i * distance]);
        of_a[2 * i] = left.x;
        of_a[2 * i + 1] = left.y;
        of_b[2 * i] = right.x;
        of_b[2 * i + 1] = right.y;
      }
#pragma unroll
      for (unsigned i = 0; i < groups; ++i) {
#pragma unroll
        for (unsigned j = 0; j < group_sums; ++j) {
          sums[i][j] += of_a[i] * of_b[j];
        }
      }
    }
  }
};

inline Stage register_tile_stage() {
  return staged_stage<EightByEight>("8 x 8 per thread", 8, 8, Unit::vector);
}

}  // namespace dgemm
