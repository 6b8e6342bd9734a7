// What fsword73 has for the length of a cache line (examples 6b, 7a and 7b), as he wrote it.
// Between two loads of a walk stands the arithmetic of an address, and the time is that of all by
// events: the published figures stand beside this and no other walk.
#pragma once

#include <hipscope/hipscope.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace cache_line {

// 6b and 7a: one thread, whose next index is computed of what it has just loaded. All of `values`
// are 1, but where the chain is checked. Corrected: the end is stored, where the published kernels
// have a condition that is never true. A launch makes fewer loads, all of memory that no cache
// holds: his go on for 256 MiB and for 8 million loads. The bound is not the one thread that runs:
// clang 22 would make scalar loads, since all lanes would hold the same.

// The last two operations leave the index as it is.
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

constexpr int most_values = 1 << 28;

static __global__ void __launch_bounds__(64)
    stride_steps_kernel(const int* values, int* end, int stride, int loads) {
  int value = values[threadIdx.x];
  for (int i = 1; i < loads; ++i) {
    const int index = i * value * stride + static_cast<int>(threadIdx.x) * stride;
    value = values[index & (most_values - 1)];
  }
  *end = value;
}

// 7b: a load per thread, and a store that none makes when it is timed. As many threads as values,
// so that the strides after the first come back to the same ones. Corrected: the index has no sign,
// since his product is more than an int holds.
constexpr unsigned strided_block = 512;
constexpr int most_kept = 0x3fffffff;

static __global__ void __launch_bounds__(strided_block)
    strided_kernel(int* values, unsigned stride, unsigned mask) {
  const unsigned x = ((blockDim.x * blockIdx.x + threadIdx.x) * stride) & mask;
  const int value = values[x];
  if (value > most_kept) {
    values[x] = value + 1;
  }
}

// A walk of strides from `first` to `last` values; `index` says where it is after load `i`.
struct PublishedWalk {
  void (*kernel)(const int* values, int* end, int stride, int loads);
  int (*index)(int i, int value, int stride);
  int first;
  int last;
};
constexpr PublishedWalk walk_6b = {
    .kernel = range_steps_kernel,
    .index = [](int i, int value, int range) { return i * value * range - 1; },
    .first = 4,
    .last = 64};
constexpr PublishedWalk walk_7a = {
    .kernel = stride_steps_kernel,
    .index = [](int i, int value, int stride) { return (i * value * stride) & (most_values - 1); },
    .first = 1,
    .last = 512};

// The published times are those of all that a step holds, by events, through memory that no cache
// holds yet; and so are these.
inline void measure_walk(hipscope::Sweep& sweep, const PublishedWalk& walk,
                         std::uint64_t loads_in_walk) {
  sweep.headline("latency");
  const auto loads = static_cast<int>(loads_in_walk);
  const std::size_t count =
      std::min<std::size_t>(2 * loads_in_walk * static_cast<unsigned>(walk.last), most_values);
  sweep.require_memory(2 * count * sizeof(int), "--loads");
  const unsigned key = hipscope::key_of(sweep.seed());
  std::vector<int> random(count);
  for (unsigned i = 0; i < count; ++i) {
    random[i] = static_cast<int>(1 + hipscope::random_bits(i + key) % 2);
  }
  const hipscope::DeviceBuffer<int> random_values{std::span<const int>(random)};
  const hipscope::DeviceBuffer<int> ones{std::span<const int>(std::vector<int>(count, 1))};
  const hipscope::DeviceBuffer<int> end(1);
  for (int stride = walk.first; stride <= walk.last; stride *= 2) {
    const auto bytes = static_cast<unsigned>(stride) * sizeof(int);
    auto point = sweep.point(std::to_string(bytes), static_cast<double>(bytes));
    const auto run = [&](const hipscope::DeviceBuffer<int>& values) {
      hipscope::launch(walk.kernel, {.grid = dim3(1), .block = dim3(1)}, values.data(), end.data(),
                       stride, loads);
    };
    run(random_values);
    int expected = random[0];
    for (int i = 1; i < loads; ++i) {
      expected = random[static_cast<std::size_t>(walk.index(i, expected, stride))];
    }
    point.check_value("end of the chain", end.to_host()[0], expected);
    const auto time = point.measure([&] { run(ones); }, {.cold = true});
    point.value("latency", time.cycles() / loads, "cycles");
  }
}

inline void measure_published(hipscope::Sweep& sweep, std::uint64_t loads) {
  sweep.axis({.name = "range", .unit = "bytes", .scale = hipscope::Scale::logarithmic});
  sweep.compare("range sweep");
  sweep.note(
      "one thread; x = values[x * i * range - 1], so much further on with each load; caches are "
      "flushed before; time by events");
  measure_walk(sweep, walk_6b, loads);
}

inline void measure_published_7a(hipscope::Sweep& sweep, std::uint64_t loads) {
  sweep.axis({.name = "stride", .unit = "bytes", .scale = hipscope::Scale::logarithmic});
  sweep.note("one thread; x = values[x * i * stride]; caches are flushed before; time by events");
  measure_walk(sweep, walk_7a, loads);
}

// What the kernel leaves of values of which about half are over most_kept: those that a thread
// loads are counted up, once for each of the threads that do, or less where these meet.
inline void verify_counts(hipscope::Point& point, const std::vector<int>& before,
                          const std::vector<int>& after, unsigned stride) {
  point.check("values that threads count up", after, [&](std::uint64_t i) {
    const bool counted = i % stride == 0 && before[i] > most_kept;
    return counted ? std::clamp(after[i], before[i] + 1, before[i] + static_cast<int>(stride))
                   : before[i];
  });
}

inline void measure_published_7b(hipscope::Sweep& sweep, std::uint64_t most_threads) {
  sweep.axis({.name = "stride", .unit = "bytes", .scale = hipscope::Scale::logarithmic});
  sweep.headline("rate");
  sweep.note("a dword per thread, blocks of 512; rate: of dwords that threads ask for");
  const auto threads = static_cast<unsigned>(std::bit_floor(most_threads));
  sweep.require_memory(sizeof(int) * std::uint64_t{threads}, "--threads");
  const auto run = [](const hipscope::DeviceBuffer<int>& values, unsigned stride) {
    const auto count = static_cast<unsigned>(values.size());
    hipscope::launch(strided_kernel,
                     {.grid = dim3(count / strided_block), .block = dim3(strided_block)},
                     values.data(), stride, count - 1);
  };
  constexpr unsigned most_checked = 1U << 20;
  const unsigned key = hipscope::key_of(sweep.seed());
  std::vector<int> random(std::min(threads, most_checked));
  for (unsigned i = 0; i < random.size(); ++i) {
    random[i] = most_kept - 255 + static_cast<int>(hipscope::random_bits(i + key) % 512);
  }
  hipscope::DeviceBuffer<int> zeros(threads);
  zeros.clear();
  for (unsigned stride = 1; stride <= 64; stride *= 2) {
    const auto bytes = stride * sizeof(int);
    auto point = sweep.point(std::to_string(bytes), static_cast<double>(bytes));
    const hipscope::DeviceBuffer<int> checked{std::span<const int>(random)};
    run(checked, stride);
    verify_counts(point, random, checked.to_host(), stride);
    const auto time = point.measure([&] { run(zeros, stride); });
    point.value("rate", 1e-9 * sizeof(int) * threads / time.seconds().median, "GB/s");
  }
}

}  // namespace cache_line
