// Tiles of 64 x 64, each by as many blocks as fill the GPU.
//
// Against 20, for products of few tiles: 512 x 512 has 16 of 128 x 128, and 132 SMs. A smaller tile
// takes more bytes and more loads from LDS for each FMA, and all SMs have work. Where that is not
// enough, blocks share a tile, each with its part of k, and add their sums in the same kernel:
// through LDS, by clusters, where 20 hands them over through memory, from one block to the next
// (../gemm/split_sums.h). And rows of B that do not begin at multiples of 16 bytes are copied value
// by value: 20 makes a copy of B first, by a kernel more, which a small product takes long for.
// Blocks begin while the last of the kernel before are still there, and wait for its end before
// they touch memory; that hides most of a launch, of which a small product's time mostly consists.
// On the H200 41.45 TFLOP/s at 4096, 0.84 of 20; what small sizes gain shows 22, which chooses it.
// Not on AMD, whose loads to LDS go through registers: that would be rung 20 with another tile.
#pragma once

#include <cstdint>

#include "../gemm/chosen_tile.h"
#include "../gemm/split_sums.h"
#include "device_code.h"
#include "pipelined_launch.h"
#include "stage.h"

namespace sgemm {

#if !defined(HIPSCOPE_BACKEND_AMD)

namespace small_tiles {

constexpr unsigned lane_rows = 4;  // 32 lanes stand in so many rows
constexpr unsigned lane_columns = 8;
constexpr unsigned slice_depth = 8;  // of k in one buffer

/// A block's tile, and how its threads share it: each has `thread_rows_` x `thread_columns_` sums.
/// `slices_` groups of threads have a part of k each; LDS has `buffers_` buffers.
template <unsigned rows_, unsigned columns_, unsigned thread_rows_, unsigned thread_columns_,
          unsigned slices_, unsigned buffers_, unsigned blocks_per_unit_>
struct Shape {
  static constexpr unsigned rows = rows_;
  static constexpr unsigned columns = columns_;
  static constexpr unsigned thread_rows = thread_rows_;
  static constexpr unsigned thread_columns = thread_columns_;
  static constexpr unsigned slices = slices_;
  static constexpr unsigned buffers = buffers_;
  static constexpr unsigned blocks_per_unit = blocks_per_unit_;  ///< that are to fit into a CU
  static constexpr unsigned group_rows = rows / (lane_rows * thread_rows);
  static constexpr unsigned groups = group_rows * (columns / (lane_columns * thread_columns));
  static constexpr unsigned threads = 32 * groups * slices;
  static constexpr unsigned depth = slice_depth * slices;
  static constexpr unsigned a_pitch = rows + 4;
  static constexpr unsigned a_values = depth * a_pitch;  // of one buffer
  static constexpr unsigned b_values = depth * columns;
  static constexpr unsigned tile_values = buffers * (a_values + b_values);
  static constexpr unsigned sums = slices * rows * columns;
  static constexpr unsigned lds_bytes =
      (tile_values > sums ? tile_values : sums) * static_cast<unsigned>(sizeof(float));
};

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

/// Waits until all but the `on_their_way` last tiles are in LDS, for all threads of the block.
template <unsigned on_their_way>
__device__ void wait_for_copies() {
#if defined(HIPSCOPE_SGEMM_COPIES_TO_LDS)
  asm volatile("cp.async.wait_group %0;" ::"n"(on_their_way) : "memory");
#endif
  __syncthreads();
}

/// A block's copies, tile by tile of k. A's tile is transposed on its way, a value at a time, 8 k
/// of 4 rows by 32 lanes: that is 32 bytes of each row, and in LDS each lane has another bank. B's
/// rows come by 16 bytes where they are aligned, else a value at a time as well, 32 neighbours by
/// 32 lanes. Each warp's copies lie beside each other as far as can be: their addresses then differ
/// by constants, which cost no instruction.
template <typename Shape, bool is_aligned>
class Copies {
 public:
  __device__ Copies(Extents extents, const float* a, const float* b, float* lds, Place tile,
                    unsigned first_k, unsigned end_k)
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

 private:
  static constexpr unsigned warps = Shape::threads / 32;
  static constexpr unsigned a_copies = Shape::depth * Shape::rows / Shape::threads;
  static constexpr unsigned warps_of_row = Shape::slices > a_copies ? Shape::slices / a_copies : 1;
  static constexpr unsigned a_k_copies = Shape::slices / warps_of_row;
  static constexpr unsigned a_row_copies = a_copies / a_k_copies;
  static constexpr unsigned a_rows = warps / warps_of_row * 4;  // at once
  static constexpr unsigned b_size = is_aligned ? 4 : 1;
  static constexpr unsigned b_lanes = Shape::columns / b_size < 32 ? Shape::columns / b_size : 32;
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

/// A thread's sums, and the operands of two k.
template <typename Shape>
class Part {
 public:
  static constexpr unsigned rows = Shape::thread_rows;
  static constexpr unsigned columns = Shape::thread_columns;

  __device__ static Place place() {
    const unsigned lane = threadIdx.x % 32;
    const unsigned group = threadIdx.x / 32 % Shape::groups;
    return {group % Shape::group_rows * (lane_rows * rows) + lane / lane_columns * 4,
            group / Shape::group_rows * (lane_columns * columns) + lane % lane_columns * 4};
  }
  __device__ static unsigned slice() { return threadIdx.x / 32 / Shape::groups; }
  __device__ static constexpr unsigned row_of(unsigned i) {
    return i / 4 * (4 * lane_rows) + i % 4;
  }
  __device__ static constexpr unsigned column_of(unsigned j) {
    return j / 4 * (4 * lane_columns) + j % 4;
  }

  template <unsigned set>
  __device__ void load(const float* a, const float* b) {
#pragma unroll
    for (unsigned j = 0; j < columns; j += 4) {
      sgemm::load(b_[set][j / 4], b + column_of(j));
    }
#pragma unroll
    for (unsigned i = 0; i < rows; i += 4) {
      sgemm::load(a_[set][i / 4], a + row_of(i));
    }
  }

  template <unsigned set>
  __device__ void multiply_add() {
#pragma unroll
    for (unsigned i = 0; i < rows; ++i) {
#pragma unroll
      for (unsigned j = 0; j < columns; ++j) {
        const unsigned column = i % 2 == 0 ? j : columns - 1 - j;
        sums[i][column] += a_[set][i / 4][i % 4] * b_[set][column / 4][column % 4];
      }
    }
  }

  float sums[rows][columns] = {};

 private:
  float a_[2][rows / 4][4];
  float b_[2][columns / 4][4];
};

__device__ inline Place place_of_tile(unsigned tile, Extents extents, unsigned block_rows,
                                      unsigned block_columns) {
  constexpr unsigned group = 8;
  const unsigned rows = (extents.m + block_rows - 1) / block_rows;
  const unsigned columns = (extents.n + block_columns - 1) / block_columns;
  const unsigned first = tile / (group * columns) * group;
  const unsigned height = rows - first < group ? rows - first : group;
  const unsigned in_group = tile % (group * columns);
  return {(first + in_group % height) * block_rows, in_group / height * block_columns};
}

template <typename Shape, bool is_aligned>
__global__ void __launch_bounds__(Shape::threads, Shape::blocks_per_unit)
    small_tiles_kernel(Extents extents, float alpha, const float* __restrict__ a,
                       const float* __restrict__ b, float beta, float* __restrict__ c,
                       gemm::SharedTiles<float> shared) {
  HIP_DYNAMIC_SHARED(float4, lds_pieces)
  float* const lds = reinterpret_cast<float*>(lds_pieces);
  const gemm::Rank rank = gemm::rank_of(shared);
  const Place place = place_of_tile(rank.tile, extents, Shape::rows, Shape::columns);
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
  wait_for_copies<Shape::buffers - 2>();
  const float* const a_first =
      lds + ThisPart::slice() * slice_depth * Shape::a_pitch + ThisPart::place().row;
  const float* const b_first = lds + Shape::buffers * Shape::a_values +
                               ThisPart::slice() * slice_depth * Shape::columns +
                               ThisPart::place().column;
  const float* a_now = a_first;
  const float* b_now = b_first;
  part.template load<0>(a_now, b_now);
  unsigned buffer = 0;
  const auto one_k = [&]<unsigned k>() {
    const float* a_next = a_now + (k + 1) * Shape::a_pitch;
    const float* b_next = b_now + (k + 1) * Shape::columns;
    if constexpr (k == 0) {
      copies.begin();
    }
    if constexpr (k + 1 == slice_depth) {
      wait_for_copies<Shape::buffers - 2>();
      buffer = buffer + 1 == Shape::buffers ? 0 : buffer + 1;
      a_next = a_now = a_first + buffer * Shape::a_values;
      b_next = b_now = b_first + buffer * Shape::b_values;
    }
    part.template load<(k + 1) % 2>(a_next, b_next);
    part.template multiply_add<k % 2>();
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
  }
  static_assert(slice_depth == 8);
  wait_for_copies<0>();
  gemm::let_next_kernel_begin();
  if (Shape::slices == 1 && shared.cluster * shared.clusters == 1) {
    const bool aligned_c = gemm::has_aligned_rows(c, extents);
#pragma unroll
    for (unsigned i = 0; i < ThisPart::rows; ++i) {
#pragma unroll
      for (unsigned j = 0; j < ThisPart::columns; j += 4) {
        gemm::Piece<float> piece = {part.sums[i][j], part.sums[i][j + 1], part.sums[i][j + 2],
                                    part.sums[i][j + 3]};
        gemm::store_results(
            c, extents, aligned_c, place.row + ThisPart::place().row + ThisPart::row_of(i),
            place.column + ThisPart::place().column + ThisPart::column_of(j), piece, alpha, beta);
      }
    }
    return;
  }
  constexpr gemm::SumsInLds sums = {Shape::rows, Shape::columns, Shape::columns, Shape::slices,
                                    Shape::threads};
  float* const to = lds + ThisPart::slice() * (Shape::rows * Shape::columns) +
                    ThisPart::place().row * Shape::columns + ThisPart::place().column;
#pragma unroll
  for (unsigned i = 0; i < ThisPart::rows; ++i) {
#pragma unroll
    for (unsigned j = 0; j < ThisPart::columns; j += 4) {
      store_four(to + ThisPart::row_of(i) * Shape::columns + ThisPart::column_of(j),
                 make_float4(part.sums[i][j], part.sums[i][j + 1], part.sums[i][j + 2],
                             part.sums[i][j + 3]));
    }
  }
  gemm::add_and_store<sums>(lds, shared, rank, extents, place.row, place.column, alpha, beta, c);
}

/// Whether B's rows are pieces of 16 bytes.
inline bool is_aligned(const Product& product) {
  const Extents& extents = product.extents;
  return extents.n % 4 == 0 && extents.ldb % 4 == 0 &&
         reinterpret_cast<std::uintptr_t>(product.b) % 16 == 0;
}

template <typename Shape>
void enqueue(const Product& product, gemm::Split split) {
  gemm::enqueue_either<Shape, small_tiles_kernel<Shape, true>, small_tiles_kernel<Shape, false>>(
      product, split, is_aligned(product));
}

/// The tile of this rung.
using Tile = Shape<64, 64, 8, 4, 1, 4, 4>;

inline gemm::Split split_of(const Extents& extents) {
  return gemm::blocks_that_fit<Tile, small_tiles_kernel<Tile, true>>(extents);
}

}  // namespace small_tiles

inline Stage small_tiles_stage() {
  using Tile = small_tiles::Tile;
  return {.technique = "64 x 64, several blocks for a tile",
          .tiles = {.block_rows = Tile::rows,
                    .block_columns = Tile::columns,
                    .depth = Tile::depth,
                    .threads = Tile::threads,
                    .thread_rows = Tile::thread_rows,
                    .thread_columns = Tile::thread_columns},
          .dynamic_lds_bytes = Tile::lds_bytes,
          .any_size = true,
          .kernel = reinterpret_cast<const void*>(small_tiles::small_tiles_kernel<Tile, true>),
          .enqueue =
              [](const Stage&, const Product& product) {
                small_tiles::enqueue<Tile>(product, small_tiles::split_of(product.extents));
              },
          .workspace_bytes =
              [](const Extents& extents) {
                return gemm::bytes_of_shared_tiles<float, Tile>(extents,
                                                                small_tiles::split_of(extents));
              }};
}

#endif

}  // namespace sgemm
