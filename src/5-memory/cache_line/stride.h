// How does the average latency of a walk up through cold memory depend on its stride? It rises with
// the share of loads that miss, up to the stride where all do: fsword73's idea, with nothing but
// the load in a step.
#pragma once

#include <hipscope/hipscope.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "chase.h"

namespace cache_line {

inline double measure_walk(hipscope::Sweep& sweep, hipscope::Point& point, const Path& path,
                           const Arena& arena, unsigned stride, std::uint64_t loads_in_walk,
                           const std::string& name) {
  std::vector<unsigned> places;
  for (std::uint64_t i = 0; i <= loads_in_walk; ++i) {
    places.push_back(static_cast<unsigned>(i) * stride);
  }
  const double cycles = Chase(path, arena, places).measure(point, name, true);
  return sweep.counted(cycles / static_cast<double>(loads_in_walk));
}

inline void measure_stride(hipscope::Sweep& sweep, const Path& through_level_1,
                           const Path& past_level_1, std::uint64_t loads_in_walk) {
  sweep.axis({.name = "stride", .unit = "bytes", .scale = hipscope::Scale::logarithmic});
  sweep.headline("latency");
  constexpr unsigned largest_stride = 512;
  const std::size_t bytes = (loads_in_walk + 1) * largest_stride;
  sweep.require_memory(2 * bytes, "--loads");
  const Arena arena(bytes);
  prefer_level_1_cache(through_level_1);
  for (unsigned stride = word_bytes; stride <= largest_stride; stride *= 2) {
    auto point = sweep.point(std::to_string(stride), stride);
    point.value("latency",
                measure_walk(sweep, point, through_level_1, arena, stride, loads_in_walk, "walk"),
                "cycles");
    point.value(
        "past level 1",
        measure_walk(sweep, point, past_level_1, arena, stride, loads_in_walk, "walk past level 1"),
        "cycles");
  }
}

}  // namespace cache_line
