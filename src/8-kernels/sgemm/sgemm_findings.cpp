#include "sgemm_findings.h"

#include <algorithm>
#include <cstddef>

#include "hipscope/format.h"
#include "hipscope/statistics.h"

namespace sgemm {

void conclude(hipscope::Results& results, const std::vector<Rung>& rungs) {
  const auto rates = results.curve("stages", "rate");
  const auto find = [&](const std::string& technique) {
    return std::find_if(rates.begin(), rates.end(), [&](const auto& point) {
      const auto i = static_cast<std::size_t>(point.x) - 1;
      return i < rungs.size() && rungs[i].technique == technique;
    });
  };
  std::vector<double> gains;
  std::vector<std::string> evidence;
  double spread = 0;
  for (const Rung& rung : rungs) {
    const auto without = find(rung.technique);
    const auto with = find(rung.technique + bounded_suffix);
    if (with != rates.end() && without != rates.end()) {
      const double gain = with->y / without->y;
      gains.push_back(gain);
      spread = std::max({spread, with->relative_spread, without->relative_spread});
      evidence.push_back(rung.label + ": " + hipscope::number(gain) + " times");
    }
  }
  if (!gains.empty()) {
    results.infer({.name = "SGEMM gain by launch bounds",
                   .value = hipscope::geometric_mean(gains),
                   .unit = "times the rate",
                   .confidence = 1 - std::min(1.0, spread),
                   .statement = "tiles of 128 x 128 compiled for their 256 threads instead of 1024",
                   .evidence = evidence});
  }
}

}  // namespace sgemm
