// Sweeps managed and numa: pages that move to where they are touched, and pages of one NUMA node.
#pragma once

#include <hipscope/hipscope.h>

#include <cstdint>
#include <string>
#include <vector>

#include "host_memory.h"
#include "transfer.h"

namespace host_copies {

inline bool has(const Sweep& sweep, hipDeviceAttribute_t attribute) {
  int value = 0;
  check(hipDeviceGetAttribute(&value, attribute, sweep.device().index));
  return value != 0;
}

inline void measure_managed(Sweep& sweep, std::uint64_t bytes) {
  if (!has(sweep, hipDeviceAttributeManagedMemory) ||
      !has(sweep, hipDeviceAttributeConcurrentManagedAccess)) {
    sweep.note("this device cannot move pages that host and device both touch");
    return;
  }
  sweep.axis({.name = "case"});
  sweep.headline("bandwidth");
  sweep.note("the call and its end, by the host's clock; before each the pages are moved back");
  sweep.require_memory(bytes, "--managed");
  const ManagedMemory memory(bytes);
  DeviceBuffer<unsigned> wrong(1);
  const std::uint64_t words = bytes / sizeof(unsigned);
  const unsigned key = hipscope::key_of(sweep.seed());
  const auto to_host = [&] {
    for (std::uint64_t i = 0; i < words; ++i) {
      memory.data()[i] = random_bits(static_cast<unsigned>(i) + key);
    }
  };
  const auto prefetch = [&] {
    check(hipMemPrefetchAsync(memory.data(), bytes, sweep.device().index, nullptr));
    check(hipDeviceSynchronize());
  };
  const auto read = [&] {
    launch(transfers::compare_kernel, shape(all_blocks(sweep)), memory.data(), words, key,
           wrong.data());
    check(hipDeviceSynchronize());
  };
  const auto to_device = [&] {
    to_host();
    prefetch();
  };
  const auto row = [&](const std::string& label, double x, const auto& prepare, const auto& body) {
    auto point = sweep.point(label, x);
    wrong.clear();
    prepare();
    body();
    read();
    point.verify("words that the kernel read", wrong.to_host()[0], words);
    prepare();
    const auto time = point.measure_on_host("time", body, prepare);
    point.value("bandwidth", rate(bytes, time), "GB/s");
  };
  row("read, pages at the host", 1, to_host, read);
  row("prefetch to the device", 2, to_host, prefetch);
  row("read after a prefetch", 3, to_device, read);
  row("written by the host, pages at the device", 4, to_device, to_host);
}

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
