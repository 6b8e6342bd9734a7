// What grid_sync concludes from made curves.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "grid_sync_findings.h"
#include "made_results.h"

namespace hipscope {
namespace {

constexpr int compute_units = 100;

MadeResults made_on_100_units() {
  DeviceDescription description = fake::describe();
  description.compute_units = compute_units;
  return MadeResults("grid_sync", description);
}

std::vector<CurvePoint> over(const std::vector<double>& x, double blocks_of_x, double fixed,
                             double per_block) {
  std::vector<CurvePoint> curve;
  for (const double value : x) {
    curve.push_back({.x = value, .y = fixed + per_block * blocks_of_x * value});
  }
  return curve;
}

void add_way(MadeResults& made, const std::string& way, double fixed, double per_block) {
  made.curve("blocks", way + " step", over({1, 2, 4, 16, 64, 100}, 1, fixed, per_block));
  made.curve("per-cu", way + " step", over({1, 2, 4, 8}, compute_units, fixed, per_block));
}

void add_launches(MadeResults& made, const std::string& way, double per_launch) {
  made.curve("launches", way + " step", over({1, compute_units, 800}, 1, per_launch, 0));
}

TEST(GridSyncTest, TheCheapestBarrierDependsOnTheBlocks) {
  MadeResults made = made_on_100_units();
  add_way(made, "one counter", 900, 2);
  add_way(made, "flags, all look", 700, 3);
  add_way(made, "tree", 1500, 0.5);
  grid_sync::conclude(made.results());
  EXPECT_EQ(made.inference("grid barrier, one block per CU").value, 1000);
  EXPECT_NE(made.inference("grid barrier, one block per CU").statement.find("flags, all look"),
            std::string::npos);
  EXPECT_EQ(made.inference("grid barrier, all resident blocks").value, 1900);
  EXPECT_EQ(made.inference("grid barrier, all resident blocks").evidence.at(0), "tree: 1900 ns");
}

TEST(GridSyncTest, TheCheapestWayIsALineOverBlocks) {
  MadeResults made = made_on_100_units();
  add_way(made, "one counter", 900, 2);
  add_way(made, "flags, all look", 700, 3);
  grid_sync::conclude(made.results());
  EXPECT_NEAR(made.inference("grid barrier, fixed part").value.value_or(0), 700, 1e-6);
  EXPECT_NEAR(made.inference("grid barrier, per block").value.value_or(0), 3, 1e-6);
  EXPECT_GT(made.inference("grid barrier, per block").confidence, 0.99);
}

// One block waits for nobody: what it takes is on no line.
TEST(GridSyncTest, OneBlockIsNoPointOfTheLine) {
  MadeResults made = made_on_100_units();
  auto curve = over({1, 2, 4, 16, 64, 100}, 1, 900, 2);
  curve[0].y = 5;
  made.curve("blocks", "one counter step", curve);
  grid_sync::conclude(made.results());
  EXPECT_NEAR(made.inference("grid barrier, fixed part").value.value_or(0), 900, 1e-6);
}

TEST(GridSyncTest, WhatIsNoLineIsNotTrusted) {
  MadeResults made = made_on_100_units();
  made.curve("blocks", "one counter step",
             std::vector<CurvePoint>{{2, 100}, {4, 1000}, {16, 100}, {64, 1000}, {100, 100}});
  grid_sync::conclude(made.results());
  EXPECT_LT(made.inference("grid barrier, per block").confidence, 0.5);
}

// A barrier over twice as many blocks takes no more than twice as long.
TEST(GridSyncTest, ACostThatGrowsFasterThanTheBlocksIsUnsure) {
  MadeResults made = made_on_100_units();
  made.curve("per-cu", "one counter step",
             std::vector<CurvePoint>{{1, 900}, {2, 1000}, {4, 1200}, {8, 3600}});
  made.curve("per-cu", "tree step",
             std::vector<CurvePoint>{{1, 2000}, {2, 2000}, {4, 2000}, {8, 2500}});
  grid_sync::conclude(made.results());
  EXPECT_EQ(made.inference("grid barrier, all resident blocks").value, 2500);
  EXPECT_LE(made.inference("grid barrier, all resident blocks").confidence, 0.5);
}

TEST(GridSyncTest, BothSweepsMustAgreeOnOneBlockPerCu) {
  MadeResults made = made_on_100_units();
  made.curve("blocks", "one counter step",
             std::vector<CurvePoint>{{2, 900}, {64, 950}, {100, 1800}});
  made.curve("per-cu", "one counter step", std::vector<CurvePoint>{{1, 1000}, {2, 1100}});
  grid_sync::conclude(made.results());
  EXPECT_LE(made.inference("grid barrier, one block per CU").confidence, 0.5);
}

TEST(GridSyncTest, WhatIsNoLineHasNoSlope) {
  MadeResults made = made_on_100_units();
  made.curve("blocks", "one counter step",
             std::vector<CurvePoint>{{2, 800}, {4, 800}, {16, 1200}, {64, 1200}, {100, 2400}});
  grid_sync::conclude(made.results());
  EXPECT_FALSE(made.inference("grid barrier, per block").value.has_value());
  EXPECT_FALSE(made.inference("grid barrier, per block").evidence.empty());
}

TEST(GridSyncTest, AFewPointsAreNoLine) {
  MadeResults made = made_on_100_units();
  made.curve("blocks", "one counter step", over({1, 2, 4, 8}, 1, 900, 2));
  grid_sync::conclude(made.results());
  EXPECT_EQ(made.inferences().size(), 1U);
  EXPECT_EQ(made.inference("grid barrier, one block per CU").value, 916);
}

TEST(GridSyncTest, ALaunchIsCountedInBarriers) {
  MadeResults made = made_on_100_units();
  add_way(made, "one counter", 800, 2);
  add_launches(made, "launch", 3000);
  add_launches(made, "graph node", 1500);
  grid_sync::conclude(made.results());
  EXPECT_EQ(made.inference("grid barriers in the time of a launch").value, 3);
  EXPECT_NE(made.inference("grid barriers in the time of a launch").statement.find("less"),
            std::string::npos);
}

TEST(GridSyncTest, ALaunchMayBeCheaper) {
  MadeResults made = made_on_100_units();
  add_way(made, "one counter", 800, 12);
  add_launches(made, "launch", 1000);
  add_launches(made, "graph node", 1000);
  grid_sync::conclude(made.results());
  EXPECT_EQ(made.inference("grid barriers in the time of a launch").value, 0.5);
  EXPECT_NE(made.inference("grid barriers in the time of a launch").statement.find("no more"),
            std::string::npos);
}

TEST(GridSyncTest, ALaunchOfFewBlocksIsNoLongerThanOneOfMore) {
  MadeResults made = made_on_100_units();
  add_way(made, "one counter", 800, 2);
  made.curve("launches", "launch step",
             std::vector<CurvePoint>{{1, 3000}, {compute_units, 6000}, {800, 3500}});
  add_launches(made, "graph node", 1500);
  grid_sync::conclude(made.results());
  EXPECT_LE(made.inference("grid barriers in the time of a launch").confidence, 0.5);
}

TEST(GridSyncTest, NothingIsConcludedFromNothing) {
  MadeResults made = made_on_100_units();
  grid_sync::conclude(made.results());
  EXPECT_TRUE(made.inferences().empty());
}

}  // namespace
}  // namespace hipscope
