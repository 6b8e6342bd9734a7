// A lane's operands come from LDS 16 bytes at a time.
//
// Against 07: an MFMA takes four values of a lane, 8 bytes. The order of a sum over k is free as
// long as A and B agree on it, so a lane loads eight neighbours along k, the first four for one
// instruction, the others for the next: half as many loads, which with rows of 80 bytes come from
// different banks. (Stores still use a bank twice.) WMMA takes 16 or 32 bytes of a lane anyway.
// The last stages for AMD begin here; not measured.
#pragma once

#include <hipscope/scheduling_barrier.h>

#include "matrix_instructions.h"
#include "stage.h"

namespace hgemm {

/// Words of an operand that one or two loads of 16 bytes bring, and the instructions they are for.
template <typename Code>
struct Fragment {
  static constexpr unsigned words = Code::A::count < 4 ? 4 : Code::A::count;
  static constexpr unsigned instructions = words / Code::A::count;
  static constexpr unsigned k = instructions * Code::k;

  /// Where along k the lane's first value is, in a fragment.
  __device__ static unsigned first_k(unsigned lane) {
    return instructions * Code::a_place(lane, 0).column;
  }
  __device__ typename Code::A operand(unsigned instruction) const {
    typename Code::A found;
#pragma unroll
    for (unsigned i = 0; i < Code::A::count; ++i) {
      found.value[i] = word[instruction * Code::A::count + i];
    }
    return found;
  }
  __device__ void set(unsigned piece, const Piece& loaded) {
    word[4 * piece] = loaded.x;
    word[4 * piece + 1] = loaded.y;
    word[4 * piece + 2] = loaded.z;
    word[4 * piece + 3] = loaded.w;
  }

  unsigned word[words];
};

/// `down` x `across` matrices of sums that a wave has, with fragments as operands.
template <typename Code, unsigned down_, unsigned across_>
struct WaveSums {
  static constexpr unsigned down = down_;
  static constexpr unsigned across = across_;

  __device__ void multiply_add(const Fragment<Code> (&left)[down],
                               const Fragment<Code> (&right)[across]) {
#pragma unroll
    for (unsigned instruction = 0; instruction < Fragment<Code>::instructions; ++instruction) {
#pragma unroll
      for (unsigned i = 0; i < down; ++i) {
#pragma unroll
        for (unsigned j = 0; j < across; ++j) {
          Code::multiply_add(sums[i][j], left[i].operand(instruction),
                             right[j].operand(instruction));
        }
      }
    }
  }

  /// `c` is where the wave's sums begin; `skips`: matrices above `first_row` are not stored.
  template <bool skips = false, typename Result>
  __device__ void store(Result* c, unsigned pitch, float alpha, float beta,
                        [[maybe_unused]] int first_row = 0) const {
    for_each_sum([&](unsigned in_rows, const matrix_rate::Place& at, float sum) {
      if constexpr (skips) {
        if (static_cast<int>(in_rows) < first_row) {
          return;
        }
      }
      store_result(c + std::size_t{at.row} * pitch + at.column, alpha, sum, beta);
    });
  }

  /// The same of the sums within C, at this row and column.
  template <typename Result>
  __device__ void store_within(Result* c, const Extents& extents, unsigned row, unsigned column,
                               float alpha, float beta) const {
    for_each_sum([&](unsigned /*in_rows*/, const matrix_rate::Place& at, float sum) {
      if (row + at.row < extents.m && column + at.column < extents.n) {
        store_result(c + std::size_t{row + at.row} * extents.ldc + column + at.column, alpha, sum,
                     beta);
      }
    });
  }

  /// Calls body(first row of the matrix, place, sum), of the wave's rows and columns.
  template <typename Body>
  __device__ void for_each_sum(const Body& body) const {
#pragma unroll
    for (unsigned i = 0; i < down; ++i) {
#pragma unroll
      for (unsigned j = 0; j < across; ++j) {
#pragma unroll
        for (unsigned e = 0; e < Code::sum_elements; ++e) {
          const matrix_rate::Place at = Code::sum_place(threadIdx.x % Code::lanes, e);
          body(i * Code::m, {i * Code::m + at.row, j * Code::n + at.column}, sums[i][j].value[e]);
        }
      }
    }
  }

  typename Code::Sum sums[down][across] = {};
};

template <typename Code>
static __global__ void __launch_bounds__(256)
    fragments_of_16_bytes_kernel(Extents extents, float alpha, const Half* __restrict__ a,
                                 const Half* __restrict__ b, float beta, Half* __restrict__ c) {
  constexpr unsigned block_rows = 128;
  constexpr unsigned block_columns = 128;
  constexpr unsigned depth = 32;
  constexpr unsigned pitch = depth + 8;
  alignas(16) __shared__ Half a_tile[2][block_rows][pitch];
  alignas(16) __shared__ Half b_tile[2][block_columns][pitch];
  // Of A a thread copies 16 bytes of two rows; of B 16 bytes of two rows that are neighbours.
  const unsigned a_row = threadIdx.x / 4;
  const unsigned a_k = threadIdx.x % 4 * 8;
  const unsigned b_k = threadIdx.x % 16 * 2;
  const unsigned b_column = threadIdx.x / 16 * 8;
  a += std::size_t{blockIdx.y * block_rows + a_row} * extents.lda + a_k;
  b += std::size_t{b_k} * extents.ldb + blockIdx.x * block_columns + b_column;
  // Of A a thread has rows a_row and a_row + 64 of the tile, of B rows b_k and b_k + 1.
  const std::size_t half_of_a = std::size_t{64} * extents.lda;
  const auto store = [&](unsigned buffer, const Piece& upper, const Piece& lower, const Piece& even,
                         const Piece& odd) {
    piece_at(&a_tile[buffer][a_row][a_k]) = upper;
    piece_at(&a_tile[buffer][a_row + 64][a_k]) = lower;
    store_pairs(&b_tile[buffer][b_column][b_k], pitch, even, odd);
  };
  using Wave = WaveTile<Code>;
  const unsigned lane = threadIdx.x % Code::lanes;
  WaveSums<Code, Wave::down, Wave::across> wave;
  const auto load = [&](Fragment<Code>& fragment, const Half* at) {
#pragma unroll
    for (unsigned piece = 0; piece < Fragment<Code>::words / 4; ++piece) {
      fragment.set(piece, piece_at(at + 8 * piece));
    }
  };
  store(0, piece_at(a), piece_at(a + half_of_a), piece_at(b), piece_at(b + extents.ldb));
  __syncthreads();
  for (unsigned first_k = 0; first_k < extents.k; first_k += depth) {
    const unsigned buffer = first_k / depth % 2;
    const bool goes_on = first_k + depth < extents.k;
    Piece upper{};
    Piece lower{};
    Piece even{};
    Piece odd{};
    if (goes_on) {
      a += depth;
      b += std::size_t{depth} * extents.ldb;
      upper = piece_at(a);
      lower = piece_at(a + half_of_a);
      even = piece_at(b);
      odd = piece_at(b + extents.ldb);
    }
#pragma unroll
    for (unsigned k = 0; k < depth; k += Fragment<Code>::k) {
      const unsigned of_lane = k + Fragment<Code>::first_k(lane);
      Fragment<Code> left[Wave::down];
#pragma unroll
      for (unsigned i = 0; i < Wave::down; ++i) {
        load(left[i], &a_tile[buffer][Wave::first_row() + i * Code::m + lane % Code::m][of_lane]);
      }
      Fragment<Code> right[Wave::across];
#pragma unroll
      for (unsigned j = 0; j < Wave::across; ++j) {
        load(right[j],
             &b_tile[buffer][Wave::first_column() + j * Code::n + lane % Code::n][of_lane]);
      }
      wave.multiply_add(left, right);
    }
    hipscope::scheduling_barrier();  // as in 07
    store(1 - buffer, upper, lower, even, odd);
    __syncthreads();
  }
  wave.store(c + std::size_t{blockIdx.y * block_rows + Wave::first_row()} * extents.ldc +
                 blockIdx.x * block_columns + Wave::first_column(),
             extents.ldc, alpha, beta);
}

}  // namespace hgemm
