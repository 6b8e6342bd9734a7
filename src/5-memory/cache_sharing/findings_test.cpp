// What cache_sharing concludes from made curves.
#include "findings.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "made_curve.h"
#include "made_results.h"
#include "normal_noise.h"

namespace hipscope {
namespace {

using cache_sharing::groups_by_disturbance;
using cache_sharing::pair_row;
using cache_sharing::Path;

using Curve = std::vector<CurvePoint>;

constexpr double from_l1 = 35;
constexpr double from_l2 = 260;

// Loads of vectors and constants, of which the first evict this share of the second.
MadeResults pairs(double share, double noise = 0) {
  MadeResults made("cache_sharing");
  Curve alone;
  Curve after;
  const auto add = [&](Path kept, Path evictor, double latency) {
    const double x = pair_row(kept, evictor);
    alone.push_back({.x = x, .y = from_l1 * (1 + noise)});
    after.push_back({.x = x, .y = latency * (1 - noise)});
  };
  add(Path::vector, Path::vector, from_l2);
  add(Path::vector, Path::constant, from_l1);
  add(Path::constant, Path::vector, from_l1 + share * (from_l2 - from_l1));
  add(Path::constant, Path::constant, from_l2);
  made.curve("pairs", "alone", alone).curve("pairs", "after", after);
  cache_sharing::conclude(made.results());
  return made;
}

TEST(CacheSharingTest, PathsThatShareACache) {
  for (const double noise : {-0.05, 0.0, 0.05}) {
    const auto found = pairs(1, noise).inference("cache shared by vector and constant");
    ASSERT_TRUE(found.value);
    EXPECT_NEAR(*found.value, 100, 7);
    EXPECT_GT(found.confidence, 0.8);
    EXPECT_TRUE(found.statement.starts_with("they share")) << found.statement;
  }
}

TEST(CacheSharingTest, PathsWithACacheEach) {
  for (const double noise : {-0.05, 0.0, 0.05}) {
    const auto found = pairs(0, noise).inference("cache shared by vector and constant");
    ASSERT_TRUE(found.value);
    EXPECT_NEAR(*found.value, 0, 3);
    EXPECT_GT(found.confidence, 0.8);
    EXPECT_TRUE(found.statement.starts_with("each has")) << found.statement;
  }
}

TEST(CacheSharingTest, HalfOfTheLinesIsNoAnswer) {
  EXPECT_FALSE(pairs(0.45).inference("cache shared by vector and constant").value);
}

// Where what was evicted is no slower than what was not, nothing was evicted.
TEST(CacheSharingTest, NoCacheNoPair) {
  MadeResults made("cache_sharing");
  Curve flat;
  for (const Path kept : {Path::vector, Path::constant}) {
    for (const Path evictor : {Path::vector, Path::constant}) {
      flat.push_back({.x = pair_row(kept, evictor), .y = from_l2});
    }
  }
  made.curve("pairs", "alone", flat).curve("pairs", "after", flat);
  cache_sharing::conclude(made.results());
  EXPECT_EQ(made.inferences().size(), 1U);
  for (const auto& inference : made.inferences()) {
    EXPECT_FALSE(inference.value) << inference.name;
  }
}

Curve second_loads(double first, double second, double noise) {
  return made_curve(
      doubling(16, 1024),
      [=](double block) { return block <= first    ? 36.0
                                 : block <= second ? 90.0
                                                   : 250.0; }, noise);
}

TEST(CacheSharingTest, ConstantCachesFetchInTwoUnits) {
  for (const double noise : {0.0, 0.05}) {
    MadeResults made("cache_sharing");
    made.curve("constant-unit", "second load", second_loads(64, 256, noise));
    cache_sharing::conclude(made.results());
    EXPECT_EQ(made.inference("constant cache level 1 sector").value, 64) << noise;
    EXPECT_EQ(made.inference("constant cache level 2 sector").value, 256) << noise;
  }
}

TEST(CacheSharingTest, OneUnitOrNone) {
  MadeResults one("cache_sharing");
  one.curve("constant-unit", "second load", second_loads(64, 64, 0.02));
  cache_sharing::conclude(one.results());
  EXPECT_EQ(one.inference("constant cache level 1 sector").value, 64);
  EXPECT_FALSE(one.inference("constant cache level 2 sector").value);
  MadeResults none("cache_sharing");
  none.curve("constant-unit", "second load", second_loads(2048, 2048, 0.05));
  cache_sharing::conclude(none.results());
  EXPECT_FALSE(none.inference("constant cache level 1 sector").value);
  EXPECT_EQ(none.inference("constant cache level 2 sector").name, "");
}

// Chunks of which one word each is read; up to `line` bytes 1200 of them evict what was kept.
Curve chunk_footprints(double line, double noise, unsigned seed = 1) {
  return made_curve(
      doubling(8, 1024), [=](double chunk) { return 1200 * std::max(1.0, chunk / line); }, noise,
      seed);
}

Inference constant_line(const Curve& footprints, double sector = 0) {
  MadeResults made("cache_sharing");
  made.curve("constant-line", "footprint", footprints);
  made.curve("constant-line", "miss",
             made_curve(
                 doubling(8, 1024), [](double) { return 95.0; }, 0));
  if (sector > 0) {
    made.curve("constant-unit", "second load", second_loads(sector, 4 * sector, 0));
  }
  cache_sharing::conclude(made.results());
  return made.inference("constant cache level 1 line");
}

TEST(CacheSharingTest, AConstantCacheKeepsLines) {
  for (const double line : {32.0, 64.0, 128.0, 256.0}) {
    for (unsigned seed = 1; seed <= 20; ++seed) {
      const auto found = constant_line(chunk_footprints(line, 0.04, seed), 32);
      ASSERT_EQ(found.value, line) << seed;
      EXPECT_GT(found.confidence, 0.5);
      EXPECT_LE(found.interval->low, line);
      EXPECT_GE(found.interval->high, line);
    }
  }
  // Of sectors of which a line holds several the line is told.
  EXPECT_EQ(constant_line(chunk_footprints(128, 0), 64).value, 128);
  EXPECT_DOUBLE_EQ(constant_line(chunk_footprints(128, 0), 64).interval->high, 128);
}

TEST(CacheSharingTest, ALineHoldsWholeSectors) {
  const auto alone = constant_line(chunk_footprints(32, 0));
  const auto contradicted = constant_line(chunk_footprints(32, 0), 64);
  EXPECT_GT(alone.confidence, 0.9);
  EXPECT_EQ(contradicted.confidence, 0.5);
}

TEST(CacheSharingTest, NoLineWhereFootprintsShowNone) {
  // Flat, in proportion from the first on, or of too few chunks that evict anything.
  for (const double line : {4096.0, 8.0, 1024.0}) {
    const auto found = constant_line(chunk_footprints(line, 0));
    EXPECT_EQ(found.name, "constant cache level 1 line") << line;
    EXPECT_FALSE(found.value) << line;
  }
  EXPECT_FALSE(constant_line({}).value);
  EXPECT_EQ(constant_line({}).name, "constant cache level 1 line");
  MadeResults left_out("cache_sharing");
  left_out.curve("pairs", "alone", {});
  cache_sharing::conclude(left_out.results());
  EXPECT_EQ(left_out.inference("constant cache level 1 line").name, "");
}

std::vector<double> walked_footprints() {
  std::vector<double> all;
  for (double octave = 4096; octave <= 512 * 1024; octave *= 2) {
    all.push_back(octave);
    all.push_back(octave * 1.5);
  }
  return all;
}

Inference lds(double without, double with, double noise, std::size_t odd = 99, double times = 1) {
  const auto curve = [&](double capacity, unsigned seed) {
    auto made = made_curve(
        walked_footprints(), [=](double bytes) { return bytes <= capacity ? 35.0 : 260.0; }, noise,
        seed);
    if (odd < made.size()) {
      made[odd].y *= times;
    }
    return made;
  };
  MadeResults made("cache_sharing");
  made.curve("lds", "without LDS", curve(without, 1)).curve("lds", "with LDS", curve(with, 2));
  cache_sharing::conclude(made.results());
  return made.inference("vector cache left beside the largest LDS");
}

TEST(CacheSharingTest, LdsTakesOfTheVectorCacheOrNot) {
  constexpr double kib = 1024;
  for (const double noise : {0.0, 0.05}) {
    const auto carved = lds(256 * kib, 24 * kib, noise);
    EXPECT_EQ(carved.value, 24 * kib);
    EXPECT_TRUE(carved.statement.starts_with("LDS is a part")) << carved.statement;
    const auto apart = lds(16 * kib, 16 * kib, noise);
    EXPECT_EQ(apart.value, 16 * kib);
    EXPECT_TRUE(apart.statement.starts_with("LDS takes nothing")) << apart.statement;
  }
  for (std::size_t odd = 0; odd + 1 < walked_footprints().size();
       ++odd) {  // one slow or fast point
    for (const double times : {0.1, 10.0}) {
      EXPECT_NEAR(lds(256 * kib, 24 * kib, 0.01, odd, times).value.value_or(0), 24 * kib, 9 * kib)
          << odd << " " << times;
    }
  }
  EXPECT_FALSE(lds(1e9, 1e9, 0.05).value);  // the cache does not end
  EXPECT_FALSE(lds(0, 0, 0.05).value);      // there is none
}

// Latencies on `count` CUs of which each `size` in a row share a cache.
std::vector<std::vector<double>> disturbances(std::size_t count, std::size_t size, double noise) {
  std::mt19937 random(7);
  NormalNoise error(1, noise);
  std::vector<std::vector<double>> all(count, std::vector<double>(count));
  for (std::size_t a = 0; a < count; ++a) {
    for (std::size_t b = 0; b < count; ++b) {
      all[a][b] = (a / size == b / size ? 90 : 35) * error(random);
    }
  }
  return all;
}

TEST(CacheSharingTest, GroupsOfUnitsThatDisturbEachOther) {
  for (const std::size_t size : {1U, 2U, 3U, 4U}) {
    auto disturbed = disturbances(24, size, 0.05);
    disturbed[1][20] = 500;  // one slow launch
    const auto groups = groups_by_disturbance(std::vector<double>(24, 35), disturbed);
    ASSERT_EQ(groups.size(), 24U);
    for (std::size_t i = 0; i < groups.size(); ++i) {
      EXPECT_EQ(groups[i], i / size * size) << size;
    }
  }
}

TEST(CacheSharingTest, WithoutADisturbanceThereAreNoGroups) {
  const std::vector<std::vector<double>> quiet(24, std::vector<double>(24, 35));
  EXPECT_TRUE(groups_by_disturbance(std::vector<double>(24, 35), quiet).empty());
  EXPECT_TRUE(groups_by_disturbance({}, {}).empty());
}

TEST(CacheSharingTest, UnitsThatShareAreCounted) {
  Curve own;
  Curve quiet;
  Curve first;
  for (unsigned i = 0; i < 24; ++i) {
    own.push_back({.x = 1.0 * i, .y = 90});
    quiet.push_back({.x = 1.0 * i, .y = 35});
    first.push_back({.x = 1.0 * i, .y = i < 22 ? 2.0 * (i / 2) : i});
  }
  MadeResults made("cache_sharing");
  made.curve("units-constant", "beside itself", own).curve("units-constant", "quiet", quiet);
  made.curve("units-constant", "first of its group", first);
  made.curve("units-vector", "beside itself", quiet).curve("units-vector", "quiet", quiet);
  cache_sharing::conclude(made.results());
  const auto constant = made.inference("CUs that share a cache of constant loads");
  EXPECT_EQ(constant.value, 2);
  EXPECT_NEAR(constant.confidence, 22.0 / 25, 1e-9);
  EXPECT_FALSE(made.inference("CUs that share a cache of vector loads").value);
}

// Of 64 CUs the first `near` find what one has read at 280 cycles, `far` more at 520.
Inference handover(std::size_t near, std::size_t far, double cold, double noise = 0) {
  std::mt19937 random(5);
  NormalNoise error(1, noise);
  Curve own;
  Curve handed;
  Curve none;
  for (std::size_t i = 0; i < 64; ++i) {
    const auto x = static_cast<double>(i);
    own.push_back({.x = x, .y = 280 * error(random)});
    handed.push_back({.x = x, .y = (i < near ? 280 : i < near + far ? 400 : cold) * error(random)});
    none.push_back({.x = x, .y = cold * error(random)});
  }
  MadeResults made("cache_sharing");
  made.curve("l2-handover", "own", own).curve("l2-handover", "handed over", handed);
  made.curve("l2-handover", "cold", none);
  cache_sharing::conclude(made.results());
  return made.inference("CUs that find in L2 what one CU has read");
}

TEST(CacheSharingTest, WhoFindsWhatAnotherHasRead) {
  for (const double noise : {0.0, 0.05}) {
    EXPECT_EQ(handover(32, 32, 660, noise).value, 64);
    EXPECT_EQ(handover(64, 0, 660, noise).value, 64);
    const auto several = handover(8, 0, 660, noise);
    EXPECT_EQ(several.value, 8);
    EXPECT_TRUE(several.statement.starts_with("the others load it")) << several.statement;
  }
  EXPECT_FALSE(handover(64, 0, 290, 0.05).value);  // nothing is kept from launch to launch
}

TEST(CacheSharingTest, AFewThatWereDisturbedFindItAsWell) {
  EXPECT_EQ(handover(60, 0, 660).value, 64);
  const auto odd = handover(40, 0, 660);  // no L2 of 40 of 64 CUs has its like
  EXPECT_FALSE(odd.value);
  EXPECT_EQ(odd.confidence, 0);
  EXPECT_TRUE(odd.statement.starts_with("those that find it, 40 of them")) << odd.statement;
  EXPECT_FALSE(handover(0, 0, 660).value);  // not even the CU that has read it
}

TEST(CacheSharingTest, ALonePointBetweenTwoStepsIsNoUnit) {
  MadeResults made("cache_sharing");
  made.curve("constant-unit", "second load", second_loads(64, 128, 0));
  cache_sharing::conclude(made.results());
  EXPECT_FALSE(made.inference("constant cache level 1 sector").value);
}

TEST(CacheSharingTest, ASlopeIsNoEndOfTheVectorCache) {
  // One that goes on to the end, and one that gets flat.
  for (const double highest : {1e9, 260.0}) {
    const Curve slope = made_curve(
        walked_footprints(), [=](double bytes) { return std::min(highest, 35 + bytes / 400); });
    MadeResults made("cache_sharing");
    made.curve("lds", "without LDS", slope).curve("lds", "with LDS", slope);
    cache_sharing::conclude(made.results());
    EXPECT_FALSE(made.inference("vector cache left beside the largest LDS").value) << highest;
  }
}

TEST(CacheSharingTest, NothingIsConcludedFromNothing) {
  expect_nothing_from_nothing("cache_sharing", cache_sharing::conclude);
}

}  // namespace
}  // namespace hipscope
