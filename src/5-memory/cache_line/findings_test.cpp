// What cache_line concludes from made curves.
#include "findings.h"

#include <gtest/gtest.h>

#include <vector>

#include "made_curve.h"
#include "made_results.h"

namespace hipscope {
namespace {

std::vector<CurvePoint> neighbours(double sector) {
  return made_curve(doubling(8, 1024), [=](double block) { return block <= sector ? 30 : 300; });
}

TEST(CacheLineTest, AMissFetchesASector) {
  MadeResults made("cache_line");
  made.curve("sector-l1", "second load", neighbours(32));
  made.curve("sector-l1", "across the middle", neighbours(32));
  cache_line::conclude(made.results());
  EXPECT_EQ(made.inference("cache level 1 sector").value, 32);
  EXPECT_GT(made.inference("cache level 1 sector").confidence, 0.9);
}

TEST(CacheLineTest, AnotherSweepThatDisagreesHalvesTheConfidence) {
  MadeResults made("cache_line");
  made.curve("sector-l1", "second load", neighbours(32));
  made.curve("sector-l1", "across the middle", neighbours(64));
  cache_line::conclude(made.results());
  EXPECT_EQ(made.inference("cache level 1 sector").value, 32);
  EXPECT_LE(made.inference("cache level 1 sector").confidence, 0.5);
}

TEST(CacheLineTest, NodesTakeALineEach) {
  MadeResults made("cache_line");
  made.curve("line-l2", "footprint", made_curve(doubling(32, 1024), [](double chunk) {
               return chunk <= 128 ? 4096.0 : 4096 * chunk / 128;
             }));
  cache_line::conclude(made.results());
  EXPECT_EQ(made.inference("cache level 2 line").value, 128);
}

TEST(CacheLineTest, LoadsThatAllTakeAsLongShowNothing) {
  MadeResults made("cache_line");
  made.curve("sector-l2", "second load", made_curve(doubling(8, 1024), [](double) { return 300; }));
  cache_line::conclude(made.results());
  EXPECT_FALSE(made.inference("fetched by a cache level 2 miss").value.has_value());
}

TEST(CacheLineTest, NothingIsConcludedFromNothing) {
  expect_nothing_from_nothing("cache_line", cache_line::conclude);
}

}  // namespace
}  // namespace hipscope
