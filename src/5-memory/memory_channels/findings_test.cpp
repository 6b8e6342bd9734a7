// What memory_channels concludes from made curves.
#include "findings.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "made_curve.h"
#include "made_results.h"

namespace hipscope {
namespace {

const std::vector<double> all_strides = doubling(128, 1 << 20);

// A memory of 16 channels: a stride meets fewer of them from `interleave` bytes on.
double channels_met(double interleave, double stride) {
  return std::clamp(16 * interleave / stride, 1.0, 16.0);
}

// 16 billion accesses a second of 32 bytes are nearly all that this one can do.
DeviceDescription busy_memory() {
  DeviceDescription description = fake::describe();
  description.memory_mhz = 1000;
  description.memory_bus_bits = 2048;
  return description;
}

// What is told of the rates of strides that double, and of a neighbour that meets all channels.
Inference interleave_told(const std::function<double(double)>& rate,
                          const std::vector<double>& strides = all_strides,
                          const DeviceDescription& description = busy_memory()) {
  MadeResults made("memory_channels", description);
  made.curve("stride", "neighbour rate", made_curve(strides, [](double) { return 16; }));
  made.curve("stride", "of neighbour", made_curve(strides, [&](double x) { return rate(x) / 16; }));
  memory_channels::conclude(made.results());
  return made.inference("channel interleave");
}

double of_256_bytes(double stride) { return channels_met(256, stride); }

// If a quarter of the channels gives the whole rate, the first two halvings do not show.
TEST(MemoryChannelsTest, AnIdleMemoryMayTakeTurnsSooner) {
  DeviceDescription fast = busy_memory();
  fast.memory_bus_bits *= 4;
  EXPECT_GT(interleave_told(of_256_bytes).confidence, 0.5);
  for (const DeviceDescription& description : {fast, fake::describe()}) {
    const Inference found = interleave_told(of_256_bytes, all_strides, description);
    EXPECT_EQ(found.value, 256);
    EXPECT_LT(found.confidence, 0.5);
  }
}

TEST(MemoryChannelsTest, WhatDoesNotHalveFromTheInterleaveOnShowsNone) {
  const auto changed_at = [](double stride, double factor) {
    return interleave_told([=](double x) { return (x == stride ? factor : 1) * of_256_bytes(x); })
        .value;
  };
  EXPECT_EQ(changed_at(0, 1), 256);
  EXPECT_FALSE(changed_at(128, 0.85));
  EXPECT_FALSE(changed_at(1 << 20, 16));
  EXPECT_FALSE(interleave_told([](double x) { return channels_met(128, x); }).value);
  // It halves, but strides grow fourfold.
  const std::vector<double> sparse = {128, 256, 1024, 4096};
  const auto halves = [](double x) { return 16 / (x > 256 ? std::sqrt(x / 256) : 1); };
  EXPECT_FALSE(interleave_told(halves, sparse).value);
}

TEST(MemoryChannelsTest, RatesThatDoNotQuiteHalveAreLessSure) {
  const Inference found =
      interleave_told([](double x) { return (x > 256 ? 1.1 : 1) * of_256_bytes(x); });
  EXPECT_EQ(found.value, 256);
  EXPECT_NEAR(found.confidence, 0.8, 1e-9);
}

TEST(MemoryChannelsTest, NothingIsConcludedFromNothing) {
  expect_nothing_from_nothing("memory_channels", memory_channels::conclude);
}

}  // namespace
}  // namespace hipscope
