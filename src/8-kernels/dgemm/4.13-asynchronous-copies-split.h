// Against 4.12: tiles that are split along k among blocks (tiles.h), so that no CU stands idle in
// the last round. Blocks that share a tile wait for one another.
// On the H200 24.77 TFLOP/s at 1914 MHz, where 4.12 had 1975: 76.7 % of the peak, 4.12 has 75.2 %.
#pragma once

#include <cstdint>
#include <string>

#include "copies.h"
#include "stage.h"
#include "tiles.h"

namespace dgemm {

#if !defined(HIPSCOPE_BACKEND_AMD)

class SplitPart {
 public:
  /// Rows are longer by 16 bytes, so that the rows of four lanes begin in banks of their own.
  struct TileOfA {
    static constexpr unsigned pitch = pipeline_depth + 2;
    __device__ static constexpr unsigned place_of_pair(unsigned, unsigned pair) { return pair * 2; }
  };
  static constexpr unsigned a_pitch = TileOfA::pitch;
  static constexpr unsigned rows = 8;
  static constexpr unsigned pairs = 4;  // of neighbouring columns

  /// The thread's first element in its group's 32 x 64: lanes stand in 4 rows of 8.
  __device__ static Place place() {
    const unsigned lane = threadIdx.x % 32;
    return {lane / 8, lane % 8 * 2};
  }
  __device__ static constexpr unsigned row_of(unsigned i) { return i * 4; }

  /// Adds the products of `steps` tiles.
  template <typename Copies>
  __device__ void multiply(Copies& copies, Place first, unsigned steps) {
    unsigned buffer = 0;
    const double* a = copies.a_tile(0) + first.row * a_pitch;
    const double* b = copies.b_tile(0) + first.column;
    load<0>(a, b);
#pragma unroll 1
    for (unsigned step = 0; step < steps; ++step) {
#pragma unroll 1
      for (unsigned k = 0; k < pipeline_depth - 2; k += 2) {
        load<1>(a + 1, b + Copies::b_pitch);
        multiply_add<0>();
        load<0>(a + 2, b + 2 * Copies::b_pitch);
        multiply_add<1>();
        a += 2;
        b += 2 * Copies::b_pitch;
      }
      // The last two k, and between them the next tile.
      load<1>(a + 1, b + Copies::b_pitch);
      copies.begin();
      multiply_add<0>();
      copies.wait();
      buffer = buffer + 1 == pipeline_buffers ? 0 : buffer + 1;
      a = copies.a_tile(buffer) + first.row * a_pitch;
      b = copies.b_tile(buffer) + first.column;
      load<0>(a, b);
      multiply_add<1>();
    }
  }

  double sums[rows][pairs][2] = {};

 private:
  template <unsigned set>
  __device__ void load(const double* a, const double* b) {
#pragma unroll
    for (unsigned j = 0; j < pairs; ++j) {
      const double2 two = load_two(b + j * 16);
      b_[set][2 * j] = two.x;
      b_[set][2 * j + 1] = two.y;
    }
#pragma unroll
    for (unsigned i = 0; i < rows; ++i) {
      a_[set][i] = a[row_of(i) * a_pitch];
    }
  }

  template <unsigned set>
  __device__ void multiply_add() {
#pragma unroll
    for (unsigned i = 0; i < rows; ++i) {
#pragma unroll
      for (unsigned j = 0; j < 2 * pairs; ++j) {
        const unsigned column = i % 2 == 0 ? j : 2 * pairs - 1 - j;
        multiply_add_in_order(sums[i][column / 2][column % 2], a_[set][i], b_[set][column]);
      }
    }
  }

  double a_[2][rows];
  double b_[2][2 * pairs];
};

/// The thread's first element in its block's tile.
__device__ inline Place place_in_tile(const SplitPart&) {
  constexpr unsigned groups_of_rows = pipeline_side / group_rows;
  const unsigned group = threadIdx.x / 32;
  const Place place = SplitPart::place();
  return {group % groups_of_rows * group_rows + place.row,
          group / groups_of_rows * group_columns + place.column};
}

/// Stores a thread's part of C, two columns at a time where C's rows allow it.
__device__ inline void store_part(const SplitPart& part, Extents extents, Place tile, double alpha,
                                  double beta, double* c) {
  const Place place = place_in_tile(part);
  const bool is_aligned = extents.ldc % 2 == 0 && reinterpret_cast<std::uintptr_t>(c) % 16 == 0;
#pragma unroll
  for (unsigned i = 0; i < SplitPart::rows; ++i) {
    const unsigned row = tile.row + place.row + SplitPart::row_of(i);
    if (row < extents.m) {
      double* const c_row = c + std::size_t{row} * extents.ldc;
#pragma unroll
      for (unsigned j = 0; j < SplitPart::pairs; ++j) {
        const unsigned column = tile.column + place.column + j * 16;
        const double(&pair)[2] = part.sums[i][j];
        if (is_aligned && column + 2 <= extents.n) {
          auto* const two = reinterpret_cast<double2*>(c_row + column);
          const double2 before = beta == 0 ? make_double2(0, 0) : *two;
          *two = beta == 0 ? make_double2(alpha * pair[0], alpha * pair[1])
                           : make_double2(alpha * pair[0] + beta * before.x,
                                          alpha * pair[1] + beta * before.y);
        } else {
#pragma unroll
          for (unsigned piece = 0; piece < 2; ++piece) {
            if (column + piece < extents.n) {
              store_result(c_row + column + piece, alpha, pair[piece], beta);
            }
          }
        }
      }
    }
  }
}

/// Hands a thread's sums over.
__device__ inline void hand_over(const SplitPart& part, SplitTiles split) {
  double* const to =
      split.sums + std::size_t{blockIdx.x} * pipeline_side * pipeline_side + threadIdx.x;
#pragma unroll
  for (unsigned i = 0; i < SplitPart::rows * SplitPart::pairs * 2; ++i) {
    to[i * pipeline_threads] =
        part.sums[i / (SplitPart::pairs * 2)][i / 2 % SplitPart::pairs][i % 2];
  }
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) {
    atomicExch(&split.ready[blockIdx.x], 1U);
  }
}

/// Adds the sums of all blocks before this one that have steps of the tile that begins at step
/// `tile_begin`, down to its first. They have handed them over before they did anything else; and
/// they run, or have run: split blocks come first in the grid, one for each CU at most, and lower
/// numbers begin no later.
__device__ inline void take_over(SplitPart& part, SplitTiles split, unsigned steps,
                                 unsigned tile_begin) {
  unsigned block = blockIdx.x;
  while (first_step(block, split, steps) > tile_begin) {
    --block;
    if (threadIdx.x == 0) {
      while (atomicCAS(&split.ready[block], 1U, 0U) == 0) {
      }
      __threadfence();
    }
    __syncthreads();
    const double* const from =
        split.sums + std::size_t{block} * pipeline_side * pipeline_side + threadIdx.x;
#pragma unroll
    for (unsigned i = 0; i < SplitPart::rows * SplitPart::pairs * 2; ++i) {
      part.sums[i / (SplitPart::pairs * 2)][i / 2 % SplitPart::pairs][i % 2] +=
          from[i * pipeline_threads];
    }
  }
}

/// m and n are not 0. From its last step to its first, so that what another block waits for
/// comes first.
template <bool is_even>
__global__ void __launch_bounds__(pipeline_threads, 1)
    asynchronous_copies_split_kernel(Extents extents, double alpha, const double* __restrict__ a,
                                     const double* __restrict__ b, double beta,
                                     double* __restrict__ c, SplitTiles split) {
  HIP_DYNAMIC_SHARED(double2, lds)
  const unsigned steps = steps_of(extents.k, pipeline_depth);
  const unsigned begin = first_step(blockIdx.x, split, steps);
  unsigned end = first_step(blockIdx.x + 1, split, steps);
#pragma unroll 1
  while (end > begin) {
    const unsigned tile = (end - 1) / steps;
    const unsigned tile_begin = tile * steps;
    const unsigned first = begin > tile_begin ? begin : tile_begin;
    const Place place = place_of_tile(tile, extents, pipeline_side);
    SplitPart part;
    Copies<SplitPart::TileOfA, is_even> copies(extents, a, b, reinterpret_cast<double*>(lds), place,
                                               (first - tile_begin) * pipeline_depth);
#pragma unroll
    for (unsigned i = 0; i + 1 < pipeline_buffers; ++i) {
      copies.begin();
    }
    copies.wait();
    part.multiply(copies, place_in_tile(part), end - first);
    // What is still on its way would be written over the next tile.
    copies.template wait<0>();
    const bool is_mine = end == tile_begin + steps;
    if (is_mine) {
      take_over(part, split, steps, tile_begin);
    } else {
      hand_over(part, split);
    }
    if (is_mine) {
      store_part(part, extents, place, alpha, beta, c);
    }
    end = first;
  }
}

inline Stage asynchronous_copies_split_stage() {
  constexpr unsigned lds_bytes = Copies<SplitPart::TileOfA, true>::lds_bytes;
  return {.technique = "tiles split along k",
          .tiles = {.block_rows = pipeline_side,
                    .block_columns = pipeline_side,
                    .depth = pipeline_depth,
                    .threads = pipeline_threads,
                    .thread_rows = SplitPart::rows,
                    .thread_columns = 2 * SplitPart::pairs},
          .unit = Unit::vector,
          .dynamic_lds_bytes = lds_bytes,
          .any_size = true,
          .is_contender = true,
          .kernel = reinterpret_cast<const void*>(asynchronous_copies_split_kernel<true>),
          .enqueue =
              [](const Stage& stage, const Product& product) {
                static const auto even =
                    hipscope::allow_lds(asynchronous_copies_split_kernel<true>, lds_bytes);
                static const auto odd =
                    hipscope::allow_lds(asynchronous_copies_split_kernel<false>, lds_bytes);
                enqueue_split(is_even(product) ? even : odd, stage, product);
              },
          .workspace_bytes = [](const Extents&) { return bytes_of_split_tiles(pipeline_side); }};
}

#endif

}  // namespace dgemm
