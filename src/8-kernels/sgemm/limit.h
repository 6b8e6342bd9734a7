// Sweep limit: where the rest of the peak goes, for FMAs as in the fastest stages.
//
// One block of 256 threads on each CU (of 8 x 8 elements per thread also two), each thread with its
// part of a tile, tile after tile of 16 k. A row's loop holds what the row's before holds and more:
//   FMAs           operands of two k stay in registers
//   + LDS loads    the next k's operands are loaded amid the FMAs of this one
//   + barrier      one for each tile of 16 k
//   + copies       the next tile comes from global memory: the loop of 19 as it is, of 8 k per tile
// What 19 then loses against the last is outside of its loop: the first tile's way to LDS,
// C, and blocks that wait for others.
// FMAs alone come in several orders, which decide how many operands they share with the FMA before.
// The compiler may change that: scripts/sass_report.py counts them, `fed`, and the FMAs whose
// operands conflict in a register bank, `clashes`.
#pragma once

#include <hipscope/hipscope.h>

#include <array>
#include <span>
#include <string>
#include <vector>

#include "stages.h"

namespace sgemm::limit {

/// What the loop holds beside FMAs, each with all before it.
enum class Parts { fmas, lds_loads, barriers, copies };

inline constexpr unsigned depth = 16;   // k of one tile
inline constexpr unsigned buffers = 2;  // tiles in LDS
inline constexpr unsigned kinds = 3;    // of tiles; more than buffers, so that a stale one shows
inline constexpr unsigned known_k = kinds * depth;
inline constexpr unsigned least_k = buffers * depth;

/// The operands in memory: A has a row for each of the tile's rows, B one for each k.
struct Operands {
  const float* a;
  const float* b;
  unsigned k;  ///< of all tiles: the elements of A's rows
};

/// Fills all of LDS with the first tiles, A's transposed.
template <typename Tile>
__device__ void fill_lds(Operands from, float* a_tiles, float* b_tiles) {
  for (unsigned i = threadIdx.x; i < buffers * depth * Tile::block_rows; i += Tile::threads) {
    a_tiles[i] = from.a[i % Tile::block_rows * from.k + i / Tile::block_rows];
  }
  for (unsigned i = threadIdx.x; i < buffers * depth * Tile::block_columns; i += Tile::threads) {
    b_tiles[i] = from.b[i];
  }
  __syncthreads();
}

/// `output` has a tile for each block; `part` what tells a thread's sums.
template <typename Tile, typename Sums>
__device__ void store_sums(const Sums& part, float* output) {
  const Place place = Tile::place(threadIdx.x);
  float* const tile = output + std::size_t{blockIdx.x} * Tile::block_rows * Tile::block_columns;
#pragma unroll
  for (unsigned i = 0; i < Tile::thread_rows; ++i) {
#pragma unroll
    for (unsigned j = 0; j < Tile::thread_columns; ++j) {
      // One by one: stores of 16 bytes would decide in which registers the sums are.
      tile[(place.row + Tile::row_of(i)) * Tile::block_columns + place.column +
           Tile::column_of(j)] = part.sum(i, j);
    }
  }
}

/// All rows but those with copies.
template <typename Tile, Parts parts, FmaOrder order>
__global__ void __launch_bounds__(Tile::threads, Tile::blocks_per_unit)
    limit_kernel(Operands from, unsigned steps, float* output) {
  alignas(16) __shared__ float a_tiles[buffers * depth * Tile::block_rows];
  alignas(16) __shared__ float b_tiles[buffers * depth * Tile::block_columns];
  constexpr bool loads_from_lds = parts != Parts::fmas;
  ThreadPart<Tile> part;
  const float* const a_first = a_tiles + Tile::place(threadIdx.x).row;
  const float* const b_first = b_tiles + Tile::place(threadIdx.x).column;
  fill_lds<Tile>(from, a_tiles, b_tiles);
#pragma unroll
  for (unsigned i = 0; i < ThreadPart<Tile>::loads; ++i) {
    part.template load<0>(i, a_first, b_first);
    if constexpr (!loads_from_lds) {
      part.template load<1>(i, a_first + Tile::block_rows, b_first + Tile::block_columns);
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
    const float* const a_next = a_first + (buffer * depth + (k + 1) % depth) * Tile::block_rows;
    const float* const b_next = b_first + (buffer * depth + (k + 1) % depth) * Tile::block_columns;
#pragma unroll
    for (unsigned i = 0; i < Tile::fmas; ++i) {
      constexpr unsigned fmas_between_loads = 4;
      if (loads_from_lds && i % fmas_between_loads == 0 &&
          i / fmas_between_loads < ThreadPart<Tile>::loads) {
        part.template load<(k + 1) % 2>(i / fmas_between_loads, a_next, b_next);
        scheduling_barrier();
      }
      part.template multiply_add<k % 2, true>(Tile::place_of_fma(order, i));
    }
    scheduling_barrier();
  };
#pragma unroll 1
  for (unsigned step = 0; step < steps; ++step) {
    for_each_k<loads_from_lds ? depth : 2>(UpTo<depth>{}, one_k);
  }
  store_sums<Tile>(part, output);
}

/// The loop of 19, by its own functions.
static __global__ void __launch_bounds__(TilesSplitAlongK::threads, 1)
    loop_of_split_along_k_kernel(Operands from, unsigned steps, float* output) {
  using Tile = TilesSplitAlongK;
  alignas(16) __shared__ float a_tiles[pipeline_buffers * Copies<Tile>::a_values];
  alignas(16) __shared__ float b_tiles[pipeline_buffers * Copies<Tile>::b_values];
  ThreadPart<Tile> part;
  const Extents extents = {.m = Tile::block_rows,
                           .n = Tile::block_columns,
                           .k = from.k,
                           .lda = from.k,
                           .ldb = Tile::block_columns,
                           .ldc = Tile::block_columns};
  multiply_tile(part, extents, from.a, from.b, {0, 0}, 0, steps * (depth / pipeline_depth), a_tiles,
                b_tiles);
  store_sums<Tile>(part, output);
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

/// A block's sums, row by row.
template <typename Tile>
std::vector<float> expected_sums(Parts parts, unsigned steps) {
  const auto uses = uses_of_k(parts, steps);
  std::vector<float> expected;
  for (unsigned row = 0; row < Tile::block_rows; ++row) {
    for (unsigned column = 0; column < Tile::block_columns; ++column) {
      float sum = 0;
      for (unsigned k = 0; k < known_k; ++k) {
        sum += static_cast<float>(uses[k]) * a_value(row, k) * b_value(k, column);
      }
      expected.push_back(sum);
    }
  }
  return expected;
}

using LimitKernel = void (*)(Operands, unsigned, float*);

/// What all rows know.
struct Setting {
  hipscope::Sweep& sweep;
  double peak_fmas_per_cycle;  ///< of a CU
  unsigned steps;
  double x = 0;
};

template <typename Tile>
void measure_kernel(Setting& setting, const std::string& label, LimitKernel kernel, Parts parts,
                    unsigned blocks_per_unit) {
  auto point = setting.sweep.point(label, ++setting.x);
  const unsigned k = setting.steps * depth;
  const std::vector<float> a_values = matrix(a_value, Tile::block_rows, k);
  const std::vector<float> b_values = matrix(b_value, k, Tile::block_columns);
  const hipscope::DeviceBuffer<float> a{std::span<const float>(a_values)};
  const hipscope::DeviceBuffer<float> b{std::span<const float>(b_values)};
  const unsigned units =
      setting.sweep.is_hardware() ? static_cast<unsigned>(setting.sweep.device().compute_units) : 1;
  const unsigned blocks = units * blocks_per_unit;
  hipscope::DeviceBuffer<float> output(std::size_t{blocks} * Tile::block_rows *
                                       Tile::block_columns);
  output.poison();
  const auto run = [&] {
    hipscope::launch(kernel, {.grid = dim3(blocks), .block = dim3(Tile::threads)},
                     Operands{a.data(), b.data(), k}, setting.steps, output.data());
  };
  run();
  const std::vector<float> expected = expected_sums<Tile>(parts, setting.steps);
  point.check("every sum", output.to_host(),
              [&](std::uint64_t i) { return expected[i % expected.size()]; });
  const auto time = point.measure(run);
  const double fmas = double{1} * blocks_per_unit * Tile::block_rows * Tile::block_columns * k;
  const double rate = fmas / time.cycles();
  point.value("FMA rate", rate, "FMA/cycle/CU");
  point.value("share of peak", 100 * rate / setting.peak_fmas_per_cycle, "%");
  point.value("clock", 1e-6 * time.cycles() / time.seconds().median, "MHz");
}

template <unsigned rows, unsigned columns, Parts parts, FmaOrder order>
void measure_parts(Setting& setting, const std::string& what, unsigned blocks_per_unit = 1) {
  using Tile = ThreadTile<rows, columns>;
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
  measure_parts<8, 16, Parts::fmas, FmaOrder::no_factor_twice>(setting, "FMAs, no factor twice");
  measure_parts<8, 16, Parts::fmas, FmaOrder::one_direction>(setting, "FMAs down the columns");
  measure_parts<8, 16, Parts::fmas, FmaOrder::to_and_fro>(setting, "FMAs to and fro along rows");
  measure_parts<8, 16, Parts::fmas, FmaOrder::up_and_down>(setting, "FMAs up and down columns");
  measure_parts<8, 16, Parts::lds_loads, FmaOrder::up_and_down>(setting, "+ LDS loads");
  measure_parts<8, 16, Parts::barriers, FmaOrder::up_and_down>(setting, "+ barrier");
  measure_kernel<TilesSplitAlongK>(setting, "8 x 16, + copies, tiles of 8 k: the loop of 19",
                                   loop_of_split_along_k_kernel, Parts::copies, 1);
  measure_parts<16, 8, Parts::barriers, FmaOrder::up_and_down>(setting, "+ LDS loads, barrier");
  measure_parts<8, 8, Parts::barriers, FmaOrder::up_and_down>(setting, "+ LDS loads, barrier");
  measure_parts<8, 8, Parts::barriers, FmaOrder::up_and_down>(setting, "+ LDS loads, barrier", 2);
}

}  // namespace sgemm::limit
