// How are the times of single loads distributed, and what share of them misses?
#pragma once

#include <hipscope/hipscope.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "chaser.h"
#include "footprints.h"
#include "latency_modes.h"
#include "visiting_order.h"

namespace memory_latency {

// A chase whose next node may be any of all, whichever came before: where all of a cache holds
// lines of the footprint, the share of loads that hit is the cache's part of the footprint, and how
// the cache replaces does not matter. (In a walk that takes every node in turn it does.)
inline constexpr unsigned most_timed_loads = 2048;
// The first loads of a chase fetch its instructions.
inline constexpr unsigned untimed_loads = 32;
// What 16 bits hold: less LDS, more level 1 where the two share a memory.
inline constexpr long long longest_time = 0xFFFF;

struct RandomWalk {
  Nodes nodes;
  unsigned laps;   // through all nodes in the warm-up
  unsigned loads;  // at most most_timed_loads
  unsigned draw;   // walks of other numbers go elsewhere
};

struct RandomWalkResult {
  std::uint64_t end;            // the last node's number
  unsigned long long warm_sum;  // of what the warm-up has loaded
  long long empty_cycles;       // from one reading of the counter to the next
};

using RandomKernel = void (*)(RandomWalkResult*, unsigned*, RandomWalk);

// What node i holds: all nodes differ, and none of it is an address.
__host__ __device__ inline std::uint64_t content_of(const Nodes& nodes, unsigned i) {
  return (std::uint64_t{mix(i ^ nodes.seed)} << 32) + mix(~i) * 2;  // even, as cycles_after asks
}

// Where a load of `content` leads: to each node equally often.
__host__ __device__ inline unsigned drawn_node(const RandomWalk& walk, std::uint64_t content,
                                               unsigned step) {
  const auto high = static_cast<unsigned>(content >> 32);
  const unsigned bits = mix(high ^ mix(walk.draw * most_timed_loads + step + walk.nodes.seed));
  return static_cast<unsigned>((std::uint64_t{bits} * walk.nodes.count) >> 32);
}

static __global__ void __launch_bounds__(largest_block) fill_nodes_kernel(Nodes nodes) {
  const unsigned threads = gridDim.x * blockDim.x;
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < nodes.count; i += threads) {
    *reinterpret_cast<std::uint64_t*>(address_of(nodes, i)) = content_of(nodes, i);
  }
}

// The node that a walk ends at.
inline unsigned end_of(const RandomWalk& walk) {
  unsigned node = 0;
  for (unsigned step = 0; step < walk.loads; ++step) {
    node = drawn_node(walk, content_of(walk.nodes, node), step);
  }
  return node;
}

// Where a row stands while the others are measured: its modes are those of all of them together.
struct TimedFootprint {
  Point point;
  std::vector<double> cycles;
};

// Several walks over the same nodes: what they load, and how long each load takes, net.
class RandomWalker {
 public:
  RandomWalker(const Sweep& sweep, RandomKernel kernel, unsigned loads)
      : sweep_(sweep), kernel_(kernel), loads_(loads), times_(loads) {
    hipscope::prefer_level_1_cache(kernel);
  }

  // `sum` is that of all nodes' contents.
  std::vector<double> measure(Point& point, const Nodes& nodes, unsigned laps,
                              unsigned long long sum) {
    constexpr unsigned walks = 2;
    std::vector<double> cycles;
    for (unsigned draw = 0; draw < walks; ++draw) {
      const RandomWalk walk = {.nodes = nodes, .laps = laps, .loads = loads_, .draw = draw};
      hipscope::check(hipMemset(result_.data(), 0, sizeof(RandomWalkResult)));
      hipscope::launch(kernel_, {.grid = dim3(1), .block = dim3(block_threads(sweep_))},
                       result_.data(), times_.data(), walk);
      const RandomWalkResult result = result_.to_host()[0];
      const std::string name = "walk " + std::to_string(draw + 1) + ", ";
      point.check_value(name + "end", result.end, end_of(walk));
      point.check_value(name + "sum in the warm-up", result.warm_sum, laps * sum);
      const std::vector<unsigned> times = times_.to_host();
      for (unsigned step = std::min(untimed_loads, loads_ / 2); step < loads_; ++step) {
        const double net =
            static_cast<double>(times[step]) - static_cast<double>(result.empty_cycles);
        cycles.push_back(std::max(1.0, net));
      }
    }
    return cycles;
  }

 private:
  const Sweep& sweep_;
  RandomKernel kernel_;
  unsigned loads_;
  DeviceBuffer<RandomWalkResult> result_{1};
  DeviceBuffer<unsigned> times_;
};

// Some laps fill a cache that replaces any line; more loads than this take too long.
inline unsigned laps_through(std::uint64_t nodes) {
  constexpr std::uint64_t most_loads = 1U << 22U;
  constexpr std::uint64_t fewest = 2;
  constexpr std::uint64_t most = 8;
  return static_cast<unsigned>(std::clamp(most_loads / nodes, fewest, most));
}

inline void tell_distribution(Point& point, const Sweep& sweep, std::vector<double> cycles) {
  const double sum = std::accumulate(cycles.begin(), cycles.end(), 0.0);
  point.value("mean latency", sweep.counted(sum / static_cast<double>(cycles.size())), "cycles");
  std::sort(cycles.begin(), cycles.end());
  const auto percentile = [&](double share) {
    return sweep.counted(hipscope::quantile(cycles, share));
  };
  point.value("1 % latency", percentile(0.01), "cycles");
  point.value("10 % latency", percentile(0.1), "cycles");
  point.value("latency", percentile(0.5), "cycles");
  point.value("90 % latency", percentile(0.9), "cycles");
  point.value("99 % latency", percentile(0.99), "cycles");
}

// Of each footprint the percentiles, and the share of loads in each mode that all of them together
// have: a mode is a level of the memory, or a part of one that is nearer than another.
inline void tell_modes(Sweep& sweep, std::vector<TimedFootprint>& all) {
  std::vector<LatencyHistogram> histograms(all.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (const double cycles : all[i].cycles) {
      histograms[i].add(cycles);
    }
  }
  const auto modes = find_latency_modes(histograms);
  std::string bounds;
  for (const LatencyMode& mode : modes) {
    if (mode.begin > 0) {
      bounds += (bounds.empty() ? "" : ", ") +
                hipscope::number(LatencyHistogram::first_of(mode.begin), 4);
    }
  }
  sweep.note(bounds.empty() ? "all loads take about as long: one mode"
                            : "modes end at " + bounds + " cycles");
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (std::size_t mode = 0; mode < modes.size(); ++mode) {
      all[i].point.value("mode " + std::to_string(mode + 1),
                         100 * histograms[i].share(modes[mode].begin, modes[mode].end), "%");
    }
  }
}

inline void measure_load_times(Sweep& sweep, const Sizes& sizes, RandomKernel kernel) {
  require_spacing(sizes);
  set_footprint_axis(sweep, sizes.spacing);
  const auto all = footprints(smallest_footprint, sizes.footprint, sizes.points, sizes.spacing);
  if (all.empty()) {
    throw hipscope::UsageError("--footprint and --spacing leave no footprint to measure");
  }
  sweep.note("each load timed alone, its node any of all; latency is the median");
  const std::uint64_t largest = *all.rbegin();
  sweep.require_memory(largest, "--footprint");
  const DeviceBuffer<unsigned char> memory(largest);
  const auto nodes_of = [&](std::uint64_t bytes) {
    return dense_nodes(address_of(memory), bytes / sizes.spacing, sizes.spacing, sweep.seed());
  };
  const unsigned blocks = sweep.is_hardware() ? 2 * sweep.device().compute_units : 1;
  hipscope::launch(fill_nodes_kernel, {.grid = dim3(blocks), .block = dim3(block_threads(sweep))},
                   nodes_of(largest));
  RandomWalker walker(
      sweep, kernel, static_cast<unsigned>(std::min<std::uint64_t>(sizes.steps, most_timed_loads)));
  std::vector<TimedFootprint> rows;
  unsigned long long sum = 0;  // of the nodes of the footprint
  unsigned counted = 0;
  for (const std::uint64_t bytes : all) {
    const Nodes nodes = nodes_of(bytes);
    for (; counted < nodes.count; ++counted) {
      sum += content_of(nodes, counted);
    }
    TimedFootprint row = {.point = sweep.point(std::to_string(bytes), static_cast<double>(bytes)),
                          .cycles = {}};
    row.cycles = walker.measure(row.point, nodes, laps_through(nodes.count), sum);
    tell_distribution(row.point, sweep, row.cycles);
    rows.push_back(std::move(row));
  }
  if (sweep.is_hardware()) {
    tell_modes(sweep, rows);
  }
}

}  // namespace memory_latency
