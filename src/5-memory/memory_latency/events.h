// Do device events see the same latency as the counter in the kernel?
#pragma once

#include <hipscope/hipscope.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <utility>

#include "chaser.h"
#include "footprints.h"
#include "visiting_order.h"

namespace memory_latency {

// The chase once and nine times over the same warm-up: by events the difference is eight of it.
inline void measure_events(Sweep& sweep, const Sizes& sizes, Kernel kernel) {
  require_spacing(sizes);
  set_footprint_axis(sweep, sizes.spacing);
  sweep.headline("by events");
  sweep.note("two launches whose chases differ by eight times --steps");
  constexpr unsigned longer = 9;
  sweep.require_memory(sizes.footprint, "--footprint");
  Chaser chaser(sweep, kernel, false, sizes.steps);
  const DeviceBuffer<unsigned char> memory(sizes.footprint);
  std::set<std::uint64_t> all = {4 * kib, 2 * mib, 16 * mib, sizes.footprint};
  std::erase_if(all, [&](std::uint64_t bytes) { return bytes > sizes.footprint; });
  for (const std::uint64_t bytes : all) {
    auto point = sweep.point(std::to_string(bytes), static_cast<double>(bytes));
    const std::uint64_t count = std::max<std::uint64_t>(1, bytes / sizes.spacing);
    const Nodes nodes = dense_nodes(address_of(memory), count, sizes.spacing, sweep.seed());
    link(sweep, nodes);
    const Walk once = chaser.walk(nodes);
    const Walk more = chaser.walk(nodes, longer);
    chaser.verify(point, more);
    const auto timed = [&](const Walk& walk, const std::string& name) {
      const auto time = point.measure([&] { chaser.run(walk); }, {.name = name, .batch = 1});
      return std::pair{time.cycles(), chaser.take_cycles()};
    };
    const auto [events_once, counter_once] = timed(once, "once");
    const auto [events_more, counter_more] = timed(more, "nine times");
    // Events also see the steps in which a walk settles, the counter does not.
    const double more_timed = more.timed_steps - once.timed_steps;
    const double more_settling =
        static_cast<double>(more.settling_steps) - static_cast<double>(once.settling_steps);
    const double by_events = (events_more - events_once) / (more_timed + more_settling);
    const double by_counter = (counter_more - counter_once) / more_timed;
    point.value("by events", by_events, "cycles");
    point.value("by counter", by_counter, "cycles");
    point.value("difference", 100 * (by_events / by_counter - 1), "%");
  }
}

}  // namespace memory_latency
