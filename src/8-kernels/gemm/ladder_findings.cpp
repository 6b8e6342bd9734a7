#include "ladder_findings.h"

#include <algorithm>
#include <iterator>
#include <vector>

#include "hipscope/format.h"
#include "hipscope/inference.h"
#include "hipscope/statistics.h"

namespace gemm {

namespace {

using hipscope::CurvePoint;
using hipscope::number;

double confidence_of(double relative_spread) { return 1 - std::min(1.0, relative_spread); }

bool is_lower(const CurvePoint& a, const CurvePoint& b) { return a.y < b.y; }

const LadderRow& row_of(const CurvePoint& point, const std::vector<LadderRow>& rows) {
  return rows[static_cast<std::size_t>(point.x) - 1];
}

void conclude_best(hipscope::Results& results, const std::string& name,
                   const std::vector<LadderRow>& rows, bool by_matrix_instructions) {
  auto rates = results.curve("stages", "rate");
  const auto is_library = [&](const CurvePoint& rate) {
    return rate.x > static_cast<double>(rows.size());
  };
  rates.erase(std::remove_if(rates.begin(), rates.end(), is_library), rates.end());
  std::vector<CurvePoint> of_unit;
  std::copy_if(rates.begin(), rates.end(), std::back_inserter(of_unit),
               [&](const CurvePoint& rate) {
                 return row_of(rate, rows).by_matrix_instructions == by_matrix_instructions;
               });
  if (of_unit.empty()) {
    return;
  }
  const CurvePoint& best = *std::max_element(of_unit.begin(), of_unit.end(), is_lower);
  hipscope::Inference inference{
      .name = name + " rate" + (by_matrix_instructions ? " by matrix instructions" : ""),
      .value = best.y,
      .unit = "TFLOP/s",
      .confidence = confidence_of(best.relative_spread),
      .statement = row_of(best, rows).label,
      .evidence = {number(best.y / rates.front().y) + " times the first stage"}};
  for (const CurvePoint& share : results.curve("stages", "share of peak")) {
    if (share.x == best.x) {
      inference.evidence.push_back(number(share.y) + " % of the peak at its clock");
    }
  }
  results.infer(inference);
}

void conclude_ratio(hipscope::Results& results, const std::string& name) {
  const auto ratios = results.curve("against-library", "ratio to the library");
  if (ratios.empty()) {
    return;
  }
  const CurvePoint& best = *std::max_element(ratios.begin(), ratios.end(), is_lower);
  results.infer({.name = name + " over the vendor's library",
                 .value = best.y,
                 .unit = "times its rate",
                 .confidence = confidence_of(best.relative_spread),
                 .statement = "the best stage against the library's best way",
                 .evidence = {"measured in turn, medians of both"}});
}

void conclude_odd(hipscope::Results& results, const std::string& name) {
  const auto odd = results.curve("odd", "ratio to the library");
  if (odd.empty()) {
    return;
  }
  double sum = 0;
  double spread = 0;
  for (const CurvePoint& point : odd) {
    sum += point.y;
    spread = std::max(spread, point.relative_spread);
  }
  results.infer({.name = name + " over the vendor's library at odd sizes",
                 .value = sum / static_cast<double>(odd.size()),
                 .unit = "times its rate",
                 .confidence = confidence_of(spread),
                 .statement = "the mean of the sizes, with the best stage at each",
                 .evidence = {std::to_string(odd.size()) + " sizes"}});
}

void conclude_small(hipscope::Results& results, const std::string& name) {
  constexpr double largest = 1024;
  std::vector<double> ratios;
  double spread = 0;
  for (const CurvePoint& point : results.curve("sizes", "ratio to the library")) {
    if (point.x <= largest) {
      ratios.push_back(point.y);
      spread = std::max(spread, point.relative_spread);
    }
  }
  if (ratios.empty()) {
    return;
  }
  results.infer({.name = name + " over the vendor's library at small sizes",
                 .value = hipscope::geometric_mean(ratios),
                 .unit = "times its rate",
                 .confidence = confidence_of(spread),
                 .statement = "the geometric mean up to 1024, with the best stage at each size",
                 .evidence = {std::to_string(ratios.size()) + " sizes, the least " +
                              number(*std::min_element(ratios.begin(), ratios.end())) + " times"}});
}

}  // namespace

void conclude_ladder(hipscope::Results& results, const std::string& name,
                     const std::vector<LadderRow>& rows) {
  for (const bool by_matrix_instructions : {false, true}) {
    conclude_best(results, name, rows, by_matrix_instructions);
  }
  conclude_ratio(results, name);
  conclude_odd(results, name);
  conclude_small(results, name);
}

}  // namespace gemm
