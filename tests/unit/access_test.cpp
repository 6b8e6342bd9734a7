// find_access_granularity and find_channel_interleave on made accesses.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <set>

#include "hipscope/inference.h"
#include "made_curve.h"
#include "normal_noise.h"

namespace hipscope {
namespace {

// --- Granularity --------------------------------------------------------------------------------

const std::vector<unsigned> strides = {1, 2, 3, 4, 5, 7, 8, 9, 12, 15, 16, 17, 24, 31, 32, 48, 64};

// Segments of `bytes` that `lanes` dwords at each stride touch.
std::vector<double> segments(unsigned bytes, unsigned lanes) {
  std::vector<double> counts;
  for (const unsigned stride : strides) {
    std::set<unsigned> touched;
    for (unsigned lane = 0; lane < lanes; ++lane) {
      touched.insert(lane * stride * 4 / bytes);
    }
    counts.push_back(static_cast<double>(touched.size()));
  }
  return counts;
}

// max(least, 1.7 per segment of `bytes`), with noise.
std::vector<CurvePoint> costs(unsigned bytes, unsigned lanes, double least, double noise,
                              unsigned seed = 1) {
  std::mt19937 random(seed);
  NormalNoise error(1, noise);
  const std::vector<double> counts = segments(bytes, lanes);
  std::vector<CurvePoint> made;
  for (std::size_t i = 0; i < strides.size(); ++i) {
    made.push_back({.x = static_cast<double>(strides[i]),
                    .y = std::max(least, 1.7 * counts[i]) * error(random)});
  }
  return made;
}

TEST(FindAccessGranularity, FindsEachSize) {
  for (const unsigned lanes : {32, 64}) {
    for (const unsigned bytes : {16, 32, 64, 128}) {
      const auto found = find_access_granularity(costs(bytes, lanes, 0, 0), lanes);
      ASSERT_TRUE(found) << bytes;
      EXPECT_EQ(found->bytes, bytes);
      EXPECT_NEAR(found->cost_per_segment, 1.7, 0.01);
      EXPECT_GT(found->confidence, 0.9);
    }
  }
}

TEST(FindAccessGranularity, FindsItThroughNoise) {
  for (unsigned seed = 1; seed <= 50; ++seed) {
    const auto found = find_access_granularity(costs(64, 32, 0, 0.03, seed), 32);
    ASSERT_TRUE(found) << seed;
    EXPECT_EQ(found->bytes, 64);
    EXPECT_GT(found->confidence, 0.5);
  }
}

TEST(FindAccessGranularity, ALeastCostHidesTheFewestSegments) {
  const auto found = find_access_granularity(costs(64, 32, 6, 0), 32);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->bytes, 64);
  EXPECT_NEAR(found->least_cost, 6, 0.1);
}

// An H200's loads within L2 and from memory, as this project measured them, in cycles per access.
TEST(FindAccessGranularity, IsNotMisledByWhatLongStridesCostOnTop) {
  const std::vector<double> within_l2 = {3.51, 6.77, 9.94, 13.3, 16.5, 23.5, 27.0, 26.3, 26.4,
                                         26.4, 26.4, 26.6, 37.8, 48.9, 50.7, 49.7, 49.0};
  const std::vector<double> from_memory = {7.72, 15.3, 23.3, 30.5, 39.0, 54.2, 61.6, 70.8, 93.6,
                                           116,  124,  125,  130,  145,  146,  173,  213};
  const auto found_for = [](const std::vector<double>& cycles) {
    std::vector<CurvePoint> curve;
    for (std::size_t i = 0; i < cycles.size(); ++i) {
      curve.push_back({.x = static_cast<double>(strides[i]), .y = cycles[i]});
    }
    return find_access_granularity(curve, 32);
  };
  ASSERT_TRUE(found_for(within_l2));
  EXPECT_EQ(found_for(within_l2)->bytes, 32);
  ASSERT_TRUE(found_for(from_memory));
  EXPECT_EQ(found_for(from_memory)->bytes, 64);
}

TEST(FindAccessGranularity, ASizeThatIsNoCandidateIsNone) {
  EXPECT_FALSE(find_access_granularity(costs(4, 32, 0, 0), 32));
  EXPECT_FALSE(find_access_granularity(costs(512, 64, 0, 0), 64));
}

TEST(FindAccessGranularity, CostsThatDoNotDependOnSegmentsAreNone) {
  EXPECT_FALSE(find_access_granularity(costs(32, 32, 1000, 0), 32));
  for (unsigned seed = 1; seed <= 100; ++seed) {
    EXPECT_FALSE(find_access_granularity(costs(32, 32, 1000, 0.02, seed), 32));
  }
}

TEST(FindAccessGranularity, NeedsStridesOfTwiceTheSize) {
  EXPECT_FALSE(find_access_granularity({}, 32));
  auto short_curve = costs(64, 32, 0, 0);
  short_curve.resize(8);  // up to a stride of 9 dwords
  EXPECT_FALSE(find_access_granularity(short_curve, 32));
}

// --- Channels -----------------------------------------------------------------------------------

const std::vector<double> channel_strides = doubling(128, 1 << 20);

// Channels that `accesses` accesses at this stride meet when they take turns every `interleave`
// bytes.
double channels_met(double stride, double interleave, unsigned channels) {
  std::set<unsigned> met;
  for (unsigned i = 0; i < 4096; ++i) {
    met.insert(static_cast<unsigned>(std::fmod(std::floor(i * stride / interleave), channels)));
  }
  return static_cast<double>(met.size());
}

// Large strides meet more pages: the same slope for both.
double page_slope(double stride) { return 1 / (1 + stride / (1 << 18)); }

struct Rates {
  std::vector<CurvePoint> power;
  std::vector<CurvePoint> neighbour;
};

Rates plain_rates(double interleave, unsigned channels, double noise, unsigned seed = 1) {
  constexpr double sector = 32;
  return {
      .power = made_curve(
          channel_strides,
          [=](double x) { return channels_met(x, interleave, channels) * page_slope(x); }, noise,
          seed),
      .neighbour = made_curve(
          channel_strides,
          [=](double x) { return channels_met(x + sector, interleave, channels) * page_slope(x); },
          noise, seed + 1000)};
}

Rates hashed_rates(double noise, unsigned seed) {
  return {.power = made_curve(channel_strides, page_slope, noise, seed),
          .neighbour = made_curve(channel_strides, page_slope, noise, seed + 1000)};
}

TEST(FindChannelInterleave, FindsPlainInterleaves) {
  for (const unsigned channels : {8, 16, 32}) {
    for (const double interleave : {256.0, 4096.0}) {
      for (unsigned seed = 1; seed <= 20; ++seed) {
        const Rates rates = plain_rates(interleave, channels, 0.02, seed);
        const auto found = find_channel_interleave(rates.power, rates.neighbour);
        ASSERT_TRUE(found) << channels << " channels, " << interleave << " bytes, seed " << seed;
        EXPECT_EQ(found->bytes, interleave);
        EXPECT_EQ(found->halvings, std::log2(channels));
        EXPECT_NEAR(found->lowest_ratio, 1.0 / channels, 0.1 / channels);
        EXPECT_GT(found->confidence, 0.9);
      }
    }
  }
}

TEST(FindChannelInterleave, ACountThatIsNoPowerOfTwoKeepsItsOddPart) {
  const Rates rates = plain_rates(512, 12, 0.02);
  const auto found = find_channel_interleave(rates.power, rates.neighbour);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->bytes, 512);
  EXPECT_EQ(found->halvings, 2);
  EXPECT_NEAR(found->lowest_ratio, 0.25, 0.03);
}

TEST(FindChannelInterleave, HashedAddressesHaveNone) {
  for (unsigned seed = 1; seed <= 100; ++seed) {
    const Rates rates = hashed_rates(0.03, seed);
    EXPECT_FALSE(find_channel_interleave(rates.power, rates.neighbour)) << seed;
  }
}

TEST(FindChannelInterleave, ASlopeOfBothIsNone) {
  const auto steep = [](double x) { return 100 / x; };
  const auto curve = made_curve(channel_strides, steep, 0.01);
  EXPECT_FALSE(find_channel_interleave(curve, made_curve(channel_strides, steep, 0.01, 2)));
}

TEST(FindChannelInterleave, OneSlowStrideIsNone) {
  Rates rates = hashed_rates(0.01, 1);
  rates.power[5].y *= 0.5;
  EXPECT_FALSE(find_channel_interleave(rates.power, rates.neighbour));
}

TEST(FindChannelInterleave, AFallThatIsNoHalvingIsNone) {
  Rates rates = hashed_rates(0.01, 1);
  for (std::size_t i = 5; i < rates.power.size(); ++i) {
    rates.power[i].y *= 0.7;
  }
  EXPECT_FALSE(find_channel_interleave(rates.power, rates.neighbour));
}

TEST(FindChannelInterleave, OneHalvingIsNone) {
  const Rates rates = plain_rates(1024, 2, 0.01);
  EXPECT_FALSE(find_channel_interleave(rates.power, rates.neighbour));
}

TEST(FindChannelInterleave, AFallFromTheStartShowsNoInterleave) {
  const Rates rates = plain_rates(64, 16, 0.01);
  EXPECT_FALSE(find_channel_interleave(rates.power, rates.neighbour));
}

TEST(FindChannelInterleave, NeedsPairsOfStridesThatDouble) {
  EXPECT_FALSE(find_channel_interleave({}, {}));
  Rates rates = plain_rates(256, 16, 0);
  rates.neighbour.pop_back();
  EXPECT_FALSE(find_channel_interleave(rates.power, rates.neighbour));
  rates = plain_rates(256, 16, 0);
  rates.power.erase(rates.power.begin() + 4);
  rates.neighbour.erase(rates.neighbour.begin() + 4);
  EXPECT_FALSE(find_channel_interleave(rates.power, rates.neighbour));
}

}  // namespace
}  // namespace hipscope
