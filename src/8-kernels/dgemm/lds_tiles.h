// The source's last three stages: tiles of 64 x 64 with a depth of 8 in LDS, 4 x 4 elements per
// thread, 256 threads.
//
//   LDS staging           each element of A and B is loaded from memory once per block, not by each
//                         of 16 threads. Two barriers per tile: the tile is there; and all have
//                         read it, before the next is written. The source lacks the second: a wave
//                         that is ahead then overwrites what another still reads. With one block of
//                         few waves it mostly goes well, which makes it worse
//   LDS double buffer     while one tile is multiplied, the next one's loads are on their way, and
//                         then go to the other buffer: one barrier per tile. The source loads one
//                         tile past the end of A and B at last; here the loads stop
//   fewer bank conflicts  LDS has 32 banks of 4 bytes. A thread that has four neighbouring columns
//                         reads every fourth value of B's tile, 32 bytes from its neighbour's: of
//                         16 lanes, four want the same banks. With two pairs of columns, 32 apart,
//                         two do; with columns 16 apart, none
//
// The tiles' rows are 65 values long, so that a value's loads stay 8 bytes wide and can be told
// apart: with an even pitch compilers join two of them. (clang for AMD does so even then, in every
// other row.)
#pragma once

#include "memory_operands.h"
#include "stage.h"

namespace dgemm {

/// How a thread's four columns (and rows) are spread over the block's 64.
enum class Spread {
  together,  ///< 4 t, 4 t + 1, 4 t + 2, 4 t + 3
  pairs,     ///< 2 t, 2 t + 1, 32 + 2 t, 32 + 2 t + 1
  apart,     ///< t, 16 + t, 32 + t, 48 + t
};

/// The `i`th place of thread `t`, 0 ... 15.
template <Spread spread>
__host__ __device__ constexpr unsigned place_of(unsigned t, unsigned i) {
  if constexpr (spread == Spread::together) {
    return 4 * t + i;
  } else if constexpr (spread == Spread::pairs) {
    return i / 2 * 32 + 2 * t + i % 2;
  } else {
    return i * 16 + t;
  }
}

/// How many of 16 lanes want different values of one bank, at most, when thread t loads from its
/// places: banks are 4 bytes wide, so a value of 8 takes two, of 32.
template <Spread spread>
constexpr unsigned conflict_degree() {
  constexpr unsigned pairs_of_banks = 16;
  unsigned wanted[pairs_of_banks] = {};
  unsigned most = 0;
  for (unsigned lane = 0; lane < 16; ++lane) {
    const unsigned wants = ++wanted[place_of<spread>(lane, 0) % pairs_of_banks];
    most = wants > most ? wants : most;
  }
  return most;
}

inline constexpr unsigned lds_depth = 8;
inline constexpr unsigned lds_pitch = block_side + 1;

inline constexpr Tiles tiles_in_lds = {.block_rows = block_side,
                                       .block_columns = block_side,
                                       .depth = lds_depth,
                                       .threads = block_threads,
                                       .thread_rows = thread_side,
                                       .thread_columns = thread_side};

/// A thread's share of the next tiles: two values of each.
template <LayoutOfB layout>
class NextTiles {
 public:
  __device__ NextTiles(Extents extents, const double* a, const double* b)
      : a_k_(threadIdx.x % 4 * 2),
        a_row_(threadIdx.x / 4),
        b_k_(layout == LayoutOfB::rows ? threadIdx.x / 32 : a_k_),
        b_column_(layout == LayoutOfB::rows ? threadIdx.x % 32 * 2 : a_row_),
        a_(a + (blockIdx.y * block_side + a_row_) * extents.lda + a_k_),
        b_(b + (layout == LayoutOfB::rows
                    ? b_k_ * extents.ldb + blockIdx.x * block_side + b_column_
                    : (blockIdx.x * block_side + b_column_) * extents.ldb + b_k_)),
        b_advance_(layout == LayoutOfB::rows ? lds_depth * extents.ldb : lds_depth) {}

  __device__ void load() {
    of_a_ = load_two(a_);
    of_b_ = load_two(b_);
    a_ += lds_depth;
    b_ += b_advance_;
  }

  __device__ void store(double (&a_tile)[lds_depth][lds_pitch],
                        double (&b_tile)[lds_depth][lds_pitch]) const {
    a_tile[a_k_][a_row_] = of_a_.x;
    a_tile[a_k_ + 1][a_row_] = of_a_.y;
    b_tile[b_k_][b_column_] = of_b_.x;
    b_tile[layout == LayoutOfB::rows ? b_k_ : b_k_ + 1]
          [layout == LayoutOfB::rows ? b_column_ + 1 : b_column_] = of_b_.y;
  }

 private:
  unsigned a_k_;
  unsigned a_row_;
  unsigned b_k_;
  unsigned b_column_;
  const double* a_;
  const double* b_;
  unsigned b_advance_;
  double2 of_a_;
  double2 of_b_;
};

template <Spread spread>
__device__ void multiply_tiles(double (&sums)[thread_side][thread_side],
                               const double (&a_tile)[lds_depth][lds_pitch],
                               const double (&b_tile)[lds_depth][lds_pitch]) {
#pragma unroll
  for (unsigned k = 0; k < lds_depth; ++k) {
    double a[thread_side];
    double b[thread_side];
#pragma unroll
    for (unsigned i = 0; i < thread_side; ++i) {
      a[i] = a_tile[k][place_of<spread>(threadIdx.x / 16, i)];
      b[i] = b_tile[k][place_of<spread>(threadIdx.x % 16, i)];
    }
    multiply_add(sums, a, b);
  }
}

template <Spread spread>
__device__ void store_spread(double* c, Extents extents, double alpha,
                             const double (&sums)[thread_side][thread_side], double beta) {
  c += blockIdx.y * block_side * extents.ldc + blockIdx.x * block_side;
#pragma unroll
  for (unsigned i = 0; i < thread_side; ++i) {
    const unsigned row = place_of<spread>(threadIdx.x / 16, i);
#pragma unroll
    for (unsigned j = 0; j < thread_side; ++j) {
      store_result(c + row * extents.ldc + place_of<spread>(threadIdx.x % 16, j), alpha, sums[i][j],
                   beta);
    }
  }
}

template <LayoutOfB layout>
__global__ void __launch_bounds__(block_threads)
    lds_staging_kernel(Extents extents, double alpha, const double* __restrict__ a,
                       const double* __restrict__ b, double beta, double* __restrict__ c) {
  __shared__ double a_tile[lds_depth][lds_pitch];
  __shared__ double b_tile[lds_depth][lds_pitch];
  NextTiles<layout> next(extents, a, b);
  double sums[thread_side][thread_side] = {};
#pragma unroll 1
  for (unsigned k = 0; k < extents.k; k += lds_depth) {
    next.load();
    next.store(a_tile, b_tile);
    __syncthreads();
    multiply_tiles<Spread::together>(sums, a_tile, b_tile);
    __syncthreads();
  }
  store_spread<Spread::together>(c, extents, alpha, sums, beta);
}

template <LayoutOfB layout, Spread spread>
__global__ void __launch_bounds__(block_threads)
    lds_double_buffer_kernel(Extents extents, double alpha, const double* __restrict__ a,
                             const double* __restrict__ b, double beta, double* __restrict__ c) {
  __shared__ double a_tiles[2][lds_depth][lds_pitch];
  __shared__ double b_tiles[2][lds_depth][lds_pitch];
  NextTiles<layout> next(extents, a, b);
  double sums[thread_side][thread_side] = {};
  next.load();
  next.store(a_tiles[0], b_tiles[0]);
  __syncthreads();
  // The last tile has no next one, so it comes after the loop: in the loop there is nothing to
  // decide (with conditions in it clang computes only after the next tile has come).
  const unsigned last = extents.k / lds_depth - 1;
#pragma unroll 1
  for (unsigned tile = 0; tile < last; ++tile) {
    next.load();
    multiply_tiles<spread>(sums, a_tiles[tile % 2], b_tiles[tile % 2]);
    next.store(a_tiles[(tile + 1) % 2], b_tiles[(tile + 1) % 2]);
    __syncthreads();
  }
  multiply_tiles<spread>(sums, a_tiles[last % 2], b_tiles[last % 2]);
  store_spread<spread>(c, extents, alpha, sums, beta);
}

}  // namespace dgemm
