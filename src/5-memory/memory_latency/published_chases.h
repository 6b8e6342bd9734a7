// How long does a step take in the chases of fsword73 (examples 6a, 6c and 6d), as he wrote them?
//
// Between two loads stands the arithmetic of an address, and the time is that of all by events, so
// these figures are no latencies of a load alone; the published ones stand beside them.
#pragma once

#include <hipscope/hipscope.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "footprints.h"

namespace memory_latency {

// They run as one thread. Were that their bound, clang 22 would make scalar loads of theirs: all
// lanes would hold the same.
inline constexpr unsigned published_bound = 64;

// fsword73's own (examples 6a, 6c and 6d): one thread, whose next index is computed of what it has
// just loaded. All of `values` are the same number, but where the chain is checked. Corrected: the
// end is stored, where the published kernels have a condition that is never true. His text prints
// 6c and 6d with value * i * range, which is the same place whatever i is; his two figures differ,
// so they are of the kernel in his repository, which is this one.
static __global__ void __launch_bounds__(published_bound)
    stride_kernel(const int* values, int* end, int loads) {
  int value = values[threadIdx.x];
  for (int i = 1; i < loads; ++i) {
    value = values[value * i];
  }
  *end = value;
}

static __global__ void __launch_bounds__(published_bound)
    range_kernel(const int* values, int* end, int range, int loads) {
  int value = values[threadIdx.x];
  for (int i = 1; i < loads; ++i) {
    value = values[(value * i - 1) & (range - 1)];
  }
  *end = value;
}

// The published times are those of all that a step holds, by events, and so are these. `index` says
// which value a chain loads next, by the last one and the number of the load.
template <typename Run, typename Index>
void measure_chain(hipscope::Point point, std::vector<int> values, int loads, int constant, Run run,
                   Index index) {
  const hipscope::DeviceBuffer<int> end(1);
  {
    const hipscope::DeviceBuffer<int> random{std::span<const int>(values)};
    run(random.data(), end.data(), loads);
  }
  int expected = values[0];
  for (int i = 1; i < loads; ++i) {
    expected = values[static_cast<std::size_t>(index(expected, i))];
  }
  point.check_value("end of the chain", end.to_host()[0], expected);
  std::fill(values.begin(), values.end(), constant);
  const hipscope::DeviceBuffer<int> same{std::span<const int>(values)};
  const auto time = point.measure([&] { run(same.data(), end.data(), loads); });
  point.value("latency", time.cycles() / loads, "cycles");
}

inline void measure_published(hipscope::Sweep& sweep, const Sizes& sizes) {
  sweep.axis({.name = "chain"});
  sweep.headline("latency");
  sweep.note(
      "one thread; 6a: x = values[x * i], 1 KiB on with each load; 6c and 6d: "
      "x = values[(x * i - 1) & mask], 64 bytes on; time by events");
  constexpr std::uint64_t stride_bytes = kib;
  constexpr int largest_range = 32768;  // values
  const std::uint64_t bytes =           // fsword73's 1 GiB, where --footprint is 2 GiB
      std::max<std::uint64_t>(sizes.footprint / 2, largest_range * sizeof(int));
  sweep.require_memory(2 * bytes, "--footprint");
  const unsigned key = hipscope::key_of(sweep.seed());
  const auto values_up_to = [&](unsigned most) {
    std::vector<int> values(bytes / sizeof(int));
    for (unsigned i = 0; i < values.size(); ++i) {
      values[i] = static_cast<int>(hipscope::random_bits(i + key) % (most + 1));
    }
    return values;
  };
  constexpr int stride = stride_bytes / sizeof(int);
  measure_chain(
      sweep.point("6a memory, 1 KiB apart", 1, "DRAM, stride 1 KiB"), values_up_to(stride),
      static_cast<int>(bytes / stride_bytes), stride,
      [](const int* values, int* end, int loads) {
        hipscope::launch(stride_kernel, {.grid = dim3(1), .block = dim3(1)}, values, end, loads);
      },
      [](int value, int i) { return value * i; });
  const auto measure_range = [&](const std::string& label, double x, const std::string& series,
                                 int range) {
    constexpr int line = 16;  // values
    constexpr std::uint64_t bytes_per_load = 4096;
    measure_chain(
        sweep.point(label, x, series, std::to_string(range * sizeof(int))), values_up_to(255),
        static_cast<int>(bytes / bytes_per_load), line,
        [=](const int* values, int* end, int count) {
          hipscope::launch(range_kernel, {.grid = dim3(1), .block = dim3(1)}, values, end, range,
                           count);
        },
        [=](int value, int i) { return (value * i - 1) & (range - 1); });
  };
  measure_range("6c range of 4 KiB", 2, "L1, range 4 KiB", 1024);
  measure_range("6d range of 128 KiB", 3, "L2, range 128 KiB", largest_range);
}

}  // namespace memory_latency
