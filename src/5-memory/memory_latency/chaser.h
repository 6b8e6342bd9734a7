// The options of memory_latency, the footprints of a sweep, and a chase as it is launched and
// checked. Its kernel is in memory_latency.hip.
#pragma once

#include <hipscope/hipscope.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "5-memory/loads.h"
#include "visiting_order.h"

namespace memory_latency {

using hipscope::DeviceBuffer;
using hipscope::Point;
using hipscope::Sweep;
using memory::Load;

// --- Footprints -------------------------------------------------------------------------------

inline constexpr std::uint64_t kib = 1024;
inline constexpr std::uint64_t mib = 1024 * kib;

struct Sizes {
  hipscope::Size footprint;
  hipscope::Size spacing;
  hipscope::Size steps;
  hipscope::Size points;
  hipscope::Size pages;
};

inline constexpr std::uint64_t smallest_footprint = kib;

// Of another kind of load than the plain one: two octaves more than the largest known cache of a
// CU.
inline constexpr std::uint64_t largest_of_a_kind = mib;

// This many per octave, equally far apart in it, whole multiples of `spacing`: first ... last.
inline std::set<std::uint64_t> footprints(std::uint64_t first, std::uint64_t last,
                                          std::uint64_t per_octave, std::uint64_t spacing) {
  std::set<std::uint64_t> all;
  for (std::uint64_t octave = std::bit_floor(first); octave <= last; octave *= 2) {
    for (std::uint64_t i = 0; i < per_octave; ++i) {
      const std::uint64_t bytes = (octave + octave * i / per_octave) / spacing * spacing;
      if (bytes >= std::max(first, spacing) && bytes <= last) {
        all.insert(bytes);
      }
    }
  }
  return all;
}

// Names the axis of a sweep over the footprints `all`; returns the largest, which fits into memory.
inline std::uint64_t open_footprints(Sweep& sweep, const std::set<std::uint64_t>& all,
                                     std::uint64_t spacing) {
  if (spacing % sizeof(std::uint64_t) != 0) {
    throw hipscope::UsageError("--spacing must be a multiple of 8");
  }
  if (all.empty()) {
    throw hipscope::UsageError("--footprint and --spacing leave no footprint to measure");
  }
  constexpr std::uint64_t most_nodes = std::uint64_t{1} << 31;  // so that 32 bits number them
  if (*all.rbegin() / spacing > most_nodes) {
    throw hipscope::UsageError("--footprint must be no more than 2^31 times --spacing");
  }
  sweep.axis({.name = "footprint", .unit = "bytes", .scale = hipscope::Scale::logarithmic});
  sweep.headline("latency");
  sweep.note("nodes are " + std::to_string(spacing) + " bytes apart");
  sweep.require_memory(*all.rbegin(), "--footprint");
  return *all.rbegin();
}

// --- Chases -----------------------------------------------------------------------------------

inline constexpr unsigned largest_block = 1024;

// Any compute unit will do.
inline constexpr unsigned any_unit = ~0U;

struct Walk {
  Nodes nodes;
  unsigned settling_steps = 0;  // chased before those that are timed
  unsigned timed_steps = 0;
  unsigned compute_unit = any_unit;  // where it is to run
  unsigned long long texture = 0;    // that texels are fetched from
};

// All zero before a launch.
struct WalkResult {
  std::uint64_t end;            // where the chase has arrived
  unsigned long long warm_sum;  // of the addresses that the warm-up has loaded
  long long cycles;             // of the timed steps
  unsigned taken;               // 1 when a block has taken the walk
};

// A loop of loads: its count and branch run while a load is in flight.
inline constexpr unsigned steps_per_round = 32;

// Loads all nodes, then chases.
template <Load kind>
__global__ void walk_kernel(WalkResult* result, Walk walk);

// What a fiber of the host backend costs is no measure of a thread.
inline unsigned block_threads(const Sweep& sweep) {
  return sweep.is_hardware() ? largest_block : 64;
}

inline std::uint64_t round_up(std::uint64_t value, std::uint64_t unit) {
  return (value + unit - 1) / unit * unit;
}

// The cycle counter, read when `address` has arrived: the branch must know it. No node is at an odd
// address; in constant memory one may be at 0.
__device__ long long cycles_after(std::uint64_t address) {
  return address != 1 ? hipscope::cycle_count() : 0;
}

template <typename T>
std::uint64_t address_of(const DeviceBuffer<T>& buffer) {
  return reinterpret_cast<std::uint64_t>(buffer.data());
}

// Every node gets the place of the one that is visited after it: one cycle through all of them.
// `places` are the same nodes as a load names them.
static __global__ void __launch_bounds__(largest_block) link_kernel(Nodes nodes, Nodes places) {
  const unsigned threads = gridDim.x * blockDim.x;
  for (unsigned k = blockIdx.x * blockDim.x + threadIdx.x; k < nodes.count; k += threads) {
    *reinterpret_cast<std::uint64_t*>(visited_address(nodes, k)) =
        visited_address(places, std::uint64_t{k} + 1);
  }
}

inline void link(const Sweep& sweep, const Nodes& nodes, const Nodes& places) {
  const unsigned blocks = sweep.is_hardware() ? 2 * sweep.device().compute_units : 1;
  hipscope::launch(link_kernel, {.grid = dim3(blocks), .block = dim3(block_threads(sweep))}, nodes,
                   places);
}

inline void link(const Sweep& sweep, const Nodes& nodes) { link(sweep, nodes, nodes); }

// The sum of the addresses of all nodes.
inline unsigned long long sum_of(const Nodes& nodes) {
  unsigned long long sum = 0;
  for (unsigned i = 0; i < nodes.count; ++i) {
    sum += address_of(nodes, i);
  }
  return sum;
}

struct Latency {
  double raw = 0;  // cycles per step
  double net = 0;  // less the counter's cost
  double nanoseconds = 0;
};

// Chases of `steps` steps by one kind of load; keeps the results of its last launches.
template <Load kind>
class Chaser {
 public:
  Chaser(const Sweep& sweep, std::uint64_t steps, dim3 grid = dim3(1),
         unsigned long long texture = 0)
      : sweep_(sweep),
        steps_(static_cast<unsigned>(round_up(steps, steps_per_round))),
        texture_(texture),
        grid_(grid) {
    hipscope::prefer_level_1_cache(walk_kernel<kind>);
    // A chase of no steps: what the counter costs.
    const std::uint64_t node = kind == Load::texture ? 0 : address_of(results_);
    for (unsigned i = 0; i < kept_launches; ++i) {
      run({.nodes = dense_nodes(node, 1, line_bytes, 0), .texture = texture});
    }
    empty_cycles_ = take_cycles();
  }

  // The walk over `nodes`, with a multiple of the steps. First it settles, until every node has
  // been chased if that takes no more steps than are timed. The chase must end elsewhere than it
  // begins, half a cycle away if it is short: one that did nothing shows.
  [[nodiscard]] Walk walk(const Nodes& nodes, unsigned times = 1) const {
    const unsigned timed = times * steps_;
    unsigned settling = steps_per_round;
    if (nodes.count <= timed || kind == Load::scalar) {
      const unsigned beyond = timed % nodes.count;
      settling = nodes.count + (nodes.count / 2 + nodes.count - beyond) % nodes.count;
    } else if ((settling + timed) % nodes.count == 0) {
      ++settling;
    }
    return {.nodes = nodes, .settling_steps = settling, .timed_steps = timed, .texture = texture_};
  }

  void run(const Walk& walk) {
    const unsigned threads = kind == Load::scalar ? static_cast<unsigned>(sweep_.device().wave_size)
                                                  : block_threads(sweep_);
    WalkResult* const result = results_.data() + launches_++ % kept_launches;
    hipscope::check(hipMemsetAsync(result, 0, sizeof(WalkResult), nullptr));
    hipscope::launch(walk_kernel<kind>, {.grid = grid_, .block = dim3(threads)}, result, walk);
  }

  // The chase must end at the node that its steps lead to, and the warm-up must have loaded all
  // nodes, each of which holds the address of another. Where the hardware sends no block to the CU
  // that is to chase, in several launches, there is nothing to verify.
  void verify(Point& point, const Walk& walk, const std::string& what = "") {
    launches_ = 0;
    do {
      run(walk);
    } while (walk.compute_unit != any_unit && launches_ < kept_launches);
    const std::vector<WalkResult> results = take_results();
    if (results.empty() && walk.compute_unit != any_unit) {
      return;
    }
    const WalkResult result = results.empty() ? WalkResult{} : results.front();
    const std::uint64_t steps = std::uint64_t{walk.settling_steps} + walk.timed_steps;
    point.check_value(what + "end of the chase", result.end, visited_address(walk.nodes, steps));
    if (walk.compute_unit == any_unit && kind != Load::scalar) {
      point.check_value(what + "sum of the nodes in the warm-up", result.warm_sum,
                        sum_of(walk.nodes));
    }
  }

  // The median cycles of the launches since the last call that have chased; NaN where none has, and
  // on the host backend, which counts nanoseconds.
  double take_cycles() {
    std::vector<double> cycles;
    for (const WalkResult& result : take_results()) {
      cycles.push_back(static_cast<double>(result.cycles));
    }
    return cycles.empty() ? std::numeric_limits<double>::quiet_NaN()
                          : sweep_.counted(hipscope::median_of(cycles));
  }

  // Verifies and measures; `what` distinguishes several in one row.
  Latency measure(Point& point, const Walk& walk, const std::string& what = "") {
    verify(point, walk, what);
    const auto time = point.measure([&] { run(walk); }, {.name = what + "launch", .batch = 1});
    const double cycles = take_cycles();
    const double net = (cycles - empty_cycles_) / walk.timed_steps;
    return {.raw = cycles / walk.timed_steps,
            .net = net,
            .nanoseconds = net * time.seconds().median / time.cycles() * 1e9};
  }

  // A row with all that is known of one latency; returns the net one.
  double measure_row(Point& point, const Nodes& nodes) {
    const Latency latency = measure(point, walk(nodes));
    point.value("raw", latency.raw, "cycles");
    point.value("latency", latency.net, "cycles");
    point.value("latency in time", latency.nanoseconds, "ns");
    return latency.net;
  }

 private:
  static constexpr unsigned kept_launches = 16;

  // Of the launches since the last call, as many as are kept: those that have chased, since a block
  // came to the CU that was to.
  std::vector<WalkResult> take_results() {
    std::vector<WalkResult> results = results_.to_host();
    results.resize(std::min(launches_, kept_launches));
    launches_ = 0;
    std::erase_if(results, [](const WalkResult& result) { return result.taken == 0; });
    return results;
  }

  const Sweep& sweep_;
  unsigned steps_;
  unsigned long long texture_;
  dim3 grid_;
  unsigned launches_ = 0;
  DeviceBuffer<WalkResult> results_{kept_launches};
  double empty_cycles_ = 0;
};

}  // namespace memory_latency
