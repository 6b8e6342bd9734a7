// What floats of 8 bits are worth in the reference of a product: the same as in the instruction
// that multiplies them, by whose format the host backend's model decodes.
#include <gtest/gtest.h>
#include <hipscope/matrix/mfma.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "exact.h"

namespace {

using hipscope::E4M3;
using hipscope::E4M3Fnuz;
using hipscope::to_float;

template <typename Value, typename Code>
void expect_values_of(unsigned no_numbers) {
  unsigned found = 0;
  for (unsigned code = 0; code < 256; ++code) {
    const Value value = {static_cast<std::uint8_t>(code)};
    const double of_instruction = matrix_rate::decode(Code::a_format, code);
    if (std::isnan(to_float(value))) {
      ++found;
      EXPECT_TRUE(std::isnan(of_instruction)) << code;
    } else {
      EXPECT_EQ(to_float(value), of_instruction) << code;
    }
  }
  EXPECT_EQ(found, no_numbers);
}

TEST(FloatsOf8Bits, AreThoseOfTheInstruction) {
  // OCP's two are left to come out as 480 in both.
  expect_values_of<E4M3, matrix_rate::MfmaScaledE4m3>(0);
  expect_values_of<E4M3Fnuz, matrix_rate::MfmaE4m3Fnuz>(1);
}

TEST(FloatsOf8Bits, HaveThePublishedValues) {
  EXPECT_EQ(to_float(E4M3{0x38}), 1);
  EXPECT_EQ(to_float(E4M3{0x7E}), 448);
  EXPECT_EQ(to_float(E4M3Fnuz{0x40}), 1);
  EXPECT_EQ(to_float(E4M3Fnuz{0x7F}), 240);
  EXPECT_EQ(to_float(E4M3Fnuz{0x81}), -0x1p-10F);
  EXPECT_TRUE(std::isnan(to_float(E4M3Fnuz{0x80})));
}

template <typename Value>
void expect_values_for_checks() {
  for (const int integer : {-2, -1, 0, 1, 2}) {
    EXPECT_EQ(to_float(gemm::Exact<Value>::integer(integer)), integer);
  }
  float largest = 0;
  for (unsigned high = 0; high < 2; ++high) {
    for (unsigned low = 0; low <= 0xFFFF; ++low) {
      const float value = to_float(gemm::Exact<Value>::random(high << 31U | low, 0));
      ASSERT_LT(std::abs(value), 1);  // and no NaN
      largest = std::max(largest, value);
    }
  }
  EXPECT_EQ(largest, 0.9375F);
}

TEST(FloatsOf8Bits, OfChecksAreIntegersOrBelowOne) {
  expect_values_for_checks<E4M3>();
  expect_values_for_checks<E4M3Fnuz>();
}

}  // namespace
