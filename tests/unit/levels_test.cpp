// find_levels on curves that are made: latency over footprint.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>
#include <string>

#include "hipscope/inference.h"
#include "made_curve.h"
#include "normal_noise.h"

namespace hipscope {
namespace {

constexpr double smallest_ratio = 1.12;
constexpr double kib = 1024;
constexpr double mib = 1024 * kib;
constexpr double gib = 1024 * mib;

// So many points per octave, equally far apart in each, as an experiment takes them.
std::vector<double> footprints(double first, double last, int per_octave = 8) {
  std::vector<double> xs;
  for (double octave = first; octave <= last; octave *= 2) {
    for (int i = 0; i < per_octave && octave * (1 + static_cast<double>(i) / per_octave) <= last;
         ++i) {
      xs.push_back(octave * (1 + static_cast<double>(i) / per_octave));
    }
  }
  return xs;
}

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
  EXPECT_GT(levels[0].end->confidence, 0.9);
  EXPECT_GT(levels[1].end->confidence, 0.9);
}

TEST(FindLevels, FindsFiveLevels) {
  expect_levels(find_levels(curve(sharp(rdna, 700)), smallest_ratio), rdna, 700, 0);
}

TEST(FindLevels, FindsThemWithFewPoints) {
  expect_levels(find_levels(curve(sharp(rdna, 700), 0, 1, 2 * gib, 4), smallest_ratio), rdna, 700,
                0);
}

TEST(FindLevels, FindsThemThroughNoise) {
  for (const double noise : {0.002, 0.01, 0.02}) {
    for (unsigned seed = 1; seed <= 50; ++seed) {
      SCOPED_TRACE("noise " + std::to_string(noise) + ", seed " + std::to_string(seed));
      // One point more or less at the edge, 1/8 octave.
      expect_levels(find_levels(curve(sharp(vega, 610), noise, seed), smallest_ratio), vega, 610,
                    0.13);
      expect_levels(find_levels(curve(sharp(rdna, 700), noise, seed), smallest_ratio), rdna, 700,
                    0.13);
    }
  }
}

TEST(FindLevels, NoiseLowersTheConfidence) {
  const auto clean = find_levels(curve(sharp(vega, 610)), smallest_ratio);
  const auto noisy = find_levels(curve(sharp(vega, 610), 0.02), smallest_ratio);
  ASSERT_EQ(noisy.size(), 3U);
  EXPECT_LT(noisy[0].confidence, clean[0].confidence);
  EXPECT_LT(noisy[0].end->confidence, clean[0].end->confidence);
  EXPECT_GT(noisy[0].spread, 0.02);
}

// A small step in the same noise is less certain than a large one.
TEST(FindLevels, ASmallStepIsLessCertain) {
  const auto large = find_levels(curve(sharp({{1 * mib, 100}}, 300), 0.01), smallest_ratio);
  const auto small = find_levels(curve(sharp({{1 * mib, 100}}, 125), 0.01), smallest_ratio);
  ASSERT_EQ(large.size(), 2U);
  ASSERT_EQ(small.size(), 2U);
  EXPECT_LT(small[0].end->confidence, large[0].end->confidence - 0.05);
}

TEST(FindLevels, GradualTransitionsAreBracketed) {
  const std::vector<Cache> caches = {{256 * kib, 38}, {32 * mib, 270}};
  const auto levels = find_levels(curve(gradual(caches, 650)), smallest_ratio);
  ASSERT_EQ(levels.size(), 3U);
  for (std::size_t i = 0; i < caches.size(); ++i) {
    EXPECT_GE(levels[i].end->last_x, 0.85 * caches[i].bytes);
    EXPECT_LE(levels[i].end->last_x, 1.1 * caches[i].bytes);
    EXPECT_GE(levels[i].end->next_x, 1.5 * caches[i].bytes);
    EXPECT_LT(levels[i].end->confidence, 0.8);
    EXPECT_GT(levels[i].end->confidence, 0.4);
  }
}

// The published curve of an H100 PCIe by RRZE-HPC/gpu-benches' gpu-latency, to the figures that can
// be read off it: near and far L2 are two levels, and memory drifts upwards by the TLB.
std::vector<CurvePoint> h100() {
  std::vector<CurvePoint> points;
  for (double x = 2 * kib; x < 216 * kib; x *= 1.1) {
    points.push_back({.x = x, .y = 34});
  }
  for (const auto& [x, y] :
       {std::pair{216.0, 34.0}, {239.0, 134.0}, {264.0, 206.0}, {290.0, 240.0}, {320.0, 257.0}}) {
    points.push_back({.x = x * kib, .y = y});
  }
  for (double x = 350 * kib; x < 20 * mib; x *= 1.1) {
    points.push_back({.x = x, .y = 265});
  }
  for (const auto& [x, y] : {std::pair{20.5, 268.0},
                             {22.5, 275.0},
                             {24.8, 320.0},
                             {27.3, 403.0},
                             {30.0, 461.0},
                             {33.0, 470.0},
                             {36.3, 475.0},
                             {40.0, 475.0},
                             {44.0, 475.0},
                             {48.3, 476.0},
                             {53.0, 500.0},
                             {57.0, 563.0},
                             {62.0, 626.0},
                             {68.0, 650.0}}) {
    points.push_back({.x = x * mib, .y = y});
  }
  for (double x = 75 * mib; x < 1.5 * gib; x *= 1.1) {
    points.push_back({.x = x, .y = 650 + 8 * std::log2(x / (75 * mib)) / std::log2(20.0)});
  }
  return points;
}

void expect_h100(const std::vector<Level>& levels) {
  ASSERT_EQ(levels.size(), 4U);
  EXPECT_NEAR(levels[0].y, 34, 1);
  EXPECT_EQ(levels[0].end->last_x, 216 * kib);
  EXPECT_NEAR(levels[1].y, 265, 5);
  EXPECT_NEAR(levels[1].end->last_x, 21 * mib, 3 * mib);
  EXPECT_NEAR(levels[2].y, 475, 7);
  EXPECT_NEAR(levels[2].end->last_x, 50 * mib, 6 * mib);
  EXPECT_NEAR(levels[3].y, 652, 10);
  EXPECT_FALSE(levels[3].end);
}

TEST(FindLevels, ReadsAnH100) {
  const auto levels = find_levels(h100(), smallest_ratio);
  expect_h100(levels);
  EXPECT_LE(levels[0].end->next_x, 350 * kib);
  // The plateau of far L2 is short.
  for (const Level& level : levels) {
    EXPECT_GT(level.confidence, 0.5);
  }
}

TEST(FindLevels, ReadsAnH100ThroughNoise) {
  for (unsigned seed = 1; seed <= 50; ++seed) {
    std::mt19937 random(seed);
    std::normal_distribution<double> error(1, 0.005);
    auto points = h100();
    for (CurvePoint& point : points) {
      point.y *= error(random);
    }
    SCOPED_TRACE(seed);
    expect_h100(find_levels(points, smallest_ratio));
  }
}

// An H200 by this project's chase, warmed by the block that chases: four levels, though the step
// from near to far L2 rests at 338 cycles for a while.
std::vector<CurvePoint> h200() {
  std::vector<CurvePoint> points;
  for (const double x : footprints(kib, 240 * kib)) {
    points.push_back({.x = x, .y = 32.02});
  }
  for (const auto& [x, y] : {std::pair{242.0, 37.0},
                             {248.0, 64.2},
                             {256.0, 91.5},
                             {288.0, 165.0},
                             {320.0, 210.0},
                             {352.0, 245.0},
                             {384.0, 262.0},
                             {416.0, 273.0}}) {
    points.push_back({.x = x * kib, .y = y});
  }
  for (const double x : footprints(512 * kib, 26 * mib)) {
    points.push_back({.x = x, .y = 281});
  }
  for (const auto& [x, y] : {std::pair{27.0, 280.0},
                             {27.5, 304.0},
                             {28.0, 339.0},
                             {29.0, 338.0},
                             {30.0, 336.0},
                             {32.0, 411.0},
                             {34.0, 490.0},
                             {36.0, 522.7},
                             {40.0, 523.5},
                             {44.0, 527.4},
                             {48.0, 524.2},
                             {52.0, 521.6},
                             {56.0, 522.8},
                             {58.0, 555.0},
                             {60.0, 577.0},
                             {62.0, 652.0}}) {
    points.push_back({.x = x * mib, .y = y});
  }
  for (const double x : footprints(64 * mib, 2 * gib)) {
    points.push_back({.x = x, .y = x < 66 * mib ? 652.0 : 683.0});
  }
  return points;
}

TEST(FindLevels, ReadsAnH200) {
  const auto levels = find_levels(h200(), smallest_ratio);
  ASSERT_EQ(levels.size(), 4U);
  EXPECT_NEAR(levels[0].y, 32, 0.1);
  EXPECT_EQ(levels[0].end->last_x, 240 * kib);
  EXPECT_EQ(levels[0].end->risen_x, 242 * kib);
  EXPECT_NEAR(levels[1].y, 281, 1);
  EXPECT_EQ(levels[1].end->last_x, 27 * mib);
  EXPECT_NEAR(levels[2].y, 523, 2);
  EXPECT_EQ(levels[2].end->last_x, 56 * mib);
  EXPECT_NEAR(levels[3].y, 683, 1);
  EXPECT_FALSE(levels[3].end);
  for (const Level& level : levels) {
    EXPECT_GT(level.confidence, 0.5);
  }
  // L1 is of 256 KiB, of L2's 60 MiB half are near.
  for (const auto& [level, bytes] : {std::pair{0, 256 * kib}, {1, 30 * mib}, {2, 60 * mib}}) {
    ASSERT_TRUE(levels[level].end->capacity);
    const Capacity& capacity = *levels[level].end->capacity;
    EXPECT_NEAR(capacity.value, bytes, bytes / 8);
    EXPECT_LE(capacity.low, bytes);
    EXPECT_GE(capacity.high, bytes);
    EXPECT_GT(capacity.confidence, 0.3);
  }
}

// The same card warmed by all of its SMs: no far level, and none may be invented.
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
    EXPECT_GT(levels[1].end->confidence, 0.4);
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
  EXPECT_LT(levels[0].end->confidence, 0.1);
}

TEST(FindLevels, ALastTransitionThatIsCutOffIsNotMemory) {
  const auto levels = find_levels(
      curve(gradual({{256 * kib, 38}, {32 * mib, 270}}, 650), 0, 1, 44 * mib), smallest_ratio);
  ASSERT_EQ(levels.size(), 2U);
  EXPECT_NEAR(levels[1].y, 270, 5);
  ASSERT_TRUE(levels[1].end);
  EXPECT_LT(levels[1].end->last_x, 36 * mib);
}

TEST(FindLevels, AFlatCurveIsOneLevelWithoutAnEnd) {
  for (const double noise : {0.0, 0.005, 0.02, 0.03}) {
    for (unsigned seed = 1; seed <= 50; ++seed) {
      const auto levels =
          find_levels(curve([](double) { return 300.0; }, noise, seed), smallest_ratio);
      ASSERT_EQ(levels.size(), 1U) << noise << " " << seed;
      EXPECT_FALSE(levels[0].end);
      EXPECT_NEAR(levels[0].y, 300, 3);
    }
  }
}

TEST(FindLevels, ADriftIsOneLevelWithASpread) {
  // 8 % per octave
  const auto drifting = [](double x) { return 300 * std::pow(x / kib, 0.11); };
  const auto levels = find_levels(curve(drifting), smallest_ratio);
  ASSERT_EQ(levels.size(), 1U);
  EXPECT_FALSE(levels[0].end);
  EXPECT_LT(levels[0].confidence, 0.1);
}

TEST(FindLevels, ACurveThatOnlyRisesHasNoLevel) {
  EXPECT_TRUE(find_levels(curve([](double x) { return x; }), smallest_ratio).empty());
  EXPECT_TRUE(find_levels(curve([](double x) { return std::sqrt(x); }), smallest_ratio).empty());
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

// Of so many curves of nothing, those in which a level seems to end.
template <class MakeCurve>
int with_an_end(const MakeCurve& make_curve) {
  int found = 0;
  for (unsigned seed = 1; seed <= 300; ++seed) {
    const auto levels = find_levels(make_curve(seed), smallest_ratio);
    found += levels.size() > 1 ? 1 : 0;
  }
  return found;
}

// Noise makes flat places in a slope, whose length fits some powers and grids.
TEST(FindLevels, ASlopeInNoiseHasNoLevels) {
  for (const auto& [power, noise] : {std::pair{0.2, 0.01}, std::pair{0.5, 0.05}}) {
    const auto slope = [power = power, noise = noise](unsigned seed) {
      return curve([=](double footprint) { return 100 * std::pow(footprint / kib, power); }, noise,
                   seed);
    };
    EXPECT_LE(with_an_end(slope), 1) << power;
  }
}

TEST(FindLevels, AWalkAtRandomHasNoLevels) {
  const auto walk = [](unsigned seed) {
    std::mt19937 random(seed);
    NormalNoise step(0, 0.1);
    auto made = curve([](double) { return 100; });
    double walked = 0;
    for (CurvePoint& point : made) {
      walked += step(random);
      point.y *= std::exp(walked);
    }
    return made;
  };
  EXPECT_LE(with_an_end(walk), 3);
}

TEST(FindLevels, NeedsThreePointsThatRiseInX) {
  EXPECT_TRUE(find_levels({}, smallest_ratio).empty());
  EXPECT_TRUE(find_levels(std::vector<CurvePoint>{{1, 1}, {2, 1}}, smallest_ratio).empty());
  EXPECT_TRUE(find_levels(std::vector<CurvePoint>{{1, 1}, {2, 1}, {2, 1}}, smallest_ratio).empty());
  EXPECT_TRUE(find_levels(std::vector<CurvePoint>{{1, 1}, {2, 0}, {3, 1}}, smallest_ratio).empty());
  EXPECT_EQ(find_levels(std::vector<CurvePoint>{{1, 1}, {2, 1}, {3, 1}}, smallest_ratio).size(),
            1U);
}

// An H200: latency of one line per page of 2 MiB over that of dense lines, over pages. By default
// (with two seeds) and up to 8 GiB.
const std::vector<CurvePoint> tlb_seed_1 = {
    {4, 0.9823},    {5, 0.9844},    {6, 0.9860},    {7, 0.9842},    {8, 0.9816},    {10, 0.9837},
    {12, 0.9876},   {14, 0.9869},   {16, 0.9872},   {20, 0.9910},   {24, 0.9875},   {28, 0.9897},
    {32, 0.9919},   {40, 0.9918},   {48, 0.9932},   {56, 0.9907},   {64, 0.9915},   {80, 0.9893},
    {96, 0.9892},   {112, 0.9891},  {128, 0.9899},  {160, 0.9949},  {192, 0.9994},  {224, 1.001},
    {256, 1.006},   {320, 1.013},   {384, 1.014},   {448, 1.016},   {512, 1.013},   {640, 1.020},
    {768, 1.021},   {896, 1.024},   {1024, 1.017},  {1280, 1.021},  {1536, 1.023},  {1792, 1.025},
    {2048, 1.026},  {2560, 1.030},  {3072, 1.033},  {3584, 1.031},  {4096, 1.030},  {5120, 1.033},
    {6144, 1.034},  {7168, 1.032},  {8192, 1.034},  {10240, 1.034}, {12288, 1.035}, {14336, 1.036},
    {16384, 1.036}, {20480, 1.034}, {24576, 1.035}, {28672, 1.035}, {32768, 1.038}, {40960, 1.109},
    {49152, 1.149}, {57344, 1.184}};
const std::vector<CurvePoint> tlb_seed_9 = {
    {4, 0.9838},    {5, 0.9794},    {6, 0.9823},    {7, 0.9849},    {8, 0.9846},    {10, 0.9880},
    {12, 0.9854},   {14, 0.9847},   {16, 0.9847},   {20, 0.9871},   {24, 0.9862},   {28, 0.9863},
    {32, 0.9856},   {40, 0.9863},   {48, 0.9864},   {56, 0.9841},   {64, 0.9831},   {80, 0.9829},
    {96, 0.9837},   {112, 0.9835},  {128, 0.9820},  {160, 0.9935},  {192, 1.002},   {224, 1.004},
    {256, 1.004},   {320, 1.014},   {384, 1.014},   {448, 1.017},   {512, 1.014},   {640, 1.019},
    {768, 1.021},   {896, 1.023},   {1024, 1.019},  {1280, 1.023},  {1536, 1.026},  {1792, 1.027},
    {2048, 1.028},  {2560, 1.032},  {3072, 1.034},  {3584, 1.032},  {4096, 1.031},  {5120, 1.033},
    {6144, 1.033},  {7168, 1.032},  {8192, 1.034},  {10240, 1.033}, {12288, 1.033}, {14336, 1.033},
    {16384, 1.032}, {20480, 1.035}, {24576, 1.034}, {28672, 1.034}, {32768, 1.033}, {40960, 1.111},
    {49152, 1.156}, {57344, 1.183}};
const std::vector<CurvePoint> tlb_quick = {
    {4, 1.005},    {6, 1.003},    {8, 1.004},   {12, 1.001},  {16, 1.000},   {24, 0.9990},
    {32, 1.004},   {48, 1.003},   {64, 1.005},  {96, 1.002},  {128, 1.001},  {192, 1.018},
    {256, 1.023},  {384, 1.031},  {512, 1.031}, {768, 1.035}, {1024, 1.035}, {1536, 1.038},
    {2048, 1.038}, {3072, 1.032}, {4096, 1.034}};

constexpr double clear_ratio = 1.05;

TEST(FindClearRises, ReadsTheReachOfAnH200sTlb) {
  for (const auto& pages : {tlb_seed_1, tlb_seed_9}) {
    const auto rises = find_clear_rises(pages, clear_ratio);
    ASSERT_EQ(rises.size(), 1U);
    EXPECT_EQ(rises[0].last_flat_x, 32768);
    EXPECT_EQ(rises[0].next_x, 40960);
    EXPECT_GT(rises[0].ratio, clear_ratio);
    EXPECT_GT(rises[0].confidence, 0.7);
  }
}

TEST(FindClearRises, ASmallStepIsNoClearOne) {
  EXPECT_TRUE(find_clear_rises(tlb_quick, clear_ratio).empty());
  const std::vector<CurvePoint> up_to_the_reach(tlb_seed_9.begin(), tlb_seed_9.end() - 3);
  EXPECT_EQ(up_to_the_reach.back().x, 32768);
  EXPECT_TRUE(find_clear_rises(up_to_the_reach, clear_ratio).empty());
}

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

TEST(FindLevels, WalksHaveNoSteps) {
  for (unsigned seed = 1; seed <= 50; ++seed) {
    std::mt19937 random(seed);
    std::normal_distribution<double> step(0, 0.05);
    auto walk = curve([](double) { return 300.0; });
    double sum = 0;
    for (CurvePoint& point : walk) {
      sum += step(random);
      point.y *= std::exp(sum);
    }
    for (const Level& level : find_levels(walk, smallest_ratio)) {
      EXPECT_FALSE(level.end && level.end->capacity && level.end->capacity->confidence > 0.5)
          << seed;
    }
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
    if (level.end) {
      EXPECT_GE(level.end->confidence, 0);
      EXPECT_LE(level.end->confidence, 1);
    }
  }
}

}  // namespace
}  // namespace hipscope
