#include "lds_banks_findings.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "hipscope/format.h"
#include "hipscope/inference.h"

namespace lds_banks {

using hipscope::number;

namespace {

std::string fit_text(const std::string& what, const std::optional<hipscope::BankFit>& fit) {
  if (!fit) {
    return what + ": no number of banks explains the curve";
  }
  std::string banks;
  for (const unsigned each : fit->alike) {
    banks += (banks.empty() ? "" : " or ") + std::to_string(each);
  }
  const std::string text =
      what + ": " + banks + " banks explain " + number(100 * fit->explained, 4) + " % of the curve";
  const std::string left_out =
      fit->outliers > 0 ? "; " + std::to_string(fit->outliers) + " points left out as outliers"
                        : "";
  return fit->banks ? text + ", " + number(fit->base, 3) + " cycles and " +
                          number(fit->cost_per_way) + " for each dword more in one bank" + left_out
                    : text + ", which cannot tell them apart" + left_out;
}

// The number of banks, which latency and throughput must tell alike.
void infer_banks(hipscope::Results& results) {
  const auto lanes = static_cast<unsigned>(results.device().wave_size);
  const auto chase_curve = results.curve("chase-4", "latency");
  const auto loads_curve = results.curve("loads-4", throughput);
  if (chase_curve.empty() || loads_curve.empty()) {
    return;
  }
  const auto chase = hipscope::fit_banks(chase_curve, lanes);
  const auto loads = hipscope::fit_banks(loads_curve, lanes);
  hipscope::Inference banks{.name = "LDS banks",
                            .unit = "banks",
                            .statement = "latency and throughput do not tell one number of banks",
                            .evidence = {fit_text("latency of one wave", chase),
                                         fit_text("throughput of a full CU", loads)}};
  for (const auto& curve : results.published(published_series, "latency")) {
    constexpr unsigned published_lanes = 64;
    std::vector<hipscope::CurvePoint> points;
    for (const auto& [stride, latency] : curve.points) {
      points.push_back({.x = std::stod(stride), .y = latency});
    }
    banks.evidence.push_back(fit_text("published for " + curve.gpu + ", strides 1 ... 16",
                                      hipscope::fit_banks(points, published_lanes)));
  }
  hipscope::Inference cost{.name = "cycles per extra conflict way",
                           .unit = "cycles",
                           .statement = "without the number of banks there is no telling"};
  if (chase && loads && chase->banks && chase->banks == loads->banks) {
    banks.value = *chase->banks;
    banks.confidence = std::min(chase->confidence, loads->confidence);
    banks.statement = "the costs of strides up to " + number(chase_curve.back().x, 4) +
                      " dwords repeat as with " + std::to_string(*chase->banks) + " banks";
    cost.value = chase->cost_per_way;
    cost.confidence = chase->explained;
    cost.statement = "so much longer takes a load for each dword more that one bank must serve";
    cost.evidence = {
        "extrapolated to one dword in each bank: " + number(chase->base, 4) + " cycles",
        "of a full CU's loads each dword more takes " + number(loads->cost_per_way) + " cycles"};
  }
  results.infer(banks);
  results.infer(cost);
}

void infer_width(hipscope::Results& results) {
  const auto curve = results.curve("width", throughput);
  if (curve.empty()) {
    return;
  }
  hipscope::Inference inference{.name = "LDS bank width",
                                .unit = "bytes",
                                .statement = "the curve has no single lowest point"};
  if (const auto valley = hipscope::find_valley(curve, 1.3)) {
    inference.value = valley->x;
    inference.confidence = std::min(1.0, valley->ratio - 1);
    inference.statement = "lanes so many bytes more than all banks apart conflict least";
    inference.evidence = {"half and twice as many cost at least " + number(valley->ratio) +
                          " times as much"};
  }
  results.infer(inference);
}

void infer_bandwidth(hipscope::Results& results) {
  hipscope::Inference inference{.name = "LDS read bandwidth", .unit = "bytes/cycle/CU"};
  const auto by_y = [](const auto& a, const auto& b) { return a.y < b.y; };
  for (const std::string sweep : {"loads-4", "loads-8", "loads-16"}) {
    const auto curve = results.curve(sweep, "rate");
    if (curve.empty()) {
      continue;
    }
    const auto best = std::max_element(curve.begin(), curve.end(), by_y);
    inference.evidence.push_back(sweep + ": " + number(best->y, 4) + " bytes per cycle");
    if (best->y > inference.value.value_or(0)) {
      inference.value = best->y;
      inference.confidence = 1 - std::min(1.0, best->relative_spread);
      inference.statement =
          "the most of all strides, in sweep " + sweep + " at stride " + number(best->x, 2);
    }
  }
  if (inference.value) {
    results.infer(inference);
  }
}

}  // namespace

void conclude(hipscope::Results& results) {
  infer_banks(results);
  infer_width(results);
  infer_bandwidth(results);
}

}  // namespace lds_banks
