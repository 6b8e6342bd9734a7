// A row-major in LDS, as it is in memory, in shapes for tall and flat products.
//
// Against 21, whose smallest tile, 32 x 32, is twice as wide as a side of 16: tiles of 16 x 128 and
// 64 x 16 waste nothing there. Such a product is bound by memory: 16 x 4096 x 4096 has 4 FMAs for
// each byte of B, read once. So nothing may delay the copies to LDS: A's values are not transposed
// one at a time, but come 16 bytes at a time like B's, or as many as are left of a row. A thread
// then loads four k of one of its rows at once, which takes as many loads from LDS as four rows for
// one k. And blocks are many and their buffers large: some 160 KiB are in flight to each SM.
// Threads get their rows so that no banks conflict: lanes read neighbouring rows, whose pitch is an
// odd multiple of 16 bytes.
// Not on AMD, whose copies go through registers: they turn A whatever their width.
// On the H200 38.79 TFLOP/s at 4096, 0.93 of 21; for flat products see 22, which chooses it.
#pragma once

#include "21-small-tiles.h"

namespace sgemm {

#if !defined(HIPSCOPE_BACKEND_AMD)

/// A piece of `values` neighbours from memory to LDS, of which `left` are there, or all; zeros in
/// place of the others. On NVIDIA not waited for.
template <unsigned values>
__device__ void copy_piece(float* to, const float* from, unsigned left) {
#if defined(HIPSCOPE_SGEMM_COPIES_TO_LDS)
  const auto address = static_cast<unsigned>(__cvta_generic_to_shared(to));
  const unsigned bytes = (left < values ? left : values) * 4;
  if constexpr (values == 4) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(address), "l"(from),
                 "r"(bytes)
                 : "memory");
  } else {
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(address), "l"(from),
                 "r"(bytes)
                 : "memory");
  }
#else
  for (unsigned i = 0; i < values; ++i) {
    to[i] = i < left ? from[i] : 0.0F;
  }
#endif
}

/// How many are left of `count` from `first` on.
__device__ inline unsigned left_from(unsigned first, unsigned count) {
  return first < count ? count - first : 0;
}

/// A block's copies, tile by tile of k: by 16 bytes where rows of A and B are aligned, else a value
/// at a time; neighbours by neighbouring lanes.
template <typename Shape, bool is_aligned>
class RowMajorCopies {
 public:
  __device__ RowMajorCopies(Extents extents, const float* a, const float* b, float* lds, Place tile,
                            unsigned first_k, unsigned end_k)
      : a_pitch_in_memory_(extents.lda),
        b_pitch_in_memory_(extents.ldb),
        left_(left_from(first_k, end_k)) {
    const unsigned row = threadIdx.x / a_lanes;
    a_k_ = threadIdx.x % a_lanes * piece;
    a_ = a + std::size_t{tile.row + row} * extents.lda + first_k + a_k_;
    a_to_ = lds + row * Shape::a_pitch + a_k_;
    rows_left_ = left_from(tile.row + row, extents.m);
    b_k_ = threadIdx.x / b_lanes;
    const unsigned column = threadIdx.x % b_lanes * piece;
    b_ = b + std::size_t{first_k + b_k_} * extents.ldb + tile.column + column;
    b_to_ = lds + Shape::buffers * Shape::a_values + b_k_ * Shape::columns + column;
    columns_left_ = left_from(tile.column + column, extents.n);
  }

  /// Begins to copy the next tile; beyond the matrices, and the block's part of k, zeros.
  __device__ void begin() {
    const unsigned of_row = left_from(a_k_, left_);
#pragma unroll
    for (unsigned i = 0; i < Shape::rows / a_rows; ++i) {
      copy_piece<piece>(a_to_ + buffer_ * Shape::a_values + i * a_rows * Shape::a_pitch,
                        a_ + std::size_t{i * a_rows} * a_pitch_in_memory_,
                        i * a_rows < rows_left_ ? of_row : 0);
    }
#pragma unroll
    for (unsigned i = 0; i < Shape::depth / b_rows; ++i) {
      copy_piece<piece>(b_to_ + buffer_ * Shape::b_values + i * b_rows * Shape::columns,
                        b_ + std::size_t{i * b_rows} * b_pitch_in_memory_,
                        b_k_ + i * b_rows < left_ ? columns_left_ : 0);
    }
    a_ += Shape::depth;
    b_ += std::size_t{Shape::depth} * b_pitch_in_memory_;
    left_ = left_from(Shape::depth, left_);
#if defined(HIPSCOPE_SGEMM_COPIES_TO_LDS)
    asm volatile("cp.async.commit_group;");
#endif
    buffer_ = buffer_ + 1 == Shape::buffers ? 0 : buffer_ + 1;
  }
  __device__ void end() {}  // the hardware stores

 private:
  static constexpr unsigned piece = is_aligned ? 4 : 1;
  static constexpr unsigned a_lanes = Shape::depth / piece;
  static constexpr unsigned a_rows = Shape::threads / a_lanes;  // at once
  static constexpr unsigned b_lanes = Shape::columns / piece;
  static constexpr unsigned b_rows = Shape::threads / b_lanes;
  static_assert(Shape::threads % a_lanes == 0 && Shape::rows % a_rows == 0 &&
                Shape::threads % b_lanes == 0 && Shape::depth % b_rows == 0);

  const float* a_;  // the thread's first value of the next tile
  const float* b_;
  unsigned a_pitch_in_memory_;
  unsigned b_pitch_in_memory_;
  unsigned left_;  // k from the next tile's first to the end
  unsigned a_k_;
  unsigned b_k_;
  float* a_to_;
  float* b_to_;
  unsigned rows_left_;
  unsigned columns_left_;
  unsigned buffer_ = 0;
};

/// A thread's sums; four k of A's rows and one of B's, and the next of both.
template <typename Shape>
class RowMajorPart {
 public:
  static constexpr unsigned rows = Shape::thread_rows;
  static constexpr unsigned columns = Shape::thread_columns;

  __device__ static unsigned first_row() {
    return Shape::group() % Shape::group_rows * (Shape::lane_rows * rows) +
           Shape::lane() / Shape::lane_columns;
  }
  __device__ static constexpr unsigned row_of(unsigned i) { return i * Shape::lane_rows; }

  /// The thread's operands in A's tile, and how far the next k is.
  __device__ static const float* first_of_a(const float* tile) {
    return tile + first_row() * Shape::a_pitch + Shape::slice() * Shape::slice_depth;
  }
  static constexpr unsigned a_step = 1;

  template <unsigned k>
  __device__ void load(const float* a, const float* b) {
    if constexpr (k % 4 == 0) {
#pragma unroll
      for (unsigned i = 0; i < rows; ++i) {
        sgemm::load(a_[k / 4 % 2][i], a + row_of(i) * Shape::a_pitch);
      }
    }
#pragma unroll
    for (unsigned j = 0; j < columns; j += 4) {
      sgemm::load(b_[k % 2][j / 4], b + Shape::column_of(j));
    }
  }

  template <unsigned k>
  __device__ void multiply_add() {
#pragma unroll
    for (unsigned i = 0; i < rows; ++i) {
#pragma unroll
      for (unsigned j = 0; j < columns; ++j) {
        const unsigned column = i % 2 == 0 ? j : columns - 1 - j;
        sums[i][column] += a_[k / 4 % 2][i][k % 4] * b_[k % 2][column / 4][column % 4];
      }
    }
  }

  float sums[rows][columns] = {};

 private:
  float a_[2][rows][4];
  float b_[2][columns / 4][4];
};

template <unsigned rows_, unsigned columns_, unsigned lane_rows_, unsigned thread_rows_,
          unsigned thread_columns_, unsigned slices_, unsigned slice_depth_, unsigned buffers_,
          unsigned blocks_per_unit_>
struct RowMajor : TileShape<rows_, columns_, lane_rows_, thread_rows_, thread_columns_, slices_,
                            slice_depth_, buffers_, blocks_per_unit_> {
  static constexpr unsigned a_pitch = RowMajor::depth + 4;
  static constexpr unsigned a_values = rows_ * a_pitch;  // of one buffer
  static constexpr unsigned lds_bytes = RowMajor::lds_bytes_with(a_values);
  template <bool is_aligned>
  using Copies = RowMajorCopies<RowMajor, is_aligned>;
  using Part = RowMajorPart<RowMajor>;
  static constexpr bool adds_in_lds = true;

  /// Whether the rows of A and B begin at multiples of 16 bytes.
  static bool is_aligned(const Product& product) {
    return gemm::begins_aligned(product.a, product.extents.lda) &&
           gemm::begins_aligned(product.b, product.extents.ldb);
  }
};

/// The tile of this stage. (On the host backend one that its LDS has room for.)
#if defined(HIPSCOPE_BACKEND_HOST)
using RowMajorTile = RowMajor<16, 64, 2, 8, 4, 2, 8, 3, 3>;
#else
using RowMajorTile = RowMajor<16, 128, 2, 8, 8, 4, 8, 4, 3>;
#endif

#endif

}  // namespace sgemm
