// What memory_map concludes from made curves.
#include "findings.h"

#include <gtest/gtest.h>

#include <bit>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "made_curve.h"
#include "made_results.h"
#include "normal_noise.h"

namespace hipscope {
namespace {

constexpr unsigned units = 32;
constexpr unsigned half_mask = 0b10'1100'1000'0001;  // address bits 7, 14, 17, 18 and 20

// In which half and in which slice of it a line is.
using SliceOf = std::function<unsigned(unsigned line)>;

unsigned half_of(unsigned line) { return std::popcount(line & half_mask) % 2; }

// Slices by exclusive ors: 16 in each half.
unsigned linear_slice(unsigned line) {
  return std::popcount(line & 0x0801U) % 2 + 2 * (std::popcount(line & 0x1102U) % 2) +
         4 * (std::popcount(line & 0x0244U) % 2) + 8 * (std::popcount(line & 0x2030U) % 2);
}

// What CUs, every other one of which is in the same half, see of a map of few lines and of many
// lines.
class Chip {
 public:
  Chip(SliceOf slice_of, double far, double of_place, double noise)
      : slice_of_(std::move(slice_of)), far_(far), of_place_(of_place), noise_(0, noise) {
    std::mt19937 random(1);
    std::vector<unsigned> numbers;
    for (unsigned line = 0; line < 512; ++line) {
      numbers.push_back(32 * line + random() % 32);
    }
    for (unsigned unit = 0; unit < units; ++unit) {
      std::vector<CurvePoint> seen;
      for (const unsigned line : numbers) {
        seen.push_back({.x = static_cast<double>(line), .y = latency(unit, line)});
      }
      made_.curve("lines", memory_map::unit_name(unit), seen);
      if (unit == 0) {
        made_.curve("lines", "latency", seen);
      }
    }
    for (unsigned line = 0; line < memory_map::map_lines; ++line) {
      std::vector<CurvePoint> seen;
      for (unsigned unit = 0; unit < units; ++unit) {
        seen.push_back({.x = 1.0 * unit, .y = latency(unit, numbers[line * 10])});
      }
      made_.curve("map", memory_map::line_name(line), seen);
      if (line == 0) {
        made_.curve("map", "latency", seen);
      }
    }
    memory_map::conclude(made_.results());
  }

  [[nodiscard]] Inference found(const std::string& name) const { return made_.inference(name); }

 private:
  double latency(unsigned unit, unsigned line) {
    std::minstd_rand way(1000 * unit + slice_of_(line) + 1);
    way.discard(8);  // the first ones of two seeds near to each other are so, too
    const double place = of_place_ * (way() % 64) / 64;
    return 280 + place + (unit % 2 == half_of(line) ? 0 : far_) + noise_(random_);
  }

  SliceOf slice_of_;
  double far_;
  double of_place_;
  NormalNoise noise_;
  std::mt19937 random_{2};
  MadeResults made_{"memory_map"};
};

const std::string groups = "groups of CUs by distance to L2";
const std::string slices = "slices of L2 told apart";
const std::string hash = "address bits of the slice's hash";

TEST(MemoryMapTest, HalvesSlicesAndTheirHash) {
  const auto expect = [](const SliceOf& slice_of, double count, double masks) {
    const Chip chip(slice_of, 180, 40, 0.3);
    EXPECT_EQ(chip.found(groups).value, 2);
    EXPECT_GE(chip.found(groups).confidence, 0.9);
    EXPECT_EQ(chip.found(slices).value, count);
    EXPECT_EQ(chip.found(hash).value, masks);
    return chip.found(hash).statement;
  };
  expect(linear_slice, 32, 5);  // four of the slice, one of the half
  // What a factor of three chooses is no exclusive or; the rest of the hash is found beside it.
  expect([](unsigned line) { return linear_slice(line) % 4 + 4 * (line / 7 % 3); }, 24, 3);
  EXPECT_EQ(expect([](unsigned line) { return std::mt19937(line)() % 16; }, 32, 1),
            "the same for all lines of a slice: 7^14^17^18^20");
}

TEST(MemoryMapTest, GroupsAreAlike) {
  const auto found = [](double units_of_one, double odd_unit) {
    MadeResults made("memory_map");
    for (unsigned line = 0; line < memory_map::map_lines; ++line) {  // the first one tells nothing
      const auto seen = made_curve(multiples(1, 64), [=](double unit) {
        return (unit == odd_unit ? 3000 + 50 * (line % 5) : line) +
               (line == 0 || (unit <= units_of_one) == (line % 3 == 0) ? 280.0 : 460.0);
      });
      made.curve("map", memory_map::line_name(line), seen).curve("map", "latency", seen);
    }
    memory_map::conclude(made.results());
    return made.inference(groups);
  };
  EXPECT_EQ(found(32, 64).value, 2);  // what is like no other is in no group
  // The CUs of one half are few: several groups were not told apart.
  EXPECT_FALSE(found(8, 0).value);
  EXPECT_EQ(found(8, 0).evidence.size(), 2U);
}

// Nor where nothing differs.
TEST(MemoryMapTest, WhatNoiseHidesIsNotFound) {
  for (const Chip& chip : {Chip(linear_slice, 0, 5, 10), Chip(linear_slice, 0, 0, 0.3)}) {
    for (const std::string& name : {groups, slices, hash}) {
      EXPECT_FALSE(chip.found(name).value) << name;
    }
  }
}

TEST(MemoryMapTest, NothingIsConcludedFromNothing) {
  expect_nothing_from_nothing("memory_map", memory_map::conclude);
}

}  // namespace
}  // namespace hipscope
