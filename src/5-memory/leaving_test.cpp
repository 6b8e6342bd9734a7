// Where loads leave a cache, by bisection.
#include "5-memory/leaving.h"

#include <gtest/gtest.h>

#include <cmath>

namespace hipscope {
namespace {

// All of `held` nodes stay; of more some leave.
double found(double held, double fewest, double most, unsigned halvings) {
  return memory::leaving_nodes(fewest, most, halvings,
                               [=](double nodes) { return nodes <= held ? 0.0 : 0.31; });
}

TEST(LeavingNodes, AreFoundBetweenFewestAndMost) {
  for (const double held : {3.0, 21.0, 250.0, 4000.0}) {
    // Nine halvings of 13 octaves leave a fortieth of one.
    EXPECT_NEAR(std::log2(found(held, 1, 8192, 9) / held), 0, 13.0 / 512) << held;
  }
}

TEST(LeavingNodes, AreNoneWhereAllStayOrNoneDo) {
  EXPECT_TRUE(std::isnan(found(1e6, 1, 8192, 9)));
  EXPECT_TRUE(std::isnan(found(0, 1, 8192, 9)));
  // A share that is no number, of a hit as slow as a miss, is never less than any.
  EXPECT_TRUE(std::isnan(memory::leaving_nodes(1, 64, 3, [](double) { return NAN; })));
}

TEST(LeavingNodes, AShareOfThreeTenthsHasLeft) {
  EXPECT_TRUE(std::isnan(memory::leaving_nodes(1, 64, 3, [](double) { return 0.29; })));
  EXPECT_TRUE(std::isnan(memory::leaving_nodes(1, 64, 3, [](double) { return 0.30; })));
  EXPECT_NEAR(memory::leaving_nodes(1, 64, 12, [](double nodes) { return nodes < 8 ? 0.29 : 0.3; }),
              8, 0.02);
}

}  // namespace
}  // namespace hipscope
