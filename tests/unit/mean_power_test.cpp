// The power of a board from readings of its sensors, as they are made: seldom, late and coarse.
#include "hipscope/mean_power.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>
#include <vector>

namespace hipscope {
namespace {

// A sensor that is renewed every `update` seconds and asked every `interval`, over `window` seconds
// of a power that is `watts(t)`.
struct Sensor {
  double window = 1;
  double update = 0.1;
  double interval = 0.005;
  double step_watts = 0.001;
  std::function<double(double)> watts = [](double /*t*/) { return 300; };
};

std::vector<PowerReading> read(const Sensor& sensor, bool counts, bool samples) {
  std::vector<PowerReading> readings;
  for (double t = 0; t < sensor.window; t += sensor.interval) {
    const double renewed = std::floor(t / sensor.update) * sensor.update;
    double joules = 1e6;
    constexpr double dt = 0.001;
    for (double at = -sensor.update; at < renewed; at += dt) {
      joules += sensor.watts(at) * dt;
    }
    PowerReading reading{.seconds = 100 + t};
    if (counts) {
      reading.joules = joules;
    }
    if (samples) {
      reading.watts = std::round(sensor.watts(renewed) / sensor.step_watts) * sensor.step_watts;
    }
    readings.push_back(reading);
  }
  return readings;
}

TEST(MeanPowerTest, ACounterThatIsRenewedSeldomIsReadBetweenItsChanges) {
  const auto power = mean_power(read({}, true, false));
  ASSERT_TRUE(power.has_value());
  EXPECT_TRUE(power->by_counter);
  EXPECT_NEAR(power->watts, 300, 3 * power->error);
  EXPECT_NEAR(power->watts, 300, 3);
  EXPECT_LT(power->error, 5);
  EXPECT_GT(power->error, 0.1);
}

TEST(MeanPowerTest, ReadingSeldomMakesTheErrorLarger) {
  const auto often = mean_power(read({}, true, false));
  const auto seldom = mean_power(read({.interval = 0.05}, true, false));
  EXPECT_GT(seldom->error, 3 * often->error);
}

TEST(MeanPowerTest, ADriftWithinTheWindowIsInTheError) {
  const auto drifting = [](double t) { return 300 + 60 * t; };
  const auto power = mean_power(read({.watts = drifting}, true, false));
  EXPECT_NEAR(power->watts, 330, 8);
  EXPECT_GT(power->error, 10);  // halves differ by 30 W or nearly so
  EXPECT_LT(power->error, 20);
}

TEST(MeanPowerTest, WithoutACounterSamplesAreTaken) {
  const auto power = mean_power(read({.step_watts = 1}, false, true));
  ASSERT_TRUE(power.has_value());
  EXPECT_FALSE(power->by_counter);
  EXPECT_NEAR(power->watts, 300, 0.01);
  EXPECT_GE(power->error, 0.5);  // a sensor that never moves may be coarse
}

TEST(MeanPowerTest, SamplesThatScatterSayHowExactTheyAre) {
  std::mt19937 random(1);
  std::normal_distribution<double> noise(300, 20);
  std::vector<PowerReading> readings;
  for (int i = 0; i < 200; ++i) {
    const double watts = noise(random);
    for (int repeat = 0; repeat < 20; ++repeat) {  // the same sample, read again
      readings.push_back({.seconds = 0.1 * i + 0.005 * repeat, .watts = watts});
    }
  }
  const auto all = mean_power(readings);
  const auto few = mean_power(std::span(readings).first(400));
  EXPECT_NEAR(all->watts, 300, 3 * all->error);
  EXPECT_NEAR(few->watts, 300, 3 * few->error);
  EXPECT_LT(all->error, 4);
  EXPECT_GT(few->error, 3);  // 20 samples, and not 400
}

TEST(MeanPowerTest, TooFewChangesAreNoPower) {
  EXPECT_FALSE(mean_power({}).has_value());
  EXPECT_FALSE(mean_power(read({.window = 0.25}, true, false)).has_value());
  EXPECT_FALSE(mean_power(read({.window = 0.012}, false, true)).has_value());
  const auto both = mean_power(read({.window = 0.25}, true, true));
  ASSERT_TRUE(both.has_value());
  EXPECT_FALSE(both->by_counter);
}

TEST(MeanPowerTest, HalfOfWhatABaseDriftsIsInItsError) {
  const MeanPower before{.watts = 70, .error = 1};
  const MeanPower after{.watts = 90, .error = 1};
  const auto mean = mean_of(before, after);
  EXPECT_EQ(mean->watts, 80);
  EXPECT_GT(mean->error, 10);
  EXPECT_LT(mean->error, 10.2);
  EXPECT_EQ(mean_of(before, std::nullopt)->watts, 70);
  EXPECT_FALSE(mean_of(std::nullopt, std::nullopt).has_value());
}

TEST(MeanPowerTest, WhatIsLessThanTwiceItsErrorIsNotResolved) {
  const MeanPower base{.watts = 80, .error = 4};
  const NetEnergy clear = net_energy({.watts = 480, .error = 3}, base, 1e13);
  EXPECT_NEAR(clear.joules, 40e-12, 1e-15);
  EXPECT_NEAR(clear.error, 0.5e-12, 1e-15);
  EXPECT_TRUE(clear.is_resolved());
  EXPECT_FALSE(net_energy({.watts = 89, .error = 3}, base, 1e13).is_resolved());
  EXPECT_FALSE(net_energy({.watts = 60, .error = 3}, base, 1e13).is_resolved());
}

// Turns of three loads of 200, 300 and 400 W, each with what `off` says of the turn and the load.
std::vector<std::vector<MeanPower>> turns_of(int count,
                                             const std::function<double(int, int)>& off) {
  std::vector<std::vector<MeanPower>> turns(static_cast<std::size_t>(count));
  for (int turn = 0; turn < count; ++turn) {
    for (int load = 0; load < 3; ++load) {
      turns[static_cast<std::size_t>(turn)].push_back(
          {.watts = (200 + 100 * load) * (1 + off(turn, load)), .error = 30, .by_counter = true});
    }
  }
  return turns;
}

TEST(MeanPowerTest, WhatATurnDoesToAllLoadsAlikeIsNotInTheError) {
  const auto means = mean_of_turns(turns_of(3, [](int turn, int) { return 0.05 * (turn - 1); }));
  ASSERT_EQ(means.size(), 3U);
  EXPECT_NEAR(means[2].watts, 400, 1e-9);
  EXPECT_LT(means[2].error, 1e-9);
}

TEST(MeanPowerTest, TheErrorOfTurnsIsWhatTheyLeave) {
  std::mt19937 random(7);
  std::normal_distribution<double> noise(0, 0.02);
  double squares = 0;
  double claimed = 0;
  constexpr int trials = 400;
  for (int trial = 0; trial < trials; ++trial) {
    const auto means = mean_of_turns(turns_of(3, [&](int, int) { return noise(random); }));
    squares += std::pow(means[1].watts - 300, 2) / trials;
    claimed += std::pow(means[1].error, 2) / trials;
  }
  EXPECT_NEAR(std::sqrt(squares), 300 * 0.02 / std::sqrt(3), 0.4);
  EXPECT_NEAR(std::sqrt(claimed), std::sqrt(squares), 0.4);
}

TEST(MeanPowerTest, OfOneTurnTheErrorIsTheWindows) {
  const auto means = mean_of_turns(turns_of(1, [](int, int) { return 0; }));
  EXPECT_EQ(means[0].watts, 200);
  EXPECT_EQ(means[0].error, 30);
  EXPECT_TRUE(mean_of_turns({}).empty());
}

TEST(MeanPowerTest, ADifferenceLeavesOutWhatBothHaveInCommon) {
  const MeanPower base = {.watts = 200, .error = 50};
  const NetEnergy same =
      difference({.watts = 440, .error = 3}, 4, {.watts = 400, .error = 4}, 4, base);
  EXPECT_DOUBLE_EQ(same.joules, 10);
  EXPECT_DOUBLE_EQ(same.error, 1.25);
  // 200 W beyond the base at a rate of 4, 100 W at a rate of 2: the same for each.
  const NetEnergy slower =
      difference({.watts = 400, .error = 0}, 4, {.watts = 300, .error = 0}, 2, base);
  EXPECT_DOUBLE_EQ(slower.joules, 0);
  EXPECT_DOUBLE_EQ(slower.error, 12.5);
}

TEST(MeanPowerTest, BoardsTogetherTakeTheSumOfTheirPower) {
  const std::vector<MeanPower> boards = {{.watts = 100, .error = 3, .by_counter = true},
                                         {.watts = 250, .error = 4, .by_counter = false}};
  const MeanPower sum = sum_of(boards);
  EXPECT_EQ(sum.watts, 350);
  EXPECT_EQ(sum.error, 5);
  EXPECT_FALSE(sum.by_counter);
}

}  // namespace
}  // namespace hipscope
