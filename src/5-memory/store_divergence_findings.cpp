#include "store_divergence_findings.h"

#include <algorithm>
#include <string>
#include <vector>

#include "hipscope/format.h"
#include "hipscope/inference.h"
#include "hipscope/statistics.h"

namespace store_divergence {
namespace {

using hipscope::number;

void infer_granularity(hipscope::Results& results, const std::string& sweep,
                       const std::string& what) {
  const auto costs = results.curve(sweep, "cycles per access");
  if (costs.empty()) {
    return;
  }
  hipscope::Inference inference{
      .name = "access granularity of " + what,
      .unit = "bytes",
      .statement = "the cost does not follow the number of segments of any one size"};
  const auto lanes = static_cast<unsigned>(results.device().wave_size);
  if (const auto found = hipscope::find_access_granularity(costs, lanes)) {
    inference.value = found->bytes;
    inference.confidence = found->confidence;
    inference.statement =
        "a wave's access costs in proportion to the segments of this size that "
        "it touches";
    inference.evidence = {"by strides of up to " + number(2 * found->bytes) + " bytes: " +
                          number(found->cost_per_segment) + " cycles x CUs per segment, at least " +
                          number(found->least_cost) + " per access; largest error " +
                          number(100 * found->largest_relative_residual, 2) + " %"};
  }
  results.infer(inference);
}

// What each lane adds that goes to a place of its own.
void infer_scattered_lane(hipscope::Results& results, const std::string& sweep,
                          const std::string& where) {
  std::vector<double> lanes;
  std::vector<double> cycles;
  for (const auto& point : results.curve(sweep, "cycles per access")) {
    lanes.push_back(point.x);
    cycles.push_back(point.y);
  }
  if (lanes.empty()) {
    return;
  }
  const hipscope::LineFit fit = hipscope::fit_line(lanes, cycles);
  constexpr double largest_residual = 0.25;
  hipscope::Inference inference{.name = "cost of a scattered lane, " + where,
                                .unit = "cycles x CUs",
                                .statement = "the lanes do not cost alike"};
  inference.evidence = {
      "a store with none takes " + number(cycles.front()) +
          " cycles x CUs, with all lanes scattered " + number(cycles.back()),
      "straight line, largest error " + number(100 * fit.largest_relative_residual, 2) + " %"};
  if (fit.largest_relative_residual <= largest_residual && fit.slope > 0) {
    inference.value = fit.slope;
    inference.confidence = 1 - fit.largest_relative_residual;
    inference.statement = "each lane of a wave's store that goes to a place of its own adds this";
  }
  results.infer(inference);
}

// The worst shift over none.
void infer_misalignment(hipscope::Results& results, const std::string& sweep,
                        const std::string& what) {
  const auto curve = results.curve(sweep, "cycles per access");
  if (curve.empty()) {
    return;
  }
  const auto worst = std::max_element(curve.begin(), curve.end(),
                                      [](const auto& a, const auto& b) { return a.y < b.y; });
  const double factor = worst->y / curve.front().y;
  const double noise = worst->relative_spread + curve.front().relative_spread;
  results.infer(
      {.name = "cost of misalignment, " + what,
       .value = factor,
       .unit = "times as long",
       .confidence = factor - 1 > noise ? 1 - noise / (factor - 1) : 0,
       .statement = "the slowest shift, of " + number(worst->x) + " x 4 bytes, against none",
       .evidence = {number(curve.front().y) + " and " + number(worst->y) +
                    " cycles x CUs per access"}});
}

}  // namespace

void conclude(hipscope::Results& results) {
  infer_granularity(results, "stride-loads", "loads from memory");
  infer_granularity(results, "stride-stores", "stores to memory");
  infer_granularity(results, "stride-loads-l2", "loads within L2");
  infer_granularity(results, "stride-stores-l2", "stores within L2");
  infer_scattered_lane(results, "scattered-stores", "memory");
  infer_scattered_lane(results, "scattered-stores-l2", "within L2");
  infer_misalignment(results, "misaligned-loads", "loads from memory");
  infer_misalignment(results, "misaligned-stores", "stores to memory");
  infer_misalignment(results, "misaligned-loads-l2", "loads within L2");
  infer_misalignment(results, "misaligned-stores-l2", "stores within L2");
}

}  // namespace store_divergence
