#include "findings.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "hipscope/format.h"
#include "hipscope/statistics.h"

namespace soak {

using hipscope::CurvePoint;
using hipscope::number;

namespace {

constexpr std::size_t fewest_rows = 6;

// What is nearer than that is the same: half of a percent.
constexpr double least_band = 0.005;

// Of a curve so noisy that nothing is seen in it.
constexpr double largest_band = 0.1;

double band_of(const SteadyState& found) { return std::max(least_band, 3 * found.noise); }

// Only rows of the first second are from before the heat; where rows are that long, one is.
constexpr double start_seconds = 1;

double median_of(std::span<const CurvePoint> points) {
  std::vector<double> values;
  for (const CurvePoint& point : points) {
    values.push_back(point.y);
  }
  return hipscope::summarize(values).median;
}

// What one row differs from its neighbour, as a standard deviation: a drift is none of it.
double noise_of(std::span<const CurvePoint> points) {
  std::vector<double> steps;
  for (std::size_t i = 1; i < points.size(); ++i) {
    steps.push_back(std::abs(points[i].y - points[i - 1].y));
  }
  constexpr double median_step = 0.954;  // of normal noise, in standard deviations
  return hipscope::summarize(steps).median / median_step;
}

// The rows that end within the first second, one at least.
std::span<const CurvePoint> begin_of(std::span<const CurvePoint> curve) {
  std::size_t count = 1;
  while (count < curve.size() && curve[count].x <= start_seconds) {
    ++count;
  }
  return curve.first(count);
}

std::span<const CurvePoint> last_third(std::span<const CurvePoint> curve) {
  const double from = curve.back().x - (curve.back().x - curve.front().x) / 3;
  std::size_t first = 0;
  while (curve[first].x < from) {
    ++first;
  }
  return curve.subspan(first);
}

// What stood beside the rate at the start and in the end.
std::vector<std::string> evidence_of(const hipscope::Results& results, const std::string& sweep) {
  std::vector<std::string> evidence;
  for (const auto& [value, unit] : {std::pair<std::string, std::string>("clock", "MHz"),
                                    {"power", "W"},
                                    {"temperature", "C"},
                                    {"memory temperature", "C"}}) {
    const auto curve = results.curve(sweep, value);
    if (curve.size() >= fewest_rows) {
      evidence.push_back(value + " " + number(median_of(begin_of(curve)), 4) + " " + unit +
                         " at the start, " + number(median_of(last_third(curve)), 4) + " " + unit +
                         " in the end");
    }
  }
  for (const CurvePoint& point : results.curve(sweep, "held back")) {
    if (point.y > 0) {
      evidence.push_back("the device told a reason for a lower clock, first in the row of " +
                         number(point.x, 3) + " s");
      break;
    }
  }
  return evidence;
}

// What the rate lost, and by what: fewer cycles per second, or more cycles for the same.
void infer_loss(hipscope::Results& results, const std::string& sweep, const SteadyState& rate,
                const std::vector<std::string>& evidence) {
  const double loss = 1 - rate.steady / rate.start;
  const double band = band_of(rate);
  hipscope::Inference inference{.name = "loss to the steady state, " + sweep,
                                .unit = "%",
                                .statement = "the rate is in the end what it was at the start",
                                .evidence = evidence};
  if (loss > band) {
    inference.value = 100 * loss;
    inference.confidence = 1 - std::min(1.0, band / loss);
    inference.statement = "of the rate of the first second";
    inference.interval = {.low = 100 * (loss - band), .high = 100 * (loss + band)};
    const auto clock = find_steady_state(results.curve(sweep, "clock"));
    if (clock) {
      const double of_clock = 1 - clock->steady / clock->start;
      inference.statement += of_clock > loss / 2 ? "; the clock lost " + number(100 * of_clock, 2) +
                                                       " %: the chip was held back"
                                                 : "; the clock lost " + number(100 * of_clock, 2) +
                                                       " %: the same work took more cycles";
    }
  }
  results.infer(inference);
}

void infer_sweep(hipscope::Results& results, const std::string& sweep) {
  const auto curve = results.curve(sweep, "rate");
  if (curve.size() < fewest_rows) {
    return;
  }
  const auto evidence = evidence_of(results, sweep);
  const auto rate = find_steady_state(curve);
  hipscope::Inference time{.name = "time to steady state, " + sweep,
                           .unit = "s",
                           .statement = "no steady state: the rate still changes at the end",
                           .evidence = evidence};
  if (rate) {
    time.value = rate->seconds;
    time.confidence = std::max(0.0, 1 - band_of(*rate) / largest_band);
    time.statement = rate->seconds > 0
                         ? "from then on the rate stays within " + number(100 * band_of(*rate), 2) +
                               " % of what it is in the end"
                         : "the rate is steady from the start";
  }
  results.infer(time);
  if (rate) {
    infer_loss(results, sweep, *rate, evidence);
  }
}

}  // namespace

std::optional<SteadyState> find_steady_state(std::span<const CurvePoint> curve) {
  if (curve.size() < fewest_rows) {
    return std::nullopt;
  }
  const auto end = last_third(curve);
  if (end.size() < 2) {
    return std::nullopt;
  }
  SteadyState found{.start = median_of(begin_of(curve)),
                    .steady = median_of(end),
                    .noise = noise_of(end) / median_of(end)};
  const double band = band_of(found) * found.steady;
  const std::size_t half = end.size() / 2;
  const double drift = median_of(end.subspan(half)) - median_of(end.first(half));
  if (std::abs(drift) > band) {
    return std::nullopt;
  }
  // The last row that is off, where the next one is off too: a single row may be a disturbance.
  for (std::size_t i = 0; i + 1 < curve.size(); ++i) {
    const auto is_off = [&](const CurvePoint& point) {
      return std::abs(point.y - found.steady) > band;
    };
    if (is_off(curve[i]) && (i == 0 || is_off(curve[i - 1]) || is_off(curve[i + 1]))) {
      found.seconds = curve[i].x;
    }
  }
  return found;
}

void conclude(hipscope::Results& results) {
  infer_sweep(results, "multiply");
  infer_sweep(results, "stream");
}

}  // namespace soak
