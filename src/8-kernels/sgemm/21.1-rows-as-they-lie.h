// Tiles whose rows lie in LDS as in memory, in shapes for tall and flat products.
//
// Against 21, whose least tile, 32 x 32, is twice as wide as a side of 16: tiles of 16 x 128 and
// 64 x 16 have nothing to spare there. Such a product is bound by what it reads: 16 x 4096 x 4096
// has 4 FMAs for each byte of B, and reads those once. So nothing is to stand between memory and
// LDS: A's values are not turned on their way, one at a time, but come 16 bytes at a time as B's
// do, as many as are left of a row. A thread then loads four k of one of its rows at once, which
// are as many loads from LDS as of four rows for one k. And blocks are many and their buffers
// large: some 160 KiB are on their way to each SM.
// Which thread has which rows is chosen for the banks: lanes read neighbouring rows, whose pitch is
// an odd multiple of 16 bytes.
// Not on AMD, whose loads to LDS go through registers.
// On the H200 38.79 TFLOP/s at 4096, 0.94 of 21; what flat products gain shows 22, which chooses
// it.
#pragma once

#include <cstdint>

#include "../gemm/chosen_tile.h"
#include "../gemm/split_sums.h"
#include "21-small-tiles.h"
#include "device_code.h"
#include "stage.h"

namespace sgemm {

#if !defined(HIPSCOPE_BACKEND_AMD)

namespace rows_as_they_lie {

/// A block's tile, and how its threads share it: 32 lanes stand in `lane_rows_` rows, and each has
/// `thread_rows_` x `thread_columns_` sums. `slices_` groups of threads have `slice_depth_` k each
/// of a buffer; LDS has `buffers_` buffers.
template <unsigned rows_, unsigned columns_, unsigned lane_rows_, unsigned thread_rows_,
          unsigned thread_columns_, unsigned slices_, unsigned slice_depth_, unsigned buffers_,
          unsigned blocks_per_unit_>
struct Shape {
  static constexpr unsigned rows = rows_;
  static constexpr unsigned columns = columns_;
  static constexpr unsigned lane_rows = lane_rows_;
  static constexpr unsigned lane_columns = 32 / lane_rows;
  static constexpr unsigned thread_rows = thread_rows_;
  static constexpr unsigned thread_columns = thread_columns_;
  static constexpr unsigned slices = slices_;
  static constexpr unsigned slice_depth = slice_depth_;
  static constexpr unsigned buffers = buffers_;
  static constexpr unsigned blocks_per_unit = blocks_per_unit_;  ///< that are to fit into a CU
  static constexpr unsigned group_rows = rows / (lane_rows * thread_rows);
  static constexpr unsigned groups = group_rows * (columns / (lane_columns * thread_columns));
  static constexpr unsigned threads = 32 * groups * slices;
  static constexpr unsigned depth = slice_depth * slices;
  static constexpr unsigned a_pitch = depth + 4;
  static constexpr unsigned a_values = rows * a_pitch;  // of one buffer
  static constexpr unsigned b_values = depth * columns;
  static constexpr unsigned tile_values = buffers * (a_values + b_values);
  static constexpr unsigned sums = slices * rows * columns;
  static constexpr unsigned lds_bytes =
      (tile_values > sums ? tile_values : sums) * static_cast<unsigned>(sizeof(float));
};

/// A piece of `values` neighbours from memory to LDS, of which `left` are there, or all; zeros in
/// place of the others. On NVIDIA not waited for.
template <unsigned values>
__device__ void copy(float* to, const float* from, unsigned left) {
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
class Copies {
 public:
  __device__ Copies(Extents extents, const float* a, const float* b, float* lds, Place tile,
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
      copy<piece>(a_to_ + buffer_ * Shape::a_values + i * a_rows * Shape::a_pitch,
                  a_ + std::size_t{i * a_rows} * a_pitch_in_memory_,
                  i * a_rows < rows_left_ ? of_row : 0);
    }
#pragma unroll
    for (unsigned i = 0; i < Shape::depth / b_rows; ++i) {
      copy<piece>(b_to_ + buffer_ * Shape::b_values + i * b_rows * Shape::columns,
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
class Part {
 public:
  static constexpr unsigned rows = Shape::thread_rows;
  static constexpr unsigned columns = Shape::thread_columns;

  __device__ static Place place() {
    const unsigned lane = threadIdx.x % 32;
    const unsigned group = threadIdx.x / 32 % Shape::groups;
    return {group % Shape::group_rows * (Shape::lane_rows * rows) + lane / Shape::lane_columns,
            group / Shape::group_rows * (Shape::lane_columns * columns) +
                lane % Shape::lane_columns * 4};
  }
  __device__ static unsigned slice() { return threadIdx.x / 32 / Shape::groups; }
  __device__ static constexpr unsigned row_of(unsigned i) { return i * Shape::lane_rows; }
  __device__ static constexpr unsigned column_of(unsigned j) {
    return j / 4 * (4 * Shape::lane_columns) + j % 4;
  }

  template <unsigned set>
  __device__ void load_a(const float* a) {
#pragma unroll
    for (unsigned i = 0; i < rows; ++i) {
      sgemm::load(a_[set][i], a + row_of(i) * Shape::a_pitch);
    }
  }
  template <unsigned set>
  __device__ void load_b(const float* b) {
#pragma unroll
    for (unsigned j = 0; j < columns; j += 4) {
      sgemm::load(b_[set][j / 4], b + column_of(j));
    }
  }

  template <unsigned a_set, unsigned k>
  __device__ void multiply_add() {
#pragma unroll
    for (unsigned i = 0; i < rows; ++i) {
#pragma unroll
      for (unsigned j = 0; j < columns; ++j) {
        const unsigned column = i % 2 == 0 ? j : columns - 1 - j;
        sums[i][column] += a_[a_set][i][k] * b_[k % 2][column / 4][column % 4];
      }
    }
  }

  float sums[rows][columns] = {};

 private:
  float a_[2][rows][4];
  float b_[2][columns / 4][4];
};

template <typename Shape, bool is_aligned>
__global__ void __launch_bounds__(Shape::threads, Shape::blocks_per_unit)
    rows_as_they_lie_kernel(Extents extents, float alpha, const float* __restrict__ a,
                            const float* __restrict__ b, float beta, float* __restrict__ c,
                            gemm::SharedTiles<float> shared) {
  HIP_DYNAMIC_SHARED(float4, lds_pieces)
  float* const lds = reinterpret_cast<float*>(lds_pieces);
  constexpr unsigned on_their_way = Shape::buffers - 2;
  const gemm::Rank rank = gemm::rank_of(shared);
  const Place place = small_tiles::place_of_tile(rank.tile, extents, Shape::rows, Shape::columns);
  const unsigned steps = (extents.k + Shape::depth - 1) / Shape::depth;
  const auto [begin, end] = gemm::steps_of(shared, rank, steps);
  const unsigned end_k = end * Shape::depth < extents.k ? end * Shape::depth : extents.k;
  Copies<Shape, is_aligned> copies(extents, a, b, lds, place, begin * Shape::depth, end_k);
  using ThisPart = Part<Shape>;
  ThisPart part;
  gemm::wait_for_kernel_before();
#pragma unroll
  for (unsigned i = 0; i + 1 < Shape::buffers; ++i) {
    copies.begin();
  }
  small_tiles::wait_for_copies<on_their_way>();
  const float* const a_first =
      lds + ThisPart::place().row * Shape::a_pitch + ThisPart::slice() * Shape::slice_depth;
  const float* const b_first = lds + Shape::buffers * Shape::a_values +
                               ThisPart::slice() * Shape::slice_depth * Shape::columns +
                               ThisPart::place().column;
  const float* a_now = a_first;
  const float* b_now = b_first;
  part.template load_a<0>(a_now);
  part.template load_b<0>(b_now);
  unsigned buffer = 0;
  const auto one_k = [&]<unsigned k>() {
    if constexpr (k < Shape::slice_depth) {
      const float* a_next = a_now + k + 1;
      const float* b_next = b_now + (k + 1) * Shape::columns;
      if constexpr (k == 0) {
        copies.begin();
      }
      if constexpr (k + 1 == Shape::slice_depth) {
        small_tiles::wait_for_copies<on_their_way>();
        buffer = buffer + 1 == Shape::buffers ? 0 : buffer + 1;
        a_next = a_now = a_first + buffer * Shape::a_values;
        b_next = b_now = b_first + buffer * Shape::b_values;
      }
      if constexpr (k % 4 == 3) {
        part.template load_a<(k / 4 + 1) % 2>(a_next);
      }
      part.template load_b<(k + 1) % 2>(b_next);
      part.template multiply_add<k / 4 % 2, k % 4>();
    }
  };
#pragma unroll 1
  for (unsigned step = begin; step < end; ++step) {
    one_k.template operator()<0>();
    one_k.template operator()<1>();
    one_k.template operator()<2>();
    one_k.template operator()<3>();
    one_k.template operator()<4>();
    one_k.template operator()<5>();
    one_k.template operator()<6>();
    one_k.template operator()<7>();
    one_k.template operator()<8>();
    one_k.template operator()<9>();
    one_k.template operator()<10>();
    one_k.template operator()<11>();
    one_k.template operator()<12>();
    one_k.template operator()<13>();
    one_k.template operator()<14>();
    one_k.template operator()<15>();
  }
  static_assert(Shape::slice_depth == 8 || Shape::slice_depth == 16);
  small_tiles::wait_for_copies<0>();
  gemm::let_next_kernel_begin();
  const bool is_direct = Shape::slices == 1 && shared.cluster * shared.clusters == 1;
  const bool aligned_c = gemm::has_aligned_rows(c, extents);
  float* const to = lds + ThisPart::slice() * (Shape::rows * Shape::columns);
#pragma unroll
  for (unsigned i = 0; i < ThisPart::rows; ++i) {
    const unsigned row = ThisPart::place().row + ThisPart::row_of(i);
#pragma unroll
    for (unsigned j = 0; j < ThisPart::columns; j += 4) {
      const unsigned column = ThisPart::place().column + ThisPart::column_of(j);
      const gemm::Piece<float> piece = {part.sums[i][j], part.sums[i][j + 1], part.sums[i][j + 2],
                                        part.sums[i][j + 3]};
      if (is_direct) {
        gemm::store_results(c, extents, aligned_c, place.row + row, place.column + column, piece,
                            alpha, beta);
      } else {
        gemm::store_piece(to + row * Shape::columns + column, piece);
      }
    }
  }
  if (!is_direct) {
    constexpr gemm::SumsInLds sums = {Shape::rows, Shape::columns, Shape::columns, Shape::slices,
                                      Shape::threads};
    gemm::add_and_store<sums>(lds, shared, rank, extents, place.row, place.column, alpha, beta, c);
  }
}

/// Whether the rows of A and B begin at multiples of 16 bytes.
inline bool is_aligned(const Product& product) {
  const auto begins_so = [](const float* matrix, unsigned pitch) {
    return pitch % 4 == 0 && reinterpret_cast<std::uintptr_t>(matrix) % 16 == 0;
  };
  return begins_so(product.a, product.extents.lda) && begins_so(product.b, product.extents.ldb);
}

template <typename Shape>
void enqueue(const Product& product, gemm::Split split) {
  gemm::enqueue_either<Shape, rows_as_they_lie_kernel<Shape, true>,
                       rows_as_they_lie_kernel<Shape, false>>(product, split, is_aligned(product));
}

/// The tile of this rung. (On the host backend one that its LDS has room for.)
#if defined(HIPSCOPE_BACKEND_HOST)
using Tile = Shape<16, 64, 2, 8, 4, 2, 8, 3, 3>;
#else
using Tile = Shape<16, 128, 2, 8, 8, 4, 8, 4, 3>;
#endif

inline gemm::Split split_of(const Extents& extents) {
  return gemm::blocks_that_fit<Tile, rows_as_they_lie_kernel<Tile, true>>(extents);
}

}  // namespace rows_as_they_lie

inline Stage rows_as_they_lie_stage() {
  using Tile = rows_as_they_lie::Tile;
  return {.technique = "16 x 128, rows in LDS as they lie",
          .tiles = {.block_rows = Tile::rows,
                    .block_columns = Tile::columns,
                    .depth = Tile::depth,
                    .threads = Tile::threads,
                    .thread_rows = Tile::thread_rows,
                    .thread_columns = Tile::thread_columns},
          .dynamic_lds_bytes = Tile::lds_bytes,
          .any_size = true,
          .kernel =
              reinterpret_cast<const void*>(rows_as_they_lie::rows_as_they_lie_kernel<Tile, true>),
          .enqueue =
              [](const Stage&, const Product& product) {
                rows_as_they_lie::enqueue<Tile>(product,
                                                rows_as_they_lie::split_of(product.extents));
              },
          .workspace_bytes =
              [](const Extents& extents) {
                return gemm::bytes_of_shared_tiles<float, Tile>(
                    extents, rows_as_they_lie::split_of(extents));
              }};
}

#endif

}  // namespace sgemm
