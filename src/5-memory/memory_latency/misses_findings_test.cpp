// fit_misses on curves that are made: latency over footprint.
#include "misses_findings.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "made_curve.h"
#include "text.h"

namespace memory_latency {
namespace {

using hipscope::CurvePoint;
using hipscope::footprints;
using hipscope::made_curve;

constexpr double smallest_ratio = 1.12;

struct MadeCache {
  double bytes;
  double cycles;
};

std::vector<CurvePoint> curve(const std::function<double(double)>& y, double noise,
                              unsigned seed = 1) {
  return made_curve(footprints(kib, 2048 * mib), y, noise, seed);
}

// Latency over footprint: past each cache the share misses(footprint / capacity) of the loads goes
// on to the next.
std::function<double(double)> staircase(const std::vector<MadeCache>& caches, double memory,
                                        double (*misses)(double)) {
  return [=](double bytes) {
    double latency = caches.front().cycles;
    for (std::size_t i = 0; i < caches.size(); ++i) {
      const double next = i + 1 < caches.size() ? caches[i + 1].cycles : memory;
      latency += (next - caches[i].cycles) * misses(bytes / caches[i].bytes);
    }
    return latency;
  };
}

// Of any line, whichever came before.
double by_loads(double ratio) { return std::max(0.0, 1 - 1 / ratio); }

double by_walk(double ratio) { return ratio > 1 ? 1 : 0; }

void expect_capacities(const std::vector<FoundCapacity>& found,
                       const std::vector<MadeCache>& caches) {
  ASSERT_EQ(found.size(), caches.size());
  for (std::size_t i = 0; i < caches.size(); ++i) {
    EXPECT_NEAR(found[i].value, caches[i].bytes, caches[i].bytes / 8) << i;
    EXPECT_LE(found[i].low, caches[i].bytes) << i;
    EXPECT_GE(found[i].high, caches[i].bytes) << i;
  }
}

const std::vector<MadeCache> two_caches = {{16 * kib, 120}, {4 * mib, 290}};

// Of RDNA's four caches none is flat for long, nor is a step higher than 20 %.
const std::vector<MadeCache> low_steps = {
    {16 * kib, 90}, {128 * kib, 104}, {4 * mib, 122}, {128 * mib, 144}};

// Noise that hides the steps from either: both have them at the same capacities.
TEST(FitMisses, TwoCurvesShowWhatOneDoesNot) {
  std::size_t alone = 0;
  for (unsigned seed = 1; seed <= 5; ++seed) {
    const auto loads = curve(staircase(low_steps, 260, by_loads), 0.04, seed);
    const auto walk = curve(staircase(low_steps, 260, by_walk), 0.04, seed + 100);
    const auto found = fit_misses(loads, walk, smallest_ratio);
    ASSERT_EQ(found.size(), low_steps.size()) << seed;
    for (std::size_t i = 0; i < found.size(); ++i) {
      EXPECT_NEAR(found[i].value, low_steps[i].bytes, low_steps[i].bytes / 8) << seed << " " << i;
    }
    alone += fit_misses(loads, {}, smallest_ratio).size();
  }
  EXPECT_LT(alone, 5 * low_steps.size());
}

// What goes up and down is no staircase, and then the other curve tells nothing either.
TEST(FitMisses, BothCurvesMustRise) {
  const auto loads = curve(staircase(two_caches, 610, by_loads), 0.005);
  EXPECT_FALSE(fit_misses(loads, {}, smallest_ratio).empty());
  const auto wave = [](double x) { return 300 * (1 + 0.4 * std::sin(std::log2(x))); };
  EXPECT_TRUE(fit_misses(loads, curve(wave, 0.005), smallest_ratio).empty());
}

TEST(FitMisses, OnePointThatIsTooLowNearTheEndHidesNothing) {
  for (const std::size_t from_end : {1, 2, 3}) {
    auto made = curve(staircase(two_caches, 610, by_loads), 0.005);
    made[made.size() - from_end].y /= 4;
    expect_capacities(fit_misses(made, {}, smallest_ratio), two_caches);
  }
}

TEST(FitMisses, PointsThatTakeLongerAreLeftOut) {
  auto made = curve(staircase(two_caches, 610, by_loads), 0.005);
  for (std::size_t i = 0; i < made.size(); i += 2) {
    made[i].y *= 1.6;
  }
  expect_capacities(fit_misses(made, {}, smallest_ratio), two_caches);
}

TEST(FitMisses, TooFewPointsTellNothing) {
  EXPECT_TRUE(fit_misses({}, {}, smallest_ratio).empty());
  const std::vector<CurvePoint> few = {{1, 1}, {2, 1}, {3, 2}, {4, 3}};
  EXPECT_TRUE(fit_misses(few, {}, smallest_ratio).empty());
}

}  // namespace
}  // namespace memory_latency
