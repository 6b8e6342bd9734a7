#include "findings.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "hipscope/format.h"
#include "hipscope/inference.h"

namespace streams {

using hipscope::CurvePoint;
using hipscope::number;

Stamp hull_of(std::span<const Stamp> stamps) {
  Stamp hull = stamps.front();
  for (const Stamp& stamp : stamps) {
    hull.begin = std::min(hull.begin, stamp.begin);
    hull.end = std::max(hull.end, stamp.end);
  }
  return hull;
}

long long span_of(std::span<const Stamp> stamps) {
  const Stamp hull = hull_of(stamps);
  return hull.end - hull.begin;
}

unsigned served_at_once(std::span<const Stamp> stamps) {
  long long first_end = stamps.front().end;
  for (const Stamp& stamp : stamps) {
    first_end = std::min(first_end, stamp.end);
  }
  return static_cast<unsigned>(std::count_if(
      stamps.begin(), stamps.end(), [=](const Stamp& stamp) { return stamp.begin < first_end; }));
}

double overlap_of(const Stamp& a, const Stamp& b) {
  const long long shorter = std::min(a.end - a.begin, b.end - b.begin);
  const long long common = std::min(a.end, b.end) - std::max(a.begin, b.begin);
  return shorter > 0 ? static_cast<double>(std::max(0LL, common)) / static_cast<double>(shorter)
                     : 0;
}

namespace {

using Curve = std::vector<CurvePoint>;

constexpr double smallest_step = 1.5;

// min(x, value), at the share `fitting` of the points.
struct Limit {
  double value = 0;
  double fitting = 0;
};

bool fits(const CurvePoint& served, double limit) {
  return std::abs(served.y - std::min(served.x, limit)) < 0.5;
}

// The one number at which `served` stops to rise, and stays: of all that were seen the one that
// most points fit. Empty where fewer than three points are beyond it, or a quarter fit nothing.
std::optional<Limit> limit_of(const Curve& served) {
  constexpr std::size_t fewest_beyond = hipscope::fewest_after_step;
  constexpr double fewest_fitting = 0.75;
  std::optional<Limit> best;
  for (const CurvePoint& candidate : served) {
    const double limit = std::round(candidate.y);
    std::size_t fitting = 0;
    std::size_t beyond = 0;
    for (const CurvePoint& point : served) {
      fitting += fits(point, limit) ? 1 : 0;
      beyond += point.x > limit && fits(point, limit) ? 1 : 0;
    }
    const double share = static_cast<double>(fitting) / static_cast<double>(served.size());
    if (limit >= 1 && beyond >= fewest_beyond && share >= fewest_fitting &&
        (!best || share > best->fitting)) {
      best = {.value = limit, .fitting = share};
    }
  }
  return best;
}

// The step of the times where more than `limit` are there; 0 ... 1 how clearly it is that one.
struct Step {
  double ratio = 0;
  double confidence = 0;
};

std::optional<Step> step_past(const Curve& spans, double limit) {
  std::vector<double> before;
  std::vector<double> after;
  for (const CurvePoint& point : spans) {
    (point.x <= limit ? before : after).push_back(point.y);
  }
  constexpr std::size_t fewest_flat = 3;  // of find_first_step
  if (before.empty() || after.size() < hipscope::fewest_after_step) {
    return std::nullopt;
  }
  if (before.size() < fewest_flat) {
    // Too few for a level: they must be alike, and everything beyond above everything before.
    constexpr double alike = 1.25;
    const auto [least, most] = std::minmax_element(before.begin(), before.end());
    if (*most > alike * *least) {
      return std::nullopt;
    }
    const double ratio = *std::min_element(after.begin(), after.end()) /
                         *std::max_element(before.begin(), before.end());
    constexpr double unsure = 0.7;
    return ratio >= smallest_step ? std::optional<Step>({.ratio = ratio, .confidence = unsure})
                                  : std::nullopt;
  }
  // Beyond twice the limit comes the next step.
  const auto next = std::find_if(spans.begin(), spans.end(),
                                 [=](const CurvePoint& point) { return point.x > 2 * limit; });
  const auto step = hipscope::find_first_step(Curve(spans.begin(), next), smallest_step);
  if (!step || step->last_flat_x > limit || step->next_x <= limit) {
    return std::nullopt;
  }
  return Step{.ratio = step->ratio, .confidence = step->confidence};
}

// Of so many streams each is served at once; more of them wait, as `waiting` says.
void infer_limit(hipscope::Results& results, const std::string& sweep, const std::string& name,
                 const std::string& waiting) {
  const Curve served = results.curve(sweep, "served");
  const Curve spans = results.curve(sweep, "span");
  if (served.empty() || spans.size() != served.size()) {
    return;
  }
  hipscope::Inference inference{.name = name,
                                .unit = sweep,
                                .statement = "the curves do not show how many are served at once"};
  const double most = served.back().x;
  const auto limit = limit_of(served);
  const auto step = limit ? step_past(spans, limit->value) : std::nullopt;
  if (limit && step) {
    inference.value = limit->value;
    inference.confidence = limit->fitting * step->confidence;
    inference.statement = "served at once: " + number(limit->value, 5) + "; " + waiting;
    inference.evidence = {
        "at " + number(100 * limit->fitting) +
            " % of the points just so many kernels began before the first one ended",
        "more streams take " + number(step->ratio) + " times as long"};
  } else if (limit) {
    inference.evidence = {number(limit->value, 5) +
                          " kernels begin at once, but the time takes no step there that lasts"};
  } else if (std::all_of(served.begin(), served.end(),
                         [=](const CurvePoint& point) { return fits(point, most); })) {
    inference.statement = "all of " + number(most, 5) + " streams were served at once";
  }
  results.infer(inference);
}

}  // namespace

void conclude(hipscope::Results& results, unsigned asked_queues) {
  infer_limit(results, "kernels", "kernels at once", "one more waits until one of them has ended");
  // The number is the runtime's choice for as long as it is what the runtime was asked for.
  infer_limit(
      results, "queues", "queues of streams",
      "streams that share a queue wait for each other's chains" +
          (asked_queues > 0 ? "; the runtime was asked for " + std::to_string(asked_queues) +
                                  ", by its environment variable or by default: the "
                                  "hardware may have more"
                            : std::string()));
}

}  // namespace streams
