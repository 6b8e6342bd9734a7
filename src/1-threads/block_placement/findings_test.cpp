// What block_placement concludes from made curves.
#include "findings.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "made_curve.h"
#include "made_results.h"

namespace hipscope {
namespace {

using block_placement::Place;
using block_placement::refills_of;

// Twice as many blocks as there are CUs, each on the CU that `unit_of` says.
Inference placed(const std::string& sweep, const std::function<double(double)>& unit_of, int units,
                 const std::string& inference) {
  MadeResults made("block_placement",
                   fake::describe_with(&DeviceDescription::architecture, "gfx942"));
  std::vector<double> blocks(2 * units);
  std::iota(blocks.begin(), blocks.end(), 0);
  made.curve(sweep, "CU", made_curve(blocks, unit_of));
  block_placement::conclude(made.results());
  return made.inference(inference);
}

TEST(BlockPlacementTest, XcdsTakeTurns) {
  const auto turns = [](const std::function<double(double)>& unit_of) {
    return placed("large-lds", unit_of, 64, "XCDs that take turns").value;
  };
  EXPECT_EQ(turns([](double block) {
              return 256 * std::fmod(3 * block, 8) + std::fmod(std::floor(block / 8), 8);
            }),
            8);
  // A whole XCD is filled first.
  EXPECT_FALSE(turns([](double block) {
    return 256 * std::fmod(std::floor(block / 8), 8) + std::fmod(block, 8);
  }));
}

TEST(BlockPlacementTest, EveryCuGetsOneBlockFirstOrNot) {
  const std::string name = "blocks placed before a CU gets a second one";
  const auto spread = placed(
      "small", [](double block) { return std::fmod(block, 16); }, 16, name);
  EXPECT_EQ(spread.value, 16);
  EXPECT_EQ(spread.statement, "every CU gets one block first");
  const auto filled = placed(
      "small", [](double block) { return std::floor(block / 4); }, 16, name);
  EXPECT_EQ(filled.value, 1);
  EXPECT_NE(filled.statement, spread.statement);
}

TEST(BlockPlacementTest, WhoTakesAFreedPlace) {
  std::vector<Place> places;
  for (unsigned block = 0; block < 8; ++block) {  // all four are freed, and taken in that order
    const unsigned begin = block + block / 4 * 4;
    places.push_back({.block = block, .unit = block % 4, .begin = begin, .end = begin + 4});
  }
  EXPECT_EQ(refills_of(places).first_freed, 100);
  EXPECT_EQ(refills_of(places).in_order, 100);
  EXPECT_EQ(refills_of(places).free, 2.5);
  // In the other order only the last one has no choice.
  for (unsigned block = 4; block < 8; ++block) {
    places[block].unit = 7 - block;
    places[block].block = 11 - block;
  }
  EXPECT_EQ(refills_of(places).first_freed, 25);
  EXPECT_EQ(refills_of(places).in_order, 0);
  EXPECT_TRUE(std::isnan(refills_of({}).first_freed));
}

// CUs 1 to `grouped` in groups of `size`; then pairs, which are none.
TEST(BlockPlacementTest, GroupsAreCounted) {
  const auto found = [](double size, double grouped) {
    MadeResults made("block_placement");
    made.curve("groups", "group", made_curve(multiples(1, 64), [=](double unit) {
                 return unit > grouped ? 2 * std::floor(unit / 2) + 1
                                       : size * std::floor((unit - 1) / size);
               }));
    block_placement::conclude(made.results());
    return made.inference("groups of CUs");
  };
  EXPECT_EQ(found(16, 64).value, 4);
  EXPECT_EQ(found(16, 64).confidence, 1);
  EXPECT_LT(found(24, 64).confidence, 0.7);  // 24, 24 and 16
  EXPECT_FALSE(found(1, 64).value);
  EXPECT_EQ(found(16, 48).value, 3);
  EXPECT_EQ(found(16, 48).evidence[0], "of 16, 16, 16 CUs; in none: 16");
}

TEST(BlockPlacementTest, NumbersTellXcdsAndShaderEngines) {
  EXPECT_EQ(block_placement::xcd_of("gfx942:sramecc+", 0x523), 5U);
  EXPECT_FALSE(block_placement::xcd_of("gfx90a", 0x23));
  EXPECT_EQ(block_placement::group_of("gfx90a", 0b101'1'0011), 5U);
  EXPECT_EQ(block_placement::group_of("gfx1030", 0b10'01'000011), 2U);
  EXPECT_FALSE(block_placement::group_of("sm_90", 3));
}

TEST(BlockPlacementTest, NothingIsConcludedFromNothing) {
  expect_nothing_from_nothing("block_placement", block_placement::conclude);
}

}  // namespace
}  // namespace hipscope
