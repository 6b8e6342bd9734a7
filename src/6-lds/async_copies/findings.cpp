#include "findings.h"

#include <algorithm>
#include <string>
#include <vector>

#include "hipscope/confidence.h"
#include "hipscope/format.h"

namespace async_copies {

using hipscope::CurvePoint;
using hipscope::Inference;
using hipscope::number;
using hipscope::Results;

namespace {

using Curve = std::vector<CurvePoint>;

// What one way shows in a sweep.
struct WayCurve {
  std::string way;
  Curve points;
};

template <std::size_t count>
std::vector<WayCurve> curves_of(const Results& results, const std::string& sweep,
                                const std::string& what,
                                const std::array<const char*, count>& ways) {
  std::vector<WayCurve> curves;
  for (const std::string way : ways) {
    if (Curve points = results.curve(sweep, value_name(way, what)); !points.empty()) {
      curves.push_back({way, points});
    }
  }
  return curves;
}

const CurvePoint& highest_point(const WayCurve& curve) {
  return *std::max_element(curve.points.begin(), curve.points.end(),
                           [](const auto& a, const auto& b) { return a.y < b.y; });
}

double highest(const WayCurve& curve) { return highest_point(curve).y; }

const WayCurve& best_of(const std::vector<WayCurve>& curves) {
  return *std::max_element(curves.begin(), curves.end(),
                           [](const auto& a, const auto& b) { return highest(a) < highest(b); });
}

// What all CUs bring past the registers, over what they bring through them.
void infer_gain(Results& results, const std::string& from, const std::string& where) {
  const auto through = curves_of(results, "device-" + from, "bandwidth", through_registers);
  const auto past = curves_of(results, "device-" + from, "bandwidth", past_registers);
  if (through.empty() || past.empty()) {
    return;
  }
  const WayCurve& loaded = best_of(through);
  const WayCurve& copied = best_of(past);
  const double at_most =
      std::min(loaded.points.size(), copied.points.size()) > 1 ? 0.9 : hipscope::unsure;
  const double spread =
      std::max(highest_point(loaded).relative_spread, highest_point(copied).relative_spread);
  results.infer({.name = "rate to LDS past the registers over through them, " + where,
                 .value = highest(copied) / highest(loaded),
                 .unit = "times the rate",
                 .confidence = at_most * hipscope::sureness_of_best(spread),
                 .statement = "all CUs, each way with what suits it best",
                 .evidence = {copied.way + " " + number(highest(copied), 5) + ", " + loaded.way +
                              " " + number(highest(loaded), 5) + " GB/s"}});
}

}  // namespace

void conclude(Results& results) {
  infer_gain(results, "l2", "L2");
  infer_gain(results, "memory", "memory");
}

}  // namespace async_copies
