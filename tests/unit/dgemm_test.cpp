// What dgemm concludes from made curves.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "dgemm_findings.h"
#include "made_results.h"

namespace hipscope {
namespace {

std::vector<CurvePoint> curve_of(const std::vector<CurvePoint>& points) { return points; }

TEST(DgemmTest, TheWayOfTheSourceEndsAtItsLastStep) {
  MadeResults made("dgemm");
  // The seventh row is none of the source's, and faster.
  const std::vector<double> by_host = {1, 2, 3, 4, 5, 6.5, 9};
  std::vector<CurvePoint> host;
  std::vector<CurvePoint> device;
  for (const double gain : by_host) {
    host.push_back({.x = static_cast<double>(host.size() + 1), .y = gain});
    device.push_back({.x = static_cast<double>(device.size() + 1), .y = 2 * gain});
  }
  made.curve("one-block", "speed-up on the first stage", host);
  made.curve("one-block", "device speed-up on the first stage", device);
  dgemm::conclude(made.results());
  const Inference way =
      made.inference("DGEMM of one block, from the source's first stage to its last");
  EXPECT_EQ(way.value, 6.5);
  EXPECT_EQ(way.evidence.front(), "by the device's: 13 times");
}

TEST(DgemmTest, AWayThatDoesNotReachTheLastStepTellsNothing) {
  MadeResults made("dgemm");
  made.curve("one-block", "speed-up on the first stage", curve_of({{.x = 1, .y = 1}}));
  dgemm::conclude(made.results());
  EXPECT_TRUE(made.inferences().empty());
}

TEST(DgemmTest, ALaneMoreAtABankCostsTheSlope) {
  MadeResults made("dgemm");
  made.curve("bank-conflicts", "time of the block's load",
             curve_of({{.x = 1, .y = 16}, {.x = 2, .y = 32}, {.x = 4, .y = 64}}));
  dgemm::conclude(made.results());
  EXPECT_EQ(made.inference("a block's load from LDS for each lane more at a bank").value, 16);
}

TEST(DgemmTest, NewOperandsAreComparedWithOnesThatAreShared) {
  MadeResults made("dgemm");
  made.curve("operands", "FMA rate",
             curve_of({{.x = 1, .y = 42}, {.x = 2, .y = 56}, {.x = 3, .y = 52}}));
  dgemm::conclude(made.results());
  EXPECT_EQ(made.inference("FP64 FMAs whose operands are all new").value, 0.75);
}

TEST(DgemmTest, NothingIsConcludedFromNothing) {
  MadeResults made("dgemm");
  dgemm::conclude(made.results());
  EXPECT_TRUE(made.inferences().empty());
}

}  // namespace
}  // namespace hipscope
