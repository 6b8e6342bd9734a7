// Are all lines of L2 equally far from a CU, and is a line equally far from all CUs?
#pragma once

#include <hipscope/compute_unit.h>

#include <vector>

#include "chaser.h"

namespace memory_latency {

static __global__ void __launch_bounds__(largest_block) unit_ids_kernel(unsigned* ids) {
  if (threadIdx.x == 0) {
    ids[blockIdx.x] = hipscope::compute_unit_id();
  }
}

// Chases three nodes in one line of L2, a random one: from every CU, or many lines from one CU. By
// loads, which may find a copy in the CU's own partition, and by atomics, done at the line's home.
inline void measure_lines(Sweep& sweep, bool from_all_units) {
  sweep.axis({.name = from_all_units ? "CU" : "line"});
  sweep.headline("latency");
  sweep.note("latency: of loads; atomic: of atomics, done where the line is at home");
  // More blocks than there is room for at once, so that every CU gets one.
  const dim3 grid(sweep.is_hardware() ? 4 * sweep.device().compute_units : 2);
  constexpr std::uint64_t steps = 2048;
  Chaser<Load::l2> loads(sweep, steps, grid);
  Chaser<Load::atomic> atomics(sweep, steps, grid);
  // The CUs by their own numbers, which have gaps on AMD.
  const DeviceBuffer<unsigned> ids(grid.x);
  hipscope::launch(unit_ids_kernel, {.grid = grid, .block = dim3(block_threads(sweep))},
                   ids.data());
  const std::vector<unsigned> found = ids.to_host();
  const std::set<unsigned> all_units(found.begin(), found.end());
  const std::set<unsigned> units = from_all_units ? all_units : std::set{*all_units.begin()};
  constexpr std::uint64_t candidates = 16 * mib / line_bytes;
  const DeviceBuffer<unsigned char> memory(candidates * line_bytes);
  const Nodes all = dense_nodes(address_of(memory), candidates, line_bytes, sweep.seed());
  const unsigned lines = from_all_units ? 1 : sweep.is_hardware() ? 64 : 4;
  for (unsigned line = 0; line < lines; ++line) {
    const Nodes nodes =
        dense_nodes(visited_address(all, line), 3, sizeof(std::uint64_t), sweep.seed());
    link(sweep, nodes);
    for (const unsigned unit : units) {
      const unsigned x = from_all_units ? unit : line;
      auto point = sweep.point(std::to_string(x), x);
      Walk walk = loads.walk(nodes);
      walk.compute_unit = unit;
      point.value("latency", loads.measure(point, walk, "load ").net, "cycles");
      point.value("atomic", atomics.measure(point, walk, "atomic ").net, "cycles");
    }
  }
}

}  // namespace memory_latency
