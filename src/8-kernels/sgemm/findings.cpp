#include "findings.h"

#include <algorithm>
#include <cstddef>

#include "hipscope/format.h"
#include "hipscope/inference.h"
#include "hipscope/statistics.h"

namespace sgemm {

namespace {

using hipscope::CurvePoint;
using hipscope::number;

void conclude_bounds(hipscope::Results& results, const std::vector<StageName>& names) {
  const auto rates = results.curve("stages", "rate");
  const auto find = [&](const std::string& technique) {
    return std::find_if(rates.begin(), rates.end(), [&](const auto& point) {
      const auto i = static_cast<std::size_t>(point.x) - 1;
      return i < names.size() && names[i].technique == technique;
    });
  };
  std::vector<double> gains;
  std::vector<std::string> evidence;
  double spread = 0;
  for (const StageName& stage : names) {
    const auto without = find(stage.technique);
    const auto with = find(stage.technique + bounded_suffix);
    if (with != rates.end() && without != rates.end()) {
      const double gain = with->y / without->y;
      gains.push_back(gain);
      spread = std::max({spread, with->relative_spread, without->relative_spread});
      evidence.push_back(stage.label + ": " + number(gain) + " times");
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

void conclude_limit(hipscope::Results& results) {
  const auto shares = results.curve("limit", "share of peak");
  const auto find = [&](double x) {
    return std::find_if(shares.begin(), shares.end(),
                        [&](const CurvePoint& point) { return point.x == x; });
  };
  const auto new_operands = find(limit_no_factor_twice);
  const auto kept_operands = find(limit_up_and_down);
  if (new_operands != shares.end() && kept_operands != shares.end()) {
    results.infer({.name = "FP32 FMAs whose operands are all new",
                   .value = new_operands->y / kept_operands->y,
                   .unit = "times the rate",
                   .confidence = 1 - std::min(1.0, std::max(new_operands->relative_spread,
                                                            kept_operands->relative_spread)),
                   .statement = "against FMAs that share a factor with the one before",
                   .evidence = {number(new_operands->y) + " and " + number(kept_operands->y) +
                                " % of the peak, from registers alone"}});
  }
}

}  // namespace

void conclude(hipscope::Results& results, const std::vector<StageName>& names) {
  conclude_bounds(results, names);
  conclude_limit(results);
}

}  // namespace sgemm
