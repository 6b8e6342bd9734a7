// The patterns of store_divergence, and what it concludes from made curves.
#include "findings.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "made_results.h"
#include "patterns.h"

namespace hipscope {
namespace {

using store_divergence::Pattern;
using store_divergence::segments;

// --- Patterns -----------------------------------------------------------------------------------

std::vector<Pattern> patterns_of(unsigned lanes, std::uint64_t footprint) {
  std::vector<Pattern> all = store_divergence::stride_patterns(lanes, footprint);
  for (const auto& more : {store_divergence::misaligned_patterns(lanes, footprint),
                           store_divergence::stray_patterns(lanes, footprint, false),
                           store_divergence::stray_patterns(lanes, footprint, true),
                           store_divergence::permuted_patterns(lanes, footprint, 1)}) {
    all.insert(all.end(), more.begin(), more.end());
  }
  return all;
}

// What stores to a place that another lane stores to, or beyond the pattern.
std::uint64_t collisions(const Pattern& pattern) {
  std::vector<bool> taken(pattern.size);
  std::uint64_t wrong = 0;
  for (std::uint64_t tile = 0; tile < pattern.tiles; ++tile) {
    for (const unsigned offset : pattern.offsets) {
      const std::uint64_t place = tile * pattern.step + offset;
      wrong += place >= pattern.size || taken[place] ? 1 : 0;
      if (place < pattern.size) {
        taken[place] = true;
      }
    }
  }
  return wrong;
}

TEST(StoreDivergenceTest, NoTwoLanesHaveTheSamePlace) {
  for (const unsigned lanes : {32U, 64U}) {
    for (const Pattern& pattern : patterns_of(lanes, 1U << 16)) {
      EXPECT_EQ(pattern.lanes, lanes);
      EXPECT_EQ(pattern.offsets.size(), std::size_t{pattern.rows} * lanes) << pattern.label;
      EXPECT_TRUE(std::has_single_bit(pattern.tiles)) << pattern.label;
      EXPECT_EQ(collisions(pattern), 0U) << lanes << " lanes, " << pattern.label;
    }
  }
}

TEST(StoreDivergenceTest, APatternStaysWithinItsFootprintAndAShiftBeyond) {
  constexpr std::uint64_t footprint = 1U << 16;
  for (const Pattern& pattern : patterns_of(32, footprint)) {
    EXPECT_LE(pattern.size, footprint / store_divergence::dword_bytes + 32) << pattern.label;
  }
}

TEST(StoreDivergenceTest, SegmentsAreCountedByArithmetic) {
  constexpr std::uint64_t footprint = 1U << 16;
  EXPECT_EQ(segments(store_divergence::strided(32, 1, footprint), 32), 4);
  EXPECT_EQ(segments(store_divergence::strided(32, 1, footprint), 128), 1);
  EXPECT_EQ(segments(store_divergence::strided(32, 4, footprint), 64), 8);
  EXPECT_EQ(segments(store_divergence::strided(32, 64, footprint), 128), 32);
  EXPECT_EQ(segments(store_divergence::misaligned(32, 1, footprint), 32), 5);
  EXPECT_EQ(segments(store_divergence::misaligned(32, 8, footprint), 32), 4);
  EXPECT_EQ(segments(store_divergence::stray(32, 1, false, footprint), 32), 5);
  EXPECT_EQ(segments(store_divergence::stray(32, 32, false, footprint), 32), 4);
  EXPECT_EQ(segments(store_divergence::stray(32, 32, true, footprint), 32), 32);
}

TEST(StoreDivergenceTest, APermutationAcrossLinesTouchesSoManyOfThem) {
  const std::vector<Pattern> patterns = store_divergence::permuted_patterns(32, 1U << 16, 1);
  const auto lines_of = [&](const std::string& label) {
    for (const Pattern& pattern : patterns) {
      if (pattern.label == label) {
        return segments(pattern, 128);
      }
    }
    return 0.0;
  };
  EXPECT_EQ(lines_of("random in one line"), 1);
  EXPECT_EQ(lines_of("across 2 lines"), 2);
  EXPECT_EQ(lines_of("across 32 lines"), 32);
  EXPECT_EQ(lines_of("random everywhere"), 32);
}

// --- Findings -----------------------------------------------------------------------------------

std::vector<CurvePoint> costs_of(const std::vector<Pattern>& patterns,
                                 const std::function<double(const Pattern&)>& cost) {
  std::vector<CurvePoint> curve;
  for (const Pattern& pattern : patterns) {
    curve.push_back({.x = pattern.x, .y = cost(pattern)});
  }
  return curve;
}

TEST(StoreDivergenceTest, TheSegmentThatCostsFollowIsTold) {
  MadeResults made("store_divergence");
  const auto patterns = store_divergence::stride_patterns(32, 1U << 20);
  made.curve("stride-loads-l2", "cycles per access",
             costs_of(patterns, [](const Pattern& one) { return 0.8 * segments(one, 32); }));
  made.curve("stride-stores", "cycles per access",
             costs_of(patterns, [](const Pattern& one) { return 3 * segments(one, 64); }));
  made.curve("stride-loads", "cycles per access",
             costs_of(patterns, [](const Pattern& one) { return 2 + std::fmod(one.x * 7, 5); }));
  store_divergence::conclude(made.results());
  EXPECT_EQ(made.inference("access granularity of loads within L2").value, 32);
  EXPECT_EQ(made.inference("access granularity of stores to memory").value, 64);
  EXPECT_EQ(made.inference("access granularity of loads from memory").unit, "bytes");
  EXPECT_FALSE(made.inference("access granularity of loads from memory").value.has_value());
  EXPECT_EQ(made.inferences().size(), 3U);
}

TEST(StoreDivergenceTest, NoSegmentWhereTheCostRisesOn) {
  for (const double later : {2.0, 3.0}) {
    MadeResults made("store_divergence");
    made.curve("stride-stores-l2", "cycles per access",
               costs_of(store_divergence::stride_patterns(32, 1U << 20), [=](const Pattern& one) {
                 return (one.x > 8 ? later : 2) * segments(one, 32);
               }));
    store_divergence::conclude(made.results());
    EXPECT_EQ(made.inference("access granularity of stores within L2").value.has_value(),
              later == 2);
  }
}

TEST(StoreDivergenceTest, WhatAScatteredLaneAddsIsTold) {
  MadeResults made("store_divergence");
  const auto patterns = store_divergence::stray_patterns(32, 1U << 20, true);
  made.curve("scattered-stores", "cycles per access",
             costs_of(patterns, [](const Pattern& one) { return 10 + 3 * one.x; }));
  made.curve("scattered-stores-l2", "cycles per access",
             costs_of(patterns, [](const Pattern& one) { return one.x < 4 ? 1 : 100; }));
  store_divergence::conclude(made.results());
  EXPECT_NEAR(*made.inference("cost of a scattered lane, memory").value, 3, 1e-6);
  EXPECT_GT(made.inference("cost of a scattered lane, memory").confidence, 0.99);
  EXPECT_FALSE(made.inference("cost of a scattered lane, within L2").value.has_value());
  MadeResults other("store_divergence");
  other.curve("scattered-stores", "cycles per access",
              costs_of(patterns, [](const Pattern& one) { return 200 - one.x; }));
  other.curve(
      "scattered-stores-l2", "cycles per access",
      costs_of(patterns, [](const Pattern& one) { return one.x < 4 ? 20 : 20 + 2 * one.x; }));
  store_divergence::conclude(other.results());
  EXPECT_FALSE(other.inference("cost of a scattered lane, memory").value.has_value());
  EXPECT_LT(other.inference("cost of a scattered lane, within L2").confidence, 0.95);
}

TEST(StoreDivergenceTest, NothingIsConcludedFromNothing) {
  expect_nothing_from_nothing("store_divergence", store_divergence::conclude);
}

}  // namespace
}  // namespace hipscope
