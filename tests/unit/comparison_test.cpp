// What a failed check tells.
#include "hipscope/comparison.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace hipscope {
namespace {

TEST(Comparison, EqualElementsAreRight) {
  Comparison comparison;
  EXPECT_TRUE(comparison.compare(0, 3U, 3U));
  EXPECT_TRUE(comparison.compare(1, INFINITY, INFINITY));
  EXPECT_EQ(comparison.wrong(), 0U);
  EXPECT_EQ(comparison.checked(), 2U);
  EXPECT_EQ(comparison.details(), "");
}

TEST(Comparison, AToleranceIsKept) {
  Comparison comparison;
  EXPECT_TRUE(comparison.compare(0, 1.0, 1.5, 0.5));
  EXPECT_FALSE(comparison.compare(1, 1.0, 1.75, 0.5));
  EXPECT_EQ(comparison.details(), "largest error 0.75; first: [1] expected 1, got 1.75");
}

TEST(Comparison, NaNIsWrongWhateverTheTolerance) {
  Comparison comparison;
  EXPECT_FALSE(comparison.compare(7, 1.0F, std::numeric_limits<float>::quiet_NaN(), 1e30));
  EXPECT_EQ(comparison.details(), "largest error nan; first: [7] expected 1, got nan");
}

TEST(Comparison, LargeIntegersAreToldExactly) {
  Comparison comparison;
  EXPECT_FALSE(comparison.compare(0, std::uint64_t{1} << 63, (std::uint64_t{1} << 63) + 1));
  EXPECT_EQ(comparison.details(),
            "largest error 1; first: [0] expected 9223372036854775808, got 9223372036854775809");
}

TEST(Comparison, TheFirstFiveAreToldByRowAndColumn) {
  Comparison comparison(10);
  for (std::uint64_t i = 0; i < 20; ++i) {
    comparison.compare(i, 0, i < 12 ? 0 : static_cast<int>(i));
  }
  EXPECT_EQ(comparison.wrong(), 8U);
  EXPECT_EQ(comparison.details(),
            "largest error 19; first: [1, 2] expected 0, got 12; [1, 3] expected 0, got 13; "
            "[1, 4] expected 0, got 14; [1, 5] expected 0, got 15; [1, 6] expected 0, got 16");
}

TEST(Comparison, IndicesGoOnFromContainerToContainer) {
  Comparison comparison;
  const auto twice = [](std::uint64_t i) { return 2 * i; };
  comparison.compare_all(std::vector<float>{0, 2, 5}, twice);
  comparison.compare_all(std::vector<float>{0, 1.5}, twice, 0.25);
  EXPECT_EQ(comparison.details(),
            "largest error 1; first: [2] expected 4, got 5; [4] expected 2, got 1.5");
}

}  // namespace
}  // namespace hipscope
