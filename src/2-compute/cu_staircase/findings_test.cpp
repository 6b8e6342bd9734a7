// What cu_staircase concludes from made curves.
#include "findings.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "made_curve.h"
#include "made_results.h"

namespace hipscope {
namespace {

int places_of(unsigned threads) { return static_cast<int>(2048 / threads); }

// A GPU of `units` CUs, each of which has room for 2048 threads and, with 1024 threads busy,
// nothing left to give.
MadeResults gpu(double units, double noise = 0) {
  MadeResults made("cu_staircase");
  const auto busy = [=](double blocks) { return 1000 * std::ceil(blocks / units); };
  made.curve("staircase-1024", "cycles", made_curve(multiples(1, 2 * units + 2), busy, noise, 1));
  for (const unsigned threads : cu_staircase::residency_blocks) {
    const double places = units * places_of(threads);
    made.curve(
        cu_staircase::residency_name(threads), "cycles",
        made_curve(
            multiples(units / 4, places + units),
            [=](double blocks) { return blocks <= places ? 100.0 : 200.0; }, noise, threads));
  }
  return made;
}

TEST(CuStaircaseTest, UnitsAndPlacesAreCounted) {
  for (const double noise : {0.0, 0.01}) {
    MadeResults made = gpu(64, noise);
    cu_staircase::conclude(made.results(), places_of);
    const Inference units = made.inference("compute units");
    EXPECT_EQ(units.value, 64);
    EXPECT_EQ(units.driver, fake::describe().compute_units);
    EXPECT_EQ(units.evidence.back(),
              "published for Radeon Instinct MI25: flat up to 64 blocks, then 2 times as long");
    for (const unsigned threads : cu_staircase::residency_blocks) {
      const Inference places =
          made.inference("resident blocks of " + std::to_string(threads) + " threads");
      EXPECT_EQ(places.value, places_of(threads)) << threads;
      EXPECT_EQ(places.driver, places_of(threads)) << threads;
      EXPECT_GT(places.confidence, 0.8) << threads;
    }
  }
}

TEST(CuStaircaseTest, WithoutTheStaircaseTheDriverTellsTheUnits) {
  MadeResults made("cu_staircase");
  const double units = fake::describe().compute_units;
  made.curve("resident-512", "cycles",
             made_curve(multiples(units / 4, 5 * units),
                        [=](double blocks) { return blocks <= 3 * units ? 100.0 : 200.0; }));
  cu_staircase::conclude(made.results(), places_of);
  EXPECT_EQ(made.inferences().size(), 1U);
  const Inference places = made.inference("resident blocks of 512 threads");
  EXPECT_EQ(places.value, 3);
  EXPECT_EQ(places.evidence.back(), "on 60 CUs, by the driver");
}

std::vector<CurvePoint> doubled_at(std::vector<CurvePoint> curve, const std::vector<double>& xs) {
  for (CurvePoint& point : curve) {
    point.y *= std::find(xs.begin(), xs.end(), point.x) != xs.end() ? 2 : 1;
  }
  return curve;
}

std::vector<CurvePoint> staircase(double units, double last) {
  return made_curve(multiples(1, last), [=](double x) { return 1000 * std::ceil(x / units); });
}

TEST(CuStaircaseTest, ADoubledPointIsAnOutlier) {
  MadeResults made("cu_staircase");
  made.curve("staircase-1024", "cycles", doubled_at(staircase(132, 266), {20, 71, 240}));
  cu_staircase::conclude(made.results(), places_of);
  const Inference units = made.inference("compute units");
  EXPECT_EQ(units.value, 132);
  EXPECT_GT(units.confidence, 0.9);
  EXPECT_EQ(units.evidence.front(),
            "3 of 266 points left out as outliers; other steps confirm this one");
}

// It looks as if the step came one block early; the next step tells that it does not.
TEST(CuStaircaseTest, ADoubledPointRightBeforeTheStepIsNoStep) {
  MadeResults made("cu_staircase");
  made.curve("staircase-1024", "cycles", doubled_at(staircase(132, 266), {132}));
  cu_staircase::conclude(made.results(), places_of);
  EXPECT_EQ(made.inference("compute units").value, 132);
  EXPECT_GT(made.inference("compute units").confidence, 0.9);
}

TEST(CuStaircaseTest, WithoutAnyOtherStepItMayBe) {
  MadeResults made("cu_staircase");
  made.curve("staircase-1024", "cycles", doubled_at(staircase(66, 130), {10, 20, 66}));
  cu_staircase::conclude(made.results(), places_of);
  EXPECT_LE(made.inference("compute units").confidence, 0.5);
}

TEST(CuStaircaseTest, FewerUnitsThanTheDriverSaysAreHardlySure) {
  DeviceDescription mi210 = fake::describe();
  mi210.compute_units = 104;
  MadeResults made("cu_staircase", mi210);
  made.curve("staircase-1024", "cycles", staircase(96, 210));
  cu_staircase::conclude(made.results(), places_of);
  EXPECT_EQ(made.inference("compute units").value, 96);
  EXPECT_LT(made.inference("compute units").confidence, 0.5);
  EXPECT_NE(made.inference("compute units").evidence.front().find("engines of unequal size"),
            std::string::npos);
}

TEST(CuStaircaseTest, AStepLasts) {
  MadeResults made("cu_staircase");
  const auto flat = made_curve(multiples(1, 130), [](double) { return 1000.0; });
  made.curve("staircase-1024", "cycles", doubled_at(flat, {128, 129, 70, 71, 72, 73}));
  cu_staircase::conclude(made.results(), places_of);
  EXPECT_FALSE(made.inference("compute units").value.has_value());
}

TEST(CuStaircaseTest, WhereBlocksWereLeftOutTheNumberIsNotTold) {
  MadeResults made("cu_staircase");
  made.curve("staircase-1024", "cycles",
             made_curve(multiples(4, 132), [](double x) { return 1000 * std::ceil(x / 60); }));
  cu_staircase::conclude(made.results(), places_of);
  EXPECT_FALSE(made.inference("compute units").value.has_value());
}

// Points a quarter of a CU's blocks apart, as the lesson has them, up to `after` past the places.
MadeResults waiting(unsigned units, unsigned places, unsigned after,
                    const std::vector<double>& doubled = {}) {
  DeviceDescription description = fake::describe();
  description.compute_units = static_cast<int>(units);
  MadeResults made("cu_staircase", description);
  const double quarter = units / 4.0;
  const double all = units * places;
  made.curve("resident-256", "cycles",
             doubled_at(made_curve(multiples(quarter, all + after * quarter),
                                   [=](double x) { return x <= all ? 100.0 : 200.0; }),
                        doubled));
  return made;
}

TEST(CuStaircaseTest, ADisturbedPointIsNoFullGpu) {
  MadeResults made = waiting(60, 5, 4, {75, 180});
  cu_staircase::conclude(made.results(), places_of);
  const Inference places = made.inference("resident blocks of 256 threads");
  EXPECT_EQ(places.value, 5);
  EXPECT_GT(places.confidence, 0.8);
  EXPECT_EQ(places.evidence.back(), "2 of 24 points left out as outliers");
}

TEST(CuStaircaseTest, BlocksPerCuAreWhole) {
  MadeResults made = waiting(60, 5, 4, {300});
  cu_staircase::conclude(made.results(), places_of);
  const Inference places = made.inference("resident blocks of 256 threads");
  EXPECT_EQ(places.value, 5);
  EXPECT_LE(places.confidence, 0.5);
}

TEST(CuStaircaseTest, ASingleLastPointTellsOnlyWhatTheRuntimeSays) {
  MadeResults other = waiting(60, 5, 1);
  cu_staircase::conclude(other.results(), places_of);
  EXPECT_FALSE(other.inference("resident blocks of 256 threads").value.has_value());
  MadeResults same = waiting(60, 8, 1);
  cu_staircase::conclude(same.results(), places_of);
  EXPECT_EQ(same.inference("resident blocks of 256 threads").value, 8);
  EXPECT_LE(same.inference("resident blocks of 256 threads").confidence, 0.5);
}

TEST(CuStaircaseTest, ASlopeIsNoStaircase) {
  MadeResults made("cu_staircase");
  const auto slope = [](double blocks) { return 100 * blocks; };
  made.curve("staircase-1024", "cycles", made_curve(multiples(1, 130), slope));
  made.curve("resident-1024", "cycles", made_curve(multiples(16, 256), slope));
  cu_staircase::conclude(made.results(), places_of);
  EXPECT_FALSE(made.inference("compute units").value.has_value());
  EXPECT_EQ(made.inference("compute units").unit, "CUs");
  EXPECT_FALSE(made.inference("resident blocks of 1024 threads").value.has_value());
  EXPECT_EQ(made.inference("resident blocks of 1024 threads").driver, 2);
}

TEST(CuStaircaseTest, NothingIsConcludedFromNothing) {
  MadeResults made("cu_staircase");
  cu_staircase::conclude(made.results(), places_of);
  EXPECT_TRUE(made.inferences().empty());
}

}  // namespace
}  // namespace hipscope
