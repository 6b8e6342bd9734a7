// How many bytes does L2 fetch from memory for one that is asked for? One dword of each piece: the
// time of a load rises as long as all that lies between is fetched too (sweep sectors).
#pragma once

#include <hipscope/hipscope.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "tile.h"

namespace memory_bandwidth {

inline constexpr unsigned sector_loads = 8;  // in flight in each thread

// A block takes `sector_loads` dwords per thread; what lies past the last one is the first, once
// more, and does not count.
static __global__ void __launch_bounds__(largest_block)
    sector_kernel(const unsigned* array, unsigned* sums, unsigned words_apart, unsigned count) {
  const unsigned first = blockIdx.x * blockDim.x * sector_loads + threadIdx.x;
  unsigned values[sector_loads];
#pragma unroll
  for (unsigned i = 0; i < sector_loads; ++i) {
    const unsigned at = first + i * blockDim.x;
    values[i] =
        hipscope::load<Hint::past_l1>(array + std::size_t{at < count ? at : 0} * words_apart);
  }
  hipscope::scheduling_barrier();
  unsigned sum = 0;
#pragma unroll
  for (unsigned i = 0; i < sector_loads; ++i) {
    sum += first + i * blockDim.x < count ? values[i] : 0;
  }
  store_block_sum(sum, sums);
}

// Of the dwords that the kernel loads.
inline unsigned sum_of_every(unsigned words_apart, unsigned count, unsigned key) {
  unsigned sum = 0;
  for (unsigned i = 0; i < count; ++i) {
    sum += hipscope::bandwidth::random_value(i * words_apart, key);
  }
  return sum;
}

inline void measure_sectors(Sweep& sweep, std::uint64_t footprint) {
  sweep.axis({.name = "bytes apart", .unit = "bytes", .scale = hipscope::Scale::logarithmic});
  sweep.headline("time per load");
  sweep.note("one dword of each so many bytes, through memory that the caches do not hold");
  // A GiB is well beyond any L2.
  const std::uint64_t bytes = std::min(footprint, std::uint64_t{1} << 30);
  sweep.require_memory(bytes, "--footprint");
  const Arrays arrays(sweep, bytes, 1, false);
  const unsigned threads = sweep.is_hardware() ? 256 : threads_on_host;
  constexpr unsigned farthest = 512;  // bytes: beyond, pages of the memory come to bear
  for (unsigned apart = sizeof(unsigned); apart <= farthest; apart *= 2) {
    auto point = sweep.point(std::to_string(apart), apart);
    const auto words_apart = static_cast<unsigned>(apart / sizeof(unsigned));
    const auto count = static_cast<unsigned>(arrays.first.size() / words_apart);
    const unsigned blocks = (count + threads * sector_loads - 1) / (threads * sector_loads);
    DeviceBuffer<unsigned> sums(blocks);
    const auto run = [&] {
      hipscope::launch(sector_kernel, {.grid = dim3(blocks), .block = dim3(threads)},
                       arrays.first.data(), sums.data(), words_apart, count);
    };
    run();
    const std::vector<unsigned> made = sums.to_host();
    point.check_value("sum of all that is loaded", std::accumulate(made.begin(), made.end(), 0U),
                      sum_of_every(words_apart, count, arrays.key));
    const double seconds = point.measure(run).seconds().median;
    point.value("time per load", 1e12 * seconds / count, "ps");
    point.value("bandwidth of all bytes", 1e-9 * static_cast<double>(bytes) / seconds, gigabytes);
  }
}

}  // namespace memory_bandwidth
