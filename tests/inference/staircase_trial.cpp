// The trial of what is read from staircases and their kin: thousands of made curves through the
// findings themselves.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "cu_staircase_findings.h"
#include "fma_loop_findings.h"
#include "made_results.h"
#include "staircase_curves.h"
#include "trial.h"

namespace hipscope::trial {
namespace {

DeviceDescription device_of(unsigned compute_units, int wave_size = 64) {
  DeviceDescription description = fake::describe();
  description.compute_units = static_cast<int>(compute_units);
  description.wave_size = wave_size;
  return description;
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

// The time of so many blocks of `threads`; a CU runs two of 512 at about no loss.
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

TEST(StaircaseTrial, ComputeUnits) {
  Tally& answers = tally("compute units");
  for (unsigned i = 0; i < 2000; ++i) {
    Random random(seed(20, i));
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
    Random random(seed(21, i));
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

TEST(StaircaseTrial, ResidentBlocks) {
  Tally& answers = tally("resident blocks");
  for (unsigned i = 0; i < 200; ++i) {
    Random random(seed(22, i));
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
    Random random(seed(23, i));
    const unsigned units = units_of(one_of(random, equal_engines()));
    MadeResults made("cu_staircase", device_of(units));
    const auto places = static_cast<unsigned>(between(random, 2, 33));
    made.curve("resident-256", "cycles", nothing(residency_points(units, places, 4), random));
    cu_staircase::conclude(made.results(), places_of);
    answers.add({}, made.inference("resident blocks of 256 threads"));
  }
  expect_goals(answers, {.right = 0.9});
}

// --- Instruction cache --------------------------------------------------------------------------

constexpr double loop_bytes = 48;

std::vector<double> loop_lengths(double bytes_per_fma) {
  std::vector<double> xs;
  for (const double fmas :
       {1,   2,    4,    8,    16,   32,   64,   100,  128,  192,  256,  384,   512,
        768, 1024, 1536, 2048, 3072, 4096, 6144, 7168, 8000, 8192, 9216, 12288, 16384}) {
    xs.push_back(fmas * bytes_per_fma + loop_bytes);
  }
  return xs;
}

double fmas_of(double bytes, double bytes_per_fma) { return (bytes - loop_bytes) / bytes_per_fma; }

void add_loops(MadeResults& made, const std::string& sweep, double bytes_per_fma,
               const Curve& cycles) {
  Curve fmas = cycles;
  for (CurvePoint& point : fmas) {
    point.y = fmas_of(point.x, bytes_per_fma);
  }
  made.curve(sweep, "FMAs in the loop", fmas);
  made.curve(sweep, "cycles per FMA", cycles);
}

// A loop past `cache` bytes loses `step` at once, or bit by bit over so many octaves.
struct Loop {
  double bytes_per_fma = 0;
  double latency = 0;
  double end = 0;
  double cache = 0;
  double step = 0;
  double octaves = 0;

  [[nodiscard]] double cycles(double x) const {
    const double beyond = std::log2(x / cache);
    const double lost = beyond <= 0 ? 0 : octaves > 0 ? std::min(1.0, beyond / octaves) : 1;
    return (latency + end / fmas_of(x, bytes_per_fma)) * (1 + (step - 1) * lost);
  }
};

TEST(StaircaseTrial, InstructionCache) {
  Tally& answers = tally("largest loop at full speed");
  for (unsigned i = 0; i < 1000; ++i) {
    Random random(seed(24, i));
    const Disturbance& disturbance = one_of(random, all_disturbances());
    Loop loop{.bytes_per_fma = one_of(random, std::vector<double>{4, 8, 16}),
              .latency = one_of(random, std::vector<double>{4, 8}),
              .end = between(random, 1, 40),
              .step = between(random, 1.1, 4),
              .octaves = one_of(random, std::vector<double>{0, 0.3, 1})};
    const std::vector<double> xs = loop_lengths(loop.bytes_per_fma);
    const auto after = static_cast<std::size_t>(between(random, 4, 10));
    const std::size_t last = xs.size() - 1 - after;
    loop.cache = between(random, xs[last], xs[last + 1]);
    MadeResults made("fma_loop");
    for (const std::string sweep : {"unroll-64", "unroll-256"}) {
      if (sweep == "unroll-64" || happens(random, 0.8)) {
        add_loops(made, sweep, loop.bytes_per_fma,
                  measured(
                      xs, [&](double x) { return loop.cycles(x); }, disturbance, random));
      }
    }
    fma_loop::conclude(made.results());
    const Inference found = made.inference("largest loop at full speed, 64 threads");
    // One point early is as near as a disturbed one lets it be; where the loss comes bit by bit,
    // 5 % more than fits is none yet, and what is within the noise is none either.
    const auto is_lost = [&](double x) {
      return x > 1.05 * loop.cache &&
             loop.cycles(x) / loop.cycles(xs[last]) > 1.03 + 4 * disturbance.noise;
    };
    const bool is_right = found.value && *found.value >= xs[last - 1] && !is_lost(*found.value);
    answers.add({.value = is_right ? *found.value : loop.cache}, found);
  }
  for (unsigned i = 0; i < 500; ++i) {
    Random random(seed(25, i));
    MadeResults made("fma_loop");
    for (const std::string sweep : {"unroll-64", "unroll-256"}) {
      add_loops(made, sweep, 16, nothing(loop_lengths(16), random));
    }
    fma_loop::conclude(made.results());
    answers.add({}, made.inference("largest loop at full speed, 64 threads"));
  }
  expect_goals(answers, {.right = 0.7});
}

}  // namespace
}  // namespace hipscope::trial
