#include "math_functions_findings.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "hipscope/format.h"
#include "hipscope/inference.h"
#include "hipscope/statistics.h"

namespace math_functions {

using hipscope::number;

namespace {

using Value = std::optional<hipscope::CurvePoint>;

// What was measured in FP32 or in FP64.
struct Precision {
  const hipscope::Results& results;
  std::string name;  // "FP32"
  std::string suffix;
  const std::vector<std::string>& labels;
  const std::vector<std::string>& rewrites;
  std::string large_sine;

  [[nodiscard]] Value value(const std::string& sweep, const std::string& value,
                            const std::string& label) const {
    const auto found = std::find(labels.begin(), labels.end(), label);
    if (found == labels.end()) {
      return std::nullopt;
    }
    const double x = first_function_x + static_cast<double>(found - labels.begin());
    for (const auto& point : results.curve(sweep + suffix, value)) {
      if (point.x == x) {
        return point;
      }
    }
    return std::nullopt;
  }
  [[nodiscard]] Value latency(const std::string& label) const {
    return value("latency", "latency", label);
  }
  [[nodiscard]] Value rate(const std::string& label) const {
    return value("throughput", "rate", label);
  }
};

struct Ratio {
  double value = 0;
  double confidence = 0;  // 1 less the spread of both times
  std::string text{};     // "20.1 against 5.2 cycles"
};

constexpr const char* cycles = "cycles";
constexpr const char* per_cycle = "results/cycle/CU";

std::optional<Ratio> ratio(const Value& over, const Value& under, const std::string& unit) {
  if (!over || !under || !(over->y > 0) || !(under->y > 0)) {
    return std::nullopt;
  }
  return Ratio{.value = over->y / under->y,
               .confidence = std::max(0.0, 1 - over->relative_spread - under->relative_spread),
               .text = number(over->y) + " against " + number(under->y) + " " + unit};
}

// The rate is what a whole GPU feels; the latency stands in the evidence.
void infer_cost(hipscope::Results& results, const std::string& name, const std::string& statement,
                const std::optional<Ratio>& rate, const std::optional<Ratio>& latency,
                std::vector<std::string> more = {}) {
  if (!rate) {
    return;
  }
  hipscope::Inference inference{.name = name,
                                .value = rate->value,
                                .unit = "times",
                                .confidence = rate->confidence,
                                .statement = statement,
                                .evidence = {"throughput: " + rate->text}};
  if (latency) {
    inference.evidence.push_back("latency: " + latency->text + ", " + number(latency->value) +
                                 " times");
  }
  for (std::string& line : more) {
    inference.evidence.push_back(std::move(line));
  }
  results.infer(inference);
}

void infer_precision(hipscope::Results& results, const Precision& fp32, const Precision& fp64) {
  std::vector<std::string> chain;
  for (const auto& point : results.curve("published", "latency")) {
    chain.push_back("by f = sin(f) from 0 in one thread: " + number(point.y, 4) + " cycles");
    for (const auto& curve : results.published(published_series, "latency")) {
      chain.push_back("published for " + curve.gpu +
                      " by that chain: " + number(curve.points[0].second, 4) + " cycles");
    }
  }
  infer_cost(results, "cost of a sine in FP64",
             "a sine in FP64 takes so many times as long as in FP32, by the rates",
             ratio(fp32.rate(small_sine), fp64.rate(small_sine), per_cycle),
             ratio(fp64.latency(small_sine), fp32.latency(small_sine), cycles), chain);
}

void infer_reduction(hipscope::Results& results, const Precision& precision) {
  const std::string& large = precision.large_sine;
  infer_cost(results, "cost of a large argument in " + precision.name,
             "a sine of a large argument (" + large.substr(5) +
                 ") takes so many times as long as one of a small argument, by the rates",
             ratio(precision.rate(small_sine), precision.rate(large), per_cycle),
             ratio(precision.latency(large), precision.latency(small_sine), cycles));
}

// What the fast intrinsics gain in rate, and at what error.
void infer_fast(hipscope::Results& results, const Precision& fp32,
                const std::vector<Intrinsic>& intrinsics) {
  std::vector<double> gains;
  std::vector<std::string> evidence;
  double confidence = 1;
  for (const Intrinsic& intrinsic : intrinsics) {
    const auto gain = ratio(fp32.rate(intrinsic.label), fp32.rate(intrinsic.accurate), per_cycle);
    if (!gain) {
      continue;
    }
    if (intrinsic.is_fast) {
      gains.push_back(gain->value);
      confidence = std::min(confidence, gain->confidence);
    }
    std::string line = intrinsic.label + ": " + number(gain->value) + " times, " + gain->text;
    const Value error = fp32.value("error", "largest error", intrinsic.label);
    const Value accurate = fp32.value("error", "largest error", intrinsic.accurate);
    if (error && accurate) {
      line += "; largest error " + number(error->y) + " against " + number(accurate->y) + " ulp";
    }
    evidence.push_back(line);
  }
  if (gains.empty()) {
    return;
  }
  results.infer({.name = "gain of the fast intrinsics",
                 .value = hipscope::geometric_mean(gains),
                 .unit = "times",
                 .confidence = confidence,
                 .statement = "in the geometric mean a fast intrinsic gives so many times the rate "
                              "of the accurate function; those that are correctly rounded do not "
                              "count",
                 .evidence = evidence});
}

void infer_rewrites(hipscope::Results& results, const Precision& precision) {
  std::vector<double> gains;
  std::vector<std::string> evidence;
  double confidence = 1;
  for (const auto& point : results.curve("rewrites" + precision.suffix, "gain")) {
    gains.push_back(point.y);
    confidence = std::min(confidence, 1 - point.relative_spread);
    const auto row = static_cast<std::size_t>(point.x - first_function_x);
    evidence.push_back(precision.rewrites.at(row) + ": " + number(point.y) + " times");
  }
  if (gains.empty()) {
    return;
  }
  results.infer({.name = "gain of the rewrites in " + precision.name,
                 .value = hipscope::geometric_mean(gains),
                 .unit = "times",
                 .confidence = std::max(0.0, confidence),
                 .statement = "in the geometric mean the rewritten form runs at so many times the "
                              "rate",
                 .evidence = evidence});
}

}  // namespace

void conclude(hipscope::Results& results, const Labels& labels) {
  const Precision fp32{results, "FP32", "-fp32", labels.fp32, labels.rewrites, large_sine_fp32};
  const Precision fp64{results, "FP64", "-fp64", labels.fp64, labels.rewrites, large_sine_fp64};
  infer_precision(results, fp32, fp64);
  infer_reduction(results, fp32);
  infer_reduction(results, fp64);
  infer_fast(results, fp32, labels.intrinsics);
  infer_rewrites(results, fp32);
  infer_rewrites(results, fp64);
}

}  // namespace math_functions
