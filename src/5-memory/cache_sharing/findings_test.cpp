// What cache_sharing concludes from made curves: what its trial does not ask.
#include "findings.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "made_curve.h"
#include "made_results.h"

namespace hipscope {
namespace {

using cache_sharing::groups_by_disturbance;
using cache_sharing::pair_row;
using cache_sharing::Path;

using Curve = std::vector<CurvePoint>;

constexpr double from_l1 = 35;
constexpr double from_l2 = 260;

// Loads of vectors and constants, of which the first evict this share of the second.
TEST(CacheSharingTest, PathsShareACacheWhereOneEvictsWhatTheOtherKeeps) {
  struct Case {
    double share;
    double miss;
    std::optional<double> value;
  };
  for (const Case& each : {Case{1, from_l2, 100}, Case{0, from_l2, 0}, Case{0.45, from_l2, {}},
                           // Where what was evicted is no slower, nothing was evicted.
                           Case{1, from_l1, {}}}) {
    MadeResults made("cache_sharing");
    Curve alone;
    Curve after;
    const auto add = [&](Path kept, Path evictor, double share) {
      const double x = pair_row(kept, evictor);
      alone.push_back({.x = x, .y = from_l1});
      after.push_back({.x = x, .y = from_l1 + share * (each.miss - from_l1)});
    };
    add(Path::vector, Path::vector, 1);
    add(Path::vector, Path::constant, 0);
    add(Path::constant, Path::vector, each.share);
    add(Path::constant, Path::constant, 1);
    made.curve("pairs", "alone", alone).curve("pairs", "after", after);
    cache_sharing::conclude(made.results());
    ASSERT_EQ(made.inferences().size(), 1U);
    EXPECT_EQ(made.inference("cache shared by vector and constant").value, each.value);
  }
}

// Loads of 36 cycles in a block up to `first` bytes, of 90 up to `second`, of 250 beyond.
Curve second_loads(double first, double second) {
  return made_curve(doubling(16, 1024), [=](double block) {
    return block <= first ? 36.0 : block <= second ? 90.0 : 250.0;
  });
}

TEST(CacheSharingTest, ConstantCachesFetchInUnits) {
  struct Case {
    double first;
    double second;
    std::optional<double> of_level_1;
    std::optional<double> of_level_2;
  };
  for (const Case& each : {Case{64, 256, 64, 256}, Case{64, 64, 64, {}},
                           // One point between two steps is no unit.
                           Case{64, 128, {}, {}}, Case{2048, 2048, {}, {}}}) {
    MadeResults made("cache_sharing");
    made.curve("constant-unit", "second load", second_loads(each.first, each.second));
    cache_sharing::conclude(made.results());
    EXPECT_EQ(made.inference("constant cache level 1 sector").value, each.of_level_1);
    EXPECT_EQ(made.inference("constant cache level 2 sector").value, each.of_level_2);
  }
}

// Of chunks up to `line` bytes 1200 evict what was kept.
Inference constant_line(double line, double sector = 0) {
  const auto chunks = doubling(8, 1024);
  MadeResults made("cache_sharing");
  made.curve("constant-line", "footprint",
             made_curve(chunks, [=](double chunk) { return 1200 * std::max(1.0, chunk / line); }));
  made.curve("constant-line", "miss", made_curve(chunks, [](double) { return 95.0; }));
  if (sector > 0) {
    made.curve("constant-unit", "second load", second_loads(sector, 4 * sector));
  }
  cache_sharing::conclude(made.results());
  return made.inference("constant cache level 1 line");
}

TEST(CacheSharingTest, ALineHoldsWholeSectors) {
  EXPECT_EQ(constant_line(128, 64).value, 128);
  EXPECT_DOUBLE_EQ(constant_line(128, 64).interval->high, 128);
  EXPECT_GT(constant_line(32).confidence, 0.9);
  EXPECT_EQ(constant_line(32, 64).confidence, 0.5);
}

TEST(CacheSharingTest, NoLineWhereFootprintsShowNone) {
  // Flat, in proportion from the first on, or of too few chunks that evict anything.
  for (const double line : {4096.0, 8.0, 1024.0}) {
    EXPECT_EQ(constant_line(line).name, "constant cache level 1 line") << line;
    EXPECT_FALSE(constant_line(line).value) << line;
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

// Of 64 CUs the first `near` find what one has read at 280 cycles, `far` more at 400.
TEST(CacheSharingTest, WhoFindsWhatAnotherHasRead) {
  struct Case {
    double near;
    double far;
    double cold;
    std::optional<double> value;
  };
  for (const Case& each :
       {Case{32, 32, 660, 64}, Case{8, 0, 660, 8},
        // A few that were disturbed find it as well, but no L2 of 40 of 64 CUs has its like.
        Case{60, 0, 660, 64}, Case{40, 0, 660, {}},
        // Not even the CU that has read it, or nothing is kept from launch to launch.
        Case{0, 0, 660, {}}, Case{64, 0, 290, {}}}) {
    const auto units = multiples(1, 64);
    MadeResults made("cache_sharing");
    made.curve("l2-handover", "own", made_curve(units, [](double) { return 280; }));
    made.curve("l2-handover", "cold", made_curve(units, [&](double) { return each.cold; }));
    made.curve("l2-handover", "handed over", made_curve(units, [&](double unit) {
                 return unit <= each.near ? 280 : unit <= each.near + each.far ? 400 : each.cold;
               }));
    cache_sharing::conclude(made.results());
    EXPECT_EQ(made.inference("CUs that find in L2 what one CU has read").value, each.value)
        << each.near;
  }
}

TEST(CacheSharingTest, NothingIsConcludedFromNothing) {
  expect_nothing_from_nothing("cache_sharing", cache_sharing::conclude);
}

}  // namespace
}  // namespace hipscope
