#include "findings.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "hipscope/format.h"
#include "hipscope/inference.h"

namespace hipscope::register_pressure {

namespace {

using Curve = std::vector<CurvePoint>;

// The fastest stage beside the copy. `stages` are the names of all, in the order of the sweep.
void infer_best(Results& results, const std::vector<std::string>& stages) {
  const Curve rates = results.curve(stages_sweep, share_of_copy);
  if (rates.empty()) {
    return;
  }
  // The references are no stages.
  const auto best = std::max_element(rates.begin(), rates.end(), [](auto& a, auto& b) {
    return (a.x <= streams_x ? 0 : a.y) < (b.x <= streams_x ? 0 : b.y);
  });
  Inference inference{.name = "best step over copy",
                      .value = best->y,
                      .unit = "% of the copy's bandwidth",
                      .confidence = std::max(0.0, 1 - best->relative_spread),
                      .statement = "the fastest stage is " +
                                   stages.at(static_cast<std::size_t>(std::lround(best->x)) - 1)};
  for (const CurvePoint& point : rates) {
    if (point.x == streams_x) {
      inference.evidence.push_back(
          "the same reads and writes without a model: " + number(point.y, 4) + " %");
    }
  }
  results.infer(inference);
}

// How many waves a stage needs, by the sweep in which it has fewer on each CU.
void infer_waves(Results& results, const std::string& sweep, const std::string& stage) {
  constexpr double nearly_all = 0.95;
  const Curve rates = results.curve(sweep, updates);
  if (rates.empty()) {
    return;
  }
  Inference inference{.name = "waves per CU for 95 % of the rate, " + stage,
                      .unit = "waves",
                      .statement = "even the fewest waves reach half of the rate, or too few fit"};
  if (const auto enough = find_saturation(rates, nearly_all)) {
    inference.value = enough->x;
    inference.confidence = enough->confidence;
    inference.statement = number(enough->x, 4) + " waves per CU are enough, of " +
                          number(rates.back().x, 4) + " that fit";
    inference.evidence = {
        number(enough->lightest.x, 4) + " waves per CU: " + number(enough->lightest.y, 4) +
            " million updates per second",
        number(rates.back().x, 4) + " waves per CU: " + number(rates.back().y, 4) +
            " million updates per second"};
  }
  results.infer(inference);
}

}  // namespace

void conclude(Results& results, const std::vector<std::string>& stages,
              const std::vector<WavesOf>& waves) {
  infer_best(results, stages);
  for (const WavesOf& of : waves) {
    infer_waves(results, of.sweep, of.stage);
  }
}

}  // namespace hipscope::register_pressure
