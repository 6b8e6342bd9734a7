#include "findings.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

#include "hipscope/format.h"
#include "hipscope/statistics.h"

namespace timing {

using hipscope::CurvePoint;
using hipscope::median_of;
using hipscope::number;
using Curve = std::vector<CurvePoint>;

namespace {

double relative_spread(const std::vector<double>& values) {
  return hipscope::summarize(values).relative_spread();
}

// What a way of timing adds is a constant: the median over the known times, and how far the times
// are from it.
void infer_added(hipscope::Results& results, const std::string& way, const std::string& name) {
  const Curve added = results.curve("known", "added, " + way);
  if (added.size() < 3) {
    return;
  }
  std::vector<double> values;
  for (const CurvePoint& point : added) {
    values.push_back(point.y);
  }
  const double typical = median_of(values);
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  const double spread = hipscope::summarize(values).interquartile_range();
  results.infer(
      {.name = name,
       .value = typical,
       .unit = "us",
       .confidence = typical > 0 ? std::max(0.0, 1 - spread / typical) : 0,
       .statement = "a time by " + way + " is longer than the kernel by this much",
       .evidence = {"known times of " + number(added.front().x) + " ... " + number(added.back().x) +
                    " us: " + number(*least) + " ... " + number(*most) + " us more"}});
}

void infer_first_launch(hipscope::Results& results) {
  const Curve launches = results.curve("first", "completion");
  if (launches.size() < 3) {
    return;
  }
  std::vector<double> later;
  for (std::size_t i = 1; i < launches.size(); ++i) {
    later.push_back(launches[i].y);
  }
  const double usual = median_of(later);
  const double more = launches.front().y - usual;
  const double spread = hipscope::summarize(later).interquartile_range();
  hipscope::Inference inference{
      .name = "first launch",
      .unit = "us",
      .statement = "a kernel's first launch takes no longer than its later ones",
      .evidence = {"first " + number(launches.front().y) + " us, later ones " + number(usual) +
                   " us"}};
  if (more > 2 * spread && more > usual / 2) {
    inference.value = more;
    inference.confidence = std::max(0.0, 1 - spread / more);
    inference.statement =
        "a kernel's first launch takes this much longer than its later ones: it waits for its code";
  }
  results.infer(inference);
}

void infer_drift(hipscope::Results& results) {
  constexpr double settled = 0.01;
  const Curve clock = results.curve("drift", "shader clock");
  if (clock.size() < 3) {
    return;
  }
  const double last = clock.back().y;
  auto first = clock.end();
  while (first != clock.begin() && std::abs((first - 1)->y / last - 1) <= settled) {
    --first;
  }
  const auto [least, most] =
      std::minmax_element(clock.begin(), clock.end(), [](auto& a, auto& b) { return a.y < b.y; });
  hipscope::Inference inference{
      .name = "time until the clock is steady",
      .value = first->x,
      .unit = "ms",
      .confidence =
          static_cast<double>(clock.end() - first) / static_cast<double>(clock.end() - first + 1),
      .statement = "from then on the shader clock under load stays within 1 % of its last",
      .evidence = {number(clock.front().y, 4) + " MHz at first, " + number(last, 4) +
                   " MHz at last, between " + number(least->y, 4) + " and " + number(most->y, 4)}};
  if (clock.end() - first < 2) {
    inference.value.reset();
    inference.confidence = 0;
    inference.statement = "the shader clock still changes at the end";
  }
  results.infer(inference);
}

}  // namespace

Steps steps_of(std::span<const double> differences) {
  Steps steps;
  std::vector<double> sorted(differences.begin(), differences.end());
  for (const double difference : sorted) {
    steps.mean += difference / static_cast<double>(sorted.size());
    steps.backward += difference < 0 ? 1 : 0;
  }
  sorted.push_back(0);
  std::sort(sorted.begin(), sorted.end());
  // Times by events come as float: what differs by less than that rounds is the same.
  constexpr double rounding = 1e-6;
  const double least = rounding * sorted.back();
  for (std::size_t i = 1; i < sorted.size(); ++i) {
    const double step = sorted[i] - sorted[i - 1];
    if (step > least && (steps.smallest == 0 || step < steps.smallest)) {
      steps.smallest = step;
    }
  }
  return steps;
}

GroupSpreads spreads_of_groups(std::span<const double> times, std::size_t size) {
  const std::size_t groups = size == 0 ? 0 : times.size() / size;
  if (groups < fewest_groups) {
    throw std::invalid_argument("too few groups of " + std::to_string(size) + " for a spread");
  }
  std::vector<double> medians;
  std::vector<double> means;
  std::vector<double> minima;
  for (std::size_t group = 0; group < groups; ++group) {
    const auto part = times.subspan(group * size, size);
    const hipscope::Summary summary = hipscope::summarize(part);
    double sum = 0;
    for (const double time : part) {
      sum += time;
    }
    medians.push_back(summary.median);
    means.push_back(sum / static_cast<double>(size));
    minima.push_back(summary.minimum);
  }
  return {.medians = relative_spread(medians),
          .means = relative_spread(means),
          .minima = relative_spread(minima)};
}

std::vector<CurvePoint> medians_of_octaves(std::span<const CurvePoint> points) {
  std::vector<std::vector<double>> octaves;
  for (const CurvePoint& point : points) {
    const double octave = std::max(0.0, std::floor(std::log2(point.x / first_octave_ms)));
    const auto place = static_cast<std::size_t>(octave);
    octaves.resize(std::max(octaves.size(), place + 1));
    octaves[place].push_back(point.y);
  }
  Curve medians;
  for (std::size_t i = 0; i < octaves.size(); ++i) {
    if (!octaves[i].empty()) {
      medians.push_back({.x = std::ldexp(first_octave_ms, static_cast<int>(i)),
                         .y = median_of(octaves[i]),
                         .relative_spread = relative_spread(octaves[i])});
    }
  }
  return medians;
}

void conclude(hipscope::Results& results) {
  infer_added(results, "gated events", "time that events add");
  infer_added(results, "host clock", "time that the host's clock adds");
  infer_first_launch(results);
  infer_drift(results);
}

}  // namespace timing
