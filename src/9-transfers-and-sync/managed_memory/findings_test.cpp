// What managed_memory concludes from made curves.
#include "findings.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "made_results.h"

namespace hipscope {
namespace {

constexpr double kibibyte = 1024;

// Blocks of 2 KiB to 8 MiB: a load of a page that is there takes `hit` us, and one outside the
// `unit` that the load before has brought `miss`; every other point is 10 % too high.
MadeResults with_fault(const std::string& sweep, double unit, double hit, double miss) {
  std::vector<CurvePoint> others;
  double noise = 1;
  for (double bytes = 2 * kibibyte; bytes <= 8192 * kibibyte; bytes *= 2) {
    others.push_back({.x = bytes, .y = noise * (bytes > unit ? miss : hit)});
    noise = 2.1 - noise;
  }
  MadeResults made("managed_memory");
  made.curve(sweep, "other half", others);
  managed_memory::conclude(made.results());
  return made;
}

TEST(ManagedMemoryTest, AFaultIsItsTimeAndWhatItBrings) {
  const auto made = with_fault("device-fault", 64 * kibibyte, 1, 30);
  EXPECT_EQ(made.inference("brought by a fault of the device").value, 64 * kibibyte);
  EXPECT_NEAR(*made.inference("page fault of the device").value, 30, 3);
  EXPECT_GT(made.inference("brought by a fault of the device").confidence, 0.8);
  EXPECT_LT(made.inference("page fault of the device").confidence, 0.8);
}

TEST(ManagedMemoryTest, TheSmallestAndALargePage) {
  const auto small = with_fault("host-fault", 4 * kibibyte, 0.1, 10);
  EXPECT_EQ(small.inference("brought by a fault of the host").value, 4 * kibibyte);
  const auto large = with_fault("host-fault", 2048 * kibibyte, 0.1, 10);
  EXPECT_EQ(large.inference("brought by a fault of the host").value, 2048 * kibibyte);
}

TEST(ManagedMemoryTest, WithoutFaultsNothingIsConcluded) {
  EXPECT_TRUE(with_fault("device-fault", 64 * kibibyte, 1, 1).inferences().empty());
}

}  // namespace
}  // namespace hipscope
