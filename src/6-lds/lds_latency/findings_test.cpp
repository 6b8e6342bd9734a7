// What lds_latency fills LDS with and expects of it, and what it concludes from made curves.
#include "findings.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "made_curve.h"
#include "made_results.h"
#include "words.h"

namespace hipscope {
namespace {

using lds_latency::net_row;
using lds_latency::raw_row;

// --- Words --------------------------------------------------------------------------------------

using lds_latency::Atomic;
using lds_latency::atomic_ends;
using lds_latency::Words;

TEST(LdsLatencyTest, ARandomCycleGoesThroughAllNodes) {
  for (const unsigned count : {1U, 2U, 64U}) {
    const Words next = lds_latency::random_cycle(count, 3);
    std::set<unsigned> seen;
    for (unsigned step = 0; step < count; ++step) {
      seen.insert(lds_latency::follow(next, 0, step));
    }
    EXPECT_EQ(seen.size(), count);
    EXPECT_EQ(lds_latency::follow(next, 0, count), 0U);
  }
}

TEST(LdsLatencyTest, OnlyANodesLastDwordLeadsOn) {
  EXPECT_EQ(lds_latency::nodes_of({2, 0, 1}, 2, 8), (Words{0, 16, 8, 0, 16, 8}));
  EXPECT_EQ(lds_latency::nodes_of({1, 0}, 1, 1), (Words{1, 0}));
}

TEST(LdsLatencyTest, AtomicsReturnWhatWasThere) {
  // Word 1, operand 1: each sum is the next of Fibonacci's numbers.
  EXPECT_EQ(atomic_ends(Atomic::add, {1, 1}, 1), (Words{1, 2}));
  EXPECT_EQ(atomic_ends(Atomic::add, {1, 1}, 4), (Words{5, 8}));
  EXPECT_EQ(atomic_ends(Atomic::exchange, {7, 9}, 1), (Words{7, 9}));
  EXPECT_EQ(atomic_ends(Atomic::exchange, {7, 9}, 2), (Words{9, 7}));
  EXPECT_EQ(atomic_ends(Atomic::compare_and_swap, {7, 9}, 1), (Words{7, 9}));
  EXPECT_EQ(atomic_ends(Atomic::compare_and_swap, {7, 9}, 3), (Words{7, 9}));
}

TEST(LdsLatencyTest, ARotationStaysInItsRow) {
  EXPECT_EQ(lds_latency::rotated_lane(16, 1), 31U);
  EXPECT_EQ(lds_latency::rotated_lane(20, 3), 17U);
  EXPECT_EQ(lds_latency::rotated_lane(5, 16), 5U);
}

TEST(LdsLatencyTest, ExchangedWordsComeRoundTheBlock) {
  EXPECT_EQ(lds_latency::from_further_on({1, 2, 3}, 1), (Words{2, 3, 1}));
  EXPECT_EQ(lds_latency::from_further_on({1, 2, 3}, 5), (Words{3, 1, 2}));
  EXPECT_EQ(lds_latency::after_steps({1, 2}, 3, [](unsigned x) { return 2 * x; }), (Words{8, 16}));
}

// --- Findings -----------------------------------------------------------------------------------

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
