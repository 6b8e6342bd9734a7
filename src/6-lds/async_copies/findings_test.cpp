// What async_copies concludes from made curves.
#include "findings.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "fake_device.h"
#include "made_results.h"

namespace hipscope {
namespace {

using async_copies::value_name;

const std::string gain_name = "rate to LDS past the registers over through them, memory";

TEST(AsyncCopiesTest, TheFirstWayIsNotNamed) {
  EXPECT_EQ(value_name("load and store 16", "latency"), "latency");
  EXPECT_EQ(value_name("bulk", "latency"), "bulk latency");
}

// A rate that rises with what is in flight up to `highest` of 32 KiB.
std::vector<CurvePoint> rising(double highest) {
  std::vector<CurvePoint> points;
  for (double x = 4096; x <= 131072; x *= 2) {
    points.push_back({.x = x, .y = std::min(highest, highest * x / 32768)});
  }
  return points;
}

TEST(AsyncCopiesTest, TheBestWaysOfEitherKindAreCompared) {
  MadeResults made("async_copies");
  made.curve("device-memory", "bandwidth", rising(3000))
      .curve("device-memory", "cp.async 16 bandwidth", rising(3500))
      .curve("device-memory", "bulk bandwidth", rising(4000));
  async_copies::conclude(made.results());
  EXPECT_NEAR(made.inference(gain_name).value.value(), 4.0 / 3, 1e-9);
  EXPECT_EQ(made.inference(gain_name).evidence.at(0), "bulk 4000, load and store 16 3000 GB/s");
}

TEST(AsyncCopiesTest, OneKindAloneIsNoComparison) {
  MadeResults made("async_copies");
  made.curve("device-memory", "bulk bandwidth", rising(4000));
  async_copies::conclude(made.results());
  EXPECT_TRUE(made.inference(gain_name).name.empty());
}

TEST(AsyncCopiesTest, NothingIsConcludedOfADeviceThatHasOnlyLoads) {
  MadeResults made("async_copies");
  made.curve("latency-l2", "latency", std::vector<CurvePoint>{{.x = 64, .y = 400}})
      .curve("device-memory", "bandwidth", rising(3000));
  async_copies::conclude(made.results());
  EXPECT_TRUE(made.inferences().empty());
}

TEST(AsyncCopiesTest, NothingIsConcludedFromNothing) {
  MadeResults made("async_copies");
  async_copies::conclude(made.results());
  EXPECT_TRUE(made.inferences().empty());
}

}  // namespace
}  // namespace hipscope
