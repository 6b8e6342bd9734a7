// A pointer chase over the lines of an array: each load gives the address of the next. The order
// needs no table, so that nothing but the chase itself is in a cache.
#pragma once

#include <hipscope/hipscope.h>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

namespace transfers {

using hipscope::Point;

// The value as it is. Of what it knows to be the same in all lanes clang makes scalar loads, which
// have a way of their own to memory, and plain loads of atomics that add nothing.
__device__ inline unsigned of_each_lane(unsigned value) {
#if defined(__HIP_DEVICE_COMPILE__)
  asm volatile("" : "+v"(value));
#endif
  return value;
}

static __global__ void __launch_bounds__(1)
    chase_kernel(const unsigned* nodes, unsigned first, unsigned steps, unsigned* last) {
  unsigned node = of_each_lane(first);
  for (unsigned i = 0; i < steps; ++i) {
    node = nodes[node];
  }
  *last = node;
}

// Nodes of a line each. Node i leads to node (i + stride) modulo their number; the stride is odd
// and the number a power of two, so that all are on one cycle. A node is named by its first word.
struct Cycle {
  static constexpr unsigned node_words = 32;
  static constexpr unsigned stride = 0x9E3779B1U;  // 2^32 over the golden ratio: far apart

  unsigned count;  // a power of two

  // As many nodes as fit into `bytes`, which are enough for one.
  explicit Cycle(std::uint64_t bytes)
      : count(static_cast<unsigned>(std::bit_floor(bytes / (node_words * sizeof(unsigned))))) {}

  [[nodiscard]] std::size_t words() const { return std::size_t{count} * node_words; }

  // Where `steps` steps from `node` lead.
  [[nodiscard]] unsigned after(unsigned node, unsigned steps) const {
    return (node / node_words + steps * stride) % count * node_words;
  }

  // Every node's first word: the node after it.
  void link(unsigned* nodes) const {
    for (std::size_t node = 0; node < words(); node += node_words) {
      nodes[node] = after(static_cast<unsigned>(node), 1);
    }
  }
};

// Verifies where a chase ends, and adds to the row what a step of it takes. `chase(first, steps)`
// runs one from node `first`, waits for it and returns where it has ended.
inline double measure_steps(Point& point, const std::string& what, const Cycle& cycle,
                            unsigned steps,
                            const std::function<unsigned(unsigned, unsigned)>& chase) {
  unsigned node = 0;  // each goes on where the last one has ended: no line waits in a cache
  hipscope::Comparison ends;
  const auto go = [&](unsigned count, bool& is_wrong) {
    const unsigned expected = cycle.after(node, count);
    is_wrong = !ends.compare(ends.checked(), expected, chase(node, count)) || is_wrong;
    node = expected;
  };
  constexpr unsigned more = 5;
  bool is_few_wrong = false;
  bool is_many_wrong = false;
  const auto few = point.measure_on_host(what + " time", [&] { go(steps, is_few_wrong); });
  const auto many = point.measure_on_host(what + " time, five times as many",
                                          [&] { go(more * steps, is_many_wrong); });
  point.verify("ends of all chases of each length, " + what,
               (is_few_wrong ? 1U : 0U) + (is_many_wrong ? 1U : 0U), 2,
               [&](hipscope::Comparison& comparison) { comparison = ends; });
  // The difference: neither a launch nor a wait is in it.
  const double nanoseconds = (many.seconds().median - few.seconds().median) /
                             (static_cast<double>(more - 1) * steps) * 1e9;
  point.value(what, nanoseconds, "ns");
  return nanoseconds;
}

}  // namespace transfers
