#include "findings.h"

#include <algorithm>
#include <cmath>
#include <string>
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

void infer_place(hipscope::Results& results, double uniform, const Curve& per_lane) {
  hipscope::Inference inference{
      .name = "registers of a thread per uniform value",
      .value = uniform,
      .unit = "registers",
      // Next to 0 and next to 1 the answer is clear, half-way it is not.
      .confidence = std::clamp(2 * std::abs(uniform - half_a_register), 0.0, 1.0),
      .statement =
          uniform < half_a_register
              ? "by the runtime's report uniform values cost no registers of the lanes: they live "
                "in "
                "scalar registers"
              : "by the runtime's report uniform values cost registers of every lane, as if they "
                "were not uniform",
      .evidence = {"slope of the registers per thread over the live values, as the runtime "
                   "reports them"}};
  if (!per_lane.empty()) {
    inference.evidence.push_back("values that differ from lane to lane: " +
                                 number(registers_per_value(per_lane)) + " registers each");
  }
  results.infer(inference);
}

void infer_budget(hipscope::Results& results, double uniform) {
  // A slowdown of this factor is no noise and no loop overhead any more.
  constexpr double noticeable = 1.1;
  Curve time_per_operation = results.curve("uniform", "operation rate");
  for (hipscope::CurvePoint& point : time_per_operation) {
    point.y = 1 / point.y;
  }
  hipscope::Inference inference{.name = "uniform values at full rate", .unit = "values"};
  for (const auto& curve : results.published("assembler", "highest SGPR index")) {
    inference.evidence.push_back("published for " + curve.gpu + ": highest register s" +
                                 number(curve.points.front().second, 4));
  }
  const auto cliff = hipscope::find_plateau_end(time_per_operation, noticeable);
  if (uniform > half_a_register) {
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
  const Curve registers = results.curve("uniform", "registers");
  if (registers.empty()) {
    return;
  }
  const double uniform = registers_per_value(registers);
  infer_place(results, uniform, results.curve("per-lane", "registers"));
  infer_budget(results, uniform);
}

}  // namespace sgpr_limit
