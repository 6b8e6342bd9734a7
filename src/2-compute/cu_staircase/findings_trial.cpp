// CUs, and the blocks that are resident on each, by the times of more and more blocks.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "disturbance.h"
#include "findings.h"
#include "made_results.h"
#include "trial.h"

namespace hipscope::trial {
namespace {

DeviceDescription device_of(unsigned compute_units) {
  return fake::describe_with(&DeviceDescription::compute_units, compute_units);
}

// --- CUs ----------------------------------------------------------------------------------------

// CUs in engines.
using Engines = std::vector<unsigned>;

unsigned units_of(const Engines& engines) {
  return std::accumulate(engines.begin(), engines.end(), 0U);
}

// The most blocks on one CU when each block goes to the CU with the fewest.
unsigned balanced(const Engines& engines, unsigned blocks) {
  const unsigned units = units_of(engines);
  return (blocks + units - 1) / units;
}

// The same when blocks go to the engines in turn, however many CUs each has.
unsigned in_turns(const Engines& engines, unsigned blocks) {
  unsigned most = 0;
  const auto count = static_cast<unsigned>(engines.size());
  for (unsigned i = 0; i < count; ++i) {
    const unsigned given = (blocks + count - 1 - i) / count;
    most = std::max(most, (given + engines[i] - 1) / engines[i]);
  }
  return most;
}

const std::vector<Engines>& equal_engines() {
  static const std::vector<Engines> all = {
      {8},   {12},     {5, 5},       {18, 18},         {15, 15, 15, 15}, {16, 16, 16, 16},
      {80},  {42, 42}, {32, 32, 32}, {26, 26, 26, 26}, {55, 55},         {60, 60},
      {132}, {72, 72}, {114, 114},   {152, 152}};
  return all;
}

// 104 CUs in engines of 14 and 12, as an MI210's may be, and others.
const std::vector<Engines>& unequal_engines() {
  static const std::vector<Engines> all = {
      {14, 12, 14, 12, 14, 12, 14, 12}, {9, 10}, {16, 16, 14, 14}, {10, 8, 10, 8}};
  return all;
}

struct Gpu {
  Engines engines{};
  unsigned (*most_on_one)(const Engines&, unsigned blocks) = balanced;
  unsigned driver = 0;    // CUs, by the driver
  double overhead = 0;    // of a launch, of the time of a block
  double per_engine = 0;  // how much longer it takes with each engine more that has work
};

// The time of `blocks` of `threads`; a CU runs two of 512 at about no loss.
double busy_cycles(const Gpu& gpu, unsigned threads, double blocks) {
  const unsigned on_one = gpu.most_on_one(gpu.engines, static_cast<unsigned>(blocks));
  const double sharing = threads < cu_staircase::largest_block ? 0.05 : 0;
  const double load = std::max(1.0, on_one * threads / 1024.0 + sharing);
  const auto engines = static_cast<double>(gpu.engines.size());
  const double working = std::min(engines, std::ceil(blocks * engines / units_of(gpu.engines)));
  return 1000 * (gpu.overhead + load) * (1 + gpu.per_engine * working);
}

void add_staircase(MadeResults& made, const Gpu& gpu, unsigned threads, double step,
                   const Disturbance& disturbance, Random& random) {
  std::vector<double> blocks;
  for (double x = 1; x <= 2 * gpu.driver + 2; x += step) {
    blocks.push_back(x);
  }
  made.curve(
      cu_staircase::staircase_name(threads), "cycles",
      measured(
          blocks, [&](double x) { return busy_cycles(gpu, threads, x); }, disturbance, random));
}

int places_of(unsigned threads) { return static_cast<int>(2048 / threads); }

Inference units_by(const Gpu& gpu, bool all_blocks, double step, const Disturbance& disturbance,
                   Random& random) {
  MadeResults made("cu_staircase", device_of(gpu.driver));
  for (const unsigned threads : cu_staircase::staircase_blocks) {
    if (all_blocks || threads == cu_staircase::largest_block) {
      add_staircase(made, gpu, threads, step, disturbance, random);
    }
  }
  cu_staircase::conclude(made.results(), places_of);
  return made.inference("compute units");
}

const Seeds unit_seeds(20);
const Seeds no_unit_seeds(21);

TEST(CuStaircaseTrial, ComputeUnits) {
  Tally& answers = tally("compute units");
  for (unsigned i = 0; i < 2000; ++i) {
    Random random(unit_seeds(i));
    const bool are_unequal = happens(random, 0.2);
    Gpu gpu{.engines = one_of(random, are_unequal ? unequal_engines() : equal_engines()),
            .most_on_one = are_unequal && happens(random, 0.5) ? in_turns : balanced,
            .overhead = between(random, 0, 0.15),
            .per_engine = one_of(random, std::vector<double>{0, 0, 0.005})};
    const unsigned units = units_of(gpu.engines);
    // Of some the user has switched off CUs that the driver still counts.
    gpu.driver = happens(random, 0.1) ? units + units / 4 : units;
    const double step = one_of(random, std::vector<double>{1, 1, 1, 1, 1, 2, 4});
    const Inference found =
        units_by(gpu, happens(random, 0.5), step, one_of(random, all_disturbances()), random);
    answers.add({.value = units}, found);
  }
  for (unsigned i = 0; i < 500; ++i) {
    Random random(no_unit_seeds(i));
    const unsigned units = units_of(one_of(random, equal_engines()));
    MadeResults made("cu_staircase", device_of(units));
    for (const unsigned threads : cu_staircase::staircase_blocks) {
      made.curve(cu_staircase::staircase_name(threads), "cycles",
                 nothing(counted(1, 2 * units + 2), random));
    }
    cu_staircase::conclude(made.results(), places_of);
    answers.add({}, made.inference("compute units"));
  }
  // Every other block or every fourth leaves more than one number.
  expect_goals(answers, {.right = 0.6});
}

// --- Resident blocks ----------------------------------------------------------------------------

// The lesson's points, quarters of a CU apart, which end after `after` that take twice as long.
std::vector<double> residency_points(unsigned units, unsigned places, unsigned after) {
  std::vector<double> xs;
  unsigned high = 0;
  for (unsigned i = 1; high < after; ++i) {
    const unsigned blocks = std::max(i, (i * units + 3) / 4);
    xs.push_back(blocks);
    high += blocks > places * units ? 1 : 0;
  }
  return xs;
}

// One more block than there are places doubles the time.
double waiting_cycles(double blocks, double places, double slope) {
  return 65536 * (1 + slope * std::min(1.0, blocks / places)) * std::ceil(blocks / places);
}

const Seeds resident_seeds(22);
const Seeds no_resident_seeds(23);

TEST(CuStaircaseTrial, ResidentBlocks) {
  Tally& answers = tally("resident blocks");
  for (unsigned i = 0; i < 200; ++i) {
    Random random(resident_seeds(i));
    const Disturbance& disturbance = one_of(random, all_disturbances());
    const bool are_unequal = happens(random, 0.2);
    Gpu gpu{.engines = one_of(random, are_unequal ? unequal_engines() : equal_engines()),
            .most_on_one = are_unequal && happens(random, 0.5) ? in_turns : balanced};
    const unsigned units = units_of(gpu.engines);
    gpu.driver = units;
    MadeResults made("cu_staircase", device_of(units));
    if (happens(random, 0.8)) {
      add_staircase(made, gpu, cu_staircase::largest_block, 1, disturbance, random);
    }
    const double slope = between(random, 0, 0.07);
    std::vector<double> truths;
    for (const unsigned threads : cu_staircase::residency_blocks) {
      const unsigned most = one_of(random, std::vector<unsigned>{2048, 1024, 2560, 1536});
      const unsigned places = std::clamp(most / threads, 1U, 40U);
      truths.push_back(places);
      // With engines in turn the smallest one is full first.
      unsigned all = units * places;
      while (gpu.most_on_one(gpu.engines, all) > places) {
        --all;
      }
      made.curve(cu_staircase::residency_name(threads), "cycles",
                 measured(
                     residency_points(units, places, 4),
                     [&](double blocks) { return waiting_cycles(blocks, all, slope); }, disturbance,
                     random));
    }
    cu_staircase::conclude(made.results(), places_of);
    for (std::size_t k = 0; k < truths.size(); ++k) {
      const std::string threads = std::to_string(cu_staircase::residency_blocks[k]);
      answers.add({.value = truths[k]},
                  made.inference("resident blocks of " + threads + " threads"));
    }
  }
  for (unsigned i = 0; i < 500; ++i) {
    Random random(no_resident_seeds(i));
    const unsigned units = units_of(one_of(random, equal_engines()));
    MadeResults made("cu_staircase", device_of(units));
    const auto places = static_cast<unsigned>(between(random, 2, 33));
    made.curve("resident-256", "cycles", nothing(residency_points(units, places, 4), random));
    cu_staircase::conclude(made.results(), places_of);
    answers.add({}, made.inference("resident blocks of 256 threads"));
  }
  expect_goals(answers, {.right = 0.9});
}

}  // namespace
}  // namespace hipscope::trial
