// What grid_sync concludes from made curves.
#include "findings.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "made_results.h"

namespace hipscope {
namespace {

constexpr int compute_units = 100;

MadeResults made_on_100_units() {
  return MadeResults("grid_sync",
                     fake::describe_with(&DeviceDescription::compute_units, compute_units));
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

TEST(GridSyncTest, NothingIsConcludedFromNothing) {
  MadeResults made = made_on_100_units();
  grid_sync::conclude(made.results());
  EXPECT_TRUE(made.inferences().empty());
}

}  // namespace
}  // namespace hipscope
