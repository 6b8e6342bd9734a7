// How are the times of single loads distributed, and what share of them misses?
//
// The next node may be any of all, whichever came before: where all of a cache holds lines of the
// footprint, the share of loads that hit is the cache's part of the footprint, and how the cache
// replaces does not matter. (In a walk that takes every node in turn it does.)
#pragma once

#include <numeric>
#include <utility>
#include <vector>

#include "chaser.h"
#include "findings.h"

namespace memory_latency {

inline constexpr unsigned most_timed_loads = 2048;

struct RandomWalk {
  Nodes nodes;
  unsigned laps;      // through all nodes in the warm-up
  unsigned loads;     // at most most_timed_loads
  unsigned draw = 0;  // walks of other numbers go elsewhere
};

// What node i holds: all nodes differ, and none of it is an address.
__host__ __device__ inline std::uint64_t content_of(const Nodes& nodes, unsigned i) {
  const std::uint64_t high = hipscope::random_bits(i ^ nodes.seed);
  return (high << 32) + hipscope::random_bits(~i) * 2;  // even, as cycles_after asks
}

static __global__ void __launch_bounds__(largest_block) fill_nodes_kernel(Nodes nodes) {
  const unsigned threads = gridDim.x * blockDim.x;
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < nodes.count; i += threads) {
    *reinterpret_cast<std::uint64_t*>(address_of(nodes, i)) = content_of(nodes, i);
  }
}

// The node that a load of `content` leads to: to each equally often.
__host__ __device__ inline unsigned drawn_node(const RandomWalk& walk, std::uint64_t content,
                                               unsigned step) {
  const unsigned drawn =
      hipscope::random_bits(walk.draw * most_timed_loads + step + walk.nodes.seed);
  const std::uint64_t bits = hipscope::random_bits(static_cast<unsigned>(content >> 32) ^ drawn);
  return static_cast<unsigned>((bits * walk.nodes.count) >> 32);
}

// `result` gets the node that the last load leads to, and the cycles from one reading of the
// counter to the next. The times stay in LDS, so that no store of them comes into the caches; in 16
// bits, since less LDS is more level 1 where the two share a memory.
static __global__ void __launch_bounds__(largest_block)
    random_walk_kernel(WalkResult* result, unsigned* times, RandomWalk walk) {
  __shared__ unsigned short times_of[most_timed_loads];
  unsigned long long sum = 0;
  for (unsigned lap = 0; lap < walk.laps; ++lap) {
    for (unsigned k = threadIdx.x; k < walk.nodes.count; k += blockDim.x) {
      sum += memory::load<Load::global>(visited_address(walk.nodes, k));
    }
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    unsigned node = 0;
    long long empty = 0;
    for (unsigned step = 0; step < walk.loads; ++step) {
      std::uint64_t address = address_of(walk.nodes, node);
      const long long start = cycles_after(address);
#if defined(__HIP_DEVICE_COMPILE__)
      asm volatile("" : "+v"(address));  // no scalar load, and none before the counter is read
#endif
      const std::uint64_t content = memory::load<Load::global>(address);
      const long long end = cycles_after(content);
      empty = hipscope::cycles_between(end, cycles_after(content));
      const long long cycles = hipscope::cycles_between(start, end);
      constexpr long long longest = 0xFFFF;
      times_of[step] = static_cast<unsigned short>(cycles < longest ? cycles : longest);
      node = drawn_node(walk, content, step);
    }
    result->cycles = empty;
    result->end = node;
  }
  __syncthreads();
  for (unsigned step = threadIdx.x; step < walk.loads; step += blockDim.x) {
    times[step] = times_of[step];
  }
  atomicAdd(&result->warm_sum, sum);
}

// How long each load of two walks takes, net; `sum` is that of all nodes' contents.
inline std::vector<double> time_loads(const Sweep& sweep, Point& point, RandomWalk walk,
                                      unsigned long long sum) {
  DeviceBuffer<WalkResult> result(1);
  const DeviceBuffer<unsigned> times(walk.loads);
  std::vector<double> cycles;
  for (walk.draw = 0; walk.draw < 2; ++walk.draw) {
    result.clear();
    hipscope::launch(random_walk_kernel, {.grid = dim3(1), .block = dim3(block_threads(sweep))},
                     result.data(), times.data(), walk);
    const WalkResult made = result.to_host()[0];
    unsigned node = 0;
    for (unsigned step = 0; step < walk.loads; ++step) {
      node = drawn_node(walk, content_of(walk.nodes, node), step);
    }
    const std::string name = "walk " + std::to_string(walk.draw + 1) + ", ";
    point.check_value(name + "end", made.end, node);
    point.check_value(name + "sum in the warm-up", made.warm_sum, walk.laps * sum);
    constexpr unsigned untimed = 32;  // the first loads fetch the loop's instructions
    const std::vector<unsigned> raw = times.to_host();
    for (unsigned step = std::min(untimed, walk.loads / 2); step < walk.loads; ++step) {
      cycles.push_back(std::max(1.0, static_cast<double>(raw[step] - made.cycles)));
    }
  }
  return cycles;
}

inline void tell_distribution(Point& point, const Sweep& sweep, std::vector<double> cycles) {
  const double sum = std::accumulate(cycles.begin(), cycles.end(), 0.0);
  point.value("mean latency", sweep.counted(sum / static_cast<double>(cycles.size())), "cycles");
  std::sort(cycles.begin(), cycles.end());
  for (const auto& [name, share] : {std::pair{"1 % latency", 0.01},
                                    {"10 % latency", 0.1},
                                    {"latency", 0.5},
                                    {"90 % latency", 0.9},
                                    {"99 % latency", 0.99}}) {
    point.value(name, sweep.counted(hipscope::quantile(cycles, share)), "cycles");
  }
}

// The share of each footprint's loads in each mode that all of them together have: a mode is a
// level of the memory, or a part of one that is nearer than another.
inline void tell_modes(Sweep& sweep, std::vector<Point>& points,
                       const std::vector<LatencyHistogram>& histograms) {
  const auto modes = find_latency_modes(histograms);
  std::string bounds;
  for (std::size_t mode = 0; mode < modes.size(); ++mode) {
    const auto [begin, end, density] = modes[mode];
    if (mode > 0) {
      bounds += (mode > 1 ? ", " : "") + hipscope::number(LatencyHistogram::first_of(begin), 4);
    }
    for (std::size_t i = 0; i < points.size(); ++i) {
      points[i].value("mode " + std::to_string(mode + 1), 100 * histograms[i].share(begin, end),
                      "%");
    }
  }
  sweep.note(bounds.empty() ? "all loads take about as long: one mode"
                            : "modes end at " + bounds + " cycles");
}

inline void measure_load_times(Sweep& sweep, const Sizes& sizes) {
  const auto all = footprints(smallest_footprint, sizes.footprint, sizes.points, sizes.spacing);
  const DeviceBuffer<unsigned char> memory(open_footprints(sweep, all, sizes.spacing));
  sweep.note("each load timed alone, its node any of all; latency is the median");
  hipscope::prefer_level_1_cache(random_walk_kernel);
  const auto loads = static_cast<unsigned>(std::min<std::uint64_t>(sizes.steps, most_timed_loads));
  const auto nodes_of = [&](std::uint64_t bytes) {
    return dense_nodes(address_of(memory), bytes / sizes.spacing, sizes.spacing, sweep.seed());
  };
  const unsigned blocks = sweep.is_hardware() ? 2 * sweep.device().compute_units : 1;
  hipscope::launch(fill_nodes_kernel, {.grid = dim3(blocks), .block = dim3(block_threads(sweep))},
                   nodes_of(*all.rbegin()));
  std::vector<Point> points;
  std::vector<LatencyHistogram> histograms;
  unsigned long long sum = 0;  // of the contents of the footprint's nodes
  unsigned counted = 0;
  for (const std::uint64_t bytes : all) {
    const Nodes nodes = nodes_of(bytes);
    for (; counted < nodes.count; ++counted) {
      sum += content_of(nodes, counted);
    }
    points.push_back(sweep.point(std::to_string(bytes), static_cast<double>(bytes)));
    // Some laps fill a cache that replaces any line; more loads than this take too long.
    constexpr unsigned most_loads = 1U << 22U;
    const unsigned laps = std::clamp(most_loads / nodes.count, 2U, 8U);
    const std::vector<double> cycles =
        time_loads(sweep, points.back(), {.nodes = nodes, .laps = laps, .loads = loads}, sum);
    tell_distribution(points.back(), sweep, cycles);
    histograms.emplace_back();
    for (const double each : cycles) {
      histograms.back().add(each);
    }
  }
  if (sweep.is_hardware()) {
    tell_modes(sweep, points, histograms);
  }
}

}  // namespace memory_latency
