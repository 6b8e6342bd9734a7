// What host_costs concludes from made curves.
#include "findings.h"

#include <gtest/gtest.h>

#include <vector>

#include "made_results.h"

namespace hipscope {
namespace {

constexpr double mebibyte = 1 << 20;
constexpr const char* block = "largest pinned allocation out of a block";
constexpr const char* slope = "pinned allocation per MiB";

// 4 KiB to 1 GiB: `flat` us up to `end` bytes, `above` us more beyond, and `per_mebibyte` for each
// MiB past `end`; every other point is `noise` times as high.
MadeResults concluded(double flat, double end, double above, double per_mebibyte,
                      double noise = 1.03) {
  std::vector<CurvePoint> curve;
  bool is_high = false;
  for (double bytes = 4096; bytes <= 1024 * mebibyte; bytes *= 2) {
    const double further = bytes > end ? above + per_mebibyte * (bytes - end) / mebibyte : 0;
    curve.push_back({.x = bytes, .y = (is_high ? noise : 1) * (flat + further)});
    is_high = !is_high;
  }
  MadeResults made("host_costs");
  made.curve("pinned", "allocate", curve);
  host_costs::conclude(made.results());
  return made;
}

TEST(HostCostsTest, TheBlockAndTheSlopeAreFound) {
  const auto made = concluded(2, mebibyte, 60, 350);
  EXPECT_EQ(made.inference(block).value, mebibyte);
  EXPECT_GT(made.inference(block).confidence, 0.9);
  EXPECT_NEAR(*made.inference(slope).value, 350, 20);
  EXPECT_GT(made.inference(slope).confidence, 0.3);
}

// As on a host whose clock is now high, now low.
TEST(HostCostsTest, ABlockIsSeenThroughNoiseAndASlopeIsNot) {
  const auto made = concluded(1.8, mebibyte, 100, 350, 1.5);
  EXPECT_EQ(made.inference(block).value, mebibyte);
  EXPECT_FALSE(made.inference(slope).value.has_value());
}

TEST(HostCostsTest, ABlockAtEitherEnd) {
  EXPECT_EQ(concluded(2, 16384, 60, 200).inference(block).value, 16384);
  EXPECT_EQ(concluded(2, 128 * mebibyte, 60, 0).inference(block).value, 128 * mebibyte);
}

TEST(HostCostsTest, OnePriceForAllSizesHasNeither) {
  EXPECT_TRUE(concluded(2, 4096 * mebibyte, 0, 0).inferences().empty());
}

TEST(HostCostsTest, ASlowRiseIsNoEndOfABlock) {
  const auto made = concluded(45, 32 * mebibyte, 0, 1.1);
  EXPECT_FALSE(made.inference(block).value.has_value());
  EXPECT_FALSE(concluded(0, 0, 0, 100).inference(block).value.has_value());
}

TEST(HostCostsTest, NothingIsConcludedFromNothing) {
  MadeResults made("host_costs");
  host_costs::conclude(made.results());
  EXPECT_TRUE(made.inferences().empty());
}

}  // namespace
}  // namespace hipscope
