#include "findings.h"

#include <vector>

#include "hipscope/format.h"
#include "hipscope/inference.h"

namespace sgpr_limit {

using hipscope::number;

namespace {

using Curve = std::vector<hipscope::CurvePoint>;

// Registers of a thread for each live value more.
double registers_per_value(const Curve& registers) {
  std::vector<double> x;
  std::vector<double> y;
  for (const hipscope::CurvePoint& point : registers) {
    x.push_back(point.x);
    y.push_back(point.y);
  }
  return hipscope::fit_line(x, y).slope;
}

// Under this, uniform values do not live in the registers of the lanes; over it, they do.
constexpr double half_a_register = 0.5;

void infer_budget(hipscope::Results& results, double registers_per_uniform) {
  // A slowdown of this factor is no noise and no loop overhead any more.
  constexpr double noticeable = 1.1;
  Curve time_per_operation = results.curve("uniform", "operation rate");
  for (hipscope::CurvePoint& point : time_per_operation) {
    point.y = 1 / point.y;
  }
  hipscope::Inference inference{.name = "uniform values at full rate", .unit = "values"};
  const auto cliff = hipscope::find_plateau_end(time_per_operation, noticeable);
  if (registers_per_uniform > half_a_register) {
    inference.statement =
        "not to be seen here: uniform values live in the registers of the lanes, so the curve "
        "says nothing of uniform registers";
  } else if (!cliff) {
    inference.statement = "the rate shows no cliff";
  } else {
    inference.value = cliff->last_flat_x;
    inference.confidence = cliff->confidence;
    inference.statement = "beyond " + number(cliff->last_flat_x, 4) +
                          " uniform values scalar registers are spilled: with " +
                          number(cliff->next_x, 4) + " an operation takes " + number(cliff->ratio) +
                          " times as long";
    if (cliff->outliers > 0) {
      inference.evidence.push_back(
          hipscope::outliers_text(cliff->outliers, time_per_operation.size()));
    }
  }
  results.infer(inference);
}

}  // namespace

void conclude(hipscope::Results& results) {
  if (const Curve registers = results.curve("uniform", "registers"); !registers.empty()) {
    infer_budget(results, registers_per_value(registers));
  }
}

}  // namespace sgpr_limit
