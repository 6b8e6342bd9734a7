// What soak concludes from made curves over time.
#include "findings.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "made_curve.h"
#include "made_results.h"

namespace hipscope {
namespace {

using soak::find_steady_state;

// Tenths of the first second, then seconds.
std::vector<double> moments(double last) {
  std::vector<double> xs;
  for (int i = 1; i <= 10; ++i) {
    xs.push_back(0.1 * i);
  }
  for (double x = 2; x <= last; x += 1) {
    xs.push_back(x);
  }
  return xs;
}

// Falls by the share `loss` with this time constant.
std::function<double(double)> falling(double start, double loss, double seconds) {
  return [=](double t) { return start * (1 - loss * (1 - std::exp(-t / seconds))); };
}

void add(MadeResults& made, const std::string& sweep, const std::string& value,
         const std::function<double(double)>& y, double noise = 0.001) {
  made.curve(sweep, value, made_curve(moments(60), y, noise));
}

TEST(SoakTest, TimeToSteadyStateFollowsTheTimeConstant) {
  const auto found = find_steady_state(made_curve(moments(60), falling(800, 0.1, 6), 0.0005));
  ASSERT_TRUE(found.has_value());
  EXPECT_NEAR(found->steady, 720, 2);
  EXPECT_GT(found->start, 785);
  // Within half of a percent of the end: 6 ln(0.1 / 0.9 / 0.005) s.
  EXPECT_NEAR(found->seconds, 18.6, 3);
}

TEST(SoakTest, ASteadyRateIsSteadyFromTheStart) {
  for (const double noise : {0.0, 0.001, 0.02}) {
    const auto found = find_steady_state(made_curve(
        moments(60), [](double /*t*/) { return 800; }, noise));
    ASSERT_TRUE(found.has_value()) << noise;
    EXPECT_EQ(found->seconds, 0) << noise;
  }
}

TEST(SoakTest, ASingleSlowRowIsNoChange) {
  auto curve = made_curve(
      moments(60), [](double /*t*/) { return 800; }, 0.0005);
  curve[30].y = 500;
  EXPECT_EQ(find_steady_state(curve)->seconds, 0);
  curve[31].y = 500;
  EXPECT_EQ(find_steady_state(curve)->seconds, curve[31].x);
}

TEST(SoakTest, WhatStillFallsIsNoSteadyState) {
  EXPECT_FALSE(find_steady_state(made_curve(moments(60), falling(800, 0.3, 60), 0.0005)));
  MadeResults made("soak");
  add(made, "multiply", "rate", falling(800, 0.3, 60));
  soak::conclude(made.results());
  const Inference time = made.inference("time to steady state, multiply");
  EXPECT_FALSE(time.name.empty());
  EXPECT_FALSE(time.value.has_value());
  EXPECT_TRUE(made.inference("loss to the steady state, multiply").name.empty());
}

TEST(SoakTest, ALossByTheClockIsToldFromOneByCycles) {
  for (const bool is_clock : {true, false}) {
    MadeResults made("soak");
    const auto lost = falling(1, 0.2, 5);
    add(made, "stream", "rate", [&](double t) { return 4000 * lost(t); });
    add(made, "stream", "clock", [&](double t) { return 1900 * (is_clock ? lost(t) : 1.0); });
    add(
        made, "stream", "held back", [&](double t) { return is_clock && t > 3 ? 100 : 0; }, 0);
    soak::conclude(made.results());
    const Inference loss = made.inference("loss to the steady state, stream");
    ASSERT_TRUE(loss.value.has_value());
    EXPECT_NEAR(*loss.value, 19, 2);
    EXPECT_EQ(loss.statement.find("the chip was held back") != std::string::npos, is_clock);
    EXPECT_EQ(loss.statement.find("took more cycles") != std::string::npos, !is_clock);
    EXPECT_EQ(loss.evidence.back().find("first in the row of 4 s") != std::string::npos, is_clock);
    EXPECT_TRUE(made.inference("time to steady state, multiply").name.empty());
  }
}

TEST(SoakTest, NoLossIsNoValue) {
  MadeResults made("soak");
  add(made, "multiply", "rate", [](double /*t*/) { return 800; });
  soak::conclude(made.results());
  EXPECT_EQ(made.inference("time to steady state, multiply").value, 0);
  const Inference loss = made.inference("loss to the steady state, multiply");
  EXPECT_FALSE(loss.name.empty());
  EXPECT_FALSE(loss.value.has_value());
}

TEST(SoakTest, FewRowsAndNoneSayNothing) {
  MadeResults made("soak");
  soak::conclude(made.results());
  made.curve("multiply", "rate", made_curve({0.1, 0.2, 0.3}, [](double /*t*/) { return 800; }));
  soak::conclude(made.results());
  EXPECT_TRUE(made.inferences().empty());
}

}  // namespace
}  // namespace hipscope
