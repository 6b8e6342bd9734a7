// What memory_channels concludes from made curves.
#include "findings.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "made_curve.h"
#include "made_results.h"

namespace hipscope {
namespace {

const std::vector<double> strides = doubling(128, 1 << 20);

// A memory of 16 channels: a stride meets fewer of them from `interleave` bytes on, but none fewer
// where that is 0.
double channels_met(double interleave, double stride) {
  constexpr double channels = 16;
  return interleave == 0 ? channels : std::clamp(channels * interleave / stride, 1.0, channels);
}

// 16 billion accesses a second of 64 bytes are nearly all that this one can do.
DeviceDescription busy_memory() {
  DeviceDescription description = fake::describe();
  description.memory_mhz = 1000;
  description.memory_bus_bits = 4096;
  return description;
}

MadeResults memory(double interleave, const DeviceDescription& description = busy_memory()) {
  MadeResults made("memory_channels", description);
  const auto rate = [=](double stride) { return channels_met(interleave, stride); };
  for (const char* sweep : {"stride", "stride-l2"}) {
    made.curve(sweep, "power-of-two rate", made_curve(strides, rate));
    made.curve(sweep, "neighbour rate", made_curve(strides, [](double) { return 16; }));
    made.curve(sweep, "of neighbour", made_curve(strides, [=](double x) { return rate(x) / 16; }));
  }
  memory_channels::conclude(made.results());
  return made;
}

TEST(MemoryChannelsTest, ChannelsInPlainOrderShowTheirInterleave) {
  const MadeResults made = memory(256);
  EXPECT_EQ(made.inference("channel interleave").value, 256);
  EXPECT_GT(made.inference("channel interleave").confidence, 0.5);
  EXPECT_NEAR(*made.inference("worst stride factor").value, 1.0 / 16, 1e-9);
  EXPECT_NEAR(*made.inference("worst stride factor within L2").value, 1.0 / 16, 1e-9);
  EXPECT_EQ(made.inference("worst stride factor").statement, "accesses 4096 bytes apart collide");
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
  EXPECT_EQ(made.inference("worst stride factor").value, 1);
  EXPECT_NE(made.inference("worst stride factor").statement.find("no collision"),
            std::string::npos);
}

TEST(MemoryChannelsTest, OneSlowStrideIsNoInterleave) {
  MadeResults made("memory_channels");
  const auto rate = [](double stride) { return stride == 4096 ? 4 : 16; };
  made.curve("stride", "power-of-two rate", made_curve(strides, rate));
  made.curve("stride", "neighbour rate", made_curve(strides, [](double) { return 16; }));
  made.curve("stride", "of neighbour",
             made_curve(strides, [&](double x) { return rate(x) / 16.0; }));
  memory_channels::conclude(made.results());
  EXPECT_FALSE(made.inference("channel interleave").value.has_value());
  EXPECT_NE(made.inference("channel interleave").statement.find("plain order"), std::string::npos);
  EXPECT_EQ(made.inference("worst stride factor").value, 0.25);
}

TEST(MemoryChannelsTest, NothingIsConcludedFromNothing) {
  MadeResults made("memory_channels");
  memory_channels::conclude(made.results());
  EXPECT_TRUE(made.inferences().empty());
}

}  // namespace
}  // namespace hipscope
