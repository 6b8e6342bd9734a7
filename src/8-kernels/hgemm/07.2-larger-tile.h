// A larger tile of C, of 512 threads.
//
// Against 07.1: 256 x 256 of C on CDNA, where a wave has 64 x 128, 128 sums per lane: it reads a
// quarter less from LDS for each product, and the block half as much from memory. On RDNA 256 x 128
// by twice as many waves of 64 x 32, as before: 128 sums and WMMA's operands would be more than
// 256 registers. Two buffers of such tiles take all 64 KiB of a CU's LDS, which leaves no room to
// pad rows: instead pieces of 16 bytes are XORed with bits of the row within a line of 128. Of B a
// thread transposes 4 x 4 values in registers and stores 8 bytes for each column.
#pragma once

#include <hipscope/scheduling_barrier.h>

#include "07.1-fragments-of-16-bytes.h"
#include "8-kernels/gemm/place_of_piece.h"
#include "matrix_instructions.h"
#include "stage.h"

namespace hgemm {

constexpr unsigned large_tile_threads = 512;

/// Rows in LDS, of `depth` values of so many bits.
template <unsigned rows, unsigned depth = 32, unsigned bits = 16>
struct SwizzledRows {
  static constexpr unsigned piece_values = 128 / bits;
  static constexpr unsigned row_pieces = depth / piece_values;
  Piece pieces[rows * row_pieces];

  __device__ Piece& at(unsigned row, unsigned k) {
    return pieces[gemm::place_of_piece<row_pieces>(row, k / piece_values)];
  }
  /// Half a piece: four values of 16 bits from a multiple of 4 on.
  __device__ uint2& half_at(unsigned row, unsigned k) {
    return reinterpret_cast<uint2*>(&at(row, k))[k / 4 % 2];
  }
};

/// A block's tile of C, of which a wave has `wave_rows_` x `wave_columns_`.
template <typename Code_, unsigned rows_, unsigned columns_, unsigned wave_rows_,
          unsigned wave_columns_>
struct BlockTile {
  using Code = Code_;
  static constexpr unsigned depth = 2 * Fragment<Code>::k;
  static constexpr unsigned rows = rows_;
  static constexpr unsigned columns = columns_;
  static constexpr unsigned wave_rows = wave_rows_;
  static constexpr unsigned wave_columns = wave_columns_;
  static constexpr unsigned waves_down = rows / wave_rows;
  static constexpr unsigned threads = Code::lanes * waves_down * (columns / wave_columns);
  using Sums = WaveSums<Code, wave_rows / Code::m, wave_columns / Code::n>;
  using A = SwizzledRows<rows, depth, Code::a_format.bits>;
  using B = SwizzledRows<columns, depth, Code::b_format.bits>;

  __device__ static unsigned first_row() {
    return threadIdx.x / Code::lanes % waves_down * wave_rows;
  }
  __device__ static unsigned first_column() {
    return threadIdx.x / Code::lanes / waves_down * wave_columns;
  }
};

/// So that eight waves, or more of 32 lanes, share the rows evenly.
constexpr unsigned large_tile_wave_rows(unsigned rows) {
  return rows % 128 == 0 ? 64 : rows % 64 == 0 ? rows / 2 : rows;
}
template <typename Code, unsigned rows = 256>
struct LargeTile : BlockTile<Code, rows, 4 * Code::lanes, large_tile_wave_rows(rows),
                             4 * Code::lanes*(rows / large_tile_wave_rows(rows)) /
                                 (large_tile_threads / Code::lanes)> {};

/// Four columns from `column` on of four rows of B from `k` on, to where k is along the rows.
template <unsigned columns, typename Pairs>
__device__ void store_transposed(SwizzledRows<columns>& b, unsigned column, unsigned k,
                                 const Pairs (&of)[4]) {
  const auto low = [](unsigned first, unsigned second) { return (first & 0xFFFF) | second << 16; };
  const auto high = [](unsigned first, unsigned second) {
    return first >> 16 | (second & 0xFFFF0000);
  };
  b.half_at(column, k) = {low(of[0].x, of[1].x), low(of[2].x, of[3].x)};
  b.half_at(column + 1, k) = {high(of[0].x, of[1].x), high(of[2].x, of[3].x)};
  b.half_at(column + 2, k) = {low(of[0].y, of[1].y), low(of[2].y, of[3].y)};
  b.half_at(column + 3, k) = {high(of[0].y, of[1].y), high(of[2].y, of[3].y)};
}

/// What a thread brings of the next rows: pieces of 16 bytes.
template <typename Rows, typename Value>
class RowsCopy {
 public:
  /// Of a matrix's rows, which are `pitch` values apart, those from `first` on.
  __device__ RowsCopy(const Value* matrix, unsigned pitch, unsigned first)
      : from_(matrix + std::size_t{first + row()} * pitch + k()), pitch_(pitch) {}

  /// Into registers; goes on along k.
  __device__ void load() {
#pragma unroll
    for (unsigned i = 0; i < count; ++i) {
      pieces_[i] = piece_at(from_ + std::size_t{i * rows_at_once} * pitch_);
    }
    from_ += Rows::row_pieces * Rows::piece_values;
  }
  __device__ void store(Rows& rows) const {
#pragma unroll
    for (unsigned i = 0; i < count; ++i) {
      rows.at(row() + i * rows_at_once, k()) = pieces_[i];
    }
  }

 private:
  static constexpr unsigned rows_at_once = large_tile_threads / Rows::row_pieces;
  static constexpr unsigned count = sizeof(Rows) / sizeof(Piece) / large_tile_threads;
  __device__ static unsigned row() { return threadIdx.x / Rows::row_pieces; }
  __device__ static unsigned k() { return threadIdx.x % Rows::row_pieces * Rows::piece_values; }

  const Value* from_;
  unsigned pitch_;
  Piece pieces_[count];
};

/// What a thread brings of the next tiles: pieces of rows of A, and 4 x 4 values of B.
template <typename Tile, typename Value>
class LargeTileCopy {
 public:
  __device__ LargeTileCopy(const Extents& extents, const Value* a, const Value* b, unsigned row,
                           unsigned column)
      : extents_(extents),
        a_(a, extents.lda, row),
        b_(b + std::size_t{b_k()} * extents.ldb + column + b_column()) {}

  /// Into registers; goes on to the next tiles.
  __device__ void load() {
    a_.load();
#pragma unroll
    for (unsigned i = 0; i < 4 && brings_b(); ++i) {
      of_b_[i] = *reinterpret_cast<const uint2*>(b_ + std::size_t{i} * extents_.ldb);
    }
    b_ += std::size_t{Tile::depth} * extents_.ldb;
  }
  __device__ void store(typename Tile::A& a, typename Tile::B& b) const {
    a_.store(a);
    if (brings_b()) {
      store_transposed(b, b_column(), b_k(), of_b_);
    }
  }

 private:
  __device__ static unsigned b_k() { return threadIdx.x % 8 * 4; }
  __device__ static unsigned b_column() { return threadIdx.x / 8 * 4; }
  /// All threads on CDNA, on RDNA the first half.
  __device__ static bool brings_b() {
    return Tile::columns == large_tile_threads / 2 || b_column() < Tile::columns;
  }

  const Extents& extents_;
  RowsCopy<typename Tile::A, Value> a_;
  const Value* b_;
  uint2 of_b_[4];
};

/// The fragments of a tile's rows from `first_row` on, at `k`.
template <typename Code, unsigned count, typename Rows>
__device__ void load_fragments(Fragment<Code> (&fragments)[count], Rows& tile, unsigned first_row,
                               unsigned k) {
  const unsigned lane = threadIdx.x % Code::lanes;
#pragma unroll
  for (unsigned i = 0; i < count; ++i) {
#pragma unroll
    for (unsigned piece = 0; piece < Fragment<Code>::words / 4; ++piece) {
      fragments[i].set(piece,
                       tile.at(first_row + i * Code::m + lane % Code::m,
                               k + Fragment<Code>::first_k(lane) + Rows::piece_values * piece));
    }
  }
}

template <typename Code, typename Value, typename Result>
static __global__ void __launch_bounds__(large_tile_threads)
    larger_tile_kernel(Extents extents, float alpha, const Value* __restrict__ a,
                       const Value* __restrict__ b, float beta, Result* __restrict__ c) {
  using Tile = LargeTile<Code>;
  __shared__ typename Tile::A a_tile[2];
  __shared__ typename Tile::B b_tile[2];
  const unsigned row = blockIdx.y * Tile::rows;
  const unsigned column = blockIdx.x * Tile::columns;
  LargeTileCopy<Tile, Value> copy(extents, a, b, row, column);
  typename Tile::Sums wave;
  copy.load();
  copy.store(a_tile[0], b_tile[0]);
  __syncthreads();
  for (unsigned first_k = 0; first_k < extents.k; first_k += Tile::depth) {
    const unsigned buffer = first_k / Tile::depth % 2;
    if (first_k + Tile::depth < extents.k) {
      copy.load();
    }
#pragma unroll
    for (unsigned k = 0; k < Tile::depth; k += Fragment<Code>::k) {
      Fragment<Code> left[Tile::Sums::down];
      Fragment<Code> right[Tile::Sums::across];
      load_fragments(left, a_tile[buffer], Tile::first_row(), k);
      load_fragments(right, b_tile[buffer], Tile::first_column(), k);
      wave.multiply_add(left, right);
    }
    hipscope::scheduling_barrier();  // as in 07
    copy.store(a_tile[1 - buffer], b_tile[1 - buffer]);
    __syncthreads();
  }
  wave.store(c + std::size_t{row + Tile::first_row()} * extents.ldc + column + Tile::first_column(),
             extents.ldc, alpha, beta);
}

/// A stage with such a tile, whose kernel `enqueue` launches.
template <typename Tile, typename Value, typename Result>
gemm::Stage<Value, Result> large_tile_stage(const std::string& what, const void* kernel,
                                            void (*enqueue)(const gemm::Stage<Value, Result>&,
                                                            const gemm::Product<Value, Result>&)) {
  using Code = typename Tile::Code;
  return {.technique = name_of<Code>() + what,
          .tiles = {Tile::rows, Tile::columns, Tile::depth, large_tile_threads, Tile::wave_rows,
                    Tile::wave_columns},
          .unit = gemm::Unit::matrix,
          .kernel = kernel,
          .enqueue = enqueue,
          .needs = needs_of<Code>()};
}

/// The same with a kernel on one block per tile.
template <typename Code, auto kernel>
Stage large_tile_stage(const std::string& what) {
  return large_tile_stage<LargeTile<Code>, Half, Half>(what, reinterpret_cast<const void*>(kernel),
                                                       gemm::enqueue<Half, kernel>);
}

}  // namespace hgemm
