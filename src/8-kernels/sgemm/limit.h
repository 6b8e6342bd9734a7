// Sweep limit: where the rest of the peak goes, for FMAs as the fastest rungs have them.
//
// One block of 256 threads on each CU (of 8 x 8 elements per thread also two), each thread with its
// part of a tile, tile after tile of 16 k. A row's loop holds what the row's before holds and more:
//   FMAs           operands of two k stay in registers
//   + LDS loads    the next k's operands are loaded amid the FMAs of this one
//   + barrier      one for each tile of 16 k
//   + copies       the next tile comes from global memory: rung 19's loop as it is, of 8 k per tile
// What rung 19 then loses against the last is outside of its loop: the first tile's way to LDS,
// C, and blocks that wait for others.
// FMAs alone stand in several orders, which decide how many operands they share with the FMA
// before. The compiler has the last word on that: scripts/sass_report.py counts them, `fed`, and
// the FMAs whose operands meet in a register bank, `clashes`.
#pragma once

#include <hipscope/hipscope.h>

#include <array>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "stages.h"

namespace sgemm::limit {

/// What the loop holds beside FMAs, each with all before it.
enum class Parts { fmas, lds_loads, barriers, copies };

/// The order of one k's FMAs.
enum class Order {
  no_factor_twice,  ///< along the diagonals
  one_direction,    ///< down each column; two columns' ends share nothing
  up_and_down,      ///< down one column and up the next
  to_and_fro,       ///< the same along the rows
};

inline constexpr unsigned threads = 256;
inline constexpr unsigned depth = 16;   // k of one tile
inline constexpr unsigned buffers = 2;  // tiles in LDS
inline constexpr unsigned kinds = 3;    // of tiles; more than buffers, so that a stale one shows
inline constexpr unsigned known_k = kinds * depth;
inline constexpr unsigned least_k = buffers * depth;
inline constexpr unsigned group_lanes = 32;

/// A thread's part of the tile, and how threads stand in it.
template <unsigned thread_rows, unsigned thread_columns>
struct Shape {
  static constexpr unsigned rows = thread_rows;
  static constexpr unsigned columns = thread_columns;
  static constexpr unsigned fmas = rows * columns;
  static constexpr unsigned fma_instructions = fmas / fma_columns;
  static constexpr unsigned lane_rows = columns > rows ? 8 : 4;
  static constexpr unsigned lane_columns = group_lanes / lane_rows;
  static constexpr unsigned group_rows = columns > rows ? 2 : 4;
  static constexpr unsigned group_columns = threads / group_lanes / group_rows;
  static constexpr unsigned block_rows = group_rows * lane_rows * rows;
  static constexpr unsigned block_columns = group_columns * lane_columns * columns;
  static constexpr unsigned blocks_per_unit = fmas > 64 ? 1 : 2;

  /// The thread's first element. Its elements are pieces of 4 x 4, from one to the next as many as
  /// lanes stand beside each other.
  __device__ static Place place() {
    const unsigned lane = threadIdx.x % group_lanes;
    const unsigned group = threadIdx.x / group_lanes;
    return {group % group_rows * (lane_rows * rows) + lane / lane_columns * 4,
            group / group_rows * (lane_columns * columns) + lane % lane_columns * 4};
  }
  __device__ static constexpr unsigned row_of(unsigned i) {
    return i / 4 * (4 * lane_rows) + i % 4;
  }
  __device__ static constexpr unsigned column_of(unsigned j) {
    return j / 4 * (4 * lane_columns) + j % 4;
  }

  /// The `i`th FMA instruction's row, and its column or pair of columns.
  template <Order order>
  __device__ static constexpr Place place_of_fma(unsigned i) {
    constexpr unsigned width = columns / fma_columns;
    if (order == Order::no_factor_twice) {
      return {i % rows, (i / rows + i) % width};
    }
    if (order == Order::to_and_fro) {
      const unsigned row = i / width;
      return {row, row % 2 == 0 ? i % width : width - 1 - i % width};
    }
    const unsigned column = i / rows;
    const bool is_up = order == Order::up_and_down && column % 2 == 1;
    return {is_up ? rows - 1 - i % rows : i % rows, column};
  }
};

/// Where operands lie: A has a row for each of the tile's rows, B one for each k.
struct Operands {
  const float* a;
  const float* b;
  unsigned k;  ///< of all tiles: the elements of A's rows
};

using sgemm::multiply_add;  // of a pair
/// One FMA: of a product and a sum nvcc would compute the product of what stays before the loop.
__device__ inline void multiply_add(float& sum, float a, float b) { sum = fmaf(a, b, sum); }

/// A thread's sums, and the operands of two k.
template <typename Shape>
class Part {
 public:
  template <unsigned set>
  __device__ void load(unsigned i, const float* a, const float* b) {
    if (i < Shape::columns / 4) {
      sgemm::load(b_[set][i], b + Shape::column_of(4 * i));
    } else if (i < loads) {
      const unsigned piece = i - Shape::columns / 4;
      sgemm::load(a_[set][piece], a + Shape::row_of(4 * piece));
    }
  }
  static constexpr unsigned loads = (Shape::rows + Shape::columns) / 4;

  template <unsigned set>
  __device__ void multiply_add(Place place) {
    limit::multiply_add(sums_[place.row][place.column], a_[set][place.row / 4][place.row % 4],
                        b_[set][place.column / per_load][place.column % per_load]);
  }

  /// What was loaded once and stays: for all that clang knows, it is other values now. It would
  /// keep each factor twice, to have it beside itself for packed FMAs.
  template <unsigned set>
  __device__ void renew() {
#pragma unroll
    for (unsigned i = 0; i < Shape::rows; ++i) {
      a_[set][i / 4][i % 4] = computed_here(a_[set][i / 4][i % 4]);
    }
  }

  [[nodiscard]] __device__ float sum(unsigned row, unsigned column) const {
    return value_of(sums_[row][column / fma_columns], column % fma_columns);
  }

 private:
  static constexpr unsigned per_load = 4 / fma_columns;
  FmaColumns sums_[Shape::rows][Shape::columns / fma_columns] = {};
  float a_[2][Shape::rows / 4][4];
  FmaColumns b_[2][Shape::columns / 4][per_load];
};

/// Fills all of LDS with the first tiles, A's turned.
template <typename Shape>
__device__ void fill_lds(Operands from, float* a_tiles, float* b_tiles) {
  for (unsigned i = threadIdx.x; i < buffers * depth * Shape::block_rows; i += threads) {
    a_tiles[i] = from.a[i % Shape::block_rows * from.k + i / Shape::block_rows];
  }
  for (unsigned i = threadIdx.x; i < buffers * depth * Shape::block_columns; i += threads) {
    b_tiles[i] = from.b[i];
  }
  __syncthreads();
}

/// `output` has a tile for each block; `part` what tells a thread's sums.
template <typename Shape, typename Sums>
__device__ void store_sums(const Sums& part, float* output) {
  const Place place = Shape::place();
  float* const tile = output + std::size_t{blockIdx.x} * Shape::block_rows * Shape::block_columns;
#pragma unroll
  for (unsigned i = 0; i < Shape::rows; ++i) {
#pragma unroll
    for (unsigned j = 0; j < Shape::columns; ++j) {
      // One by one: stores of 16 bytes would decide in which registers the sums are.
      tile[(place.row + Shape::row_of(i)) * Shape::block_columns + place.column +
           Shape::column_of(j)] = part.sum(i, j);
    }
  }
}

/// All rows but those with copies.
template <typename Shape, Parts parts, Order order>
__global__ void __launch_bounds__(threads, Shape::blocks_per_unit)
    limit_kernel(Operands from, unsigned steps, float* output) {
  alignas(16) __shared__ float a_tiles[buffers * depth * Shape::block_rows];
  alignas(16) __shared__ float b_tiles[buffers * depth * Shape::block_columns];
  constexpr bool loads_from_lds = parts != Parts::fmas;
  Part<Shape> part;
  const float* const a_first = a_tiles + Shape::place().row;
  const float* const b_first = b_tiles + Shape::place().column;
  fill_lds<Shape>(from, a_tiles, b_tiles);
#pragma unroll
  for (unsigned i = 0; i < Part<Shape>::loads; ++i) {
    part.template load<0>(i, a_first, b_first);
    if constexpr (!loads_from_lds) {
      part.template load<1>(i, a_first + Shape::block_rows, b_first + Shape::block_columns);
    }
  }
  unsigned buffer = 0;
  const auto one_k = [&]<unsigned k>() {
    wait_for_lds();
    if constexpr (!loads_from_lds) {
      part.template renew<k % 2>();
    }
    if constexpr (k + 1 == depth && loads_from_lds) {
      if constexpr (parts == Parts::barriers) {
        __syncthreads();
      }
      buffer = 1 - buffer;
    }
    const float* const a_next = a_first + (buffer * depth + (k + 1) % depth) * Shape::block_rows;
    const float* const b_next = b_first + (buffer * depth + (k + 1) % depth) * Shape::block_columns;
#pragma unroll
    for (unsigned i = 0; i < Shape::fma_instructions; ++i) {
      constexpr unsigned fmas_between_loads = 4;
      if (loads_from_lds && i % fmas_between_loads == 0 &&
          i / fmas_between_loads < Part<Shape>::loads) {
        part.template load<(k + 1) % 2>(i / fmas_between_loads, a_next, b_next);
        hold_clang();
      }
      part.template multiply_add<k % 2>(Shape::template place_of_fma<order>(i));
    }
    hold_clang();
  };
#pragma unroll 1
  for (unsigned step = 0; step < steps; ++step) {
    [&]<unsigned... k>(std::integer_sequence<unsigned, k...>) {
      (one_k.template operator()<k>(), ...);
    }
    (std::make_integer_sequence<unsigned, depth>{});
  }
  store_sums<Shape>(part, output);
}

/// The loop of rung 19, by its own functions.
static __global__ void __launch_bounds__(threads, 1)
    loop_of_split_along_k_kernel(Operands from, unsigned steps, float* output) {
  namespace rung = split_along_k;
  alignas(16) __shared__ float a_tiles[pipeline_buffers * rung::Copies::a_values];
  alignas(16) __shared__ float b_tiles[pipeline_buffers * rung::Copies::b_values];
  rung::ThreadPart part;
  const Extents extents = {.m = rung::block_rows,
                           .n = rung::block_columns,
                           .k = from.k,
                           .lda = from.k,
                           .ldb = rung::block_columns,
                           .ldc = rung::block_columns};
  rung::multiply_tile(part, extents, from.a, from.b, {0, 0}, 0, steps * (depth / pipeline_depth),
                      a_tiles, b_tiles);
  store_sums<Shape<rung::thread_rows, rung::thread_columns>>(part, output);
}
// --- What is expected, and the sweep

/// Small integers, so that sums are exact.
inline float a_value(unsigned row, unsigned k) {
  return static_cast<float>(static_cast<int>((7 * row + 5 * (k % known_k) + row * k % 3) % 5) - 2);
}
inline float b_value(unsigned k, unsigned column) {
  return static_cast<float>(static_cast<int>((3 * column + 11 * (k % known_k)) % 7) - 3);
}

inline std::vector<float> matrix(float (*value)(unsigned, unsigned), unsigned rows,
                                 unsigned columns) {
  std::vector<float> values;
  for (unsigned row = 0; row < rows; ++row) {
    for (unsigned column = 0; column < columns; ++column) {
      values.push_back(value(row, column));
    }
  }
  return values;
}

/// How often each of the `known_k` first k is multiplied.
inline std::array<unsigned, known_k> uses_of_k(Parts parts, unsigned steps) {
  std::array<unsigned, known_k> uses{};
  for (unsigned step = 0; step < steps; ++step) {
    for (unsigned k = 0; k < depth; ++k) {
      const unsigned tile = parts == Parts::copies ? step % kinds : step % buffers;
      ++uses[parts == Parts::fmas ? k % 2 : tile * depth + k];
    }
  }
  return uses;
}

template <typename Shape>
std::uint64_t wrong_sums(std::span<const float> computed, Parts parts, unsigned steps) {
  const auto uses = uses_of_k(parts, steps);
  std::vector<float> expected;
  for (unsigned row = 0; row < Shape::block_rows; ++row) {
    for (unsigned column = 0; column < Shape::block_columns; ++column) {
      float sum = 0;
      for (unsigned k = 0; k < known_k; ++k) {
        sum += static_cast<float>(uses[k]) * a_value(row, k) * b_value(k, column);
      }
      expected.push_back(sum);
    }
  }
  std::uint64_t wrong = 0;
  for (std::size_t i = 0; i < computed.size(); ++i) {
    wrong += computed[i] == expected[i % expected.size()] ? 0 : 1;
  }
  return wrong;
}

using LimitKernel = void (*)(Operands, unsigned, float*);

/// What all rows know.
struct Setting {
  hipscope::Sweep& sweep;
  double peak_fmas_per_cycle;  ///< of a CU
  unsigned steps;
  double x = 0;
};

template <typename Shape>
void measure_kernel(Setting& setting, const std::string& label, LimitKernel kernel, Parts parts,
                    unsigned blocks_per_unit) {
  auto point = setting.sweep.point(label, ++setting.x);
  const unsigned k = setting.steps * depth;
  const std::vector<float> a_values = matrix(a_value, Shape::block_rows, k);
  const std::vector<float> b_values = matrix(b_value, k, Shape::block_columns);
  const hipscope::DeviceBuffer<float> a{std::span<const float>(a_values)};
  const hipscope::DeviceBuffer<float> b{std::span<const float>(b_values)};
  const unsigned units =
      setting.sweep.is_hardware() ? static_cast<unsigned>(setting.sweep.device().compute_units) : 1;
  const unsigned blocks = units * blocks_per_unit;
  hipscope::DeviceBuffer<float> output(std::size_t{blocks} * Shape::block_rows *
                                       Shape::block_columns);
  output.poison();
  const auto run = [&] {
    hipscope::launch(kernel, {.grid = dim3(blocks), .block = dim3(threads)},
                     Operands{a.data(), b.data(), k}, setting.steps, output.data());
  };
  run();
  const std::vector<float> computed = output.to_host();
  point.verify("every sum", wrong_sums<Shape>(computed, parts, setting.steps), computed.size());
  const auto time = point.measure(run);
  const double fmas = double{1} * blocks_per_unit * threads * Shape::fmas * k;
  const double rate = fmas / time.cycles();
  point.value("FMA rate", rate, "FMA/cycle/CU");
  point.value("share of peak", 100 * rate / setting.peak_fmas_per_cycle, "%");
  point.value("clock", 1e-6 * time.cycles() / time.seconds().median, "MHz");
}

template <unsigned rows, unsigned columns, Parts parts, Order order>
void measure_parts(Setting& setting, const std::string& what, unsigned blocks_per_unit = 1) {
  using Tile = Shape<rows, columns>;
  std::string label = std::to_string(rows) + " x " + std::to_string(columns) + ", " + what;
  if (blocks_per_unit > 1) {
    label += ", two blocks";
  }
  measure_kernel<Tile>(setting, label, limit_kernel<Tile, parts, order>, parts, blocks_per_unit);
}

/// `k`: of each row's sums, whole tiles of it.
inline void measure_limit(hipscope::Sweep& sweep, double peak_fmas_per_cycle, unsigned k) {
  sweep.axis({.name = "loop"});
  sweep.headline("share of peak");
  sweep.note(
      "256 threads on each CU, tiles of 16 k; each row's loop holds all that the one before holds");
  Setting setting{.sweep = sweep, .peak_fmas_per_cycle = peak_fmas_per_cycle, .steps = k / depth};
  measure_parts<8, 16, Parts::fmas, Order::no_factor_twice>(setting, "FMAs, no factor twice");
  measure_parts<8, 16, Parts::fmas, Order::one_direction>(setting, "FMAs down the columns");
  measure_parts<8, 16, Parts::fmas, Order::to_and_fro>(setting, "FMAs to and fro along rows");
  measure_parts<8, 16, Parts::fmas, Order::up_and_down>(setting, "FMAs up and down columns");
  measure_parts<8, 16, Parts::lds_loads, Order::up_and_down>(setting, "+ LDS loads");
  measure_parts<8, 16, Parts::barriers, Order::up_and_down>(setting, "+ barrier");
  using Tile = Shape<8, 16>;
  measure_kernel<Tile>(setting, "8 x 16, + copies, tiles of 8 k: the loop of 19",
                       loop_of_split_along_k_kernel, Parts::copies, 1);
  measure_parts<16, 8, Parts::barriers, Order::up_and_down>(setting, "+ LDS loads, barrier");
  measure_parts<8, 8, Parts::barriers, Order::up_and_down>(setting, "+ LDS loads, barrier");
  measure_parts<8, 8, Parts::barriers, Order::up_and_down>(setting, "+ LDS loads, barrier", 2);
}

}  // namespace sgemm::limit
