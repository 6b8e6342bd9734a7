// What atomics concludes from made curves.
#include "findings.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "made_curve.h"
#include "made_results.h"

namespace hipscope {
namespace {

constexpr double clock_mhz = 2000;

// A word that takes `most` G/s, of which each CU can ask for `each`.
MadeResults word(double most, double each) {
  MadeResults made("atomics", fake::describe(), clock_mhz);
  const std::vector<double> units = {1, 2, 4, 8, 16, 32, 64, 128, 132};
  made.curve("units", "one address",
             made_curve(units, [&](double x) { return std::min(most, each * x); }));
  atomics::conclude(made.results());
  return made;
}

TEST(AtomicsTest, AWordTakesWhatItTakesHoweverManyCusAsk) {
  const Inference found = word(3, 1).inference("additions at one word of L2");
  ASSERT_TRUE(found.value.has_value());
  EXPECT_NEAR(*found.value, 3, 1e-9);
  EXPECT_EQ(found.evidence.at(0), "1.5 lanes per cycle of the 132 CUs");
  EXPECT_GT(found.confidence, 0.9);
  EXPECT_NE(found.statement.find("from 4 CUs on"), std::string::npos) << found.statement;
}

TEST(AtomicsTest, ARateThatStillGrowsIsNotTheWords) {
  const Inference found = word(1e9, 1).inference("additions at one word of L2");
  EXPECT_EQ(found.name, "additions at one word of L2");
  EXPECT_FALSE(found.value.has_value());
}

TEST(AtomicsTest, ARateThatFallsWithTheCusIsNotTheWords) {
  MadeResults made("atomics", fake::describe(), clock_mhz);
  made.curve("units", "one address",
             made_curve({1, 2, 4, 8, 16, 32}, [](double x) { return 4 / std::sqrt(x); }));
  atomics::conclude(made.results());
  EXPECT_FALSE(made.inference("additions at one word of L2").value.has_value());
}

// One point may be slow, but not the last: there the rate may begin to fall.
TEST(AtomicsTest, ADisturbedPointIsLeftOutUnlessItIsTheLast) {
  for (const double slow : {64.0, 132.0}) {
    MadeResults made("atomics", fake::describe(), clock_mhz);
    made.curve("units", "one address",
               made_curve({1, 2, 4, 8, 16, 32, 64, 128, 132},
                          [&](double x) { return x == slow ? 1.5 : std::min(3.0, x); }));
    atomics::conclude(made.results());
    EXPECT_EQ(made.inference("additions at one word of L2").value.has_value(), slow == 64) << slow;
  }
}

TEST(AtomicsTest, ARateThatNothingElseAgreesWithIsUnsure) {
  for (const double in_a_line : {16.0, 8.0}) {
    MadeResults made("atomics", fake::describe(), clock_mhz);
    made.curve("lds", "spread", made_curve({1, 21}, [](double x) { return x == 1 ? 16 : 10; }));
    made.curve("lds", "one line", made_curve({1, 21}, [&](double) { return in_a_line; }));
    made.curve("lds", "one address", made_curve({1}, [](double) { return 2; }));
    atomics::conclude(made.results());
    EXPECT_EQ(made.inference("additions in LDS").confidence > 0.5, in_a_line == 16) << in_a_line;
  }
}

TEST(AtomicsTest, ALoopShowsInTheRateToo) {
  for (const double slower : {1.0, 3.0}) {
    MadeResults made("atomics", fake::describe(), clock_mhz);
    made.curve("latency", "LDS", made_curve({1, 4}, [](double x) { return x < 4 ? 40 : 120; }));
    made.curve("lds", "spread",
               made_curve({1, 4}, [&](double x) { return x < 4 ? 32 : 32 / slower; }));
    atomics::conclude(made.results());
    EXPECT_EQ(made.inference("FP32 addition in LDS over INT32's").confidence > 0.5, slower == 3);
  }
}

TEST(AtomicsTest, FewCusTellNothing) {
  MadeResults made("atomics", fake::describe(), clock_mhz);
  made.curve("units", "one address", made_curve({1, 2, 4}, [](double) { return 1; }));
  atomics::conclude(made.results());
  EXPECT_TRUE(made.inferences().empty());
}

// One lane's additions in LDS take so many cycles.
MadeResults lanes(double integer, double real) {
  MadeResults made("atomics", fake::describe(), clock_mhz);
  made.curve("latency", "LDS",
             made_curve({1, 3, 4, 5}, [&](double x) { return x < 4 ? integer : real; }));
  atomics::conclude(made.results());
  return made;
}

TEST(AtomicsTest, ALoopIsToldFromAnInstruction) {
  const Inference loop = lanes(40, 120).inference("FP32 addition in LDS over INT32's");
  EXPECT_NEAR(loop.value.value_or(0), 3, 1e-9);
  EXPECT_NE(loop.statement.find("a loop"), std::string::npos);
  const Inference instruction = lanes(40, 44).inference("FP32 addition in LDS over INT32's");
  EXPECT_NEAR(instruction.value.value_or(0), 1.1, 1e-9);
  EXPECT_NE(instruction.statement.find("itself, as"), std::string::npos);
  EXPECT_FALSE(lanes(40, 58).inference("FP32 addition in LDS over INT32's").value.has_value());
}

TEST(AtomicsTest, TheRateOfLdsIsThatOfIntegersEachAtItsWord) {
  MadeResults made("atomics", fake::describe(), clock_mhz);
  made.curve("lds", "spread", made_curve({1, 4, 21}, [](double x) { return 16 / x; }));
  made.curve("lds", "one address", made_curve({1, 4, 21}, [](double) { return 2; }));
  atomics::conclude(made.results());
  EXPECT_EQ(made.inference("additions in LDS").value, 16);
  EXPECT_EQ(made.inferences().size(), 1U);
}

TEST(AtomicsTest, WhatWasNotCountedTellsNothing) {
  MadeResults made("atomics", fake::describe(), clock_mhz);
  const double none = std::numeric_limits<double>::quiet_NaN();
  made.curve("lds", "spread", made_curve({1}, [&](double) { return none; }));
  made.curve("lds", "one address", made_curve({1}, [&](double) { return none; }));
  made.curve("latency", "LDS", made_curve({1, 4}, [&](double) { return none; }));
  atomics::conclude(made.results());
  EXPECT_TRUE(made.inferences().empty());
}

TEST(AtomicsTest, NothingIsConcludedFromNothing) {
  MadeResults made("atomics");
  atomics::conclude(made.results());
  EXPECT_TRUE(made.inferences().empty());
}

}  // namespace
}  // namespace hipscope
