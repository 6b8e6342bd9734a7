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

}  // namespace
}  // namespace hipscope
