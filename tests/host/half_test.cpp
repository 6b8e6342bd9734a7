// Half precision.
#include <hip/hip_fp16.h>

#include <cmath>
#include <cstdint>
#include <limits>

#include "test_support.h"

namespace {

TEST(Half, IsTwoBytesAndTwoOfThemAreOneRegister) {
  static_assert(sizeof(__half2) == 4 && alignof(__half2) == 4);
  const __half2 halves = __floats2half2_rn(1.0F, -2.0F);
  EXPECT_EQ(halves.x, 0x3C00);
  EXPECT_EQ(halves.y, 0xC000);
  EXPECT_EQ(__low2float(halves), 1.0F);
  EXPECT_EQ(__high2float(halves), -2.0F);
}

TEST(Half, RoundsToNearestEven) {
  // Between 2048 and 4096 halves are 2 apart.
  EXPECT_EQ(__low2float(__float2half2_rn(2049.0F)), 2048.0F);
  EXPECT_EQ(__low2float(__float2half2_rn(2051.0F)), 2052.0F);
  EXPECT_EQ(__high2float(__float2half2_rn(65519.0F)), 65504.0F);
  EXPECT_EQ(__high2float(__float2half2_rn(65520.0F)), std::numeric_limits<float>::infinity());
}

TEST(Half, EveryHalfComesBackFromItsFloat) {
  for (unsigned bits = 0; bits <= 0xFFFF; ++bits) {
    const __half2 halves = {static_cast<std::uint16_t>(bits), 0};
    const float value = __low2float(halves);
    if (std::isnan(value)) {
      EXPECT_TRUE(std::isnan(__low2float(__float2half2_rn(value))));
    } else {
      EXPECT_EQ(__float2half2_rn(value).x, bits) << value;
    }
  }
}

TEST(Half, HasSubnormals) {
  EXPECT_EQ(__float2half2_rn(0x1p-24F).x, 1);
  EXPECT_EQ(__float2half2_rn(0x1p-25F).x, 0);
  EXPECT_EQ(__float2half2_rn(0x1.8p-25F).x, 1);
  EXPECT_EQ(__float2half2_rn(0x1.ff8p-15F).x, 0x3FF);
  EXPECT_EQ(__float2half2_rn(0x1.ffcp-15F).x, 0x400);
  EXPECT_EQ(__float2half2_rn(-0.0F).x, 0x8000);
}

TEST(Half, FmaOfTwoRoundsOnce) {
  // (1 + 2^-10)^2 = 1 + 2^-9 + 2^-20: what a half of the product would lose.
  const __half2 x = __floats2half2_rn(1 + 0x1p-10F, 3.0F);
  const __half2 y = __floats2half2_rn(1 + 0x1p-10F, 5.0F);
  const __half2 z = __floats2half2_rn(-1.0F - 0x1p-9F, 7.0F);
  const __half2 result = __hfma2(x, y, z);
  EXPECT_EQ(__low2float(result), 0x1p-20F);
  EXPECT_EQ(__high2float(result), 22.0F);
}

TEST(Half, FmaOfTwoDoesNotRoundTwice) {
  // The product is 2^-11 - 2^-31, so the sum is just under the middle of two halves. As a float
  // it would be the middle, and go up to the even one.
  const __half2 x = __float2half2_rn(1 + 0x1p-10F);
  const __half2 y = __float2half2_rn(0x1p-11F - 0x1p-21F);
  const __half2 z = __float2half2_rn(1 + 0x1p-10F);
  EXPECT_EQ(__low2float(__hfma2(x, y, z)), 1 + 0x1p-10F);
}

TEST(Half, KeepsNaN) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_NE(__low2float(__hfma2(__float2half2_rn(nan), __float2half2_rn(1), __float2half2_rn(1))),
            1.0F);
}

}  // namespace
