#include "hipscope/measure.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

namespace hipscope {
namespace {

// Times are powers of two, so that their sums are exact.
constexpr double sample_seconds = 0x1p-6;

// Adds samples of `seconds` until the stopper is done, at most 2000; returns how many it took.
template <typename Seconds>
std::size_t samples_until_done(Stopper& stopper, Seconds seconds) {
  std::size_t count = 0;
  while (!stopper.done() && count < 2000) {
    const double time = seconds(count);
    stopper.add(time, time);
    ++count;
  }
  return count;
}

TEST(Stopper, QuietSamplesLastTheMinimumTime) {
  Stopper stopper({.minimum_seconds = 8 * sample_seconds, .maximum_seconds = 1});
  EXPECT_EQ(samples_until_done(stopper, [](std::size_t) { return sample_seconds; }), 8U);
  EXPECT_EQ(stopper.reason(), StopReason::quiet);
}

TEST(Stopper, QuietSamplesAreAtLeastTheMinimumNumber) {
  Stopper stopper({.minimum_seconds = 0, .maximum_seconds = 1, .minimum_samples = 5});
  EXPECT_EQ(samples_until_done(stopper, [](std::size_t) { return sample_seconds; }), 5U);
  EXPECT_EQ(stopper.reason(), StopReason::quiet);
}

TEST(Stopper, TimeIsOfTheWholeBatch) {
  Stopper stopper({.minimum_seconds = 8 * sample_seconds, .maximum_seconds = 1});
  for (int i = 0; i < 5; ++i) {
    EXPECT_FALSE(stopper.done());
    stopper.add(2 * sample_seconds, sample_seconds / 64);
  }
  EXPECT_TRUE(stopper.done());
}

// The quartiles of these are 2 and 6, their median is 4: a spread of exactly 1.
const std::vector<double> samples_of_spread_one = {4, 1, 7, 2, 6};

TEST(Stopper, NoiseAsWantedIsQuiet) {
  Stopper stopper({.minimum_seconds = 0, .maximum_seconds = 1000, .noise = 1});
  EXPECT_EQ(samples_until_done(stopper, [](std::size_t i) { return samples_of_spread_one[i % 5]; }),
            5U);
  EXPECT_EQ(stopper.reason(), StopReason::quiet);
}

TEST(Stopper, NoiseAboveTheWantedIsNotQuiet) {
  Stopper stopper({.minimum_seconds = 0, .maximum_seconds = 1000, .noise = 0.999});
  for (const double seconds : samples_of_spread_one) {
    stopper.add(seconds, seconds);
  }
  EXPECT_FALSE(stopper.done());
}

TEST(Stopper, NoiseThatNoLongerFallsIsSteady) {
  Stopper stopper({.minimum_seconds = 0, .maximum_seconds = 1e6, .noise = 1e-6});
  std::mt19937 random(1);
  std::uniform_real_distribution<double> uniform(1, 2);
  const std::size_t count =
      samples_until_done(stopper, [&](std::size_t) { return uniform(random); });
  EXPECT_EQ(stopper.reason(), StopReason::steady);
  EXPECT_GE(count, 32U);
  EXPECT_LT(count, 500U);
}

TEST(Stopper, FallingNoiseIsNotSteady) {
  Stopper stopper({.minimum_seconds = 0, .maximum_seconds = 1e6, .noise = 1e-6});
  // The spread of 1 + 1/i over the first n samples falls like 1/n: in 16 of 100 samples by 16 %.
  for (int i = 1; i <= 100; ++i) {
    stopper.add(1 + 1.0 / i, 1 + 1.0 / i);
    ASSERT_FALSE(stopper.done()) << "after " << i << " samples";
  }
}

TEST(Stopper, SteadyNoiseStillLastsTheMinimumTime) {
  Stopper stopper({.minimum_seconds = 1e5, .maximum_seconds = 1e6, .noise = 1e-6});
  std::mt19937 random(1);
  std::uniform_real_distribution<double> uniform(1, 2);
  for (int i = 0; i < 900; ++i) {
    const double seconds = uniform(random);
    stopper.add(seconds, seconds);
    ASSERT_FALSE(stopper.done()) << "after " << i << " samples";
  }
}

TEST(Stopper, StopsAtTheTimeLimit) {
  Stopper stopper({.minimum_seconds = 0.01, .maximum_seconds = 16, .noise = 0.005});
  EXPECT_EQ(samples_until_done(stopper, [](std::size_t i) { return i % 2 == 0 ? 1.0 : 3.0; }), 8U);
  EXPECT_EQ(stopper.reason(), StopReason::time_limit);
}

TEST(Stopper, SlowBodiesGetThreeSamples) {
  Stopper stopper({.minimum_seconds = 0.01, .maximum_seconds = 1, .minimum_samples = 5});
  EXPECT_EQ(samples_until_done(stopper, [](std::size_t) { return 10.0; }), 3U);
  EXPECT_EQ(stopper.reason(), StopReason::time_limit);
}

TEST(Stopper, AMinimumUnderThreeSamplesIsEnoughAtTheTimeLimit) {
  Stopper stopper({.minimum_seconds = 0, .maximum_seconds = 0, .noise = 0, .minimum_samples = 2});
  EXPECT_EQ(samples_until_done(stopper, [](std::size_t i) { return 1.0 + static_cast<double>(i); }),
            2U);
  EXPECT_EQ(stopper.reason(), StopReason::time_limit);
}

TEST(Stopper, StopsAtTheSampleLimit) {
  Stopper stopper(
      {.minimum_seconds = 1, .maximum_seconds = 10, .minimum_samples = 5, .maximum_samples = 7});
  EXPECT_EQ(samples_until_done(stopper, [](std::size_t) { return 1e-9; }), 7U);
  EXPECT_EQ(stopper.reason(), StopReason::sample_limit);
}

TEST(StopReason, Names) {
  EXPECT_STREQ(to_string(StopReason::quiet), "quiet");
  EXPECT_STREQ(to_string(StopReason::steady), "steady");
  EXPECT_STREQ(to_string(StopReason::time_limit), "time limit");
  EXPECT_STREQ(to_string(StopReason::sample_limit), "sample limit");
}

TEST(Measurement, CyclesAreByEachSamplesOwnClock) {
  struct Case {
    const char* what;
    std::vector<Sample> samples;
    double fallback_mhz;
    double given_mhz;
    double cycles;
  };
  const std::vector<Case> cases = {
      // 1000, 2000 and 1500 cycles; the median time by the median clock would be 2000.
      {"own", {{1e-6, 1000}, {2e-6, 1000}, {3e-6, 500}}, 9999, 0, 1500},
      // 1000 and 1020 cycles, and 2 us twice without a clock; the driver's would make it 4000.
      {"the others' median", {{2e-6, 500}, {2e-6, 0}, {2e-6, 0}, {2e-6, 510}}, 2000, 0, 1010},
      {"the driver's", {{1e-6, 0}}, 700, 0, 700},
      {"given", {{1e-6, 1000}, {1e-6, 0}}, 700, 300, 300}};
  for (const Case& each : cases) {
    Measurement made;
    made.samples = each.samples;
    made.fallback_mhz = each.fallback_mhz;
    made.given_mhz = each.given_mhz;
    EXPECT_NEAR(made.cycles(), each.cycles, 1e-9) << each.what;
  }
  Measurement none;
  none.samples = {{.seconds = 1e-6, .shader_mhz = 0}};
  EXPECT_TRUE(std::isnan(none.cycles()));
}

}  // namespace
}  // namespace hipscope
