// What block_placement concludes from made curves.
#include "findings.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "made_curve.h"
#include "made_results.h"

namespace hipscope {
namespace {

using block_placement::Event;
using block_placement::refills_of;

// Twice as many blocks as CUs, each on the CU that `unit_of` says.
MadeResults placed(const std::string& sweep, int units,
                   const std::function<double(double)>& unit_of,
                   const std::string& architecture = "sm_90") {
  DeviceDescription description = fake::describe();
  description.compute_units = units;
  description.architecture = architecture;
  MadeResults made("block_placement", description);
  std::vector<CurvePoint> blocks;
  for (int block = 0; block < 2 * units; ++block) {
    blocks.push_back({.x = 1.0 * block, .y = unit_of(block)});
  }
  made.curve(sweep, "CU", blocks);
  block_placement::conclude(made.results());
  return made;
}

TEST(BlockPlacementTest, TheUsualStepIsTold) {
  // First the even CUs, then the odd ones.
  const auto made = placed("large-lds", 64, [](double block) {
    return std::fmod(2 * block, 64) + std::fmod(std::floor(block / 32), 2);
  });
  EXPECT_EQ(made.inference("CUs that blocks ran on").value, 64);
  EXPECT_GE(made.inference("CUs that blocks ran on").confidence, 0.9);
  EXPECT_EQ(made.inference("step from one block's CU to the next one's").value, 2);
  EXPECT_EQ(made.inference("XCDs that take turns").name, "");
}

TEST(BlockPlacementTest, NoStepIsTheUsualOne) {
  const auto made =
      placed("large-lds", 64, [](double block) { return std::fmod(block * block, 61); });
  EXPECT_FALSE(made.inference("step from one block's CU to the next one's").value);
  EXPECT_LE(made.inference("CUs that blocks ran on").confidence, 0.5);
}

TEST(BlockPlacementTest, XcdsTakeTurns) {
  const auto in_turn = [](double block) {
    return 256 * std::fmod(3 * block, 8) + std::fmod(std::floor(block / 8), 8);
  };
  EXPECT_EQ(placed("large-lds", 64, in_turn, "gfx942").inference("XCDs that take turns").value, 8);
  // A whole XCD is filled first.
  const auto in_rows = [](double block) {
    return 256 * std::fmod(std::floor(block / 8), 8) + std::fmod(block, 8);
  };
  EXPECT_FALSE(placed("large-lds", 64, in_rows, "gfx942").inference("XCDs that take turns").value);
}

TEST(BlockPlacementTest, EveryCuGetsOneBlockFirstOrNot) {
  const std::string name = "blocks placed before a CU gets a second one";
  const auto spread = placed("small", 16, [](double block) { return std::fmod(block, 16); });
  EXPECT_EQ(spread.inference(name).value, 16);
  EXPECT_EQ(spread.inference(name).statement, "every CU gets one block first");
  const auto filled = placed("small", 16, [](double block) { return std::floor(block / 4); });
  EXPECT_EQ(filled.inference(name).value, 1);
  EXPECT_NE(filled.inference(name).statement, spread.inference(name).statement);
}

TEST(BlockPlacementTest, WhoTakesAFreedPlace) {
  std::vector<Event> events;
  for (unsigned block = 0; block < 8; ++block) {
    events.push_back({.block = block, .unit = block % 4, .is_begin = true});
    if (block == 3) {  // all are freed, and taken again in that order
      for (unsigned unit = 0; unit < 4; ++unit) {
        events.push_back({.block = unit, .unit = unit, .is_begin = false});
      }
    }
  }
  EXPECT_EQ(refills_of(events).first_freed, 100);
  EXPECT_EQ(refills_of(events).in_order, 100);
  EXPECT_EQ(refills_of(events).free, 2.5);
  // In the other order only the last one has no choice.
  for (unsigned block = 4; block < 8; ++block) {
    events[block + 4].unit = 7 - block;
    events[block + 4].block = 11 - block;
  }
  EXPECT_EQ(refills_of(events).first_freed, 25);
  EXPECT_EQ(refills_of(events).in_order, 0);
  EXPECT_TRUE(std::isnan(refills_of({}).first_freed));
}

TEST(BlockPlacementTest, FreedPlacesWithoutAChoiceTellLittle) {
  for (const double free : {1.0, 3.0}) {
    MadeResults made("block_placement");
    made.curve("refill", "first freed", std::vector<CurvePoint>{{.x = 4, .y = 97}});
    made.curve("refill", "free", std::vector<CurvePoint>{{.x = 4, .y = free}});
    block_placement::conclude(made.results());
    ASSERT_EQ(made.inferences().size(), 1U);
    EXPECT_EQ(made.inferences()[0].value, 97);
    EXPECT_EQ(made.inferences()[0].confidence > 0.5, free > 1);
  }
}

TEST(BlockPlacementTest, StreamsShareCusOrNot) {
  const auto statement = [](double two) {
    MadeResults made("block_placement");
    made.curve("streams", "CUs", std::vector<CurvePoint>{{.x = 1, .y = 64}, {.x = 2, .y = two}});
    block_placement::conclude(made.results());
    return made.inference("CUs that two kernels of half the size use").statement;
  };
  EXPECT_NE(statement(64), statement(32));
}

TEST(BlockPlacementTest, GroupsAreCounted) {
  const auto found = [](double size) {
    MadeResults made("block_placement");
    made.curve("groups", "group", made_curve(multiples(1, 64), [=](double unit) {
                 return size * std::floor((unit - 1) / size);
               }));
    block_placement::conclude(made.results());
    return made.inference("groups of CUs");
  };
  EXPECT_EQ(found(16).value, 4);
  EXPECT_EQ(found(16).confidence, 1);
  EXPECT_LT(found(24).confidence, 0.7);  // 24, 24 and 16
  EXPECT_FALSE(found(1).value);
}

// Four pairs beside groups of 16.
TEST(BlockPlacementTest, PairsAreNoGroups) {
  MadeResults made("block_placement");
  made.curve("groups", "group", made_curve(multiples(1, 72), [](double unit) {
               return unit > 64 ? 2 * std::floor(unit / 2) : 16 * std::floor((unit - 1) / 16);
             }));
  block_placement::conclude(made.results());
  EXPECT_EQ(made.inference("groups of CUs").value, 4);
  EXPECT_EQ(made.inference("groups of CUs").confidence, 1);
  EXPECT_EQ(made.inference("groups of CUs").evidence.size(), 2U);
}

TEST(BlockPlacementTest, ReadingByPlaceIsWorthSomethingOrNot) {
  const auto found = [](double gain) {
    MadeResults made("block_placement");
    const auto rate = [](double gained) {
      return made_curve(multiples(8, 96), [=](double x) { return x == 40 ? 100 * gained : 100; });
    };
    made.curve("swizzle", "by number rate", rate(1)).curve("swizzle", "by place rate", rate(gain));
    block_placement::conclude(made.results());
    return made.inference("gain of reading by place");
  };
  EXPECT_EQ(found(1.3).value, 1.3);
  EXPECT_NE(found(1.3).statement, found(1.01).statement);
}

TEST(BlockPlacementTest, NumbersTellXcdsAndShaderEngines) {
  EXPECT_EQ(block_placement::xcd_of("gfx942:sramecc+", 0x523), 5U);
  EXPECT_FALSE(block_placement::xcd_of("gfx90a", 0x23));
  EXPECT_EQ(block_placement::group_of("gfx90a", 0b101'1'0011), 5U);
  EXPECT_EQ(block_placement::group_of("gfx1030", 0b10'01'000011), 2U);
  EXPECT_FALSE(block_placement::group_of("sm_90", 3));
}

TEST(BlockPlacementTest, NothingIsConcludedFromNothing) {
  MadeResults made("block_placement");
  block_placement::conclude(made.results());
  EXPECT_TRUE(made.inferences().empty());
}

}  // namespace
}  // namespace hipscope
