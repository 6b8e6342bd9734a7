// What lds_latency concludes from made curves.
#include <gtest/gtest.h>

#include <vector>

#include "lds_latency_findings.h"
#include "made_curve.h"
#include "made_results.h"

namespace hipscope {
namespace {

using lds_latency::net_row;
using lds_latency::raw_row;

MadeResults chases(double by_counter, double by_events) {
  MadeResults made("lds_latency");
  made.curve("chase", "latency",
             std::vector<CurvePoint>{{.x = raw_row, .y = by_counter + 8},
                                     {.x = net_row, .y = by_counter}});
  made.curve(
      "chase", "latency by events",
      std::vector<CurvePoint>{{.x = raw_row, .y = by_events + 8}, {.x = net_row, .y = by_events}});
  lds_latency::conclude(made.results());
  return made;
}

TEST(LdsLatencyTest, CounterAndEventsThatAgreeAreBelieved) {
  const MadeResults made = chases(50, 51);
  EXPECT_EQ(made.inference("LDS latency").value, 50);
  EXPECT_NEAR(made.inference("LDS latency").confidence, 0.98, 1e-9);
  EXPECT_EQ(made.inference("LDS latency by index").value, 58);
  EXPECT_TRUE(made.inference("shuffle latency").name.empty());
}

TEST(LdsLatencyTest, CounterAndEventsThatDisagreeTellNothing) {
  const MadeResults made = chases(50, 60);
  EXPECT_FALSE(made.inference("LDS latency").value.has_value());
  EXPECT_EQ(made.inference("LDS latency").confidence, 0);
}

TEST(LdsLatencyTest, AShuffleIsTheBareOne) {
  MadeResults made("lds_latency");
  const std::vector<CurvePoint> rows = {
      {.x = raw_row, .y = 30}, {.x = net_row, .y = 24}, {.x = 3, .y = 23}};
  made.curve("lanes", "latency", rows).curve("lanes", "latency by events", rows);
  lds_latency::conclude(made.results());
  EXPECT_EQ(made.inference("shuffle latency").value, 24);
  EXPECT_EQ(made.inferences().size(), 1U);
}

TEST(LdsLatencyTest, NothingIsConcludedFromNothing) {
  MadeResults made("lds_latency");
  lds_latency::conclude(made.results());
  EXPECT_TRUE(made.inferences().empty());
}

}  // namespace
}  // namespace hipscope
