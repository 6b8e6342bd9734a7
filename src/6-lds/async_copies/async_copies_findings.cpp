#include "async_copies_findings.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "hipscope/confidence.h"
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

std::optional<CurvePoint> at(const Curve& curve, double x) {
  const auto point =
      std::find_if(curve.begin(), curve.end(), [&](const auto& each) { return each.x == x; });
  return point == curve.end() ? std::nullopt : std::optional(*point);
}

struct Fastest {
  std::string way;
  double y;
  double relative_spread;
};

// The way with the smallest y at x.
std::optional<Fastest> fastest_at(const std::vector<WayCurve>& curves, double x) {
  std::optional<Fastest> best;
  for (const WayCurve& curve : curves) {
    const auto point = at(curve.points, x);
    if (point && (!best || point->y < best->y)) {
      best = {curve.way, point->y, point->relative_spread};
    }
  }
  return best;
}

// A difference that is none.
constexpr double clearly = 1.03;

// How far the median of some samples is off, for what they spread.
constexpr double error_per_spread = 0.5;

// From which size on some copy past the registers takes clearly less time than the best through
// them, and for all larger ones, of which there must be one. How sure that is depends on how far
// the gains there, and the one before, are from that limit, beside the spread of the times.
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
  double gain_before = 0;
  double smaller = 0;  // the size before
  double spread = 0;
  std::size_t sizes = 0;  // that are clearly faster
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
    const double spread_here = std::max(loaded->relative_spread, copied->relative_spread);
    if (gain < clearly) {
      inference.value.reset();
      inference.interval.reset();
      sizes = 0;
      gain_before = gain;
      spread = spread_here;
    } else {
      if (!inference.value) {
        inference.value = point.x;
        inference.interval = {smaller, point.x};
        least_gain = gain;
      }
      ++sizes;
      spread = std::max(spread, spread_here);
      least_gain = std::min(least_gain, gain);
    }
    smaller = point.x;
  }
  constexpr std::size_t fewest_sizes = 2;
  constexpr double smallest_confidence = 0.2;
  if (inference.value && sizes < fewest_sizes) {
    inference.value.reset();
    inference.interval.reset();
    inference.statement = "a copy takes less than load and store at the largest size only";
  }
  if (inference.value) {
    const double margin = std::min(least_gain / clearly - 1, 1 - gain_before / clearly);
    inference.statement = "one copy at a time takes less than load and store from this size on";
    inference.confidence = (1 - (clearly - 1) / (least_gain - 1)) *
                           std::max(0.0, 1 - error_per_spread * spread / std::max(margin, 1e-9));
  }
  if (inference.value && inference.confidence < smallest_confidence) {
    inference.value.reset();
    inference.interval.reset();
    inference.confidence = 0;
    inference.statement = "where a copy takes less than load and store is not clear";
  }
  results.infer(inference);
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

// At each x the highest rate.
Curve envelope(const Curve& points) {
  Curve best;
  for (const CurvePoint& point : points) {
    const auto same =
        std::find_if(best.begin(), best.end(), [&](const auto& each) { return each.x == point.x; });
    if (same == best.end()) {
      best.push_back(point);
    } else if (same->y < point.y) {
      *same = point;
    }
  }
  std::sort(best.begin(), best.end(), [](auto& a, auto& b) { return a.x < b.x; });
  return best;
}

// How sure it is that the rate gets to `share` of `rate` at x and not before. On both sides there
// must be points, beyond some that stay there. Up to it the rate is in proportion to what is under
// way, or a little less: a point that falls far behind was disturbed. And the points beside the
// limit must be farther from it than they err.
double saturation_confidence(const Curve& points, double x, double rate, double share) {
  constexpr double shortfall = 0.75;
  constexpr std::ptrdiff_t fewest_beside = 2;
  const Curve best = envelope(points);
  const auto before =
      std::count_if(best.begin(), best.end(), [=](const CurvePoint& point) { return point.x < x; });
  const auto beyond = std::count_if(best.begin(), best.end(), [=](const CurvePoint& point) {
    return point.x > x && point.y >= share * rate;
  });
  if (std::min(before, beyond) < fewest_beside) {
    return 0;
  }
  double margin = 1;
  double error = 0;
  bool is_undisturbed = true;
  for (std::size_t i = 0; i < best.size(); ++i) {
    const double part = best[i].y / rate;
    if (i > 0 && best[i].x <= x &&
        part < shortfall * std::min(1.0, best[i - 1].y / rate * best[i].x / best[i - 1].x)) {
      is_undisturbed = false;
    }
    margin = best[i].x < x    ? std::min(margin, 1 - part / share)
             : best[i].x == x ? std::min(margin, part / share - 1)
                              : margin;
    if (best[i].x >= x) {
      error = std::max(error, error_per_spread * best[i].relative_spread);
    }
  }
  return hipscope::sure_if(is_undisturbed, std::max(0.0, 1 - error / std::max(margin, 1e-9)));
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
  constexpr double nearly_all = 0.95;
  constexpr double smallest_confidence = 0.3;
  auto saturation = hipscope::find_saturation(best.points, nearly_all);
  if (saturation) {
    saturation->confidence *=
        saturation_confidence(best.points, saturation->x, highest(best), nearly_all);
  }
  if (saturation && saturation->confidence < smallest_confidence) {
    saturation.reset();
    inference.statement = "the rates do not show clearly how many are enough";
  }
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
      const double by_law = cycles->y / hertz * highest(best) * 1e9 / units;
      inference.evidence.push_back("latency x rate (Little's law): " + number(cycles->y, 4) +
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
