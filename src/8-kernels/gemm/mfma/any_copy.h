// A block's tiles and its part of C for products of any size: nothing is padded first.
#pragma once

#include "8-kernels/gemm/split_sums.h"
#include "tile.h"

#if !defined(HIPSCOPE_BACKEND_NVIDIA)

namespace gemm::mfma {

/// As Copy, of any product: rows and columns beyond the end are read from inside again, k beyond
/// the end are zeros. `is_aligned`: k, n and all rows are whole pieces; else each value is read by
/// itself.
template <typename Tile, bool is_aligned>
class AnyCopy {
 public:
  using Value = typename Tile::Value;
  using Piece = typename Tile::Piece;

  __device__ AnyCopy(const Extents& extents, const Value* a, const Value* b, unsigned row,
                     unsigned column, unsigned first_k, unsigned tiles)
      : ldb_(extents.ldb),
        thread_(thread_index()),
        a_(a + std::size_t{row} * extents.lda + first_k),
        b_(b + std::size_t{first_k} * extents.ldb + column) {
    const unsigned end_k = first_k + tiles * Tile::depth;
    const unsigned last_k = end_k < extents.k ? end_k : extents.k;
    left_ = last_k > first_k ? last_k - first_k : 0;
    const unsigned last_row = extents.m - 1 - row;
#pragma unroll
    for (unsigned i = 0; i < a_pieces; ++i) {
      const unsigned wanted = a_row() + i * a_rows;
      from_a_[i] =
          ((wanted < last_row ? wanted : last_row) * extents.lda + a_k()) * unsigned{sizeof(Value)};
    }
    const unsigned last_column = extents.n - 1 - column;
#pragma unroll
    for (unsigned v = 0; v < b_places; ++v) {
      const unsigned wanted = b_column() + v;
      const unsigned there = wanted < last_column ? wanted : last_column;
      from_b_[v] =
          (b_k() * extents.ldb + (is_aligned ? there / Tile::piece * Tile::piece : there)) *
          unsigned{sizeof(Value)};
    }
  }

  [[nodiscard]] __device__ unsigned thread() const { return thread_; }

  __device__ void load() {
#pragma unroll
    for (unsigned i = 0; i < a_pieces; ++i) {
      of_a_[i] = Piece{};
    }
    if (a_k() < left_ && brings_a()) {
#pragma unroll
      for (unsigned i = 0; i < a_pieces; ++i) {
        if constexpr (is_aligned) {
          of_a_[i] = at<Piece>(a_, from_a_[i]);
        } else {
#pragma unroll
          for (unsigned v = 0; v < Tile::piece; ++v) {
            of_a_[i][v] = a_k() + v < left_ ? at<Value>(a_ + v, from_a_[i]) : Value{0};
          }
        }
      }
    }
#pragma unroll
    for (unsigned i = 0; i < b_pieces; ++i) {
      of_b_[i] = Piece{};
      if (b_k() + i * b_rows < left_ && brings_b()) {
        const Value* const row = b_ + std::size_t{i * b_rows} * ldb_;
        if constexpr (is_aligned) {
          of_b_[i] = at<Piece>(row, from_b_[0]);
        } else {
#pragma unroll
          for (unsigned v = 0; v < Tile::piece; ++v) {
            of_b_[i][v] = at<Value>(row, from_b_[v]);
          }
        }
      }
    }
    a_ += Tile::depth;
    b_ += std::size_t{Tile::depth} * ldb_;
    left_ = left_ > Tile::depth ? left_ - Tile::depth : 0;
  }
  __device__ void store(Lds<Tile>& lds) const {
    if (brings_a()) {
#pragma unroll
      for (unsigned i = 0; i < a_pieces; ++i) {
        lds.a[place_of_piece(a_row() + i * a_rows, a_k() / Tile::piece)] = of_a_[i];
      }
    }
    if (brings_b()) {
#pragma unroll
      for (unsigned i = 0; i < b_pieces; ++i) {
        lds.b[b_k() + i * b_rows][b_column() / Tile::piece] = of_b_[i];
      }
    }
  }

 private:
  static constexpr unsigned at_least_one(unsigned count) { return count == 0 ? 1 : count; }
  static constexpr unsigned a_rows = Tile::threads / 4;  // at once
  static constexpr unsigned a_pieces = at_least_one(Tile::rows / a_rows);
  static constexpr unsigned row_pieces = Tile::columns / Tile::piece;
  static constexpr unsigned b_rows = Tile::threads / row_pieces;
  static constexpr unsigned b_pieces = at_least_one(Tile::depth / b_rows);
  static constexpr unsigned b_places = is_aligned ? 1 : Tile::piece;
  static_assert(Tile::threads % row_pieces == 0);
  [[nodiscard]] __device__ unsigned a_row() const { return thread_ / 4; }
  [[nodiscard]] __device__ unsigned a_k() const { return thread_ % 4 * Tile::piece; }
  [[nodiscard]] __device__ unsigned b_k() const { return thread_ / row_pieces; }
  [[nodiscard]] __device__ unsigned b_column() const { return thread_ % row_pieces * Tile::piece; }
  // Of a small tile not all threads are needed.
  [[nodiscard]] __device__ bool brings_a() const {
    return a_rows <= Tile::rows || a_row() < Tile::rows;
  }
  [[nodiscard]] __device__ bool brings_b() const {
    return b_rows <= Tile::depth || b_k() < Tile::depth;
  }
  template <typename What>
  __device__ static const What& at(const Value* base, unsigned bytes) {
    return *reinterpret_cast<const What*>(reinterpret_cast<const char*>(base) + bytes);
  }

  unsigned ldb_;
  unsigned left_;  // k from the next tile's first to the end
  unsigned thread_;
  const Value* a_;
  const Value* b_;
  unsigned from_a_[a_pieces];
  unsigned from_b_[b_places];
  Piece of_a_[a_pieces];
  Piece of_b_[b_pieces];
};

/// A piece of a lane's sums to C, as far as it is within.
template <typename Tile>
__device__ void store_within(typename Tile::Value* c, const Extents& extents, bool is_aligned,
                             unsigned row, unsigned column, const typename Tile::Piece& sums,
                             typename Tile::Value alpha, typename Tile::Value beta) {
  store_results(c, extents, is_aligned, row, column,
                __builtin_bit_cast(gemm::Piece<typename Tile::Value>, sums), alpha, beta);
}

}  // namespace gemm::mfma

#endif
