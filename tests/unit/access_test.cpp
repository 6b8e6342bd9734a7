// find_access_granularity and find_channel_interleave on made accesses.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <set>

#include "hipscope/inference.h"
#include "made_curve.h"

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

std::vector<SegmentCounts> candidates(unsigned lanes) {
  std::vector<SegmentCounts> made;
  for (const unsigned bytes : {32, 64, 128}) {
    made.push_back({.bytes = static_cast<double>(bytes), .segments = segments(bytes, lanes)});
  }
  return made;
}

std::vector<double> costs(unsigned bytes, unsigned lanes, double least, double noise,
                          unsigned seed = 1) {
  std::mt19937 random(seed);
  std::normal_distribution<double> error(1, noise);
  std::vector<double> made;
  for (const double count : segments(bytes, lanes)) {
    made.push_back(std::max(least, 1.7 * count) * error(random));
  }
  return made;
}

TEST(FindAccessGranularity, FindsEachSize) {
  for (const unsigned lanes : {32, 64}) {
    for (const unsigned bytes : {32, 64, 128}) {
      const auto found = find_access_granularity(costs(bytes, lanes, 0, 0), candidates(lanes));
      ASSERT_TRUE(found) << bytes;
      EXPECT_EQ(found->bytes, bytes);
      EXPECT_NEAR(found->cost_per_segment, 1.7, 0.01);
      EXPECT_GT(found->confidence, 0.9);
    }
  }
}

TEST(FindAccessGranularity, FindsItThroughNoise) {
  for (unsigned seed = 1; seed <= 50; ++seed) {
    const auto found = find_access_granularity(costs(64, 32, 0, 0.03, seed), candidates(32));
    ASSERT_TRUE(found) << seed;
    EXPECT_EQ(found->bytes, 64);
    EXPECT_GT(found->confidence, 0.5);
  }
}

TEST(FindAccessGranularity, ALeastCostHidesTheFewestSegments) {
  const auto found = find_access_granularity(costs(32, 32, 15, 0), candidates(32));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->bytes, 32);
  EXPECT_NEAR(found->least_cost, 15, 0.1);
}

TEST(FindAccessGranularity, ASizeThatIsNoCandidateIsNone) {
  EXPECT_FALSE(find_access_granularity(costs(8, 32, 0, 0), candidates(32)));
  EXPECT_FALSE(find_access_granularity(costs(256, 64, 0, 0), candidates(64)));
}

TEST(FindAccessGranularity, CostsThatDoNotDependOnSegmentsAreNone) {
  EXPECT_FALSE(find_access_granularity(costs(32, 32, 1000, 0), candidates(32)));
  for (unsigned seed = 1; seed <= 100; ++seed) {
    EXPECT_FALSE(find_access_granularity(costs(32, 32, 1000, 0.02, seed), candidates(32)));
  }
}

TEST(FindAccessGranularity, TwoSizesThatFitAlikeAreNone) {
  auto twice = candidates(32);
  twice.push_back(twice[1]);
  EXPECT_FALSE(find_access_granularity(costs(64, 32, 0, 0.02), twice));
}

TEST(FindAccessGranularity, NeedsCountsForEveryCost) {
  EXPECT_FALSE(find_access_granularity({}, {}));
  auto short_counts = candidates(32);
  for (SegmentCounts& counts : short_counts) {
    counts.segments.pop_back();
  }
  EXPECT_FALSE(find_access_granularity(costs(64, 32, 0, 0), short_counts));
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
