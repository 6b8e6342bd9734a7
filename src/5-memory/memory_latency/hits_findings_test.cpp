// fit_capacity_by_hits on shares that are made.
#include "hits_findings.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "made_curve.h"
#include "text.h"

namespace memory_latency {
namespace {

using hipscope::CurvePoint;
using hipscope::footprints;
using hipscope::made_curve;

// Eight footprints an octave.
const std::vector<double> sizes = footprints(kib, 1920 * mib);

TEST(FitCapacityByHits, HitsThatFallInAnotherWayTellNoCapacity) {
  for (const double power : {0.3, 0.6, 1.5, 3.0}) {
    const auto hits = made_curve(
        sizes, [=](double bytes) { return std::min(1.0, std::pow(mib / bytes, power)); });
    EXPECT_FALSE(fit_capacity_by_hits(hits)) << power;
  }
  const auto ramp = made_curve(sizes, [](double bytes) { return 1 - std::log2(bytes / kib) / 22; });
  EXPECT_FALSE(fit_capacity_by_hits(ramp));
  EXPECT_FALSE(fit_capacity_by_hits(made_curve(sizes, [](double) { return 1.0; })));
  EXPECT_FALSE(fit_capacity_by_hits({}));
}

// Two in a hundred loads that hit take long for other reasons.
TEST(FitCapacityByHits, SlowHitsDoNotShrinkACapacity) {
  const auto hits =
      made_curve(sizes, [](double bytes) { return 0.98 * std::min(1.0, 192 * kib / bytes); });
  const auto found = fit_capacity_by_hits(hits);
  ASSERT_TRUE(found);
  EXPECT_NEAR(found->value, 192 * kib, 2 * kib);
  EXPECT_GT(found->confidence, 0.9);
}

// Another process slows down most loads of two footprints, one within the cache and one past it.
TEST(FitCapacityByHits, FootprintsThatWereDisturbedAreLeftOut) {
  auto hits = made_curve(sizes, [](double bytes) { return std::min(1.0, mib / bytes); });
  for (CurvePoint& point : hits) {
    point.y *= point.x == 64 * kib || point.x == 2 * mib ? 0.2 : 1;
  }
  const auto found = fit_capacity_by_hits(hits);
  ASSERT_TRUE(found);
  EXPECT_NEAR(found->value, mib, 0.01 * mib);
}

}  // namespace
}  // namespace memory_latency
