// What cache_line concludes from made curves.
#include "findings.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "made_curve.h"
#include "made_results.h"

namespace hipscope {
namespace {

std::vector<CurvePoint> neighbours(double sector) {
  return made_curve(doubling(8, 1024), [=](double block) { return block <= sector ? 30 : 300; });
}

TEST(CacheLineTest, AnotherSweepThatDisagreesHalvesTheConfidence) {
  for (const double other : {32.0, 64.0}) {
    MadeResults made("cache_line");
    made.curve("sector-l1", "second load", neighbours(32));
    made.curve("sector-l1", "across the middle", neighbours(other));
    cache_line::conclude(made.results());
    EXPECT_EQ(made.inference("cache level 1 sector").value, 32);
    EXPECT_EQ(made.inference("cache level 1 sector").confidence > 0.5, other == 32) << other;
  }
}

// What an L2 miss fetches is 64 bytes by neighbours, and so much by strides through cold memory.
TEST(CacheLineTest, StridesThroughColdMemoryTellTheUnitToo) {
  const auto by_strides = [](double unit) {
    return made_curve(doubling(4, 512),
                      [=](double x) { return 260 + 380 * std::min(1.0, x / unit); });
  };
  // fsword73's range sweep on an MI25, who concluded 64 bytes.
  const std::vector<CurvePoint> published = {
      {16, 361}, {32, 476}, {64, 682}, {128, 681}, {256, 706}};
  struct Case {
    std::vector<CurvePoint> strides;
    std::string evidence;
    double confidence;
  };
  for (const Case& each :
       {Case{published, "strides through cold memory: 64 bytes", 0.9},
        Case{by_strides(64), "strides through cold memory: 64 bytes, hits 260 and misses 640", 0.9},
        Case{by_strides(16), "strides through cold memory: 16 bytes", 0.45},
        Case{by_strides(32), "strides through cold memory: 32 bytes", 0.45},
        Case{by_strides(128), "strides through cold memory: 128 bytes", 0.45},
        // One cache fetches 32 bytes, the next 128.
        Case{made_curve(doubling(4, 512),
                        [](double x) {
                          return 36 + 230 * std::min(1.0, x / 32) + 400 * std::min(1.0, x / 128);
                        }),
             "strides through cold memory: no clear unit", 0.9},
        // Flat, a rise without an end, and too few points that rise.
        Case{by_strides(0), "strides through cold memory: no clear unit", 0.9},
        Case{by_strides(512), "strides through cold memory: no clear unit", 0.9},
        Case{by_strides(8), "strides through cold memory: no clear unit", 0.9}}) {
    MadeResults made("cache_line");
    made.curve("sector-l2", "second load", neighbours(64));
    made.curve("stride", "past level 1", each.strides);
    cache_line::conclude(made.results());
    const Inference found = made.inference("fetched by a cache level 2 miss");
    EXPECT_EQ(found.value, 64);
    EXPECT_NEAR(found.confidence, each.confidence, 0.1);
    EXPECT_TRUE(found.evidence.back().starts_with(each.evidence)) << found.evidence.back();
  }
}

TEST(CacheLineTest, NodesTakeALineEach) {
  MadeResults made("cache_line");
  made.curve("line-l2", "footprint", made_curve(doubling(32, 1024), [](double chunk) {
               return chunk <= 128 ? 4096.0 : 4096 * chunk / 128;
             }));
  cache_line::conclude(made.results());
  EXPECT_EQ(made.inference("cache level 2 line").value, 128);
}

TEST(CacheLineTest, NothingIsConcludedFromNothing) {
  expect_nothing_from_nothing("cache_line", cache_line::conclude);
}

}  // namespace
}  // namespace hipscope
