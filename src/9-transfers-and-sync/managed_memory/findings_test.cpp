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
void add_fault(MadeResults& made, const std::string& sweep, double unit, double hit, double miss) {
  std::vector<CurvePoint> others;
  double noise = 1;
  for (double bytes = 2 * kibibyte; bytes <= 8192 * kibibyte; bytes *= 2) {
    others.push_back({.x = bytes, .y = noise * (bytes > unit ? miss : hit)});
    noise = 2.1 - noise;
  }
  made.curve(sweep, "other half", others);
}

MadeResults with_fault(const std::string& sweep, double unit, double hit, double miss) {
  MadeResults made("managed_memory");
  add_fault(made, sweep, unit, hit, miss);
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

void add_moves(MadeResults& made) {
  using managed_memory::Move;
  made.curve(
      "moves", "bandwidth",
      std::vector<CurvePoint>{
          {.x = static_cast<double>(Move::device_reads_from_host), .y = 9},
          {.x = static_cast<double>(Move::device_reads_own), .y = 470},
          {.x = static_cast<double>(Move::prefetch_to_device), .y = 48},
          {.x = static_cast<double>(Move::host_reads_from_device), .y = 3},
          {.x = static_cast<double>(Move::prefetch_to_host), .y = 40, .relative_spread = 0.6}});
}

TEST(ManagedMemoryTest, EachBandwidthIsItsOwnRow) {
  MadeResults made("managed_memory");
  add_fault(made, "device-fault", 64 * kibibyte, 1, 30);
  add_fault(made, "host-fault", 4 * kibibyte, 0.1, 10);
  add_moves(made);
  managed_memory::conclude(made.results());
  EXPECT_EQ(made.inference("moved by faults of the device").value, 9);
  EXPECT_EQ(made.inference("moved by faults of the host").value, 3);
  EXPECT_EQ(made.inference("prefetched to the device").value, 48);
  EXPECT_EQ(made.inference("prefetched to the host").value, 40);
  EXPECT_LT(made.inference("prefetched to the host").confidence, 0.5);
}

TEST(ManagedMemoryTest, WhatReadsPagesWhereTheyAreMovesNone) {
  MadeResults made("managed_memory");
  add_fault(made, "device-fault", 64 * kibibyte, 1, 1);
  add_fault(made, "host-fault", 4 * kibibyte, 0.1, 10);
  add_moves(made);
  managed_memory::conclude(made.results());
  EXPECT_EQ(made.inference("moved by faults of the host").value, 3);
  for (const Inference& inference : made.inferences()) {
    EXPECT_NE(inference.name, "moved by faults of the device");
  }
}

}  // namespace
}  // namespace hipscope
