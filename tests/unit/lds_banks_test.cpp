// What lds_banks concludes from made curves.
#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "lds_banks_findings.h"
#include "made_curve.h"
#include "made_results.h"

namespace hipscope {
namespace {

// The dwords that one of `banks` must serve when lane i of a wave of 64 asks for dword i * stride.
double ways(double stride, unsigned banks) {
  const auto met = banks / std::gcd(static_cast<unsigned>(stride), banks);
  return met >= 64 ? 1 : 64.0 / met;
}

MadeResults strides(unsigned banks_of_latency, unsigned banks_of_throughput) {
  MadeResults made("lds_banks");
  const std::vector<double> all = multiples(1, 64);
  made.curve("chase-4", "latency", made_curve(all, [=](double stride) {
               return 50 + 2 * (ways(stride, banks_of_latency) - 1);
             }));
  made.curve("loads-4", lds_banks::throughput,
             made_curve(all, [=](double stride) { return ways(stride, banks_of_throughput); }));
  lds_banks::conclude(made.results());
  return made;
}

TEST(LdsBanksTest, LatencyAndThroughputThatAgreeTellTheBanks) {
  const MadeResults made = strides(32, 32);
  EXPECT_EQ(made.inference("LDS banks").value, 32);
  EXPECT_GT(made.inference("LDS banks").confidence, 0.8);
  EXPECT_NEAR(*made.inference("cycles per extra conflict way").value, 2, 1e-6);
}

TEST(LdsBanksTest, LatencyAndThroughputThatDisagreeTellNothing) {
  const MadeResults made = strides(32, 16);
  EXPECT_FALSE(made.inference("LDS banks").value.has_value());
  EXPECT_FALSE(made.inference("cycles per extra conflict way").value.has_value());
}

TEST(LdsBanksTest, TheWidthIsWhereLanesConflictLeast) {
  MadeResults made("lds_banks");
  made.curve("width", lds_banks::throughput,
             made_curve({1, 2, 4, 8, 16, 32}, [](double x) { return x == 4 ? 2.0 : 4.0; }));
  lds_banks::conclude(made.results());
  EXPECT_EQ(made.inference("LDS bank width").value, 4);
  MadeResults flat("lds_banks");
  flat.curve("width", lds_banks::throughput,
             made_curve({1, 2, 4, 8, 16, 32}, [](double) { return 4.0; }));
  lds_banks::conclude(flat.results());
  EXPECT_FALSE(flat.inference("LDS bank width").value.has_value());
}

TEST(LdsBanksTest, TheBandwidthIsTheBestOfAllWidths) {
  MadeResults made("lds_banks");
  made.curve("loads-4", "rate", std::vector<CurvePoint>{{.x = 1, .y = 120}, {.x = 2, .y = 60}});
  made.curve("loads-16", "rate", std::vector<CurvePoint>{{.x = 4, .y = 127}});
  lds_banks::conclude(made.results());
  EXPECT_EQ(made.inference("LDS read bandwidth").value, 127);
}

TEST(LdsBanksTest, NothingIsConcludedFromNothing) {
  MadeResults made("lds_banks");
  lds_banks::conclude(made.results());
  EXPECT_TRUE(made.inferences().empty());
}

}  // namespace
}  // namespace hipscope
