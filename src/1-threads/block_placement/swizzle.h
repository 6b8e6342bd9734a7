// Sweep swizzle: what is the order of blocks worth that share what they read?
//
// A tile reads as one of a matrix product does: a panel that all tiles of its row read, and one
// that all of its column do. Where L2 has several parts, each keeps a copy of what its own CUs
// read. So fewer bytes come from farther away if the tiles that run near one part at a time read
// the same: squares of tiles instead of rows, and for each part columns of its own. The same with
// parts that have nothing to do with where a CU is shows what of it is due to the place.
#pragma once

#include <hipscope/compute_unit.h>
#include <hipscope/elements.h>
#include <hipscope/hipscope.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "5-memory/loads.h"
#include "findings.h"

namespace block_placement {

using hipscope::DeviceBuffer;
using hipscope::Sweep;

inline unsigned units_of(const Sweep& sweep) {
  return sweep.is_hardware() ? static_cast<unsigned>(sweep.device().compute_units) : 2;
}

struct SwizzleSizes {
  hipscope::Size tiles;
  hipscope::Size panel;
};

inline constexpr unsigned reading_threads = 512;
inline constexpr unsigned most_parts = 16;

// The tiles of `tiles` rows and columns, of which each part of the CUs has some columns: `height`
// rows of them at a time, column by column.
struct TileOrder {
  unsigned tiles;
  unsigned parts;
  unsigned height;

  [[nodiscard]] __device__ unsigned first_column(unsigned part) const {
    return part * tiles / parts;
  }
};

// A CU's blocks take the tiles of its own part one after the other, then what the others have left.
static __global__ void __launch_bounds__(reading_threads)
    read_tiles_kernel(const unsigned* panels, unsigned panel, TileOrder order,
                      const unsigned char* part_of, unsigned* taken, unsigned* sums) {
  __shared__ unsigned number;
  const unsigned own = part_of[hipscope::compute_unit_id()];
  for (unsigned i = 0; i < order.parts; ++i) {
    const unsigned part = (own + i) % order.parts;
    const unsigned first = order.first_column(part);
    const unsigned columns = order.first_column(part + 1) - first;
    for (;;) {
      __syncthreads();
      if (threadIdx.x == 0) {
        number = atomicAdd(&taken[part], 1U);
      }
      __syncthreads();
      if (number >= order.tiles * columns) {
        break;
      }
      const unsigned top = number / (order.height * columns) * order.height;
      const unsigned height = min(order.height, order.tiles - top);
      const unsigned place = number - top * columns;
      const unsigned row = top + place % height;
      const unsigned column = first + place / height;
      const unsigned* const of_row = panels + std::size_t{row} * panel;
      const unsigned* const of_column = panels + std::size_t{order.tiles + column} * panel;
      unsigned sum = 0;
#pragma unroll 8
      for (unsigned word = threadIdx.x; word < panel; word += blockDim.x) {
        sum += of_row[word] + of_column[word];
      }
      atomicAdd(&sums[row * order.tiles + column], sum);
    }
  }
}

// How far each CU is from one word of L2: the least time of an atomic.
static __global__ void __launch_bounds__(1) distance_kernel(std::uint64_t* word, unsigned* cycles) {
  auto address = reinterpret_cast<std::uint64_t>(word);
  unsigned least = ~0U;
  for (unsigned i = 0; i < 64; ++i) {
    const long long start = hipscope::cycle_count();
    address += memory::load<memory::Load::atomic>(address);  // of 0
    const long long end = address != 1 ? hipscope::cycle_count() : 0;
    least = min(least, static_cast<unsigned>(hipscope::cycles_between(start, end)));
  }
  atomicMin(&cycles[hipscope::compute_unit_id()], least);
}

// To which part of L2 each CU is near: its XCD, or else one of two halves if some CUs are clearly
// farther from a word than others.
inline std::vector<unsigned char> parts_by_place(const Sweep& sweep) {
  std::vector<unsigned char> part_of(most_units, 0);
  DeviceBuffer<std::uint64_t> word(1);
  word.clear();
  DeviceBuffer<unsigned> cycles(most_units);
  hipscope::launch(distance_kernel, {.grid = dim3(4 * units_of(sweep)), .block = dim3(1)},
                   word.data(), cycles.data());
  const std::vector<unsigned> all = cycles.to_host();
  double nearest = ~0U;
  double farthest = 0;
  for (const unsigned least : all) {
    nearest = std::min<double>(nearest, least);
    farthest = std::max<double>(farthest, least == ~0U ? 0 : least);
  }
  constexpr double clearly = 1.25;
  for (unsigned unit = 0; unit < most_units; ++unit) {
    const bool is_far = farthest > clearly * nearest && all[unit] > std::sqrt(nearest * farthest);
    const unsigned part = xcd_of(sweep.device().architecture, unit).value_or(is_far ? 1 : 0);
    part_of[unit] = static_cast<unsigned char>(all[unit] == ~0U ? 0 : part % most_parts);
  }
  return part_of;
}

inline void measure_swizzle(Sweep& sweep, const SwizzleSizes& sizes) {
  sweep.axis({.name = "order"});
  sweep.headline("read rate");
  const auto tiles = static_cast<unsigned>(sizes.tiles);
  const auto panel = static_cast<unsigned>(sizes.panel);
  const std::uint64_t words = std::uint64_t{2} * tiles * panel;
  sweep.require_memory(words * sizeof(unsigned), "--panel");
  const DeviceBuffer<unsigned> panels(words);
  const hipscope::RandomWords content = {hipscope::key_of(sweep.seed())};
  hipscope::fill_elements(sweep, panels, content);
  std::vector<unsigned> sum_of(2 * tiles, 0);
  for (std::uint64_t word = 0; word < words; ++word) {
    sum_of[word / panel] += content(word);
  }
  const std::vector<unsigned char> by_place = parts_by_place(sweep);
  std::vector<unsigned char> by_number(most_units);
  const unsigned parts = 1U + *std::max_element(by_place.begin(), by_place.end());
  for (unsigned unit = 0; unit < most_units; ++unit) {
    by_number[unit] = static_cast<unsigned char>(unit % std::max(2U, parts));
  }
  const DeviceBuffer<unsigned char> part_of(most_units);
  DeviceBuffer<unsigned> taken(most_parts);
  DeviceBuffer<unsigned> sums(std::size_t{tiles} * tiles);
  double x = 0;
  const auto row = [&](const std::string& label, const TileOrder& order,
                       const std::vector<unsigned char>& place) {
    auto point = sweep.point(label, x++);
    hipscope::check(hipMemcpy(part_of.data(), place.data(), most_units, hipMemcpyHostToDevice));
    const auto read = [&] {
      hipscope::check(hipMemsetAsync(taken.data(), 0, most_parts * sizeof(unsigned), nullptr));
      hipscope::launch(read_tiles_kernel,
                       {.grid = dim3(4 * units_of(sweep)), .block = dim3(reading_threads)},
                       panels.data(), panel, order, part_of.data(), taken.data(), sums.data());
    };
    sums.clear();
    read();
    point.check("sum of each tile's panels", sums.to_host(),
                [&](std::uint64_t i) { return sum_of[i / tiles] + sum_of[tiles + i % tiles]; });
    const auto time = point.measure(read);
    point.value(
        "read rate",
        static_cast<double>(words) * tiles * sizeof(unsigned) * 1e-9 / time.seconds().median,
        "GB/s");
  };
  constexpr unsigned height = 8;
  row("rows", {.tiles = tiles, .parts = 1, .height = 1}, by_place);
  row("squares", {.tiles = tiles, .parts = 1, .height = height}, by_place);
  row("parts of no place", {.tiles = tiles, .parts = std::max(2U, parts), .height = height},
      by_number);
  if (parts > 1) {
    row("parts by place", {.tiles = tiles, .parts = parts, .height = height}, by_place);
  } else {
    sweep.note("all CUs are equally far from L2: it has no parts to swizzle over");
  }
}

}  // namespace block_placement
