// find_levels on curves that are made: latency over footprint. That curves of nothing have no
// level, the trial holds (src/5-memory/memory_latency/levels_trial.cpp).
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>

#include "hipscope/inference.h"
#include "inference_capacity.h"
#include "made_curve.h"

namespace hipscope {
namespace {

constexpr double smallest_ratio = 1.12;
constexpr double kib = 1024;
constexpr double mib = 1024 * kib;
constexpr double gib = 1024 * mib;

struct Cache {
  double bytes;
  double cycles;
};

// A chase that hits in the smallest of `caches` that holds the footprint, or goes to memory.
std::function<double(double)> sharp(const std::vector<Cache>& caches, double memory) {
  return [=](double footprint) {
    for (const Cache& cache : caches) {
      if (footprint <= cache.bytes) {
        return cache.cycles;
      }
    }
    return memory;
  };
}

// Caches that replace at random: the share of misses m of a cyclic walk over x times the capacity
// solves 1 - m = exp(-m x).
std::function<double(double)> gradual(const std::vector<Cache>& caches, double memory) {
  const auto misses = [](double x) {
    double m = x > 1 ? 1 : 0;
    for (int i = 0; i < 200; ++i) {
      m = 1 - std::exp(-m * x);
    }
    return m;
  };
  return [=](double footprint) {
    double latency = caches.front().cycles;
    for (std::size_t i = 0; i < caches.size(); ++i) {
      const double next = i + 1 < caches.size() ? caches[i + 1].cycles : memory;
      latency += misses(footprint / caches[i].bytes) * (next - caches[i].cycles);
    }
    return latency;
  };
}

std::vector<CurvePoint> curve(const std::function<double(double)>& y, double noise = 0,
                              unsigned seed = 1, double last = 2 * gib, int per_octave = 8) {
  return made_curve(footprints(kib, last, per_octave), y, noise, seed);
}

// The levels must be `caches`, each with its capacity to `tolerance`, and memory.
void expect_levels(const std::vector<Level>& levels, const std::vector<Cache>& caches,
                   double memory, double tolerance) {
  ASSERT_EQ(levels.size(), caches.size() + 1);
  for (std::size_t i = 0; i < caches.size(); ++i) {
    EXPECT_NEAR(levels[i].y, caches[i].cycles, 0.03 * caches[i].cycles) << i;
    ASSERT_TRUE(levels[i].end) << i;
    EXPECT_NEAR(levels[i].end->last_x, caches[i].bytes, tolerance * caches[i].bytes) << i;
    EXPECT_LT(levels[i].end->last_x, levels[i].end->risen_x);
    EXPECT_LE(levels[i].end->risen_x, levels[i].end->next_x);
  }
  EXPECT_NEAR(levels.back().y, memory, 0.03 * memory);
  EXPECT_FALSE(levels.back().end);
}

const std::vector<Cache> vega = {{16 * kib, 120}, {4 * mib, 290}};
const std::vector<Cache> rdna = {
    {16 * kib, 90}, {128 * kib, 150}, {4 * mib, 260}, {128 * mib, 420}};

TEST(FindLevels, FindsTwoCachesAndMemory) {
  const auto levels = find_levels(curve(sharp(vega, 610)), smallest_ratio);
  expect_levels(levels, vega, 610, 0);
  EXPECT_EQ(levels[0].end->last_x, 16 * kib);
  EXPECT_EQ(levels[0].end->next_x, 18 * kib);
  for (const Level& level : levels) {
    EXPECT_GT(level.confidence, 0.9);
    EXPECT_EQ(level.spread, 0);
  }
}

TEST(FindLevels, FindsFiveLevelsEvenWithFewPoints) {
  for (const int per_octave : {8, 4}) {
    const auto made = curve(sharp(rdna, 700), 0, 1, 2 * gib, per_octave);
    expect_levels(find_levels(made, smallest_ratio), rdna, 700, 0);
  }
}

TEST(FindLevels, GradualTransitionsAreBracketed) {
  const std::vector<Cache> caches = {{256 * kib, 38}, {32 * mib, 270}};
  const auto levels = find_levels(curve(gradual(caches, 650)), smallest_ratio);
  ASSERT_EQ(levels.size(), 3U);
  for (std::size_t i = 0; i < caches.size(); ++i) {
    EXPECT_GE(levels[i].end->last_x, 0.85 * caches[i].bytes);
    EXPECT_LE(levels[i].end->last_x, 1.1 * caches[i].bytes);
    EXPECT_GE(levels[i].end->next_x, 1.5 * caches[i].bytes);
  }
}

// An H200 that was warmed by all of its SMs: no far level, and none may be invented.
TEST(FindLevels, InventsNoLevelInARiseThatWavers) {
  std::vector<CurvePoint> points;
  for (double x = kib; x < 240 * kib; x *= 1.19) {
    points.push_back({.x = x, .y = 32.02});
  }
  for (const auto& [x, y] : {std::pair{256.0, 91.6},
                             {304.4, 198.4},
                             {362.0, 251.1},
                             {430.5, 276.7},
                             {512.0, 278.6},
                             {608.8, 280.7}}) {
    points.push_back({.x = x * kib, .y = y});
  }
  for (double x = 724 * kib; x < 28 * mib; x *= 1.19) {
    points.push_back({.x = x, .y = 281});
  }
  for (const auto& [x, y] : {std::pair{32.0, 411.8},
                             {38.05, 538.0},
                             {45.25, 586.1},
                             {53.8, 531.9},
                             {64.0, 631.0},
                             {76.1, 660.5}}) {
    points.push_back({.x = x * mib, .y = y});
  }
  for (double x = 90 * mib; x < 2 * gib; x *= 1.19) {
    points.push_back({.x = x, .y = x < 500 * mib ? 658.0 : 667.0});
  }
  const auto levels = find_levels(points, smallest_ratio);
  ASSERT_EQ(levels.size(), 3U);
  EXPECT_NEAR(levels[1].y, 281, 1);
  EXPECT_NEAR(levels[2].y, 660, 5);
}

// Latency of one line per page over that of dense lines: a first step of 4 %, and a rise at the
// end.
TEST(FindLevels, ReadsTheReachOfATlb) {
  const auto ratio = [](double pages) {
    return pages <= 128 ? 1.0 : pages <= 30720 ? 1.037 : 1.037 + 0.2 * std::log2(pages / 30720);
  };
  const std::vector<double> xs = footprints(2, 65536, 4);
  for (unsigned seed = 1; seed <= 50; ++seed) {
    const auto levels = find_levels(made_curve(xs, ratio, 0.002, seed), 1.02);
    ASSERT_EQ(levels.size(), 2U) << seed;
    EXPECT_EQ(levels[0].end->last_x, 128) << seed;
    ASSERT_TRUE(levels[1].end) << seed;
    EXPECT_NEAR(levels[1].end->last_x, 30720, 4096) << seed;
  }
}

TEST(FindLevels, FinerPointsAtTheEdgesChangeNothingElse) {
  std::vector<double> xs = footprints(kib, 2 * gib);
  for (const double edge : {256 * kib, 32 * mib}) {
    const auto finer = footprints(edge / 2, 2 * edge, 64);
    xs.insert(xs.end(), finer.begin(), finer.end());
  }
  std::sort(xs.begin(), xs.end());
  xs.erase(std::unique(xs.begin(), xs.end()), xs.end());
  const std::vector<Cache> sharp_caches = {{250 * kib, 38}, {30 * mib, 270}};
  for (unsigned seed = 1; seed <= 50; ++seed) {
    SCOPED_TRACE(seed);
    expect_levels(
        find_levels(made_curve(xs, sharp(sharp_caches, 650), 0.005, seed), smallest_ratio),
        sharp_caches, 650, 0.02);
    EXPECT_EQ(
        find_levels(made_curve(xs, gradual(sharp_caches, 650), 0.005, seed), smallest_ratio).size(),
        3U);
  }
}

TEST(FindLevels, ARiseThatNeverGetsFlatEndsALevelWithoutANext) {
  const auto rising = [](double x) { return x <= 4 * mib ? 200 : 200 * std::sqrt(x / (4 * mib)); };
  const auto levels = find_levels(curve(rising), smallest_ratio);
  ASSERT_EQ(levels.size(), 1U);
  EXPECT_NEAR(levels[0].y, 200, 3);
  ASSERT_TRUE(levels[0].end);
  EXPECT_NEAR(levels[0].end->last_x, 4 * mib, 0.8 * mib);
  EXPECT_EQ(levels[0].end->next_x, 2 * gib);
}

TEST(FindLevels, ALastTransitionThatIsCutOffIsNotMemory) {
  const auto levels = find_levels(
      curve(gradual({{256 * kib, 38}, {32 * mib, 270}}, 650), 0, 1, 44 * mib), smallest_ratio);
  ASSERT_EQ(levels.size(), 2U);
  EXPECT_NEAR(levels[1].y, 270, 5);
  ASSERT_TRUE(levels[1].end);
  EXPECT_LT(levels[1].end->last_x, 36 * mib);
}

TEST(FindLevels, AStepTooSmallIsNone) {
  const auto levels = find_levels(curve(sharp({{1 * mib, 100}}, 108), 0.005), smallest_ratio);
  ASSERT_EQ(levels.size(), 1U);
  EXPECT_FALSE(levels[0].end);
}

TEST(FindLevels, OneOutlierIsNoLevelAndNoEnd) {
  for (const double factor : {0.5, 1.5, 4.0}) {
    auto clean = curve(sharp(vega, 610));
    for (std::size_t i = 0; i < clean.size(); ++i) {
      auto made = clean;
      made[i].y *= factor;
      SCOPED_TRACE(i);
      expect_levels(find_levels(made, smallest_ratio), vega, 610, 0.13);
    }
  }
}

TEST(FindLevels, AHumpIsNoLevel) {
  auto made = curve(sharp(vega, 610));
  for (CurvePoint& point : made) {
    if (point.x >= 64 * kib && point.x < 128 * kib) {
      point.y *= 1.3;
    }
  }
  const auto levels = find_levels(made, smallest_ratio);
  expect_levels(levels, vega, 610, 0);
  EXPECT_LT(levels[1].confidence, 0.8);
}

TEST(FindLevels, NeedsThreePointsThatRiseInX) {
  EXPECT_TRUE(find_levels({}, smallest_ratio).empty());
  EXPECT_TRUE(find_levels(std::vector<CurvePoint>{{1, 1}, {2, 1}}, smallest_ratio).empty());
  EXPECT_TRUE(find_levels(std::vector<CurvePoint>{{1, 1}, {2, 1}, {2, 1}}, smallest_ratio).empty());
  EXPECT_TRUE(find_levels(std::vector<CurvePoint>{{1, 1}, {2, 0}, {3, 1}}, smallest_ratio).empty());
  EXPECT_EQ(find_levels(std::vector<CurvePoint>{{1, 1}, {2, 1}, {3, 1}}, smallest_ratio).size(),
            1U);
}

constexpr double clear_ratio = 1.05;

// Misses begin at the reach: half of all lookups an octave on.
std::function<double(double)> tlb(double reach, double cost) {
  return [=](double pages) { return pages <= reach ? 1 : 1 + cost * (1 - reach / pages); };
}

TEST(FindClearRises, FindsTwoReachesThroughNoise) {
  for (const double noise : {0.0, 0.001, 0.002}) {
    for (unsigned seed = 1; seed <= 50; ++seed) {
      SCOPED_TRACE("noise " + std::to_string(noise) + ", seed " + std::to_string(seed));
      const auto both = [](double pages) { return tlb(64, 0.3)(pages) * tlb(8192, 0.5)(pages); };
      auto made = made_curve(footprints(4, 65536, 8), both, noise, seed);
      // The first is flat again before the second.
      for (CurvePoint& point : made) {
        point.y *= point.x > 256 && point.x <= 8192 ? 1.3 / both(point.x) : 1;
        point.y *= point.x > 8192 ? 1.3 / tlb(64, 0.3)(point.x) : 1;
      }
      const auto rises = find_clear_rises(made, clear_ratio);
      ASSERT_EQ(rises.size(), 2U);
      EXPECT_NEAR(rises[0].last_flat_x, 64, 8);
      EXPECT_NEAR(rises[1].last_flat_x, 8192, 1024);
      EXPECT_GT(rises[1].confidence, 0.6);
    }
  }
}

TEST(FindClearRises, NoiseDriftHumpAndLoneOutlierAreNone) {
  const std::vector<double> xs = footprints(4, 65536, 8);
  for (unsigned seed = 1; seed <= 50; ++seed) {
    for (const double noise : {0.0, 0.005, 0.02, 0.05}) {
      EXPECT_TRUE(find_clear_rises(made_curve(
                                       xs, [](double) { return 1.0; }, noise, seed),
                                   clear_ratio)
                      .empty())
          << noise << " " << seed;
    }
  }
  // 3 % per octave
  EXPECT_TRUE(
      find_clear_rises(made_curve(xs, [](double x) { return std::pow(x, 0.043); }), clear_ratio)
          .empty());
  const auto hump = [](double x) { return x > 256 && x < 1024 ? 1.2 : 1.0; };
  EXPECT_TRUE(find_clear_rises(made_curve(xs, hump), clear_ratio).empty());
  auto outlier = made_curve(xs, [](double) { return 1.0; });
  outlier.back().y = 2;
  EXPECT_TRUE(find_clear_rises(outlier, clear_ratio).empty());
  EXPECT_TRUE(find_clear_rises({}, clear_ratio).empty());
}

TEST(FindClearRises, TheRiseComesWithinAnOctaveAndFromAboveTheFlatPart) {
  const std::vector<double> xs = footprints(4, 65536, 4);
  const auto slow = [](double octaves) {
    return [=](double x) { return 1 + 0.06 * std::clamp(std::log2(x / 256) / octaves, 0.0, 1.0); };
  };
  EXPECT_EQ(find_clear_rises(made_curve(xs, slow(1)), clear_ratio).size(), 1U);
  EXPECT_TRUE(find_clear_rises(made_curve(xs, slow(4)), clear_ratio).empty());
  const auto dips_first = [](double x) { return x <= 256 ? 1 : x <= 320 ? 0.9 : 1.1; };
  EXPECT_TRUE(find_clear_rises(made_curve(xs, dips_first), clear_ratio).empty());
}

// What a step of the footprint tells of a capacity, and a law whose misses rise over octaves.
TEST(FitCapacity, BracketsTheCapacity) {
  const auto misses = [](const std::function<double(double)>& share) {
    return made_curve(footprints(64 * kib, 16 * mib), share);
  };
  const auto sharp_one = fit_capacity(misses([](double x) { return x <= mib ? 0.0 : 1.0; }));
  ASSERT_TRUE(sharp_one);
  EXPECT_EQ(sharp_one->value, mib);
  EXPECT_EQ(sharp_one->low, mib);
  EXPECT_EQ(sharp_one->high, 1.125 * mib);
  EXPECT_GT(sharp_one->confidence, 0.9);
  // Any line leaves: 1 - m = exp(-m x).
  const auto slow_one = fit_capacity(misses([](double x) {
    double m = x > mib ? 1 : 0;
    for (int i = 0; i < 200; ++i) {
      m = 1 - std::exp(-m * x / mib);
    }
    return m;
  }));
  ASSERT_TRUE(slow_one);
  EXPECT_NEAR(slow_one->value, mib, mib / 8);
  EXPECT_LT(slow_one->low, mib);
  EXPECT_GT(slow_one->high, mib);
  EXPECT_LT(slow_one->knee, slow_one->half);
  EXPECT_LT(slow_one->half, slow_one->full);
  EXPECT_LE(slow_one->confidence, 0.5);
}

TEST(FitCapacity, WithoutHitsOrMissesThereIsNone) {
  const auto xs = footprints(64 * kib, 16 * mib);
  EXPECT_FALSE(fit_capacity(made_curve(xs, [](double) { return 0.0; })));
  EXPECT_FALSE(fit_capacity(made_curve(xs, [](double) { return 1.0; })));
  EXPECT_FALSE(fit_capacity(made_curve(xs, [](double x) { return x <= mib ? 0.0 : 0.4; })));
  EXPECT_FALSE(fit_capacity({}));
}

// Levels that differ by 12 to 22 % are two, however close to each other in latency.
TEST(FindLevels, SmallStepsAreKept) {
  for (const double step : {1.13, 1.17, 1.22}) {
    const auto levels =
        find_levels(curve(sharp({{16 * kib, 100}, {mib, 100 * step}}, 100 * step * step), 0.005),
                    smallest_ratio);
    ASSERT_EQ(levels.size(), 3U) << step;
    EXPECT_NEAR(levels[0].end->capacity->value, 16 * kib, 2 * kib);
    EXPECT_NEAR(levels[1].end->capacity->value, mib, mib / 8);
  }
}

// A level whose successor turns out to be no higher has no clear end.
TEST(FindLevels, AConfidenceIsNeverMoreThanOne) {
  std::vector<CurvePoint> curve;
  for (unsigned point = 0; point < 112; ++point) {
    const double octave = point / 8.0;
    const double y = octave < 6 ? 100 + 4 * (point % 2) : octave < 8 ? 117 : octave < 10 ? 106 : 97;
    curve.push_back({.x = 1024 * std::exp2(octave), .y = y});
  }
  for (const Level& level : find_levels(curve, 1.12)) {
    EXPECT_LE(level.confidence, 1);
  }
}

}  // namespace
}  // namespace hipscope
