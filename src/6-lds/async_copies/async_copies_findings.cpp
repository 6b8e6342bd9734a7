#include "async_copies_findings.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "hipscope/format.h"
#include "hipscope/inference.h"

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

std::optional<double> at(const Curve& curve, double x) {
  const auto point =
      std::find_if(curve.begin(), curve.end(), [&](const auto& each) { return each.x == x; });
  return point == curve.end() ? std::nullopt : std::optional(point->y);
}

struct Fastest {
  std::string way;
  double y;
};

// The way with the smallest y at x.
std::optional<Fastest> fastest_at(const std::vector<WayCurve>& curves, double x) {
  std::optional<Fastest> best;
  for (const WayCurve& curve : curves) {
    const auto y = at(curve.points, x);
    if (y && (!best || *y < best->y)) {
      best = {curve.way, *y};
    }
  }
  return best;
}

// A difference that is none.
constexpr double clearly = 1.03;

// From which size on some copy past the registers takes clearly less time than the best through
// them, and for all larger ones.
void infer_size(Results& results, const std::string& from, const std::string& where) {
  const std::string sweep = "latency-" + from;
  const auto through = curves_of(results, sweep, "latency", through_registers);
  const auto past = curves_of(results, sweep, "latency", past_registers);
  if (through.empty() || past.empty()) {
    return;
  }
  Inference inference{.name = "bytes from which a copy past the registers is faster, " + where,
                      .unit = "bytes",
                      .statement = "through the registers a copy takes no longer at any size"};
  double least_gain = 0;
  double smaller = 0;  // the size before
  for (const CurvePoint& point : through.front().points) {
    const auto loaded = fastest_at(through, point.x);
    const auto copied = fastest_at(past, point.x);
    if (!loaded || !copied) {
      continue;
    }
    inference.evidence.push_back(number(point.x, 6) + " bytes: " + copied->way + " " +
                                 number(copied->y, 4) + ", " + loaded->way + " " +
                                 number(loaded->y, 4) + " cycles");
    const double gain = loaded->y / copied->y;
    if (gain < clearly) {
      inference.value.reset();
      inference.interval.reset();
    } else if (!inference.value) {
      inference.value = point.x;
      inference.interval = {smaller, point.x};
      least_gain = gain;
    } else {
      least_gain = std::min(least_gain, gain);
    }
    smaller = point.x;
  }
  if (inference.value) {
    inference.statement = "one copy at a time takes less than load and store from this size on";
    inference.confidence = 1 - (clearly - 1) / (least_gain - 1);
  }
  results.infer(inference);
}

double highest(const WayCurve& curve) {
  return std::max_element(curve.points.begin(), curve.points.end(),
                          [](const auto& a, const auto& b) { return a.y < b.y; })
      ->y;
}

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
  results.infer({.name = "rate to LDS past the registers over through them, " + where,
                 .value = highest(copied) / highest(loaded),
                 .unit = "times the rate",
                 .confidence = std::min(loaded.points.size(), copied.points.size()) > 1 ? 0.9 : 0.5,
                 .statement = "all CUs, each way with what suits it best",
                 .evidence = {copied.way + " " + number(highest(copied), 5) + ", " + loaded.way +
                              " " + number(highest(loaded), 5) + " GB/s"}});
}

// How many bytes must be in flight for the rate of the best way past the registers, of all CUs.
void infer_in_flight(Results& results, const std::string& from, const std::string& where) {
  const auto past = curves_of(results, "device-" + from, "bandwidth", past_registers);
  if (past.empty()) {
    return;
  }
  const WayCurve& best = best_of(past);
  Inference inference{.name = "bytes in flight per CU to LDS, " + where,
                      .unit = "bytes",
                      .statement = "even the fewest reach half of the rate, or too few fit"};
  const auto saturation = hipscope::find_saturation(best.points, 0.95);
  if (saturation) {
    inference.value = saturation->x;
    inference.confidence = saturation->confidence;
    inference.statement =
        "with so many under way " + best.way + " copies reach 95 % of their highest rate";
    inference.evidence = {best.way + ": " + number(highest(best), 5) + " GB/s of all CUs"};
  }
  // Little's law: what is under way is the rate times the time that each byte takes.
  const auto latencies = results.curve("latency-" + from, value_name(best.way, "latency"));
  const double hertz = results.clock_mhz() * 1e6;
  const int units = results.device().compute_units;
  if (saturation && !latencies.empty() && hertz > 0 && units > 0) {
    constexpr double usual_size = 1024;
    const auto cycles = at(latencies, usual_size);
    if (cycles) {
      const double by_law = *cycles / hertz * highest(best) * 1e9 / units;
      inference.evidence.push_back("latency x rate (Little's law): " + number(*cycles, 4) +
                                   " cycles of an idle " + where + " ask for " + number(by_law, 6) +
                                   " bytes");
    }
  }
  results.infer(inference);
}

}  // namespace

void conclude(Results& results) {
  infer_size(results, "l2", "L2");
  infer_size(results, "memory", "memory");
  infer_gain(results, "l2", "L2");
  infer_gain(results, "memory", "memory");
  infer_in_flight(results, "l2", "L2");
  infer_in_flight(results, "memory", "memory");
}

}  // namespace async_copies
