// Sweep numa: pinned memory on one NUMA node of the host.
#pragma once

#include <hipscope/hipscope.h>

#include <cstdint>
#include <string>
#include <vector>

#include "host_memory.h"
#include "transfer.h"

namespace host_copies {

inline void measure_numa(Sweep& sweep, std::uint64_t bytes) {
  const std::vector<unsigned> nodes = nodes_with_memory();
  if (nodes.empty()) {
    sweep.note("the system does not tell which of its nodes have memory");
    return;
  }
  sweep.axis({.name = "NUMA node"});
  sweep.headline("to device");
  sweep.require_memory(bytes, "--bytes");
  Transfer to_device(sweep, Direction::to_device, bytes);
  Transfer to_host(sweep, Direction::to_host, bytes);
  for (const unsigned node : nodes) {
    const NodeMemory host(bytes, node);
    if (!host.is_bound()) {
      sweep.note("the system does not let this process place memory on node " +
                 std::to_string(node));
      continue;
    }
    auto point = sweep.point(std::to_string(node), node);
    const auto go = [&] { to_device.enqueue(host.data(), bytes); };
    const auto come = [&] { to_host.enqueue(host.data(), bytes); };
    to_device.verify(point, "to device", host.data(), bytes, go);
    point.value("to device", rate(bytes, point.measure(go, {.name = "time to device"})), "GB/s");
    to_host.verify(point, "to host", host.data(), bytes, come);
    point.value("to host", rate(bytes, point.measure(come, {.name = "time to host"})), "GB/s");
  }
}

}  // namespace host_copies
