// How many bytes must be in flight to get the bandwidth of memory? From few threads with some loads
// each to many (sweeps occupancy-*).
#pragma once

#include <hipscope/hipscope.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "walk.h"

namespace memory_bandwidth {

template <unsigned Loads>
void measure_occupancy(Sweep& sweep, std::uint64_t footprint) {
  sweep.axis({.name = "threads per CU", .scale = hipscope::Scale::logarithmic});
  sweep.headline("bandwidth");
  sweep.note("time in flight is bytes in flight / bandwidth");
  constexpr unsigned threads_of_a_block = 256;
  // At the lowest rates a pass takes long: a GiB is well beyond any L2.
  const std::uint64_t bytes = std::min(footprint, std::uint64_t{1} << 30);
  sweep.require_memory(bytes, "--footprint");
  Arrays arrays(sweep, bytes, 1, false);
  const std::vector<unsigned> threads_per_unit =
      sweep.is_hardware() ? std::vector<unsigned>{64, 128, 192, 256, 512, 768, 1024, 1536, 2048}
                          : std::vector<unsigned>{threads_on_host};
  for (const unsigned threads : threads_per_unit) {
    measure_reading<Loads, Hint::past_l1>(
        sweep, arrays, std::to_string(threads), threads, Pattern::once,
        {.threads = std::min(threads, threads_of_a_block),
         .blocks_per_unit = std::max(1U, threads / threads_of_a_block)},
        bytes);
  }
}

}  // namespace memory_bandwidth
