// Sweep latency: one load after another, from the host's memory and from the device's.
#pragma once

#include <hipscope/hipscope.h>

#include <cstdint>
#include <string>

#include "9-transfers-and-sync/chase.h"
#include "host_memory.h"
#include "transfer.h"

namespace host_copies {

inline void measure_loads(Sweep& sweep, const std::string& label, double x, const unsigned* nodes,
                          const transfers::Cycle& cycle, std::uint64_t steps) {
  auto point = sweep.point(label, x);
  DeviceBuffer<unsigned> last(1);
  transfers::measure_steps(point, "latency", cycle, static_cast<unsigned>(steps),
                           [&](unsigned first, unsigned count) {
                             launch(transfers::chase_kernel, {.grid = dim3(1), .block = dim3(1)},
                                    nodes, first, count, last.data());
                             return last.to_host()[0];
                           });
}

inline void measure_latency(Sweep& sweep, std::uint64_t bytes, std::uint64_t steps) {
  sweep.axis({.name = "memory"});
  sweep.headline("latency");
  sweep.note("from the difference of two chases, one five times as long, by the host's clock");
  sweep.require_memory(bytes, "--bytes");
  const transfers::Cycle cycle(bytes);
  const PinnedMemory host(cycle.words() * sizeof(unsigned));
  cycle.link(host.data());
  DeviceBuffer<unsigned> device(cycle.words());
  check(hipMemcpy(device.data(), host.data(), cycle.words() * sizeof(unsigned),
                  hipMemcpyHostToDevice));
  measure_loads(sweep, "device", 1, device.data(), cycle, steps);
  measure_loads(sweep, "host, pinned", 2, host.on_device(), cycle, steps);
}

}  // namespace host_copies
