#include "findings.h"

#include <string>
#include <vector>

#include "hipscope/format.h"
#include "hipscope/inference.h"

namespace hipscope::register_pressure {

namespace {

using Curve = std::vector<CurvePoint>;

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

void conclude(Results& results, const std::vector<WavesOf>& waves) {
  for (const WavesOf& of : waves) {
    infer_waves(results, of.sweep, of.stage);
  }
}

}  // namespace hipscope::register_pressure
