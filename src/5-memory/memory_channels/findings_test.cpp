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

// A memory of 16 channels: a stride meets fewer of them from `interleave` bytes on, but none fewer
// where that is 0.
double channels_met(double interleave, double stride) {
  constexpr double channels = 16;
  return interleave == 0 ? channels : std::clamp(channels * interleave / stride, 1.0, channels);
}

// 16 billion accesses a second of 32 bytes are nearly all that this one can do.
DeviceDescription busy_memory() {
  DeviceDescription description = fake::describe();
  description.memory_mhz = 1000;
  description.memory_bus_bits = 2048;
  return description;
}

MadeResults memory(double interleave, const DeviceDescription& description = busy_memory()) {
  MadeResults made("memory_channels", description);
  const auto rate = [=](double stride) { return channels_met(interleave, stride); };
  made.curve("stride", "power-of-two rate", made_curve(all_strides, rate));
  made.curve("stride", "neighbour rate", made_curve(all_strides, [](double) { return 16; }));
  made.curve("stride", "of neighbour",
             made_curve(all_strides, [=](double x) { return rate(x) / 16; }));
  memory_channels::conclude(made.results());
  return made;
}

TEST(MemoryChannelsTest, ChannelsInPlainOrderShowTheirInterleave) {
  const MadeResults made = memory(256);
  EXPECT_EQ(made.inference("channel interleave").value, 256);
  EXPECT_GT(made.inference("channel interleave").confidence, 0.5);
}

// If a quarter of the channels gives the whole rate, the first two halvings do not show.
TEST(MemoryChannelsTest, AnIdleMemoryMayTakeTurnsSooner) {
  DeviceDescription fast = busy_memory();
  fast.memory_bus_bits *= 4;
  for (const DeviceDescription& description : {fast, fake::describe()}) {
    const MadeResults made = memory(256, description);
    EXPECT_EQ(made.inference("channel interleave").value, 256);
    EXPECT_LT(made.inference("channel interleave").confidence, 0.5);
  }
}

TEST(MemoryChannelsTest, HashedChannelsShowNone) {
  const MadeResults made = memory(0);
  EXPECT_FALSE(made.inference("channel interleave").value.has_value());
  EXPECT_NE(made.inference("channel interleave").statement.find("hashed"), std::string::npos);
}

// `change` is what a stride's rate is multiplied with, of 16 channels with an interleave of 256.
MadeResults changed(const std::function<double(double)>& change,
                    const std::vector<double>& powers = all_strides,
                    const std::vector<double>& neighbours = all_strides) {
  MadeResults made("memory_channels", busy_memory());
  const auto rate = [&](double stride) { return change(stride) * channels_met(256, stride); };
  made.curve("stride", "power-of-two rate", made_curve(powers, rate));
  made.curve("stride", "neighbour rate", made_curve(neighbours, [](double) { return 16; }));
  made.curve("stride", "of neighbour", made_curve(powers, [&](double x) { return rate(x) / 16; }));
  memory_channels::conclude(made.results());
  return made;
}

bool has_interleave(const MadeResults& made) {
  return made.inference("channel interleave").value.has_value();
}

TEST(MemoryChannelsTest, WhatDoesNotHalveFromTheInterleaveOnShowsNone) {
  const auto nothing = [](double) { return 1.0; };
  EXPECT_TRUE(has_interleave(changed(nothing)));
  EXPECT_FALSE(has_interleave(changed([](double x) { return x == 128 ? 0.85 : 1; })));
  EXPECT_FALSE(has_interleave(changed([](double x) { return x == 1 << 20 ? 16 : 1; })));
  EXPECT_FALSE(has_interleave(memory(128)));
  // It halves, but strides grow fourfold.
  const std::vector<double> sparse = {128, 256, 1024, 4096};
  const auto halves = [](double x) { return x > 256 ? std::sqrt(x / 256) : 1; };
  EXPECT_FALSE(has_interleave(changed(halves, sparse, sparse)));
  EXPECT_FALSE(has_interleave(changed(nothing, all_strides, doubling(256, 1 << 21))));
}

TEST(MemoryChannelsTest, RatesThatDoNotQuiteHalveAreLessSure) {
  const MadeResults made = changed([](double x) { return x > 256 ? 1.1 : 1; });
  EXPECT_EQ(made.inference("channel interleave").value, 256);
  EXPECT_NEAR(made.inference("channel interleave").confidence, 0.8, 1e-9);
}

TEST(MemoryChannelsTest, OneSlowStrideIsNoInterleave) {
  const MadeResults made =
      changed([](double stride) { return (stride == 4096 ? 4 : 16) / channels_met(256, stride); });
  EXPECT_FALSE(made.inference("channel interleave").value.has_value());
  EXPECT_NE(made.inference("channel interleave").statement.find("plain order"), std::string::npos);
}

TEST(MemoryChannelsTest, NothingIsConcludedFromNothing) {
  expect_nothing_from_nothing("memory_channels", memory_channels::conclude);
}

}  // namespace
}  // namespace hipscope
