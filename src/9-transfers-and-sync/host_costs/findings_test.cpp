// What host_costs concludes from made curves.
#include "findings.h"

#include <gtest/gtest.h>

#include <vector>

#include "made_results.h"

namespace hipscope {
namespace {

constexpr double mebibyte = 1 << 20;

// Of 4 KiB to 1 GiB: `flat` us up to `end` bytes, `above` us more beyond, and `per_mebibyte` for
// each MiB past `end`. Every other point is half as high again, as on a host whose clock is now
// high, now low.
Inference block(double flat, double end, double above, double per_mebibyte) {
  std::vector<CurvePoint> curve;
  double noise = 1;
  for (double bytes = 4096; bytes <= 1024 * mebibyte; bytes *= 2) {
    const double further = bytes > end ? above + per_mebibyte * (bytes - end) / mebibyte : 0;
    curve.push_back({.x = bytes, .y = noise * (flat + further)});
    noise = 2.5 - noise;
  }
  MadeResults made("host_costs");
  made.curve("pinned", "allocate", curve);
  host_costs::conclude(made.results());
  return made.inference("largest pinned allocation out of a block");
}

TEST(HostCostsTest, TheBlockIsFound) {
  EXPECT_EQ(block(1.8, mebibyte, 100, 350).value, mebibyte);
  EXPECT_GT(block(1.8, mebibyte, 100, 350).confidence, 0.9);
  EXPECT_EQ(block(2, 16384, 60, 200).value, 16384);
  EXPECT_EQ(block(2, 128 * mebibyte, 60, 0).value, 128 * mebibyte);
}

TEST(HostCostsTest, OnePriceForAllSizesAndASlowRiseAreNoEndOfABlock) {
  EXPECT_FALSE(block(2, 4096 * mebibyte, 0, 0).value);
  EXPECT_FALSE(block(45, 32 * mebibyte, 0, 1.1).value);
  EXPECT_FALSE(block(0, 0, 0, 100).value);
}

TEST(HostCostsTest, NothingIsConcludedFromNothing) {
  expect_nothing_from_nothing("host_costs", host_costs::conclude);
}

}  // namespace
}  // namespace hipscope
