#include "findings.h"

#include <algorithm>
#include <string>
#include <vector>

#include "hipscope/format.h"

namespace grid_sync {

using hipscope::CurvePoint;

namespace {

std::string number(double value) {
  constexpr int digits = 4;
  return hipscope::number(value, digits);
}

std::vector<CurvePoint> curve_of(const hipscope::Results& results, const std::string& sweep,
                                 const std::string& way) {
  return results.curve(sweep, way + " step");
}

// A way at the last point of a sweep.
struct Cost {
  std::string way;
  double nanoseconds;
  double relative_spread;
};

// Of all barriers, the cheapest first.
std::vector<Cost> costs_at_end(const hipscope::Results& results, const std::string& sweep) {
  std::vector<Cost> costs;
  for (const std::string way : barrier_names) {
    const auto curve = curve_of(results, sweep, way);
    if (!curve.empty() && curve.back().y > 0) {
      costs.push_back({way, curve.back().y, curve.back().relative_spread});
    }
  }
  std::stable_sort(costs.begin(), costs.end(),
                   [](const Cost& a, const Cost& b) { return a.nanoseconds < b.nanoseconds; });
  return costs;
}

// Points that are as far apart cannot both be right.
constexpr double allowed = 1.1;

// The least that a way's last point may be: a barrier takes no more than as many times as long as
// there are more blocks, and one block per CU is measured in both sweeps. What is above that was
// disturbed.
double least_cost(const hipscope::Results& results, const std::string& sweep,
                  const std::string& way) {
  const auto curve = curve_of(results, sweep, way);
  double least = curve.back().y;
  if (curve.size() > 1) {
    const CurvePoint& before = curve[curve.size() - 2];
    const bool grows_too_fast = curve.back().y / before.y > allowed * curve.back().x / before.x;
    least = grows_too_fast ? before.y : least;
  }
  const auto again = curve_of(results, "per-cu", way);
  if (sweep == "blocks" && curve.back().x == results.device().compute_units && !again.empty() &&
      again.front().x == 1) {
    least = std::min(least, again.front().y);
  }
  return least;
}

// Where fewer blocks take longer, what is told was nearly always disturbed: of 17 such answers of
// the trial 2 were right.
constexpr double if_disturbed = 0.1;

// The best of several is so by chance, too, and too good by about what its samples are spread.
double sureness_of_best(double relative_spread) {
  constexpr double doubt_per_spread = 6;
  return 1 - std::min(1.0, doubt_per_spread * relative_spread);
}

void infer_cheapest(hipscope::Results& results, const std::string& sweep, const std::string& name,
                    const std::string& where) {
  const auto costs = costs_at_end(results, sweep);
  if (costs.empty()) {
    return;
  }
  std::vector<std::string> evidence;
  bool is_undisturbed = true;
  for (const Cost& cost : costs) {
    evidence.push_back(cost.way + ": " + number(cost.nanoseconds) + " ns");
    is_undisturbed =
        is_undisturbed && least_cost(results, sweep, cost.way) >= costs[0].nanoseconds / allowed;
  }
  results.infer(
      {.name = name,
       .value = costs[0].nanoseconds,
       .unit = "ns",
       .confidence = is_undisturbed ? sureness_of_best(costs[0].relative_spread) : if_disturbed,
       .statement = "the cheapest barrier over " + where + ": " + costs[0].way,
       .evidence = evidence});
}

}  // namespace

void conclude(hipscope::Results& results) {
  infer_cheapest(results, "blocks", "grid barrier, one block per CU", "one block per CU");
  infer_cheapest(results, "per-cu", "grid barrier, all resident blocks",
                 "as many blocks as are resident");
}

}  // namespace grid_sync
