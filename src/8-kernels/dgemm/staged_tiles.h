// What 4.08 to 4.11 share beside what they multiply by: tiles of 128 x 128 with a depth of 8 in two
// LDS buffers, which come there through registers, and the kernel around it.
#pragma once

#include <string>

#include "stage.h"

namespace dgemm {

inline constexpr unsigned staged_side = 128;
inline constexpr unsigned staged_depth = 8;
inline constexpr unsigned staged_threads = 256;

struct TilesInLds {
  double a[2][staged_depth][staged_side + 2];
  double b[2][staged_depth][staged_side + 2];
};

/// A thread's share of a block's copies: of A pairs of k of two rows, of B pairs of columns.
class StagedCopies {
 public:
  __device__ StagedCopies(TilesInLds& tiles, const Extents& extents, const double* a,
                          const double* b, Place tile, unsigned first_k)
      : tiles_(tiles),
        lda_(extents.lda),
        ldb_(extents.ldb),
        a_(a + (tile.row + a_row()) * extents.lda + first_k + a_k()),
        b_(b + (first_k + b_k()) * extents.ldb + tile.column + b_column()) {}

  __device__ void advance(unsigned k) {
    a_ += k;
    b_ += k * ldb_;
  }
  __device__ void load() {
#pragma unroll
    for (unsigned i = 0; i < copies; ++i) {
      next_of_a_[i] = load_two(a_ + i * 64 * lda_);
      next_of_b_[i] = load_two(b_ + i * 4 * ldb_);
    }
  }
  __device__ void store(unsigned buffer) {
#pragma unroll
    for (unsigned i = 0; i < copies; ++i) {
      tiles_.a[buffer][a_k()][a_row() + i * 64] = next_of_a_[i].x;
      tiles_.a[buffer][a_k() + 1][a_row() + i * 64] = next_of_a_[i].y;
      *reinterpret_cast<double2*>(&tiles_.b[buffer][b_k() + i * 4][b_column()]) = next_of_b_[i];
    }
  }

 private:
  static constexpr unsigned copies = 2;  // of 16 bytes, per thread and matrix
  __device__ static unsigned a_row() { return threadIdx.x / 4; }
  __device__ static unsigned a_k() { return threadIdx.x % 4 * 2; }
  __device__ static unsigned b_k() { return threadIdx.x / 64; }
  __device__ static unsigned b_column() { return threadIdx.x % 64 * 2; }

  TilesInLds& tiles_;
  unsigned lda_;
  unsigned ldb_;
  const double* a_;
  const double* b_;
  double2 next_of_a_[copies];
  double2 next_of_b_[copies];
};

/// A block for each tile. `Part` is what a thread, or a wave, has of it: `groups` of `group_sums`.
template <typename Part>
__global__ void __launch_bounds__(staged_threads, Part::blocks_per_unit)
    staged_kernel(Extents extents, double alpha, const double* __restrict__ a,
                  const double* __restrict__ b, double beta, double* __restrict__ c) {
  alignas(16) __shared__ TilesInLds tiles;
  const Place place = {blockIdx.y * staged_side, blockIdx.x * staged_side};
  Part part;
  StagedCopies copies(tiles, extents, a, b, place, 0);
  part.multiply(copies, tiles, extents.k / staged_depth);
  c += (place.row + Part::place().row) * extents.ldc + place.column + Part::place().column;
#pragma unroll
  for (unsigned group = 0; group < Part::groups; ++group) {
    double sums[Part::group_sums];
#pragma unroll
    for (unsigned j = 0; j < Part::group_sums; ++j) {
      sums[j] = part.sums[group][j];
    }
    Part::store(c, extents, group, sums, alpha, beta);
  }
}

/// `thread_rows` x `thread_columns`: what of a tile a thread, or a wave, has.
template <typename Part>
Stage staged_stage(const std::string& technique, unsigned thread_rows, unsigned thread_columns,
                   Unit unit) {
  Stage stage = gemm::stage_of<double, staged_kernel<Part>>(
      technique,
      {staged_side, staged_side, staged_depth, staged_threads, thread_rows, thread_columns});
  stage.unit = unit;
  stage.is_contender = true;
  return stage;
}

}  // namespace dgemm
