// Which CUs belong together.
#include <cmath>
#include <vector>

#include "5-memory/groups.h"
#include "findings.h"
#include "hipscope/statistics.h"

namespace cache_sharing {

std::vector<std::size_t> groups_by_disturbance(const std::vector<double>& quiet,
                                               const std::vector<std::vector<double>>& disturbed) {
  const auto ratio = [&](std::size_t a, std::size_t b) { return disturbed[a][b] / quiet[b]; };
  std::vector<double> own;
  for (std::size_t a = 0; a < quiet.size(); ++a) {
    if (std::isfinite(ratio(a, a))) {
      own.push_back(ratio(a, a));
    }
  }
  if (own.empty() || hipscope::summarize(own).median < clear_miss) {
    return {};
  }
  const double half = std::sqrt(hipscope::summarize(own).median);
  memory::Groups groups(quiet.size());
  for (std::size_t a = 0; a < quiet.size(); ++a) {
    for (std::size_t b = a + 1; b < quiet.size(); ++b) {
      if (ratio(a, b) > half && ratio(b, a) > half) {
        groups.join(a, b);
      }
    }
  }
  std::vector<std::size_t> first;
  for (std::size_t i = 0; i < quiet.size(); ++i) {
    first.push_back(groups.first_of(i));
  }
  return first;
}

}  // namespace cache_sharing
