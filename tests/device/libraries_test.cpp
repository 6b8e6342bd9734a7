// The vendors' libraries: right where the build has them, and a clear sentence where it has not.
#include <gtest/gtest.h>
#include <hipscope/device.h>
#include <hipscope/libraries/batch_norm.h>
#include <hipscope/libraries/gemm.h>
#include <hipscope/libraries/sum.h>

#include <string>
#include <vector>

#include "work.h"

namespace {

using hipscope::DeviceError;

// What the exception of `work` says; empty when there was none.
template <typename Work>
std::string refusal_of(const Work& work) {
  try {
    work();
  } catch (const DeviceError& error) {
    return error.what();
  }
  return "";
}

class VendorTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string why_none;
    if (hipscope::device_count(why_none) == 0) {
      GTEST_SKIP() << "no device: " << why_none;
    }
  }
};

TEST_F(VendorTest, SumsOrSaysThatItCannot) {
  std::vector<int> values(1001);
  int expected = 0;
  for (int i = 0; i < 1001; ++i) {
    values[static_cast<std::size_t>(i)] = 7 * i - 1000;
    expected += 7 * i - 1000;
  }
  if (hipscope::vendor::sum_library().empty()) {
    EXPECT_EQ(refusal_of([&] { vendor_sum(values); }),
              "this build has no library for sums: CUB, rocPRIM");
  } else {
    EXPECT_EQ(vendor_sum(values), expected);
  }
}

TEST_F(VendorTest, NormalizesOrSaysThatItCannot) {
  const std::vector<float> values = {1, 5, 3, 7};  // mean 4, variance 5
  constexpr double epsilon = 4;
  if (hipscope::vendor::batch_norm_library().empty()) {
    EXPECT_EQ(refusal_of([&] { vendor_batch_norm(values, epsilon, 6, 2); }),
              "this build has no library for batch normalization: cuDNN, MIOpen");
    return;
  }
  const std::vector<float> made = vendor_batch_norm(values, epsilon, 6, 2);
  ASSERT_EQ(made.size(), values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    EXPECT_NEAR(made[i], 6 * (values[i] - 4) / 3 + 2, 1e-5);
  }
}

TEST_F(VendorTest, MultipliesRowByRowOrSaysThatItCannot) {
  const std::vector<double> a = {1, 2, 3, 4};
  const std::vector<double> b = {5, 6, 7, 8};
  if (hipscope::vendor::gemm_library().empty()) {
    EXPECT_EQ(refusal_of([&] { vendor_product(a, b); }),
              "this build has no library for matrix products: cuBLAS, rocBLAS");
  } else {
    EXPECT_EQ(vendor_product(a, b), (std::vector<double>{19, 22, 43, 50}));
  }
}

}  // namespace
