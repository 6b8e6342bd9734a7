// How many bytes per second are read, or copied, when the same data is gone through again and
// again? Persistent blocks walk through it: the kernel, its launch and its check.
#pragma once

#include <hipscope/footprint.h>
#include <hipscope/hipscope.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "tile.h"

namespace memory_bandwidth {

// A walk's tile is `Loads` units. A unit is what 64 threads read at once: a wave of 64 lanes, or
// two of 32.
inline constexpr unsigned unit_lanes = 64;
inline constexpr std::uint64_t unit_bytes = unit_lanes * sizeof(uint4);

// Who reads what of the data that is gone through again and again.
enum class Pattern {
  once,      // in each pass every tile is taken by one block: no line is asked for twice
  own_part,  // each block has data of its own, and takes all of it
  in_step,   // each block takes all tiles; all start together
};

// From the last of `tiles` tiles a walk goes on to the first.
struct Walk {
  Pattern pattern;
  unsigned tiles;
  unsigned visits;  // to tiles: of each block, or for `once` of all blocks together
};

// 64 threads take a tile, the next 64 the next one. The addresses change from visit to visit, so
// that nothing can be kept in registers. For a function that stores the sum proves that no visit
// was left out. The second launch bound is there for what stream_kernel says.
template <Function function, unsigned Loads, Hint hint>
__global__ void __launch_bounds__(largest_block, 1)
    walk_kernel(const uint4* first, uint4* output, unsigned* sums, Walk walk,
                unsigned first_count) {
  constexpr unsigned tile_accesses = Loads * unit_lanes;
  const bool is_shared = walk.pattern == Pattern::once;
  const unsigned groups = blockDim.x / unit_lanes;
  const unsigned stride = is_shared ? groups * gridDim.x : groups;
  const unsigned group = threadIdx.x / unit_lanes + (is_shared ? groups * blockIdx.x : 0);
  const unsigned part = walk.pattern == Pattern::own_part ? blockIdx.x * walk.tiles : 0;
  const std::size_t start = std::size_t{part} * tile_accesses + threadIdx.x % unit_lanes;
  const unsigned step = stride % walk.tiles;
  unsigned tile = group % walk.tiles;
  unsigned sum = 0;
#pragma unroll 1
  for (unsigned visit = group; visit < walk.visits; visit += stride) {
    sum += move_tile<function, uint4, Loads, hint, Hint::none>(
        first, nullptr, output, start + std::size_t{tile} * tile_accesses, unit_lanes, first_count);
    tile += step;
    tile -= tile >= walk.tiles ? walk.tiles : 0;
  }
  store_block_sum(sum, sums);
}

// Persistent blocks: as many as are given, all in place at once.
struct Crew {
  unsigned threads;
  unsigned blocks_per_unit = 1;
};

inline Crew on_this(const Sweep& sweep, const Crew& crew) {
  return sweep.is_hardware() ? crew : Crew{.threads = threads_on_host};
}

// Verifies and measures whole passes through `bytes` (for own_part of each block) until at least
// `traffic` bytes have been visited; returns GB/s.
template <Function function, unsigned Loads, Hint hint>
double walk(Sweep& sweep, Point& point, Arrays& arrays, Pattern pattern, const Crew& wanted,
            std::uint64_t bytes, std::uint64_t traffic, const std::string& time_name = "time") {
  const Crew crew = on_this(sweep, wanted);
  const bool is_shared = pattern == Pattern::once;
  const unsigned blocks = crew.blocks_per_unit * arrays.units;
  auto tiles = std::max(1U, static_cast<unsigned>(bytes / (Loads * unit_bytes)));
  // No wave comes to its own tile again, which a cache that is not passed by might still hold.
  if (is_shared && tiles > 1 && crew.threads / unit_lanes * blocks % tiles == 0) {
    --tiles;
  }
  const std::uint64_t data_bytes = tiles * Loads * unit_bytes;
  const std::uint64_t pass_bytes = data_bytes * (is_shared ? 1 : blocks);
  const auto passes = static_cast<unsigned>((traffic + pass_bytes - 1) / pass_bytes);
  const Walk way = {.pattern = pattern, .tiles = tiles, .visits = passes * tiles};
  DeviceBuffer<unsigned> sums(blocks);
  const auto run = [&] {
    hipscope::launch(walk_kernel<function, Loads, hint>,
                     {.grid = dim3(blocks), .block = dim3(crew.threads)}, as<uint4>(arrays.first),
                     as<uint4>(arrays.output), sums.data(), way, arrays.key);
  };
  // All blocks together must have moved these bytes `passes` times.
  const std::uint64_t distinct = pattern == Pattern::own_part ? pass_bytes : data_bytes;
  const unsigned repeats = pattern == Pattern::in_step ? passes * blocks : passes;
  verify<function>(point, arrays, distinct, &sums, repeats, run);
  const double moved = static_cast<double>(pass_bytes) * passes * arrays_moved(function);
  return moved * 1e-9 / point.measure(run, {.name = time_name}).seconds().median;
}

// A row that reads, if all blocks of the crew are in place at once.
template <unsigned Loads, Hint hint>
void measure_reading(Sweep& sweep, Arrays& arrays, const std::string& label, double x,
                     Pattern pattern, const Crew& wanted, std::uint64_t traffic) {
  const Crew crew = on_this(sweep, wanted);
  const int resident =
      hipscope::resident_blocks(walk_kernel<Function::read, Loads, hint>, crew.threads);
  if (static_cast<unsigned>(resident) < crew.blocks_per_unit) {
    sweep.note(label + ": more threads than a CU has room for");
    return;
  }
  auto point = sweep.point(label, x);
  const double bandwidth = walk<Function::read, Loads, hint>(sweep, point, arrays, pattern, crew,
                                                             arrays.bytes(), traffic);
  point.value("bandwidth", bandwidth, gigabytes);
  const auto in_flight =
      static_cast<double>(crew.threads * crew.blocks_per_unit * Loads * sizeof(uint4));
  point.value("in flight per CU", in_flight, "bytes");
  // Little's law: what is in flight = bandwidth x time in flight.
  point.value("time in flight", in_flight * sweep.device().compute_units / bandwidth, "ns");
}

}  // namespace memory_bandwidth
