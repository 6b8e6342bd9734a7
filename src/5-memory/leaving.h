// From how many nodes on does a cache no longer hold them all? Plain C++, no GPU headers.
#pragma once

#include <cmath>
#include <limits>

namespace memory {

/// Loads have left a cache when their mean latency has gone this share of the way from hit to miss:
/// when about a third of them miss. An H200's level 2 consists of two partitions, and what leaves
/// the near one is 0.6 of the way.
inline constexpr double leaving_share = 0.3;

/// The number of nodes between `fewest` and `most` from which on `share(nodes)`, the share of the
/// way from hit to miss, is leaving_share or more: in halvings, on a logarithmic scale. NaN
/// if it is nowhere in the range.
template <typename Share>
double leaving_nodes(double fewest, double most, unsigned halvings, Share share) {
  double inside = fewest;
  double outside = most;
  for (unsigned i = 0; i < halvings; ++i) {
    const double middle = std::sqrt(inside * outside);
    (share(middle) < leaving_share ? inside : outside) = middle;
  }
  const bool found = inside > fewest && outside < most;
  return found ? std::sqrt(inside * outside) : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace memory
