// Tiles of 64 x 64, with enough blocks for each to fill the GPU.
//
// Against 20, for products of few tiles: 512 x 512 has 16 of 128 x 128, and 132 SMs. A smaller tile
// takes more bytes and more loads from LDS for each FMA, and all SMs have work. Where that is not
// enough, blocks share a tile, each with its part of k, and add their sums in the same kernel:
// through LDS, by clusters, where 20 passes them through memory, from one block to the next
// (../gemm/split_sums.h). And rows of B that do not begin at multiples of 16 bytes are copied value
// by value: 20 copies B first, by another kernel, a long time for a small product. Blocks begin
// while the last ones of the kernel before still run, and wait for its end before they touch
// memory; that hides most of the launch, the larger part of a small product's time.
// On the H200 41.50 TFLOP/s at 4096, 0.84 of 20; for small sizes see 22, which chooses it.
//
// On AMD copies go through registers, by 16's class; the tile is 64 x 64, too, but of one wave or
// two, 8 x 8 per thread: the FMAs of CDNA 2 and RDNA 3 want that of LDS. Sums go through memory
// alone. How many blocks fit on a CU the runtime says. Not measured.
#pragma once

#include <algorithm>
#include <string>

#include "16-asynchronous-copies.h"
#include "8-kernels/gemm/split_sums.h"
#include "8-kernels/gemm/tile_by_size.h"
#include "device_code.h"
#include "stage.h"

namespace sgemm {

/// A block's tile, and how its threads share it: 32 lanes stand in `lane_rows_` rows, and each has
/// `thread_rows_` x `thread_columns_` sums. `slices_` groups of threads have `slice_depth_` k each
/// of a buffer; LDS has `buffers_` buffers.
template <unsigned rows_, unsigned columns_, unsigned lane_rows_, unsigned thread_rows_,
          unsigned thread_columns_, unsigned slices_, unsigned slice_depth_, unsigned buffers_,
          unsigned blocks_per_unit_>
struct TileShape {
  static constexpr unsigned rows = rows_;
  static constexpr unsigned columns = columns_;
  static constexpr unsigned lane_rows = lane_rows_;
  static constexpr unsigned lane_columns = 32 / lane_rows;
  static constexpr unsigned thread_rows = thread_rows_;
  static constexpr unsigned thread_columns = thread_columns_;
  static constexpr unsigned slices = slices_;
  static constexpr unsigned slice_depth = slice_depth_;
  static constexpr unsigned buffers = buffers_;
  /// That are to fit into a CU; 0: as many as do.
  static constexpr unsigned blocks_per_unit = blocks_per_unit_;
  static constexpr unsigned group_rows = rows / (lane_rows * thread_rows);
  static constexpr unsigned groups = group_rows * (columns / (lane_columns * thread_columns));
  static constexpr unsigned threads = 32 * groups * slices;
  static constexpr unsigned depth = slice_depth * slices;
  static constexpr unsigned b_values = depth * columns;  // of one buffer

  __device__ static unsigned slice() { return threadIdx.x / 32 / groups; }
  __device__ static unsigned group() { return threadIdx.x / 32 % groups; }
  __device__ static unsigned lane() { return threadIdx.x % 32; }
  /// The thread's `j`th column, of pieces of four, and where they begin.
  __device__ static unsigned first_column() {
    return group() / group_rows * (lane_columns * thread_columns) + lane() % lane_columns * 4;
  }
  __device__ static constexpr unsigned column_of(unsigned j) {
    return j / 4 * (4 * lane_columns) + j % 4;
  }

 protected:
  static constexpr unsigned lds_bytes_with(unsigned a_values) {
    const unsigned tile_values = buffers * (a_values + b_values);
    const unsigned sums = slices * rows * columns;
    return (tile_values > sums ? tile_values : sums) * static_cast<unsigned>(sizeof(float));
  }
};

#if !defined(HIPSCOPE_BACKEND_AMD)

/// A value, or four, from memory to LDS, or zeros where no more than `index` are left; on NVIDIA
/// not waited for.
template <unsigned values>
__device__ void copy(float* to, const float* from, unsigned left, unsigned index) {
#if defined(HIPSCOPE_SGEMM_COPIES_TO_LDS)
  const auto address = static_cast<unsigned>(__cvta_generic_to_shared(to));
  if constexpr (values == 4) {
    asm volatile(
        "{ .reg .pred missing; setp.le.u32 missing, %2, %3;"
        "  cp.async.cg.shared.global [%0], [%1], 16, missing; }" ::"r"(address),
        "l"(from), "r"(left), "r"(index)
        : "memory");
  } else {
    asm volatile(
        "{ .reg .pred missing; setp.le.u32 missing, %2, %3;"
        "  cp.async.ca.shared.global [%0], [%1], 4, missing; }" ::"r"(address),
        "l"(from), "r"(left), "r"(index)
        : "memory");
  }
#else
  for (unsigned i = 0; i < values; ++i) {
    to[i] = left > index ? from[i] : 0.0F;
  }
#endif
}

/// A block's copies, tile by tile of k. A's tile is transposed as it is copied, a value at a time,
/// 8 k of 4 rows by 32 lanes: that is 32 bytes of each row, and in LDS each lane has another bank.
/// B's rows come by 16 bytes where they are aligned, else a value at a time as well, 32 neighbours
/// by 32 lanes. Each warp's copies are beside each other as far as can be: their addresses then
/// differ by constants, which cost no instruction.
template <typename Shape, bool is_aligned>
class CopiesTransposed {
 public:
  __device__ CopiesTransposed(Extents extents, const float* a, const float* b, float* lds,
                              Place tile, unsigned first_k, unsigned end_k)
      : a_pitch_in_memory_(extents.lda),
        b_pitch_in_memory_(extents.ldb),
        left_(end_k > first_k ? end_k - first_k : 0) {
    const unsigned lane = threadIdx.x % 32;
    const unsigned warp = threadIdx.x / 32;
    a_k_ = warp % warps_of_row * (a_k_copies * 8) + lane % 8;
    const unsigned row = warp / warps_of_row * 4 + lane / 8;
    a_ = a + std::size_t{tile.row + row} * extents.lda + first_k + a_k_;
    a_to_ = lds + a_k_ * Shape::a_pitch + row;
    rows_left_ = tile.row + row < extents.m ? extents.m - tile.row - row : 0;
    b_k_ = threadIdx.x / b_lanes;
    const unsigned column = threadIdx.x % b_lanes * b_size;
    b_ = b + std::size_t{first_k + b_k_} * extents.ldb + tile.column + column;
    b_to_ = lds + Shape::buffers * Shape::a_values + b_k_ * Shape::columns + column;
    columns_left_ = tile.column + column < extents.n ? extents.n - tile.column - column : 0;
  }

  /// Begins to copy the next tile; beyond the matrices, and the block's part of k, zeros.
  __device__ void begin() {
#pragma unroll
    for (unsigned i = 0; i < a_k_copies; ++i) {
      const unsigned rows_left = a_k_ + i * 8 < left_ ? rows_left_ : 0;
#pragma unroll
      for (unsigned j = 0; j < a_row_copies; ++j) {
        copy<1>(a_to_ + buffer_ * Shape::a_values + i * 8 * Shape::a_pitch + j * a_rows,
                a_ + std::size_t{j * a_rows} * a_pitch_in_memory_ + i * 8, rows_left, j * a_rows);
      }
    }
#pragma unroll
    for (unsigned j = 0; j < b_row_copies; ++j) {
      const unsigned columns_left = b_k_ + j * b_rows < left_ ? columns_left_ : 0;
#pragma unroll
      for (unsigned i = 0; i < Shape::columns; i += b_lanes * b_size) {
        copy<b_size>(b_to_ + buffer_ * Shape::b_values + j * b_rows * Shape::columns + i,
                     b_ + std::size_t{j * b_rows} * b_pitch_in_memory_ + i, columns_left, i);
      }
    }
    a_ += Shape::depth;
    b_ += std::size_t{Shape::depth} * b_pitch_in_memory_;
    left_ = left_ > Shape::depth ? left_ - Shape::depth : 0;
#if defined(HIPSCOPE_SGEMM_COPIES_TO_LDS)
    asm volatile("cp.async.commit_group;");
#endif
    buffer_ = buffer_ + 1 == Shape::buffers ? 0 : buffer_ + 1;
  }
  __device__ void end() {}  // the hardware stores

 private:
  static constexpr unsigned warps = Shape::threads / 32;
  static constexpr unsigned a_copies = Shape::depth * Shape::rows / Shape::threads;
  static constexpr unsigned warps_of_row = Shape::slices > a_copies ? Shape::slices / a_copies : 1;
  static constexpr unsigned a_k_copies = Shape::slices / warps_of_row;
  static constexpr unsigned a_row_copies = a_copies / a_k_copies;
  static constexpr unsigned a_rows = warps / warps_of_row * 4;  // at once
  static constexpr unsigned b_size = is_aligned ? 4 : 1;
  // The largest power of two up to 32 that whole rows are a multiple of.
  static constexpr unsigned b_lanes =
      std::min(32U, Shape::columns / b_size & -(Shape::columns / b_size));
  static constexpr unsigned b_rows = Shape::threads / b_lanes;
  static constexpr unsigned b_row_copies = Shape::depth / b_rows;
  static_assert(a_rows * a_row_copies == Shape::rows && b_rows * b_row_copies == Shape::depth &&
                a_k_copies * warps_of_row == Shape::slices);

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

#endif

/// Waits until all but the `in_flight` last tiles are in LDS, for all threads of the block.
template <unsigned in_flight>
__device__ void wait_for_copies() {
#if defined(HIPSCOPE_SGEMM_COPIES_TO_LDS)
  asm volatile("cp.async.wait_group %0;" ::"n"(in_flight) : "memory");
#endif
  __syncthreads();
}

/// A thread's sums, and the operands of two k.
template <typename Shape>
class PartOfTransposed {
 public:
  static constexpr unsigned rows = Shape::thread_rows;
  static constexpr unsigned columns = Shape::thread_columns;

  __device__ static unsigned first_row() {
    return Shape::group() % Shape::group_rows * (Shape::lane_rows * rows) +
           Shape::lane() / Shape::lane_columns * 4;
  }
  __device__ static constexpr unsigned row_of(unsigned i) {
    return i / 4 * (4 * Shape::lane_rows) + i % 4;
  }

  /// The thread's operands in A's tile, and how far the next k is.
  __device__ static const float* first_of_a(const float* tile) {
    return tile + Shape::slice() * Shape::slice_depth * Shape::a_pitch + first_row();
  }
  static constexpr unsigned a_step = Shape::a_pitch;

  template <unsigned k>
  __device__ void load(const float* a, const float* b) {
    constexpr unsigned set = k % 2;
#pragma unroll
    for (unsigned j = 0; j < columns; j += 4) {
      sgemm::load(b_[set][j / 4], b + Shape::column_of(j));
    }
#pragma unroll
    for (unsigned i = 0; i < rows; i += 4) {
      sgemm::load(a_[set][i / 4], a + row_of(i));
    }
  }

  template <unsigned k>
  __device__ void multiply_add() {
    constexpr unsigned set = k % 2;
    // Of 8 x 16 up and down the columns: as in 18, FMAs then read fewer registers.
    constexpr bool in_columns = columns > rows;
    constexpr unsigned width = columns / fma_columns;
#pragma unroll
    for (unsigned i = 0; i < rows * width; ++i) {
      constexpr unsigned length = in_columns ? rows : width;
      const unsigned line = i / length;
      const unsigned in_line = line % 2 == 0 ? i % length : length - 1 - i % length;
      const unsigned row = in_columns ? in_line : line;
      const unsigned column = in_columns ? line : in_line;
      sgemm::multiply_add(sums[row][column], a_[set][row / 4][row % 4],
                          b_[set][column / per_load][column % per_load]);
    }
  }

  FmaColumns sums[rows][columns / fma_columns] = {};

 private:
  static constexpr unsigned per_load = 4 / fma_columns;
  float a_[2][rows / 4][4];
  FmaColumns b_[2][columns / 4][per_load];
};

/// A's tile is transposed in LDS: a row for each k.
template <unsigned rows_, unsigned columns_, unsigned thread_rows_, unsigned thread_columns_,
          unsigned slices_, unsigned buffers_, unsigned blocks_per_unit_>
struct Transposed : TileShape<rows_, columns_, 4, thread_rows_, thread_columns_, slices_, 8,
                              buffers_, blocks_per_unit_> {
  static constexpr unsigned a_pitch = rows_ + 4;
  static constexpr unsigned a_values = Transposed::depth * a_pitch;  // of one buffer
  static constexpr unsigned lds_bytes = Transposed::lds_bytes_with(a_values);
#if !defined(HIPSCOPE_BACKEND_AMD)
  template <bool is_aligned>
  using Copies = CopiesTransposed<Transposed, is_aligned>;
#endif
  using Part = PartOfTransposed<Transposed>;
  static constexpr bool adds_in_lds = true;

  /// Whether B's rows are pieces of 16 bytes.
  static bool is_aligned(const Product& product) {
    return product.extents.n % 4 == 0 && gemm::begins_aligned(product.b, product.extents.ldb);
  }
};

#if !defined(HIPSCOPE_BACKEND_NVIDIA)

/// 16's copies, of a block's part of k; two buffers, since a tile on its way is in registers.
template <typename Shape, bool is_aligned>
struct PipelineOf {
  static constexpr unsigned threads = Shape::threads;
  static constexpr unsigned block_rows = Shape::rows;
  static constexpr unsigned block_columns = Shape::columns;
  static constexpr unsigned buffers = Shape::buffers;
  static constexpr bool copies_b_by_values = !is_aligned;
};
template <typename Shape, bool is_aligned>
struct CopiesThroughRegisters : Copies<PipelineOf<Shape, is_aligned>> {
  using Base = Copies<PipelineOf<Shape, is_aligned>>;
  __device__ CopiesThroughRegisters(Extents extents, const float* a, const float* b, float* tiles,
                                    Place tile, unsigned first_k, unsigned end_k)
      : Base(until(extents, end_k), a, b, tiles, tiles + Shape::buffers * Shape::a_values, tile,
             first_k) {}

 private:
  __device__ static Extents until(Extents extents, unsigned end_k) {
    extents.k = end_k;
    return extents;
  }
};

template <unsigned rows_, unsigned columns_, unsigned thread_rows_, unsigned thread_columns_>
struct ThroughRegisters : Transposed<rows_, columns_, thread_rows_, thread_columns_, 1, 2, 0> {
  template <bool is_aligned>
  using Copies = CopiesThroughRegisters<ThroughRegisters, is_aligned>;
  static constexpr bool adds_in_lds = false;
  static constexpr unsigned lds_bytes =
      ThroughRegisters::buffers * (ThroughRegisters::a_values + ThroughRegisters::b_values) * 4;
};

#endif

template <typename Shape, bool is_aligned>
__global__ void __launch_bounds__(Shape::threads, Shape::blocks_per_unit)
    small_tiles_kernel(Extents extents, float alpha, const float* __restrict__ a,
                       const float* __restrict__ b, float beta, float* __restrict__ c,
                       gemm::SharedTiles<float> shared) {
  HIP_DYNAMIC_SHARED(float4, lds_pieces)
  float* const tiles = reinterpret_cast<float*>(lds_pieces);
  const gemm::Rank rank = gemm::rank_of_block();
  const gemm::TilePlace tile = gemm::place_of(shared.order, rank.tile);
  const Place place = {tile.row * Shape::rows, tile.column * Shape::columns};
  const auto [begin, end] = gemm::steps_of(shared, rank);
  const unsigned end_k = end * Shape::depth < extents.k ? end * Shape::depth : extents.k;
  using Part = typename Shape::Part;
  typename Shape::template Copies<is_aligned> copies(extents, a, b, tiles, place,
                                                     begin * Shape::depth, end_k);
  Part part;
  gemm::wait_for_kernel_before();
#pragma unroll
  for (unsigned i = 0; i + 1 < Shape::buffers; ++i) {
    copies.begin();
    copies.end();
  }
  wait_for_copies<Shape::buffers - 2>();
  const float* const a_first = Part::first_of_a(tiles);
  const float* const b_first = tiles + Shape::buffers * Shape::a_values +
                               Shape::slice() * Shape::slice_depth * Shape::columns +
                               Shape::first_column();
  const float* a_now = a_first;
  const float* b_now = b_first;
  part.template load<0>(a_now, b_now);
  unsigned buffer = 0;
  const auto one_k = [&]<unsigned k>() {
    const float* a_next = a_now + (k + 1) * Part::a_step;
    const float* b_next = b_now + (k + 1) * Shape::columns;
    if constexpr (k == 0) {
      copies.begin();
    }
    if constexpr (k + 2 == Shape::slice_depth) {
      copies.end();
    }
    if constexpr (k + 1 == Shape::slice_depth) {
      wait_for_copies<Shape::buffers - 2>();
      buffer = buffer + 1 == Shape::buffers ? 0 : buffer + 1;
      a_next = a_now = a_first + buffer * Shape::a_values;
      b_next = b_now = b_first + buffer * Shape::b_values;
    }
    part.template load<k + 1>(a_next, b_next);
    part.template multiply_add<k>();
  };
#pragma unroll 1
  for (unsigned step = begin; step < end; ++step) {
    for_each_k<Shape::slice_depth>(UpTo<Shape::slice_depth>{}, one_k);
  }
  wait_for_copies<0>();
  gemm::let_next_kernel_begin();
  const auto sum = [&](unsigned i, unsigned j) {
    return value_of(part.sums[i][j / fma_columns], j % fma_columns);
  };
  const auto for_each_piece = [&](auto store) {
#pragma unroll
    for (unsigned i = 0; i < Shape::thread_rows; ++i) {
#pragma unroll
      for (unsigned j = 0; j < Shape::thread_columns; j += 4) {
        store(Part::first_row() + Part::row_of(i), Shape::first_column() + Shape::column_of(j),
              gemm::Piece<float>{sum(i, j), sum(i, j + 1), sum(i, j + 2), sum(i, j + 3)});
      }
    }
  };
  if (Shape::slices == 1 && shared.cluster * shared.clusters == 1) {
    if (gemm::takes_whole_pieces(c, extents, beta)) {
      for_each_piece([&](unsigned row, unsigned column, gemm::Piece<float> piece) {
        gemm::store_whole_piece(c, extents, place.row + row, place.column + column, piece, alpha);
      });
    } else {
      const bool aligned_c = gemm::has_aligned_rows(c, extents);
      for_each_piece([&](unsigned row, unsigned column, gemm::Piece<float> piece) {
        gemm::store_results(c, extents, aligned_c, place.row + row, place.column + column, piece,
                            alpha, beta);
      });
    }
    return;
  }
  if constexpr (!Shape::adds_in_lds) {
    gemm::add_through_memory<Shape::rows * Shape::columns, Shape::threads>(
        shared, rank, reinterpret_cast<unsigned*>(tiles), for_each_piece,
        [&](unsigned row, unsigned column, gemm::Piece<float> piece) {
          gemm::store_results(c, extents, gemm::has_aligned_rows(c, extents), place.row + row,
                              place.column + column, piece, alpha, beta);
        });
    return;
  }
  constexpr gemm::SumsInLds sums = {Shape::rows, Shape::columns, Shape::columns, Shape::slices,
                                    Shape::threads};
  float* const to = tiles + Shape::slice() * (Shape::rows * Shape::columns);
  for_each_piece([&](unsigned row, unsigned column, gemm::Piece<float> piece) {
    gemm::store_piece(to + row * Shape::columns + column, piece);
  });
  gemm::add_and_store<sums>(tiles, shared, rank, extents, place.row, place.column, alpha, beta, c);
}

template <typename Shape>
void enqueue_small_tiles(const Product& product, gemm::Split split) {
  gemm::enqueue_either<Shape, small_tiles_kernel<Shape, true>, small_tiles_kernel<Shape, false>>(
      product, split, Shape::is_aligned(product));
}

template <typename Shape>
Stage small_tile_stage(const std::string& technique, const gemm::Needs& needs) {
  return gemm::shared_tile_stage<float, Shape, small_tiles_kernel<Shape, true>,
                                 enqueue_small_tiles<Shape>>(technique, gemm::Unit::vector, needs);
}

/// The tile of this stage.
#if !defined(HIPSCOPE_BACKEND_AMD)
using SmallTile = Transposed<64, 64, 8, 4, 1, 4, 4>;
#endif
#if !defined(HIPSCOPE_BACKEND_NVIDIA)
using SmallTileThroughRegisters = ThroughRegisters<64, 64, 8, 8>;
#endif

}  // namespace sgemm
