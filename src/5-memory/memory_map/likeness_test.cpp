// Which CUs are alike by what they see of lines.
#include "likeness.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "normal_noise.h"

namespace hipscope {
namespace {

using memory_map::groups_by_likeness;
using memory_map::no_group;

constexpr std::size_t lines_seen = 16;

// What each CU sees of some lines: those at home in its own part are near.
std::vector<std::vector<double>> distances(std::size_t units, std::size_t parts, double noise) {
  std::mt19937 random(11);
  NormalNoise error(1, noise);
  std::vector<std::vector<double>> all(units);
  for (std::size_t unit = 0; unit < units; ++unit) {
    for (std::size_t line = 0; line < lines_seen; ++line) {
      const bool near = line * 7 / 3 % parts == unit % parts;
      all[unit].push_back((near ? 277 : 520) * error(random));
    }
  }
  return all;
}

TEST(LikenessTest, PartsOfL2AreSeenByDistance) {
  for (const std::size_t parts : {2U, 4U}) {
    for (const double noise : {0.0, 0.01, 0.05}) {
      auto seen = distances(64, parts, noise);
      seen[9][3] *= 2;  // one slow line
      const auto groups = groups_by_likeness(seen);
      ASSERT_EQ(groups.size(), 64U) << parts << " " << noise;
      for (std::size_t i = 0; i < groups.size(); ++i) {
        if (groups[i] != no_group) {
          EXPECT_EQ(groups[i], i % parts) << parts << " " << noise;
        }
      }
      EXPECT_EQ(std::count(groups.begin(), groups.end(), no_group), 0) << parts << " " << noise;
    }
  }
}

TEST(LikenessTest, NoiseMakesNoParts) {
  std::size_t invented = 0;
  for (unsigned seed = 0; seed < 40; ++seed) {
    std::mt19937 random(seed);
    std::normal_distribution<double> error(1, 0.05);
    std::vector<std::vector<double>> seen(64);
    for (auto& unit : seen) {
      for (unsigned line = 0; line < lines_seen; ++line) {
        unit.push_back(300 * error(random));
      }
    }
    invented += groups_by_likeness(seen).empty() ? 0 : 1;
  }
  EXPECT_EQ(invented, 0U);
}

}  // namespace
}  // namespace hipscope
