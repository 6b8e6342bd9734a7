// What energy concludes from made rows.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "energy_findings.h"
#include "made_results.h"

namespace hipscope {
namespace {

using energy::Data;

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
const energy::Things fmas = {"FP32 vector FMA", "FP64 vector FMA"};
const energy::Things matrix = {"FP16 matrix FMA"};
const energy::Things bytes = {"LDS", "L2"};

void conclude(MadeResults& made) { energy::conclude(made.results(), fmas, matrix, bytes); }

// One thing's row: what it takes over the idle board and over one that spins, with errors.
void add_row(MadeResults& made, const std::string& sweep, double x, double energy, double error,
             double added, double added_error) {
  const auto add = [&](const std::string& value, double y) {
    made.curve(sweep, value, std::vector<CurvePoint>{{.x = x, .y = y}});
  };
  add("energy", energy);
  add("error", error);
  add("added energy", added);
  add("added error", added_error);
}

TEST(EnergyTest, RandomBitsAreTheEnergyAndTheOthersItsEvidence) {
  MadeResults made("energy");
  add_row(made, "fma", energy::row_of(1, Data::zeros), 10, 0.2, 6, 0.2);
  add_row(made, "fma", energy::row_of(1, Data::integers), 14, 0.2, 10, 0.2);
  add_row(made, "fma", energy::row_of(1, Data::random), 20, 0.5, 16, 0.4);
  conclude(made);
  const Inference found = made.inference("energy per FP64 vector FMA");
  EXPECT_EQ(found.value, 20);
  EXPECT_EQ(found.unit, "pJ");
  ASSERT_TRUE(found.interval.has_value());
  EXPECT_DOUBLE_EQ(found.interval->low, 19);
  EXPECT_DOUBLE_EQ(found.interval->high, 21);
  ASSERT_EQ(found.evidence.size(), 3U);
  EXPECT_EQ(found.evidence[0], "zeros: 10 +- 0.2 pJ; over a board that spins: 6 +- 0.2 pJ");
  EXPECT_EQ(found.statement, "with random bits, net of the idle board");
  EXPECT_TRUE(made.inference("energy per FP32 vector FMA").name.empty());
}

TEST(EnergyTest, WhatIsLessThanTheNoiseIsNotResolved) {
  MadeResults made("energy");
  add_row(made, "bytes", energy::row_of(0, Data::random), unknown, 0.3, unknown, 0.3);
  conclude(made);
  const Inference found = made.inference("energy per byte from LDS");
  EXPECT_FALSE(found.name.empty());
  EXPECT_FALSE(found.value.has_value());
  EXPECT_EQ(found.statement.find("not resolved"), 0U);
  ASSERT_EQ(found.evidence.size(), 1U);
  EXPECT_NE(found.evidence[0].find("under 0.6 pJ"), std::string::npos);
}

TEST(EnergyTest, PowerWithoutWorkHasAnInterval) {
  MadeResults made("energy");
  made.curve("power", "power",
             std::vector<CurvePoint>{{.x = energy::idle_row, .y = 75},
                                     {.x = energy::spinning_row, .y = 140}});
  made.curve("power", "power error",
             std::vector<CurvePoint>{{.x = energy::idle_row, .y = 2},
                                     {.x = energy::spinning_row, .y = 1}});
  conclude(made);
  EXPECT_EQ(made.inference("idle power").value, 75);
  EXPECT_EQ(made.inference("idle power").interval->high, 79);
  EXPECT_EQ(made.inference("launch power").value, 140);
  EXPECT_TRUE(made.inference("energy per launch").name.empty());
}

TEST(EnergyTest, ALaunchHasAnEnergyOrIsNotResolved) {
  for (const double joules : {40.0, unknown}) {
    MadeResults made("energy");
    made.curve("power", "energy",
               std::vector<CurvePoint>{{.x = energy::launching_row, .y = joules}});
    made.curve("power", "error", std::vector<CurvePoint>{{.x = energy::launching_row, .y = 3}});
    conclude(made);
    EXPECT_EQ(made.inference("energy per launch").value.has_value(), !std::isnan(joules));
    EXPECT_FALSE(made.inference("energy per launch").name.empty());
  }
}

TEST(EnergyTest, ARegistersByteIsTheDifferenceOfTwoFmas) {
  MadeResults made("energy");
  add_row(made, "registers", 1, 5, 0.1, 3, 0.03);
  add_row(made, "registers", 2, 6, 0.1, 3.8, 0.04);
  conclude(made);
  const Inference found = made.inference("energy per byte from registers");
  ASSERT_TRUE(found.value.has_value());
  EXPECT_NEAR(*found.value, 0.1, 1e-9);
  EXPECT_NEAR(found.interval->high - found.interval->low, 4 * 0.05 / 8, 1e-9);
}

TEST(EnergyTest, ARegistersByteMayBeLostInTheNoise) {
  MadeResults made("energy");
  add_row(made, "registers", 1, 5, 0.1, 3, 0.3);
  add_row(made, "registers", 2, 6, 0.1, 3.1, 0.3);
  conclude(made);
  const Inference found = made.inference("energy per byte from registers");
  EXPECT_FALSE(found.name.empty());
  EXPECT_FALSE(found.value.has_value());
}

TEST(EnergyTest, TheSumsDeviationIsRelativeToWhatWasMeasured) {
  EXPECT_DOUBLE_EQ(energy::deviation_of(330, 300), 0.1);
  EXPECT_DOUBLE_EQ(energy::deviation_of(150, 300), -0.5);
  MadeResults made("energy");
  made.curve("sum", "deviation", std::vector<CurvePoint>{{.x = energy::predicted_row, .y = -4}});
  conclude(made);
  EXPECT_EQ(made.inference("deviation of the sum of energies").value, -4);
}

TEST(EnergyTest, NothingIsConcludedFromNothing) {
  MadeResults made("energy");
  conclude(made);
  EXPECT_TRUE(made.inferences().empty());
}

}  // namespace
}  // namespace hipscope
