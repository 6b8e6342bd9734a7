#include "findings.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "hipscope/confidence.h"
#include "hipscope/format.h"
#include "hipscope/inference.h"
#include "hipscope/statistics.h"

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
constexpr double micro = 1e6;

std::optional<CurvePoint> at(const Curve& curve, double x) {
  const auto found =
      std::find_if(curve.begin(), curve.end(), [=](const CurvePoint& p) { return p.x == x; });
  return found == curve.end() ? std::nullopt : std::optional(*found);
}

// --- How many at once -------------------------------------------------------------------------

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

struct LimitNames {
  std::string sweep;
  std::string name;
  std::string unit;
  std::string more;  // what happens to more of them
};

void infer_limit(hipscope::Results& results, const LimitNames& names,
                 std::optional<double> driver) {
  const Curve served = results.curve(names.sweep, "served");
  const Curve spans = results.curve(names.sweep, "span");
  if (served.empty() || spans.size() != served.size()) {
    return;
  }
  hipscope::Inference inference{.name = names.name,
                                .unit = names.unit,
                                .statement = "the curves do not show how many are served at once",
                                .driver = driver};
  const double most = served.back().x;
  const auto limit = limit_of(served);
  const auto step = limit ? step_past(spans, limit->value) : std::nullopt;
  if (limit && step) {
    inference.value = limit->value;
    inference.confidence = limit->fitting * step->confidence;
    inference.statement = "served at once: " + number(limit->value, 5) + "; " + names.more;
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

// --- One beside another -----------------------------------------------------------------------

double sureness(std::initializer_list<CurvePoint> points) {
  double spread = 0;
  for (const CurvePoint& point : points) {
    spread = std::max(spread, point.relative_spread);
  }
  return hipscope::sureness_of_best(spread);
}

std::string in_microseconds(const CurvePoint& time) { return number(micro * time.y) + " us"; }

void infer_small(hipscope::Results& results) {
  const Curve began = results.curve("small", "began at");
  const Curve latency = results.curve("small", "latency");
  const auto rounds = at(began, row::many_rounds);
  const auto alone = at(latency, row::small_alone);
  const auto half = at(latency, row::half_of_places);
  if (!rounds || !alone || !half) {
    return;
  }
  constexpr double soon = 30;
  constexpr double late = 75;
  const bool is_clear = rounds->y < soon || rounds->y > late;
  hipscope::Inference inference{
      .name = "small kernel beside a large one begins at",
      .value = is_clear ? std::optional(rounds->y) : std::nullopt,
      .unit = "% of the large one",
      .confidence = is_clear ? sureness({*rounds}) : 0,
      .statement = rounds->y < soon   ? "a small kernel gets the next place that is free"
                   : rounds->y > late ? "a small kernel waits until all blocks of the large one "
                                        "have begun"
                                      : "the small kernel's wait follows no plain rule",
      .evidence = {"alone it takes " + in_microseconds(*alone) +
                   ", beside a large one that leaves half of the places " +
                   in_microseconds(*half)}};
  if (const auto split = at(latency, row::split_by_runtime)) {
    inference.evidence.push_back("the same where the runtime splits L1 and LDS for each kernel: " +
                                 in_microseconds(*split));
  }
  results.infer(inference);
}

void infer_priority(hipscope::Results& results) {
  const Curve began = results.curve("priority", "began at");
  const Curve latency = results.curve("priority", "latency");
  const auto equal = at(began, row::equal);
  const auto higher = at(began, row::higher);
  const auto equal_latency = at(latency, row::equal);
  const auto higher_latency = at(latency, row::higher);
  if (!equal || !higher || !equal_latency || !higher_latency) {
    return;
  }
  constexpr double passes = 0.5;
  results.infer(
      {.name = "small kernel of high priority begins at",
       .value = higher->y,
       .unit = "% of the large one",
       .confidence = sureness({*equal, *higher}),
       .statement = higher->y < passes * equal->y
                        ? "a small kernel of high priority passes the blocks that wait"
                        : "a stream's priority does not shorten the wait",
       .evidence = {"of the same priority it begins at " + number(equal->y) + " %",
                    "latency: " + in_microseconds(*equal_latency) + " at equal priority, " +
                        in_microseconds(*higher_latency) + " at the greatest"}});
}

void infer_copies(hipscope::Results& results) {
  const Curve overlap = results.curve("copies", "overlap");
  constexpr std::size_t rows = 4;
  if (overlap.size() != rows) {
    return;
  }
  const auto least =
      std::min_element(overlap.begin(), overlap.end(),
                       [](const CurvePoint& a, const CurvePoint& b) { return a.y < b.y; });
  constexpr double whole = 90;
  constexpr double none = 10;
  // What ran side by side saves as much time; where it does not, one of the two was disturbed.
  constexpr double agree_within = 15;
  const auto saved = at(results.curve("copies", "time saved"), least->x);
  const bool agrees = saved && std::abs(saved->y - least->y) < agree_within;
  hipscope::Inference inference{
      .name = "copy under a kernel",
      .value = least->y,
      .unit = "% of the shorter",
      .confidence = hipscope::sure_if(agrees, sureness({*least})),
      .statement = least->y > whole  ? "copies by an engine run while kernels run"
                   : least->y < none ? "copies wait for kernels"
                                     : "copies run beside kernels in part"};
  if (saved) {
    inference.evidence = {"both at once save " + number(saved->y) + " % of the shorter one's time"};
  }
  results.infer(inference);
}

}  // namespace

void conclude(hipscope::Results& results, unsigned asked_queues) {
  infer_limit(results,
              {.sweep = "kernels",
               .name = "kernels at once",
               .unit = "kernels",
               .more = "one more waits until one of them has ended"},
              std::nullopt);
  infer_limit(results,
              {.sweep = "queues",
               .name = "hardware queues",
               .unit = "queues",
               .more = "streams that share a queue wait for each other's chains"},
              asked_queues > 0 ? std::optional<double>(asked_queues) : std::nullopt);
  infer_small(results);
  infer_priority(results);
  infer_copies(results);
}

}  // namespace streams
