// What cu_staircase concludes from made curves.
#include "findings.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "made_curve.h"
#include "made_results.h"

namespace hipscope {
namespace {

int places_of(unsigned threads) { return static_cast<int>(2048 / threads); }

using Curve = std::vector<CurvePoint>;

MadeResults device_of(double compute_units) {
  return MadeResults("cu_staircase",
                     fake::describe_with(&DeviceDescription::compute_units, compute_units));
}

Curve doubled_at(Curve curve, const std::vector<double>& xs) {
  for (CurvePoint& point : curve) {
    point.y *= std::find(xs.begin(), xs.end(), point.x) != xs.end() ? 2 : 1;
  }
  return curve;
}

// Blocks of 1024 threads on `units` CUs, each of which runs one at a time.
Curve staircase(double units, double last, double noise = 0) {
  return made_curve(
      multiples(1, last), [=](double x) { return 1000 * std::ceil(x / units); }, noise);
}

// How sure an answer may be.
struct Range {
  double least = 0;
  double most = 1;
};

TEST(CuStaircaseTest, UnitsAreCountedWhereTheyMustBeShared) {
  struct Case {
    std::string what;
    double driver;
    Curve curve;
    std::optional<double> units;
    Range confidence{};
  };
  const auto flat = made_curve(multiples(1, 130), [](double) { return 1000.0; });
  const std::vector<Case> cases = {
      {"plain", 64, staircase(64, 130), 64, {.least = 0.9}},
      {"noise", 64, staircase(64, 130, 0.01), 64, {.least = 0.9}},
      {"outliers", 132, doubled_at(staircase(132, 266), {20, 71, 240}), 132, {.least = 0.9}},
      // It looks as if the step came one block early; the next step tells that it does not.
      {"the last before the step",
       132,
       doubled_at(staircase(132, 266), {132}),
       132,
       {.least = 0.9}},
      // Where no other step tells, it is wrong and says so.
      {"no other step", 66, doubled_at(staircase(66, 130), {10, 20, 66}), 65, {.most = 0.5}},
      {"fewer than the driver's", 104, staircase(96, 210), 96, {.most = 0.5}},
      {"none that lasts", 60, doubled_at(flat, {128, 129, 70, 71, 72, 73}), {}},
      {"every fourth number of blocks",
       60,
       made_curve(multiples(4, 132), [](double x) { return 1000 * std::ceil(x / 60); }),
       {}},
      {"a slope", 60, made_curve(multiples(1, 130), [](double x) { return 100 * x; }), {}}};
  for (const Case& each : cases) {
    MadeResults made = device_of(each.driver);
    made.curve("staircase-1024", "cycles", each.curve);
    cu_staircase::conclude(made.results(), places_of);
    const Inference found = made.inference("compute units");
    EXPECT_EQ(found.driver, each.driver);
    EXPECT_EQ(found.value, each.units) << each.what;
    EXPECT_GE(found.confidence, each.confidence.least) << each.what;
    EXPECT_LE(found.confidence, each.confidence.most) << each.what;
  }
}

// Points a quarter of a CU's blocks apart, as the lesson has them, up to `after` past the places.
Curve waiting(double units, double places, double after, double noise = 0) {
  const double all = units * places;
  return made_curve(
      multiples(units / 4, all + after * units / 4),
      [=](double blocks) { return blocks <= all ? 100.0 : 200.0; }, noise);
}

TEST(CuStaircaseTest, PlacesAreCountedWhereBlocksMustWait) {
  struct Case {
    std::string what;
    unsigned threads;
    Curve curve;
    std::optional<double> places;
    Range confidence{};
  };
  std::vector<Case> cases = {
      {"outliers", 256, doubled_at(waiting(60, 5, 4), {75, 180}), 5, {.least = 0.8}},
      {"the last before the step", 256, doubled_at(waiting(60, 5, 4), {300}), 5, {.most = 0.5}},
      // A single last point tells only what the runtime says as well.
      {"one point after", 256, waiting(60, 5, 1), {}},
      {"one point after, as the runtime says", 256, waiting(60, 8, 1), 8, {.most = 0.5}},
      {"a slope", 1024, made_curve(multiples(16, 256), [](double x) { return 100 * x; }), {}}};
  for (const unsigned threads : cu_staircase::residency_blocks) {
    for (const double noise : {0.0, 0.01}) {
      cases.push_back({"plain",
                       threads,
                       waiting(60, places_of(threads), 4, noise),
                       places_of(threads),
                       {.least = 0.8}});
    }
  }
  for (const Case& each : cases) {
    MadeResults made = device_of(60);
    made.curve(cu_staircase::residency_name(each.threads), "cycles", each.curve);
    cu_staircase::conclude(made.results(), places_of);
    ASSERT_EQ(made.inferences().size(), 1U);
    const Inference& found = made.inferences().front();
    EXPECT_EQ(found.name, "resident blocks of " + std::to_string(each.threads) + " threads");
    EXPECT_EQ(found.driver, places_of(each.threads));
    EXPECT_EQ(found.value, each.places) << each.what << ", " << each.threads;
    EXPECT_GE(found.confidence, each.confidence.least) << each.what << ", " << each.threads;
    EXPECT_LE(found.confidence, each.confidence.most) << each.what << ", " << each.threads;
  }
}

// Of 120 blocks the staircase's 40 CUs have three each, and the driver's 60 two.
TEST(CuStaircaseTest, PlacesAreThoseOfTheCusThatWereCounted) {
  MadeResults made = device_of(60);
  made.curve("staircase-1024", "cycles", staircase(40, 122));
  made.curve("resident-512", "cycles", waiting(40, 3, 4));
  cu_staircase::conclude(made.results(), places_of);
  EXPECT_EQ(made.inference("resident blocks of 512 threads").value, 3);
}

TEST(CuStaircaseTest, NothingIsConcludedFromNothing) {
  MadeResults made("cu_staircase");
  cu_staircase::conclude(made.results(), places_of);
  EXPECT_TRUE(made.inferences().empty());
}

}  // namespace
}  // namespace hipscope
