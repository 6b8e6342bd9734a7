// Against 4.16: tiles of 64 x 64, each by as many blocks as fill the GPU.
//
// For products of few tiles: 512 x 512 has 16 of 128 x 128, and 132 SMs. Smaller tiles read more
// bytes for each FMA, and all SMs have work. Where that is not enough, blocks share a tile, each
// with its part of k, and add their sums in the same kernel: through LDS, by clusters, where 4.16
// passes them through memory, from one block to the next (../gemm/split_sums.h). Blocks begin while
// the last ones of the kernel before still run, and wait for its end before they touch memory; that
// hides most of the launch, the larger part of a small product's time.
// On the H200 52.84 TFLOP/s at 4096, 89.3 % of the peak; for small sizes see 4.18.
#pragma once

#include <cstdint>

#include "4.14-matrix-instructions.h"
#include "8-kernels/gemm/split_sums.h"
#include "8-kernels/gemm/tile_by_size.h"
#include "matrix_instruction.h"
#include "pipeline.h"
#include "stage.h"

namespace dgemm {

#if !defined(HIPSCOPE_BACKEND_AMD)

namespace small_tiles {

/// A block's tile, and how its groups of 32 lanes share it: each has `thread_rows_` x
/// `thread_columns_`. `slices_` of them have a part of k each; LDS has `buffers_` buffers.
template <unsigned rows_, unsigned columns_, unsigned thread_rows_, unsigned thread_columns_,
          unsigned slices_, unsigned buffers_, unsigned blocks_per_unit_,
          unsigned slice_depth_ = 16>
struct Shape {
  static constexpr unsigned rows = rows_;
  static constexpr unsigned columns = columns_;
  static constexpr unsigned thread_rows = thread_rows_;
  static constexpr unsigned thread_columns = thread_columns_;
  static constexpr unsigned slices = slices_;
  static constexpr unsigned buffers = buffers_;
  static constexpr unsigned blocks_per_unit = blocks_per_unit_;  ///< that are to fit into a CU
  static constexpr unsigned slice_depth = slice_depth_;          ///< of k in one buffer
  static constexpr unsigned groups_of_rows = rows / thread_rows;
  static constexpr unsigned groups = groups_of_rows * (columns / thread_columns);
  static constexpr unsigned threads = 32 * groups * slices;
  static constexpr unsigned depth = slice_depth * slices;
  static constexpr unsigned a_pitch = depth;
  static constexpr unsigned b_pitch = columns + 2;
  static constexpr unsigned tile_values = buffers * (rows * a_pitch + depth * b_pitch);
  static constexpr unsigned sums = slices * rows * b_pitch;
  static constexpr unsigned lds_bytes =
      (tile_values > sums ? tile_values : sums) * static_cast<unsigned>(sizeof(double));
  __device__ static constexpr unsigned place_of_pair(unsigned row, unsigned pair) {
    return MatrixLanes::place_of_pair(row, pair);
  }
  __device__ static constexpr unsigned exchange_of_b(unsigned) { return 0; }
};

/// What 32 lanes multiply: instructions of 8 rows and 16 columns.
template <typename Shape>
class Part {
 public:
  static constexpr unsigned rows = Shape::thread_rows / 8;
  static constexpr unsigned columns = Shape::thread_columns / 16;

  /// Of the group's part of the tile: the thread's sums are rows 2 t and 2 t + 1, columns 2 g and
  /// 2 g + 1, and 8 rows and 16 columns further.
  __device__ static Place place_of_group() {
    const unsigned group = threadIdx.x / 32 % Shape::groups;
    return {group % Shape::groups_of_rows * Shape::thread_rows,
            group / Shape::groups_of_rows * Shape::thread_columns};
  }
  __device__ static unsigned slice() { return threadIdx.x / 32 / Shape::groups; }

  /// The operands of the `half`th 8 k: lane t has k 2 t and 2 t + 1 of them.
  template <unsigned half>
  __device__ void load(const double* a, const double* b) {
    constexpr unsigned set = half % 2;
    const unsigned lane = threadIdx.x % 32;
    const double* const b_lane = b + (half * 8 + lane % 4 * 2) * Shape::b_pitch + lane / 4 * 2;
#pragma unroll
    for (unsigned j = 0; j < columns; ++j) {
      b_[set][j][0] = load_two(b_lane + j * 16);
      b_[set][j][1] = load_two(b_lane + Shape::b_pitch + j * 16);
    }
    const unsigned row = lane / 4;  // of 8; groups begin at multiples of 8
    const double* const a_lane =
        a + row * Shape::depth + Shape::place_of_pair(row, half * 4 + lane % 4);
#pragma unroll
    for (unsigned i = 0; i < rows; ++i) {
      a_[set][i] = load_two(a_lane + i * 8 * Shape::depth);
    }
  }

  template <unsigned half>
  __device__ void multiply_add() {
    constexpr unsigned set = half % 2;
#pragma unroll
    for (unsigned j = 0; j < columns; ++j) {
#pragma unroll
      for (unsigned i = 0; i < rows; ++i) {
        const unsigned row = j % 2 == 0 ? i : rows - 1 - i;
        multiply_add_eight_k(sums[row][j], b_[set][j], a_[set][row]);
      }
    }
  }

  double sums[rows][columns][4] = {};

 private:
  double2 a_[2][rows];        // of two k
  double2 b_[2][columns][2];  // of two columns, and of two k
};

template <typename Shape, bool is_even>
__global__ void __launch_bounds__(Shape::threads, Shape::blocks_per_unit)
    small_tiles_kernel(Extents extents, double alpha, const double* __restrict__ a,
                       const double* __restrict__ b, double beta, double* __restrict__ c,
                       gemm::SharedTiles<double> shared) {
  HIP_DYNAMIC_SHARED(double2, lds_pairs)
  double* const lds = reinterpret_cast<double*>(lds_pairs);
  using ThisPart = Part<Shape>;
  const gemm::Rank rank = gemm::rank_of_block();
  const gemm::TilePlace tile = gemm::place_of(shared.order, rank.tile);
  const Place place = {tile.row * Shape::rows, tile.column * Shape::columns};
  const auto [begin, end] = gemm::steps_of(shared, rank);
  const unsigned end_k = end * Shape::depth < extents.k ? end * Shape::depth : extents.k;
  Copies<Shape, is_even> copies(extents, a, b, lds, place, begin * Shape::depth, end_k);
  ThisPart part;
  gemm::wait_for_kernel_before();
  copies.begin_first();
  copies.wait();
  // place_of_pair in a slice: 16 k, 8 pairs, further; what is exchanged is a bit below that.
  const double* const a_first =
      lds + ThisPart::place_of_group().row * Shape::depth + ThisPart::slice() * Shape::slice_depth;
  const double* const b_first = lds + Shape::buffers * copies.a_values +
                                ThisPart::slice() * Shape::slice_depth * Shape::b_pitch +
                                ThisPart::place_of_group().column;
  const double* a_now = a_first;
  const double* b_now = b_first;
  part.template load<0>(a_now, b_now);
  unsigned buffer = 0;
  const auto eight_k = [&]<unsigned half>() {
    if constexpr (half * 8 < Shape::slice_depth) {
      if constexpr (half == 0) {
        copies.begin();
      }
      if constexpr (half * 8 + 8 == Shape::slice_depth) {
        copies.wait();
        buffer = buffer + 1 == Shape::buffers ? 0 : buffer + 1;
        a_now = a_first + buffer * copies.a_values;
        b_now = b_first + buffer * copies.b_values;
        part.template load<0>(a_now, b_now);
      } else {
        part.template load<half + 1>(a_now, b_now);
      }
      part.template multiply_add<half>();
    }
  };
#pragma unroll 1
  for (unsigned step = begin; step < end; ++step) {
    eight_k.template operator()<0>();
    eight_k.template operator()<1>();
    eight_k.template operator()<2>();
    eight_k.template operator()<3>();
  }
  static_assert(Shape::slice_depth == 16 || Shape::slice_depth == 32);
  copies.template wait<0>();
  gemm::let_next_kernel_begin();
  const unsigned lane = threadIdx.x % 32;
  const unsigned first_row = ThisPart::place_of_group().row + lane % 4 * 2;
  const unsigned first_column = ThisPart::place_of_group().column + lane / 4 * 2;
  const auto for_each_piece = [&](auto store) {
#pragma unroll
    for (unsigned i = 0; i < ThisPart::rows * 2; ++i) {
#pragma unroll
      for (unsigned j = 0; j < ThisPart::columns; ++j) {
        store(first_row + i / 2 * 8 + i % 2, first_column + j * 16,
              gemm::Piece<double>{part.sums[i / 2][j][i % 2], part.sums[i / 2][j][2 + i % 2]});
      }
    }
  };
  if (Shape::slices > 1 || shared.cluster * shared.clusters > 1) {
    double* const to = lds + ThisPart::slice() * (Shape::rows * Shape::b_pitch);
    for_each_piece([&](unsigned row, unsigned column, gemm::Piece<double> piece) {
      gemm::store_piece(to + row * Shape::b_pitch + column, piece);
    });
    constexpr gemm::SumsInLds sums = {Shape::rows, Shape::columns, Shape::b_pitch, Shape::slices,
                                      Shape::threads};
    gemm::add_and_store<sums>(lds, shared, rank, extents, place.row, place.column, alpha, beta, c);
  } else if (gemm::takes_whole_pieces(c, extents, beta)) {
    for_each_piece([&](unsigned row, unsigned column, gemm::Piece<double> piece) {
      gemm::store_whole_piece(c, extents, place.row + row, place.column + column, piece, alpha);
    });
  } else {
    const bool aligned_c = gemm::has_aligned_rows(c, extents);
    for_each_piece([&](unsigned row, unsigned column, gemm::Piece<double> piece) {
      gemm::store_results(c, extents, aligned_c, place.row + row, place.column + column, piece,
                          alpha, beta);
    });
  }
}

template <typename Shape>
void enqueue(const Product& product, gemm::Split split) {
  gemm::enqueue_either<Shape, small_tiles_kernel<Shape, true>, small_tiles_kernel<Shape, false>>(
      product, split, gemm::has_whole_pieces(product));
}

/// The tile of this stage.
#if defined(HIPSCOPE_BACKEND_HOST)
using Tile = Shape<32, 32, 16, 32, 1, 3, 2>;
#else
using Tile = Shape<64, 64, 16, 32, 1, 4, 2>;
#endif

}  // namespace small_tiles

inline Stage small_tiles_stage() {
  using small_tiles::Tile;
  return gemm::shared_tile_stage<double, Tile, small_tiles::small_tiles_kernel<Tile, true>,
                                 small_tiles::enqueue<Tile>>("small tiles, several blocks for each",
                                                             Unit::matrix, matrix_instruction);
}

#endif

}  // namespace dgemm
