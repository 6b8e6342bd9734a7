// A thread's part of a block's tile in the stages with copies of any size, and in sweep limit:
// which elements, its sums and their operands.
#pragma once

#include "device_code.h"

namespace sgemm {

/// The order of one k's FMAs. What it decides is how many operands an FMA shares with the one
/// before.
enum class FmaOrder {
  to_and_fro,       ///< along one row and back along the next
  up_and_down,      ///< down one column and up the next
  one_direction,    ///< down each column; two columns' ends share nothing
  no_factor_twice,  ///< along the diagonals
};

/// `rows` x `columns` elements of each thread, and how 256 threads stand in their block's tile: 32
/// lanes, a group, in `lane_rows` rows, and the groups in `group_rows`.
template <unsigned rows, unsigned columns>
struct ThreadTile {
  static constexpr unsigned threads = 256;
  static constexpr unsigned thread_rows = rows;
  static constexpr unsigned thread_columns = columns;
  static constexpr unsigned fmas = rows * columns / fma_columns;  ///< instructions for one k
  static constexpr unsigned group_lanes = 32;
  static constexpr unsigned lane_rows = columns > rows ? 8 : 4;
  static constexpr unsigned lane_columns = group_lanes / lane_rows;
  static constexpr unsigned group_rows = columns > rows ? 2 : 4;
  static constexpr unsigned group_columns = threads / group_lanes / group_rows;
  static constexpr unsigned block_rows = group_rows * lane_rows * rows;
  static constexpr unsigned block_columns = group_columns * lane_columns * columns;
  static constexpr unsigned blocks_per_unit = rows * columns > 64 ? 1 : 2;

  /// The place of a thread's first element in the tile. Its elements are pieces of 4 x 4, from one
  /// to the next as many as lanes stand beside each other.
  __device__ static Place place(unsigned thread) {
    const unsigned lane = thread % group_lanes;
    const unsigned group = thread / group_lanes;
    return {group % group_rows * (lane_rows * rows) + lane / lane_columns * 4,
            group / group_rows * (lane_columns * columns) + lane % lane_columns * 4};
  }
  __device__ static constexpr unsigned row_of(unsigned i) {
    return i / 4 * (4 * lane_rows) + i % 4;
  }
  __device__ static constexpr unsigned column_of(unsigned j) {
    return j / 4 * (4 * lane_columns) + j % 4;
  }

  /// The `i`th FMA's row, and its column or, of packed FMAs, its pair of columns.
  __device__ static constexpr Place place_of_fma(FmaOrder order, unsigned i) {
    constexpr unsigned width = columns / fma_columns;
    if (order == FmaOrder::no_factor_twice) {
      return {i % rows, (i / rows + i) % width};
    }
    if (order == FmaOrder::to_and_fro) {
      const unsigned row = i / width;
      return {row, row % 2 == 0 ? i % width : width - 1 - i % width};
    }
    const unsigned column = i / rows;
    const bool is_up = order == FmaOrder::up_and_down && column % 2 == 1;
    return {is_up ? rows - 1 - i % rows : i % rows, column};
  }
};

/// A thread's sums, and the operands of two k.
template <typename Tile>
class ThreadPart {
 public:
  static constexpr unsigned rows = Tile::thread_rows;
  static constexpr unsigned columns = Tile::thread_columns;
  static constexpr unsigned loads = (rows + columns) / 4;  ///< of 16 bytes, for one k

  /// The operands' `i`th load: B's first, since every FMA of the first columns needs them.
  template <unsigned set>
  __device__ void load(unsigned i, const float* a, const float* b) {
    if (i < columns / 4) {
      sgemm::load(b_[set][i], b + Tile::column_of(4 * i));
    } else if (i < loads) {
      const unsigned piece = i - columns / 4;
      sgemm::load(a_[set][piece], a + Tile::row_of(4 * piece));
    }
  }

  /// `by_fmaf`: where factors stay, nvcc would compute their product before the loop.
  template <unsigned set, bool by_fmaf = false>
  __device__ void multiply_add(Place place) {
    auto& sum = sums_[place.row][place.column];
    const float a = a_[set][place.row / 4][place.row % 4];
    const FmaColumns b = b_[set][place.column / per_load][place.column % per_load];
    if constexpr (by_fmaf && fma_columns == 1) {
      sum = fmaf(a, b, sum);
    } else {
      sgemm::multiply_add(sum, a, b);
    }
  }

  /// Operands that are loaded once and stay: for all that clang knows, A's are other values now. It
  /// would keep each twice, to have it beside itself for packed FMAs.
  template <unsigned set>
  __device__ void renew() {
#pragma unroll
    for (unsigned i = 0; i < rows; ++i) {
      a_[set][i / 4][i % 4] = computed_here(a_[set][i / 4][i % 4]);
    }
  }

  [[nodiscard]] __device__ float sum(unsigned row, unsigned column) const {
    return value_of(sums_[row][column / fma_columns], column % fma_columns);
  }
  __device__ void add(unsigned row, unsigned column, float value) {
    add_to(sums_[row][column / fma_columns], column % fma_columns, value);
  }

 private:
  static constexpr unsigned per_load = 4 / fma_columns;
  FmaColumns sums_[rows][columns / fma_columns] = {};
  float a_[2][rows / 4][4];
  FmaColumns b_[2][columns / 4][per_load];
};

}  // namespace sgemm
