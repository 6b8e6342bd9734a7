// What energy concludes from made rows.
#include "findings.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "made_results.h"

namespace hipscope {
namespace {

using energy::Data;

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
const energy::Things vector_fmas = {"FP32 vector FMA", "FP64 vector FMA"};
const energy::Things matrix = {"FP16 matrix FMA"};
const energy::Things memories = {"LDS", "L2"};

const energy::Things peers = {"peer link, memory to memory"};

void conclude(MadeResults& made) {
  energy::conclude(made.results(), vector_fmas, matrix, memories, peers);
}

// One thing's row: what it takes over the idle board, with its error.
void add_row(MadeResults& made, const std::string& sweep, double x, double energy, double error) {
  made.curve(sweep, "energy", std::vector<CurvePoint>{{.x = x, .y = energy}});
  made.curve(sweep, "error", std::vector<CurvePoint>{{.x = x, .y = error}});
}

TEST(EnergyTest, RandomBitsAreTheEnergyAndTheOthersItsEvidence) {
  MadeResults made("energy");
  add_row(made, "fma", energy::row_of(1, Data::zeros), 10, 0.2);
  add_row(made, "fma", energy::row_of(1, Data::integers), 14, 0.2);
  add_row(made, "fma", energy::row_of(1, Data::random), 20, 0.5);
  conclude(made);
  const Inference found = made.inference("energy per FP64 vector FMA");
  EXPECT_EQ(found.value, 20);
  EXPECT_EQ(found.unit, "pJ");
  ASSERT_TRUE(found.interval.has_value());
  EXPECT_DOUBLE_EQ(found.interval->low, 19);
  EXPECT_DOUBLE_EQ(found.interval->high, 21);
  ASSERT_EQ(found.evidence.size(), 3U);
  EXPECT_EQ(found.evidence[0], "zeros: 10 +- 0.2 pJ");
  EXPECT_EQ(found.statement, "with random bits, net of the idle board");
  EXPECT_TRUE(made.inference("energy per FP32 vector FMA").name.empty());
}

TEST(EnergyTest, WhatIsLessThanTheNoiseIsNotResolved) {
  MadeResults made("energy");
  add_row(made, "bytes", energy::row_of(0, Data::random), unknown, 0.3);
  conclude(made);
  const Inference found = made.inference("energy per byte from LDS");
  EXPECT_FALSE(found.name.empty());
  EXPECT_FALSE(found.value.has_value());
  EXPECT_EQ(found.statement.find("not resolved"), 0U);
  ASSERT_EQ(found.evidence.size(), 1U);
  EXPECT_NE(found.evidence[0].find("under 0.6 pJ"), std::string::npos);
}

TEST(EnergyTest, TheIdleBoardsPowerHasAnInterval) {
  MadeResults made("energy");
  made.curve("power", "power", std::vector<CurvePoint>{{energy::idle_row, 75}, {2, 140}});
  made.curve("power", "power error", std::vector<CurvePoint>{{energy::idle_row, 2}, {2, 1}});
  conclude(made);
  EXPECT_EQ(made.inference("idle power").value, 75);
  EXPECT_EQ(made.inference("idle power").interval->high, 79);
}

// What an FMA with operands from other registers takes more, with its error.
void add_difference(MadeResults& made, energy::Operands over, double x, double joules,
                    double error) {
  const std::string name = energy::difference_name(over);
  made.curve("registers", name, std::vector<CurvePoint>{{.x = x, .y = joules}});
  made.curve("registers", name + " error", std::vector<CurvePoint>{{.x = x, .y = error}});
}

DeviceDescription device_with(const std::string& architecture) {
  return fake::describe_with(&DeviceDescription::architecture, architecture);
}

using energy::Operands;

TEST(EnergyTest, ARegistersByteIsWhatOperandsTakeMoreThanFromNearBy) {
  const double x = energy::row_of(Operands::two_others, Data::random);
  for (const auto& [architecture, expected] : {std::pair{"sm_90", 0.2}, std::pair{"gfx90a", 0.3}}) {
    MadeResults made("energy", device_with(architecture));
    add_difference(made, Operands::one_other, x, 0.8, 0.08);
    add_difference(made, Operands::shared, x, 2.4, 0.08);
    for (const Operands over : {Operands::one_other, Operands::shared}) {
      add_difference(made, over, energy::row_of(Operands::two_others, Data::zeros), 0.4, 0.08);
      add_difference(made, over, energy::row_of(energy::other_bits_row, Data::random), 3.2, 0.08);
    }
    conclude(made);
    const Inference found = made.inference("energy per byte from registers");
    ASSERT_TRUE(found.value.has_value()) << architecture;
    EXPECT_NEAR(*found.value, expected, 1e-9);
    const bool is_nvidia = device_with(architecture).architecture == "sm_90";
    const double error = 0.08 / (is_nvidia ? 4 : 8);
    EXPECT_NEAR(found.interval->high - found.interval->low, 4 * error, 1e-9);
    ASSERT_EQ(found.evidence.size(), 3U);
    EXPECT_EQ(found.evidence[1], is_nvidia ? "zeros: 0.1 +- 0.02 pJ" : "zeros: 0.05 +- 0.01 pJ");
  }
}

TEST(EnergyTest, ARegistersByteMayBeLostInTheNoise) {
  MadeResults made("energy", device_with("sm_90"));
  const double x = energy::row_of(Operands::two_others, Data::random);
  add_difference(made, Operands::one_other, x, 0.1, 0.3);
  conclude(made);
  const Inference found = made.inference("energy per byte from registers");
  EXPECT_FALSE(found.name.empty());
  EXPECT_FALSE(found.value.has_value());
  EXPECT_NE(found.statement.find("under 0.15 pJ"), std::string::npos) << found.statement;
}

TEST(EnergyTest, ALinksByteIsCountedFromBothIdleBoards) {
  MadeResults made("energy");
  add_row(made, "peer", energy::row_of(0, Data::zeros), 150, 10);
  add_row(made, "peer", energy::row_of(0, Data::random), 240, 20);
  conclude(made);
  const Inference found = made.inference("energy per byte, peer link, memory to memory");
  EXPECT_EQ(found.value, 240);
  EXPECT_EQ(found.interval->low, 200);
  EXPECT_EQ(found.statement, "with random bits, net of both idle boards");
  EXPECT_EQ(found.evidence,
            (std::vector<std::string>{"zeros: 150 +- 10 pJ", "random bits: 240 +- 20 pJ"}));
}

TEST(EnergyTest, NothingIsConcludedFromNothing) {
  MadeResults made("energy");
  conclude(made);
  EXPECT_TRUE(made.inferences().empty());
}

}  // namespace
}  // namespace hipscope
