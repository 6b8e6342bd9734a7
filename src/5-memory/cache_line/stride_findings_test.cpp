// fit_fetch_unit on curves that are made.
#include "stride_findings.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <vector>

#include "made_curve.h"

namespace cache_line {
namespace {

using hipscope::CurvePoint;
using hipscope::made_curve;

using Law = std::function<double(double)>;

// Average latency of an ascending walk with stride x.
Law strides(double unit, double hit, double miss) {
  return [=](double x) { return hit + (miss - hit) * std::min(1.0, x / unit); };
}

std::vector<CurvePoint> curve(double first, double last, const Law& law, double noise = 0,
                              unsigned seed = 1) {
  return made_curve(hipscope::doubling(first, last), law, noise, seed);
}

TEST(FitFetchUnit, FindsTheUnit) {
  for (const double unit : {16.0, 32.0, 64.0, 128.0}) {
    const auto found = fit_fetch_unit(curve(4, 512, strides(unit, 260, 640)));
    ASSERT_TRUE(found) << unit;
    EXPECT_EQ(found->bytes, unit);
    EXPECT_NEAR(found->hit, 260, 1);
    EXPECT_NEAR(found->miss, 640, 1);
    EXPECT_GT(found->confidence, 0.9);
  }
}

TEST(FitFetchUnit, ReadsThePublishedCurve) {
  // fsword73's range sweep on an MI25, who concluded 64 bytes.
  const std::vector<CurvePoint> published = {{.x = 16, .y = 361},
                                             {.x = 32, .y = 476},
                                             {.x = 64, .y = 682},
                                             {.x = 128, .y = 681},
                                             {.x = 256, .y = 706}};
  const auto found = fit_fetch_unit(published);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->bytes, 64);
  EXPECT_NEAR(found->miss, 690, 10);
}

TEST(FitFetchUnit, AWalkOverTwoUnitsIsNoneOrUncertain) {
  // One cache fetches 32 bytes, the next 128.
  const auto found = fit_fetch_unit(curve(4, 512, [](double x) {
    return 36 + 230 * std::min(1.0, x / 32) + 400 * std::min(1.0, x / 128);
  }));
  EXPECT_TRUE(!found || found->confidence < 0.7);
}

TEST(FitFetchUnit, AFlatCurveIsNone) {
  EXPECT_FALSE(fit_fetch_unit(curve(4, 512, [](double) { return 640.0; })));
  for (unsigned seed = 1; seed <= 50; ++seed) {
    EXPECT_FALSE(fit_fetch_unit(curve(
        4, 512, [](double) { return 640.0; }, 0.02, seed)));
  }
}

TEST(FitFetchUnit, ARiseWithoutAnEndIsNone) {
  EXPECT_FALSE(fit_fetch_unit(curve(4, 512, strides(512, 260, 640))));
  EXPECT_FALSE(fit_fetch_unit(curve(4, 512, strides(4096, 260, 2000))));
}

TEST(FitFetchUnit, NeedsThreePointsThatRiseAndTwoThatAreFlat) {
  EXPECT_FALSE(fit_fetch_unit({}));
  EXPECT_FALSE(fit_fetch_unit(curve(16, 128, strides(64, 260, 640))));
  EXPECT_FALSE(fit_fetch_unit(curve(32, 512, strides(64, 260, 640))));
  EXPECT_TRUE(fit_fetch_unit(curve(16, 256, strides(64, 260, 640))));
}

}  // namespace
}  // namespace cache_line
