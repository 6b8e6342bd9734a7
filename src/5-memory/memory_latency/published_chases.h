// How long does a step take in the chases of fsword73 (examples 6a, 6c and 6d), as he wrote them?
//
// Between two loads stands the arithmetic of an address, and the time is that of all by events, so
// these figures are no latencies of a load alone; the published ones stand beside them.
#pragma once

#include <vector>

#include "chaser.h"

namespace memory_latency {

// The index of load i, by the value before it: 6a.
struct Stride {
  __host__ __device__ int operator()(int value, int i) const { return value * i; }
};
// 6c and 6d. fsword73's text prints these with value * i * range, which is the same place whatever
// i is; his two figures differ, so they are of the kernel in his repository, which is this one.
struct Range {
  int range;  // values
  __host__ __device__ int operator()(int value, int i) const {
    return (value * i - 1) & (range - 1);
  }
};

// They run as one thread. Were that their bound, clang 22 would make scalar loads of theirs: all
// lanes would hold the same. Corrected: the end is stored, where the published kernels have a
// condition that is never true.
inline constexpr unsigned published_bound = 64;
template <typename Index>
__global__ void __launch_bounds__(published_bound)
    chain_kernel(const int* values, int* end, int loads, Index index) {
  int value = values[threadIdx.x];
  for (int i = 1; i < loads; ++i) {
    value = values[index(value, i)];
  }
  *end = value;
}

// A load every `bytes_per_load` bytes of `bytes`. The chain is checked over random values up to
// `most`; then all of them are `same`, as published. His times are those of all that a step holds,
// by events, and so are these.
template <typename Index>
void measure_chain(const Sweep& sweep, Point point, std::uint64_t bytes,
                   std::uint64_t bytes_per_load, unsigned most, int same, Index index) {
  const auto loads = static_cast<int>(bytes / bytes_per_load);
  const DeviceBuffer<int> memory(bytes / sizeof(int));
  const DeviceBuffer<int> end(1);
  std::vector<int> values(memory.size());
  const auto store = [&] {
    hipscope::check(hipMemcpy(memory.data(), values.data(), bytes, hipMemcpyHostToDevice));
  };
  const auto run = [&] {
    hipscope::launch(chain_kernel<Index>, {.grid = dim3(1), .block = dim3(1)}, memory.data(),
                     end.data(), loads, index);
  };
  const unsigned key = hipscope::key_of(sweep.seed());
  for (unsigned i = 0; i < values.size(); ++i) {
    values[i] = static_cast<int>(hipscope::random_bits(i + key) % (most + 1));
  }
  store();
  run();
  int expected = values[0];
  for (int i = 1; i < loads; ++i) {
    expected = values[static_cast<std::size_t>(index(expected, i))];
  }
  point.check_value("end of the chain", end.to_host()[0], expected);
  std::fill(values.begin(), values.end(), same);
  store();
  point.value("latency", point.measure(run).cycles() / loads, "cycles");
}

inline void measure_published(Sweep& sweep, const Sizes& sizes) {
  sweep.axis({.name = "chain"});
  sweep.headline("latency");
  sweep.note(
      "one thread; 6a: x = values[x * i], 1 KiB on with each load; 6c and 6d: "
      "x = values[(x * i - 1) & mask], 64 bytes on; time by events");
  constexpr unsigned stride = kib / sizeof(int);
  const std::uint64_t bytes =  // fsword73's 1 GiB, where --footprint is 2 GiB
      std::max<std::uint64_t>(sizes.footprint / 2, 128 * kib);
  sweep.require_memory(bytes, "--footprint");
  measure_chain(sweep, sweep.point("6a memory, 1 KiB apart", 1, "DRAM, stride 1 KiB"), bytes, kib,
                stride, stride, Stride{});
  constexpr std::uint64_t bytes_per_load = 4096;
  constexpr int line = 16;  // values
  measure_chain(sweep, sweep.point("6c range of 4 KiB", 2, "L1, range 4 KiB", "4096"), bytes,
                bytes_per_load, 255, line, Range{1024});
  measure_chain(sweep, sweep.point("6d range of 128 KiB", 3, "L2, range 128 KiB", "131072"), bytes,
                bytes_per_load, 255, line, Range{32768});
}

}  // namespace memory_latency
