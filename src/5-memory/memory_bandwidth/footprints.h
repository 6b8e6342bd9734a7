// What do caches give, and up to which footprint? The same data again and again in one launch
// (sweeps footprint-*).
#pragma once

#include <hipscope/hipscope.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "findings.h"
#include "walk.h"

namespace memory_bandwidth {

inline constexpr std::uint64_t kibibyte = 1024;

// Footprints from `first` to `last` in quarter octaves, in whole pages of 4 KiB.
inline std::vector<std::uint64_t> quarter_octaves(std::uint64_t first, std::uint64_t last) {
  constexpr std::uint64_t page = 4 * kibibyte;
  std::vector<std::uint64_t> footprints;
  for (double exact = static_cast<double>(first);; exact *= std::exp2(0.25)) {
    // A whole octave may come out a little too small.
    const std::uint64_t rounded = static_cast<std::uint64_t>(exact + 1) / page * page;
    if (rounded > last) {
      return footprints;
    }
    if (footprints.empty() || footprints.back() != rounded) {
      footprints.push_back(rounded);
    }
  }
}

inline Point footprint_point(Sweep& sweep, std::uint64_t bytes) {
  const auto x = static_cast<double>(bytes);
  return sweep.point(footprint_label(x), x);
}

inline void set_footprint_axis(Sweep& sweep, const std::string& name) {
  sweep.axis({.name = name, .unit = "bytes", .scale = hipscope::Scale::logarithmic});
  sweep.headline("bandwidth");
}

inline void measure_footprint_l1(Sweep& sweep, std::uint64_t traffic) {
  set_footprint_axis(sweep, "part of each CU");
  sweep.note(
      "one block on each CU reads its own part again and again, through L1, with 4 loads in flight "
      "in each thread, or 8");
  constexpr std::uint64_t smallest = 4 * kibibyte;  // two octaves below the smallest caches
  const std::uint64_t largest = sweep.is_hardware() ? 1024 * kibibyte : 8 * kibibyte;
  const auto units = static_cast<std::uint64_t>(sweep.device().compute_units);
  sweep.require_memory(units * largest, "this GPU's number of CUs");
  Arrays arrays(sweep, units * largest, 1, false);
  constexpr Crew crew = {.threads = 1024};
  constexpr unsigned wide_loads = 8;
  constexpr std::uint64_t wide_tile = wide_loads * unit_bytes;
  for (const std::uint64_t bytes : quarter_octaves(smallest, largest)) {
    auto point = footprint_point(sweep, bytes);
    // A launch takes some 3 us, whatever it reads: 2 % of the time in which an H200's SMs read 4
    // GiB from their L1.
    constexpr std::uint64_t largest_level_1 = 256 * kibibyte;
    const std::uint64_t visited =
        sweep.is_hardware() && bytes <= largest_level_1 ? 8 * traffic : traffic;
    const double bandwidth = walk<Function::read, 4, Hint::none>(
        sweep, point, arrays, Pattern::own_part, crew, bytes, visited);
    point.value("bandwidth", bandwidth, gigabytes);
    point.value("per CU", bandwidth / static_cast<double>(units), gigabytes);
    if (bytes >= wide_tile) {
      const double wide = walk<Function::read, wide_loads, Hint::none>(
          sweep, point, arrays, Pattern::own_part, crew, bytes, visited, "8 loads time");
      point.value("8 loads, per CU", wide / static_cast<double>(units), gigabytes);
    }
  }
}

// 32 KiB in flight per CU: an H200's L2 gives nearly the most with that (sweep l2: 10.4 TB/s, with
// 64 KiB 10.6; with two blocks per CU 10.3, and 9.7 with 128 KiB), and its memory 95 to 96 % of
// what it gives with 128 KiB (sweeps occupancy-*), however the 32 KiB are split.
inline constexpr Crew footprint_crew = {.threads = 1024};
inline constexpr unsigned footprint_loads = 2;

// Further ways to read a footprint, blocks per CU x threads x loads in flight: none is the best at
// all of them. Which is depends on how their strides fall on the footprint: one that the CUs'
// strides go through more than once at a time is read faster than L2 answers, as one answer serves
// several.
inline void measure_other_ways(Sweep& sweep, Point& point, Arrays& arrays, std::uint64_t bytes,
                               std::uint64_t traffic, double best) {
  const auto way = [&]<unsigned Loads>(const Crew& crew) {
    const std::string name = std::to_string(crew.blocks_per_unit) + " x " +
                             std::to_string(crew.threads) + " x " + std::to_string(Loads);
    const double bandwidth = walk<Function::read, Loads, Hint::past_l1>(
        sweep, point, arrays, Pattern::once, crew, bytes, traffic, name + " time");
    point.value(name, bandwidth, gigabytes);
    best = std::max(best, bandwidth);
  };
  way.operator()<4>({.threads = 512});
  way.operator()<4>({.threads = 1024});
  way.operator()<2>({.threads = 768});
  way.operator()<1>({.threads = 1024, .blocks_per_unit = 2});
  point.value("best of the ways", best, gigabytes);
}

template <Function function>
void measure_footprint(Sweep& sweep, std::uint64_t footprint) {
  set_footprint_axis(sweep, "footprint");
  sweep.note("all CUs together go through the data, each line once per pass, past L1");
  if constexpr (function == Function::read) {
    sweep.note("bandwidth: one block of 1024 threads x 2 loads on each CU; beside it other ways");
  }
  const std::uint64_t smallest = std::min(footprint, (sweep.is_hardware() ? 512 : 64) * kibibyte);
  constexpr std::uint64_t moved = arrays_moved(function);
  constexpr unsigned allocated = stores(function) ? 2 : 1;
  sweep.require_memory(allocated * (footprint / moved), "--footprint");
  Arrays arrays(sweep, footprint / moved, 1, stores(function));
  for (const std::uint64_t bytes : quarter_octaves(smallest, footprint)) {
    auto point = footprint_point(sweep, bytes);
    const double bandwidth = walk<function, footprint_loads, Hint::past_l1>(
        sweep, point, arrays, Pattern::once, footprint_crew, bytes / moved, footprint / moved);
    point.value("bandwidth", bandwidth, gigabytes);
    // The host backend's times tell nothing of caches.
    if constexpr (function == Function::read) {
      if (sweep.is_hardware()) {
        measure_other_ways(sweep, point, arrays, bytes, footprint, bandwidth);
      }
    }
  }
}

}  // namespace memory_bandwidth
