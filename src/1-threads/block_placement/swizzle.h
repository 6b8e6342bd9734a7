// Sweeps swizzle and swizzle-stencil: what is it worth that blocks read what others near the same
// part of L2 read?
//
// A matrix is multiplied by four vectors again and again, as in the steps of a network whose
// weights stay the same; and a grid goes through the same step of a stencil, which reads five cells
// and writes one. Where L2 has several parts, each keeps copies of what its own CUs read, so that
// one part's size is what all CUs can keep. If the CUs near a part take but one piece of the matrix
// or of the grid, all parts together can. So tiles are taken in three ways: by any block; by those
// of each part of the CUs one after the other; and, to see what of it is due to the place, by parts
// that have nothing to do with it. Words are integers, whose sums are the same in any order.
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
using hipscope::LaunchShape;
using hipscope::Sweep;

inline unsigned units_of(const Sweep& sweep) {
  return sweep.is_hardware() ? static_cast<unsigned>(sweep.device().compute_units) : 2;
}

// The matrix has as many rows as a tile, so that a tile gives whole sums.
inline constexpr unsigned tile_edge = 128;
inline constexpr unsigned tile_words = tile_edge * tile_edge;
inline constexpr unsigned vectors = 4;
inline constexpr unsigned most_parts = 16;

// The tiles, each taken in every pass; the CUs of each part have some of their own.
struct Tiles {
  unsigned count;
  unsigned passes;
  unsigned parts;

  [[nodiscard]] __device__ unsigned first_of(unsigned part) const { return part * count / parts; }
};

// A CU's blocks take the tiles of its own part one after the other, then what others have left.
template <typename Work>
__device__ void take_tiles(Tiles tiles, const unsigned char* part_of, unsigned* taken, Work work) {
  __shared__ unsigned number;
  const unsigned own = part_of[hipscope::compute_unit_id()];
  for (unsigned i = 0; i < tiles.parts; ++i) {
    const unsigned part = (own + i) % tiles.parts;
    const unsigned first = tiles.first_of(part);
    const unsigned count = tiles.first_of(part + 1) - first;
    for (;;) {
      __syncthreads();
      if (threadIdx.x == 0) {
        number = atomicAdd(&taken[part], 1U);
      }
      __syncthreads();
      if (number >= tiles.passes * count) {
        break;
      }
      work(first + number % count);
    }
  }
}

static __global__ void __launch_bounds__(tile_edge)
    product_kernel(const unsigned* matrix, const uint4* vector, Tiles tiles,
                   const unsigned char* part_of, unsigned* taken, unsigned* products) {
  __shared__ uint4 factors[tile_edge];
  factors[threadIdx.x] = vector[threadIdx.x];
  take_tiles(tiles, part_of, taken, [&](unsigned tile) {
    const unsigned* const begin = matrix + std::size_t{tile} * tile_words + threadIdx.x;
    uint4 sum = {0, 0, 0, 0};
#pragma unroll 16
    for (unsigned row = 0; row < tile_edge; ++row) {
      const unsigned word = begin[row * tile_edge];
      sum.x += word * factors[row].x;
      sum.y += word * factors[row].y;
      sum.z += word * factors[row].z;
      sum.w += word * factors[row].w;
    }
    const unsigned columns = tiles.count * tile_edge;
    unsigned* const product = products + tile * tile_edge + threadIdx.x;
    atomicAdd(product, sum.x);
    atomicAdd(product + columns, sum.y);
    atomicAdd(product + 2 * columns, sum.z);
    atomicAdd(product + 3 * columns, sum.w);
  });
}

// The grid is a column of tiles, its edges joined. A pass writes what the one before wrote.
static __global__ void __launch_bounds__(tile_edge)
    stencil_kernel(const unsigned* from, Tiles tiles, const unsigned char* part_of, unsigned* taken,
                   unsigned* to) {
  const unsigned column = threadIdx.x;
  const unsigned left = (column + tile_edge - 1) % tile_edge;
  const unsigned right = (column + 1) % tile_edge;
  take_tiles(tiles, part_of, taken, [&](unsigned tile) {
    const std::size_t begin = std::size_t{tile} * tile_words;
    const std::size_t before = (tile == 0 ? tiles.count : tile) * std::size_t{tile_words};
    const std::size_t after = (tile + 1 == tiles.count ? 0 : tile + 1) * std::size_t{tile_words};
    unsigned above = from[before - tile_edge + column];
    unsigned here = from[begin + column];
#pragma unroll 16
    for (unsigned row = 0; row < tile_edge; ++row) {
      const std::size_t cell = begin + row * tile_edge;
      const unsigned below = from[(row + 1 < tile_edge ? cell + tile_edge : after) + column];
      to[cell + column] = above + below + from[cell + left] + from[cell + right] - 4 * here;
      above = here;
      here = below;
    }
  });
}

// What all passes add up to: element i % columns of vector i / columns's product.
struct Products {
  hipscope::RandomWords matrix;
  hipscope::RandomWords vector;
  unsigned columns;
  unsigned passes;

  __host__ __device__ unsigned operator()(std::uint64_t i) const {
    const auto column = static_cast<unsigned>(i % columns);
    unsigned sum = 0;
    for (unsigned row = 0; row < tile_edge; ++row) {
      sum += matrix((column / tile_edge * tile_edge + row) * tile_edge + column % tile_edge) *
             vector(row * vectors + i / columns);
    }
    return passes * sum;
  }
};

// What a step of the stencil makes of cell i.
struct Step {
  hipscope::RandomWords from;
  unsigned cells;

  __host__ __device__ unsigned operator()(std::uint64_t i) const {
    const auto cell = static_cast<unsigned>(i);
    const unsigned row = cell / tile_edge * tile_edge;
    const unsigned column = cell % tile_edge;
    return from((cell + cells - tile_edge) % cells) + from((cell + tile_edge) % cells) +
           from(row + (column + tile_edge - 1) % tile_edge) + from(row + (column + 1) % tile_edge) -
           4 * from(cell);
  }
};

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
  // ~0U, one more than which is 0, where there is no CU.
  const std::vector<unsigned> all = cycles.to_host();
  const double nearest = std::ranges::min(all);
  const double farthest = std::ranges::max(all, {}, [](unsigned least) { return least + 1; });
  constexpr double clearly = 1.25;
  for (unsigned unit = 0; unit < most_units; ++unit) {
    const bool is_far = farthest > clearly * nearest && all[unit] > std::sqrt(nearest * farthest);
    const unsigned part = xcd_of(sweep.device().architecture, unit).value_or(is_far ? 1 : 0);
    part_of[unit] = static_cast<unsigned char>(all[unit] == ~0U ? 0 : part % most_parts);
  }
  return part_of;
}

// A way to share tiles out.
struct Shares {
  std::string name;
  unsigned parts;
  std::vector<unsigned char> part_of;
};

inline std::vector<Shares> all_shares(const std::vector<unsigned char>& by_place) {
  const unsigned parts = 1U + *std::max_element(by_place.begin(), by_place.end());
  std::vector<unsigned char> by_number(most_units);
  for (unsigned unit = 0; unit < most_units; ++unit) {
    by_number[unit] = static_cast<unsigned char>(unit % std::max(2U, parts));
  }
  std::vector<Shares> all = {
      {.name = "", .parts = 1, .part_of = by_place},
      {.name = "by number ", .parts = std::max(2U, parts), .part_of = by_number}};
  if (parts > 1) {
    all.push_back({.name = "by place ", .parts = parts, .part_of = by_place});
  }
  return all;
}

// Runs a kernel in each way, checks its `output`, and tells the rate of its `bytes`. `run` launches
// it for the tiles that it is given.
template <typename Expected, typename Run>
void measure_shares(Sweep& sweep, hipscope::Point& point, const std::vector<Shares>& all,
                    Tiles tiles, double bytes, DeviceBuffer<unsigned>& output,
                    const Expected& expected, Run run) {
  DeviceBuffer<unsigned> taken(most_parts);
  const DeviceBuffer<unsigned char> part_of(most_units);
  for (const Shares& shares : all) {
    hipscope::check(
        hipMemcpy(part_of.data(), shares.part_of.data(), most_units, hipMemcpyHostToDevice));
    tiles.parts = shares.parts;
    const auto run_once = [&] {
      hipscope::check(hipMemsetAsync(taken.data(), 0, most_parts * sizeof(unsigned), nullptr));
      run({.grid = dim3(8 * units_of(sweep)), .block = dim3(tile_edge)}, tiles, part_of.data(),
          taken.data());
    };
    output.clear();
    run_once();
    hipscope::verify_elements(sweep, point, shares.name + "output", output, output.size(),
                              expected);
    const auto time = point.measure(run_once, {.name = shares.name + "time"});
    point.value(shares.name + "rate", 1e-9 * bytes / time.seconds().median, "GB/s");
  }
}

inline void measure_product(Sweep& sweep, hipscope::Point& point, const std::vector<Shares>& all,
                            Tiles tiles) {
  const DeviceBuffer<unsigned> matrix(std::size_t{tiles.count} * tile_words);
  const DeviceBuffer<unsigned> vector(tile_edge * vectors);
  DeviceBuffer<unsigned> products(std::size_t{tiles.count} * tile_edge * vectors);
  const unsigned key = hipscope::key_of(sweep.seed());
  const Products expected = {.matrix = {key},
                             .vector = {key ^ (1U << 31U)},
                             .columns = tiles.count * tile_edge,
                             .passes = tiles.passes};
  hipscope::fill_elements(sweep, matrix, expected.matrix);
  hipscope::fill_elements(sweep, vector, expected.vector);
  const double bytes = static_cast<double>(matrix.size()) * sizeof(unsigned) * tiles.passes;
  measure_shares(
      sweep, point, all, tiles, bytes, products, expected,
      [&](const LaunchShape& shape, Tiles of, const unsigned char* part_of, unsigned* taken) {
        hipscope::launch(product_kernel, shape, matrix.data(),
                         reinterpret_cast<const uint4*>(vector.data()), of, part_of, taken,
                         products.data());
      });
}

inline void measure_stencil(Sweep& sweep, hipscope::Point& point, const std::vector<Shares>& all,
                            Tiles tiles) {
  const DeviceBuffer<unsigned> from(std::size_t{tiles.count} * tile_words);
  DeviceBuffer<unsigned> to(from.size());
  const Step expected = {.from = {hipscope::key_of(sweep.seed())},
                         .cells = tiles.count * tile_words};
  hipscope::fill_elements(sweep, from, expected.from);
  const double bytes = 2.0 * static_cast<double>(from.size()) * sizeof(unsigned) * tiles.passes;
  measure_shares(
      sweep, point, all, tiles, bytes, to, expected,
      [&](const LaunchShape& shape, Tiles of, const unsigned char* part_of, unsigned* taken) {
        hipscope::launch(stencil_kernel, shape, from.data(), of, part_of, taken, to.data());
      });
}

// `measure` measures one footprint; a tile is `tile_bytes` of it.
template <typename Measure>
void measure_swizzle(Sweep& sweep, std::uint64_t most, std::uint64_t passes, unsigned tile_bytes,
                     Measure measure) {
  sweep.axis({.name = "footprint", .unit = "bytes"});
  sweep.headline("rate");
  sweep.note(
      "rate: any block takes any tile; by place: each part of the CUs near a part of L2 its own; "
      "by number: parts of CUs that have nothing to do with the place");
  sweep.require_memory(most, "--footprint");
  const std::vector<Shares> all = all_shares(parts_by_place(sweep));
  constexpr unsigned points = 12;
  for (unsigned i = 1; i <= points; ++i) {
    const std::uint64_t footprint = most * i / points;
    if (footprint >= tile_bytes) {
      auto point = sweep.point(std::to_string(footprint), static_cast<double>(footprint));
      measure(sweep, point, all,
              Tiles{.count = static_cast<unsigned>(footprint / tile_bytes),
                    .passes = static_cast<unsigned>(passes),
                    .parts = 1});
    }
  }
}

}  // namespace block_placement
