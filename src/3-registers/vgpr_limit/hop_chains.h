// Chains of dependent loads, each within a line of its own, and where they lead. Plain C++.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

namespace hop_chains {

/// For each node the next one: the `nodes` nodes of each of `lines` lines form one cycle, all in
/// the same random order.
inline std::vector<unsigned> make(unsigned lines, unsigned nodes, std::uint64_t seed) {
  std::vector<unsigned> order(nodes);
  std::iota(order.begin(), order.end(), 0U);
  std::shuffle(order.begin(), order.end(), std::mt19937_64(seed));
  std::vector<unsigned> next(std::size_t{lines} * nodes);
  for (unsigned line = 0; line < lines; ++line) {
    for (unsigned i = 0; i < nodes; ++i) {
      const unsigned first = line * nodes;
      next[first + order[i]] = first + order[(i + 1) % nodes];
    }
  }
  return next;
}

/// Where `hops` hops lead from every node.
inline std::vector<unsigned> ends(const std::vector<unsigned>& next, unsigned nodes,
                                  std::uint64_t hops) {
  std::vector<unsigned> ends(next.size());
  std::iota(ends.begin(), ends.end(), 0U);
  for (std::uint64_t hop = 0; hop < hops % nodes; ++hop) {
    std::transform(ends.begin(), ends.end(), ends.begin(), [&](unsigned end) { return next[end]; });
  }
  return ends;
}

}  // namespace hop_chains
