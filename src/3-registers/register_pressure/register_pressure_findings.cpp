#include "register_pressure_findings.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <vector>

#include "hipscope/format.h"
#include "hipscope/inference.h"

namespace hipscope::register_pressure {

namespace {

using Curve = std::vector<CurvePoint>;

// A rate differs by this factor, or the two are alike.
constexpr double noticeable = 1.02;

// What the sweep of stages says of one of them.
struct Row {
  double seconds;
  double spread;
  double registers;
  double scratch;
  double resident;
};

// A value of the stage in the sweep of stages. Throws std::logic_error when `stages` has none of
// that name, or the sweep no such value of it.
CurvePoint value_of(const Results& results, const std::vector<std::string>& stages,
                    const std::string& stage, const std::string& value) {
  const auto place = std::find(stages.begin(), stages.end(), stage);
  if (place == stages.end()) {
    throw std::logic_error("there is no stage '" + stage + "'");
  }
  const auto x = static_cast<double>(place - stages.begin() + 1);
  const Curve curve = results.curve(stages_sweep, value);
  const auto point =
      std::find_if(curve.begin(), curve.end(), [&](auto& each) { return each.x == x; });
  if (point == curve.end()) {
    throw std::logic_error("stage '" + stage + "' has no value '" + value + "'");
  }
  return *point;
}

Row row_of(const Results& results, const std::vector<std::string>& stages,
           const std::string& stage) {
  const auto at = [&](const char* value) { return value_of(results, stages, stage, value); };
  const CurvePoint time = at("time");
  return {.seconds = time.y,
          .spread = time.relative_spread,
          .registers = at("registers").y,
          .scratch = at("scratch").y,
          .resident = at("resident").y};
}

// "110 registers become 100", or "110 registers as before".
std::string change_of(double before, double after, const std::string& unit) {
  return number(before, 4) + " " + unit +
         (before == after ? " as before" : " become " + number(after, 4));
}

std::string text_of(const std::string& name, const Row& row) {
  return name + ": " + number(row.seconds * 1e6, 4) + " us, " + number(row.registers, 4) +
         " registers, " + number(row.scratch, 4) + " bytes of scratch, " + number(row.resident, 4) +
         " waves per CU";
}

// A change to the kernel: its name, and the stages before and after it.
struct Change {
  std::string what;
  std::string before;
  std::string after;
};

// What L publishes of the two, if it does.
std::vector<std::string> published_evidence(const Results& results, const Change& change) {
  std::vector<std::string> evidence;
  const auto value = [&](const std::string& stage, const char* metric) {
    const auto curves = results.published(stage, metric);
    return curves.empty() ? std::string() : number(curves.front().points.front().second, 4);
  };
  if (!value(change.before, "VGPRs").empty() && !value(change.after, "VGPRs").empty()) {
    evidence.push_back("published for gfx90a: VGPRs " + value(change.before, "VGPRs") + " and " +
                       value(change.after, "VGPRs") + ", waves per SIMD " +
                       value(change.before, "occupancy") + " and " +
                       value(change.after, "occupancy"));
  }
  return evidence;
}

void infer_change(Results& results, const std::vector<std::string>& stages, const Change& change) {
  const Row before = row_of(results, stages, change.before);
  const Row after = row_of(results, stages, change.after);
  const double gain = before.seconds / after.seconds;
  const std::string verdict = gain > noticeable       ? "it helps: "
                              : gain < 1 / noticeable ? "it hurts: "
                                                      : "the rate changes by less than " +
                                                            number(100 * (noticeable - 1)) + " %: ";
  Inference inference{
      .name = "gain by " + change.what,
      .value = gain,
      .unit = "times the rate",
      .confidence = std::max(0.0, 1 - std::max(before.spread, after.spread)),
      .statement = verdict + change_of(before.registers, after.registers, "registers") + ", " +
                   change_of(before.resident, after.resident, "waves per CU"),
      .evidence = {text_of(change.before, before), text_of(change.after, after)}};
  for (const std::string& line : published_evidence(results, change)) {
    inference.evidence.push_back(line);
  }
  results.infer(inference);
}

// What each change to the kernel gains. `stages` are the names of all, in the order of the sweep.
void infer_changes(Results& results, const std::vector<std::string>& stages) {
  if (results.curve(stages_sweep, "time").empty()) {
    return;
  }
  for (const Change& change : std::vector<Change>{
           {"x * x in place of pow", baseline_name, no_pow_name},
           {"moved definitions", no_pow_name, moved_name},
           {"restrict on one population", moved_name, restrict_one_name},
           {"restrict on a second", restrict_one_name, restrict_two_name},
           {"a launch bound", moved_name, bounded_name},
           {"restrict on all", bounded_name, restrict_all_name},
           {"more waves at the cost of scratch", bounded_name, more_waves_name},
           {"LDS in place of scratch", more_waves_name, parked_name},
           {"LDS in place of registers", bounded_name, parked_bounded_name},
           {"arguments in one object", bounded_name, object_name},
           {"arguments in constant memory", object_name, constant_name},
           {"loops that are not unrolled", unrolled_name, loop_name},
           {"an array on the stack", loop_name, stack_name},
       }) {
    infer_change(results, stages, change);
  }
}

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
  infer_changes(results, stages);
  infer_best(results, stages);
  for (const WavesOf& of : waves) {
    infer_waves(results, of.sweep, of.stage);
  }
}

}  // namespace hipscope::register_pressure
