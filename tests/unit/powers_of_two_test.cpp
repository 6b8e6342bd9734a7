// The values of an axis that doubles.
#include "hipscope/powers_of_two.h"

#include <gtest/gtest.h>

#include <vector>

namespace hipscope {
namespace {

using Values = std::vector<unsigned>;

TEST(PowersOfTwo, EndsWithTheLastOnce) {
  EXPECT_EQ(powers_of_two_up_to(1), Values({1}));
  EXPECT_EQ(powers_of_two_up_to(2), Values({1, 2}));
  EXPECT_EQ(powers_of_two_up_to(8), Values({1, 2, 4, 8}));
}

TEST(PowersOfTwo, LastNeedBeNone) {
  EXPECT_EQ(powers_of_two_up_to(3), Values({1, 2, 3}));
  EXPECT_EQ(powers_of_two_up_to(132), Values({1, 2, 4, 8, 16, 32, 64, 128, 132}));
}

TEST(PowersOfTwo, ReachesTheLargestPower) {
  const Values values = powers_of_two_up_to(1U << 31);
  EXPECT_EQ(values.size(), 32);
  EXPECT_EQ(values.back(), 1U << 31);
}

}  // namespace
}  // namespace hipscope
