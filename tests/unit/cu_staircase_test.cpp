// What cu_staircase concludes from made curves.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "cu_staircase_findings.h"
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
