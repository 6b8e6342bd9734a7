// What vgpr_limit concludes from made curves, and the chains that its waves wait for.
#include "findings.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "hop_chains.h"
#include "made_curve.h"
#include "made_results.h"

namespace hipscope {
namespace {

// A thread has `budget` registers, of which the loop takes 6; each value more costs scratch.
MadeResults rings(double budget, double noise = 0) {
  MadeResults made("vgpr_limit");
  const std::vector<double> values = {8, 16, 32, 64, 96, 128, 160, 192, 240, 248, 256, 320, 512};
  const auto spilled = [=](double x) { return std::max(0.0, x + 6 - budget); };
  for (const std::string sweep : {"live-256", "live-1024"}) {
    made.curve(sweep, "FMA rate",
               made_curve(
                   values, [&](double x) { return 128 / (1 + spilled(x)); }, noise));
    made.curve(sweep, "registers",
               made_curve(values, [=](double x) { return std::min(x + 6, budget); }));
    made.curve(sweep, "scratch", made_curve(values, [&](double x) { return 4 * spilled(x); }));
  }
  return made;
}

TEST(VgprLimitTest, TheBudgetIsRead) {
  for (const double noise : {0.0, 0.01}) {
    MadeResults made = rings(134, noise);
    vgpr_limit::conclude(made.results());
    for (const std::string threads : {"256", "1024"}) {
      const Inference budget = made.inference("register budget per thread, blocks of " + threads);
      EXPECT_EQ(budget.value, 134) << threads;
      EXPECT_GT(budget.confidence, 0.9) << threads;
      EXPECT_EQ(budget.evidence.at(0),
                "by the compiler's report 160 values need 128 bytes of scratch per thread, and "
                "fewer none");
    }
  }
}

TEST(VgprLimitTest, WhereAllFitsThereIsNoBudget) {
  MadeResults made = rings(1000, 0.01);
  vgpr_limit::conclude(made.results());
  EXPECT_EQ(made.inferences().size(), 2U);
  for (const Inference& inference : made.inferences()) {
    EXPECT_FALSE(inference.value.has_value()) << inference.name;
  }
}

// Waves of 64 lanes on a CU with `file` registers, which keeps track of 40 waves at most.
MadeResults waiting(double file) {
  MadeResults made("vgpr_limit");
  const auto waves = [=](double registers) {
    return std::min(40.0, std::floor(file / 64 / registers));
  };
  made.curve("waiting", "registers", made_curve(multiples(8, 240), [](double x) { return x; }));
  made.curve("waiting", "counted", made_curve(multiples(8, 240), waves));
  vgpr_limit::conclude(made.results());
  return made;
}

TEST(VgprLimitTest, TheRegisterFileIsWhatWavesInPlaceHold) {
  const MadeResults made = waiting(65536);
  const Inference file = made.inference("registers of a CU");
  EXPECT_EQ(file.value, 65536);
  EXPECT_GT(file.confidence, 0.9);
  EXPECT_EQ(file.evidence.at(0).substr(0, 43), "40 waves up to 24 registers, 32 up to 32, 2");
}

TEST(VgprLimitTest, WavesThatStayInPlaceTellNoFile) {
  const MadeResults made = waiting(1e9);
  EXPECT_EQ(made.inference("registers of a CU").unit, "registers");
  EXPECT_FALSE(made.inference("registers of a CU").value.has_value());
}

TEST(VgprLimitTest, NothingIsConcludedFromNothing) {
  expect_nothing_from_nothing("vgpr_limit", vgpr_limit::conclude);
}

TEST(HopChainsTest, EachLineIsOneCycle) {
  constexpr unsigned nodes = 32;
  const std::vector<unsigned> next = hop_chains::make(3, nodes, 7);
  for (unsigned line = 0; line < 3; ++line) {
    unsigned node = line * nodes;
    for (unsigned hop = 1; hop < nodes; ++hop) {
      node = next[node];
      EXPECT_NE(node, line * nodes) << hop;
      EXPECT_EQ(node / nodes, line);
    }
    EXPECT_EQ(next[node], line * nodes);
  }
}

TEST(HopChainsTest, EndsFollowTheHops) {
  constexpr unsigned nodes = 32;
  const std::vector<unsigned> next = hop_chains::make(2, nodes, 7);
  const std::vector<unsigned> ends = hop_chains::ends(next, nodes, 2 * nodes + 3);
  for (unsigned node = 0; node < next.size(); ++node) {
    EXPECT_EQ(ends[node], next[next[next[node]]]);
  }
}

}  // namespace
}  // namespace hipscope
