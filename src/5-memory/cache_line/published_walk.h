// How long does a step take in the walk of fsword73 (example 6b), as he wrote it? Between two loads
// stands the arithmetic of an address, and the time is that of all by events: the published figures
// stand beside this and no other walk.
#pragma once

#include <hipscope/hipscope.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace cache_line {

// fsword73's own (example 6b): one thread, whose next index is computed of what it has just loaded.
// The last two operations leave it as it is. All of `values` are 1, but where the chain is checked.
// Corrected: the end is stored, where the published kernel has a condition that is never true. A
// launch makes fewer loads, all of memory that no cache holds: his go on for 256 MiB. The bound is
// not the one thread that runs: clang 22 would make scalar loads, since all lanes would hold the
// same.
static __global__ void __launch_bounds__(64)
    range_steps_kernel(const int* values, int* end, int range, int loads) {
  int value = values[threadIdx.x];
  for (int i = 1; i < loads; ++i) {
    int index = i * value * range;
    index = index - 1;
    index = (index & (range - 1)) | (index & ~(range - 1));
    value = values[index];
  }
  *end = value;
}

// The published times are those of all that a step holds, by events, through memory that no cache
// holds yet; and so are these.
inline void measure_published(hipscope::Sweep& sweep, std::uint64_t loads_in_walk) {
  sweep.axis({.name = "range", .unit = "bytes", .scale = hipscope::Scale::logarithmic});
  sweep.headline("latency");
  sweep.compare("range sweep");
  sweep.note(
      "one thread; x = values[x * i * range - 1], so much further on with each load; caches are "
      "flushed before; time by events");
  constexpr int first_range = 4;  // values of 4 bytes
  constexpr int last_range = 64;
  const auto loads = static_cast<int>(loads_in_walk);
  const std::size_t count = 2 * loads_in_walk * last_range;
  sweep.require_memory(2 * count * sizeof(int), "--loads");
  const unsigned key = hipscope::key_of(sweep.seed());
  std::vector<int> random(count);
  for (unsigned i = 0; i < count; ++i) {
    random[i] = static_cast<int>(1 + hipscope::random_bits(i + key) % 2);
  }
  const hipscope::DeviceBuffer<int> random_values{std::span<const int>(random)};
  const hipscope::DeviceBuffer<int> ones{std::span<const int>(std::vector<int>(count, 1))};
  const hipscope::DeviceBuffer<int> end(1);
  for (int range = first_range; range <= last_range; range *= 2) {
    const auto bytes = static_cast<unsigned>(range) * sizeof(int);
    auto point = sweep.point(std::to_string(bytes), static_cast<double>(bytes));
    const auto run = [&](const hipscope::DeviceBuffer<int>& values) {
      hipscope::launch(range_steps_kernel, {.grid = dim3(1), .block = dim3(1)}, values.data(),
                       end.data(), range, loads);
    };
    run(random_values);
    int expected = random[0];
    for (int i = 1; i < loads; ++i) {
      expected = random[static_cast<std::size_t>(i * expected * range - 1)];
    }
    point.check_value("end of the chain", end.to_host()[0], expected);
    const auto time = point.measure([&] { run(ones); }, {.cold = true});
    point.value("latency", time.cycles() / loads, "cycles");
  }
}

}  // namespace cache_line
