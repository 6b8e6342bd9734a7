// The trial of what is read from staircases and their kin: thousands of made curves through the
// findings themselves.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "cu_staircase_findings.h"
#include "fma_loop_findings.h"
#include "ilp_tlp_findings.h"
#include "launch_latency_findings.h"
#include "lds_banks_findings.h"
#include "made_results.h"
#include "memory_channels_findings.h"
#include "staircase_curves.h"
#include "store_divergence_findings.h"
#include "thread_rate_findings.h"
#include "trial.h"
#include "vgpr_limit_findings.h"
#include "wave_divergence_findings.h"

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

const Seeds unit_seeds(20);
const Seeds no_unit_seeds(21);

TEST(StaircaseTrial, ComputeUnits) {
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

TEST(StaircaseTrial, ResidentBlocks) {
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

// --- Instruction cache --------------------------------------------------------------------------

constexpr double loop_bytes = 48;

std::vector<double> loop_lengths(double bytes_per_fma) {
  std::vector<double> xs;
  for (const double fmas :
       {1,    2,    4,    8,    16,   32,   64,   100,  128,  192,  256,  384,  512,   768,  1024,
        1536, 2048, 3072, 3584, 4000, 4096, 4608, 6144, 7168, 8000, 8192, 9216, 12288, 16384}) {
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

const Seeds loop_seeds(24);
const Seeds no_loop_seeds(25);

TEST(StaircaseTrial, InstructionCache) {
  Tally& answers = tally("largest loop at full speed");
  for (unsigned i = 0; i < 1000; ++i) {
    Random random(loop_seeds(i));
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
    Random random(no_loop_seeds(i));
    MadeResults made("fma_loop");
    for (const std::string sweep : {"unroll-64", "unroll-256"}) {
      add_loops(made, sweep, 16, nothing(loop_lengths(16), random));
    }
    fma_loop::conclude(made.results());
    answers.add({}, made.inference("largest loop at full speed, 64 threads"));
  }
  expect_goals(answers, {.right = 0.7});
}

// --- LDS banks ----------------------------------------------------------------------------------

struct Lds {
  unsigned lanes = 0;
  unsigned at_once = 0;  // lanes that are served together
  unsigned banks = 0;
  double base = 0;
  double per_dword = 0;

  // Each part of a wave waits for its busiest bank.
  [[nodiscard]] double cycles(double stride) const {
    double sum = 0;
    for (unsigned first = 0; first < lanes; first += at_once) {
      std::vector<unsigned> dwords(banks);
      for (unsigned lane = first; lane < first + at_once; ++lane) {
        ++dwords[lane * static_cast<unsigned>(stride) % banks];
      }
      sum += *std::max_element(dwords.begin(), dwords.end());
    }
    return base + per_dword * sum;
  }
};

std::vector<double> strides(bool with_long_ones) {
  std::vector<double> xs = counted(1, 64);
  if (with_long_ones) {
    for (const double stride : {80, 96, 112, 128}) {
      xs.push_back(stride);
    }
  }
  return xs;
}

Inference banks_by(unsigned lanes, const Curve& chase, const Curve& loads) {
  MadeResults made("lds_banks", device_of(60, static_cast<int>(lanes)));
  made.curve("chase-4", "latency", chase);
  made.curve("loads-4", lds_banks::throughput, loads);
  lds_banks::conclude(made.results());
  return made.inference("LDS banks");
}

const Seeds bank_seeds(26);
const Seeds no_bank_seeds(27);

TEST(StaircaseTrial, LdsBanks) {
  // Old results have no strides past 64 dwords.
  Tally& answers = tally("LDS banks");
  Tally& of_short_strides = tally("LDS banks, strides up to 64");
  for (unsigned i = 0; i < 1000; ++i) {
    Random random(bank_seeds(i));
    const Disturbance& disturbance = one_of(random, all_disturbances());
    Lds lds{.lanes = one_of(random, std::vector<unsigned>{32, 64}),
            .banks = one_of(random, std::vector<unsigned>{16, 32, 32, 64, 64, 128}),
            .per_dword = between(random, 1, 4)};
    lds.at_once = lds.lanes / one_of(random, std::vector<unsigned>{1, 2});
    const bool with_long_ones = happens(random, 0.7);
    const std::vector<double> xs = strides(with_long_ones);
    const auto curve = [&](double base) {
      lds.base = base;
      return measured(
          xs, [&](double x) { return lds.cycles(x); }, disturbance, random);
    };
    const Curve chase = curve(between(random, 20, 100));
    (with_long_ones ? answers : of_short_strides)
        .add({.value = lds.banks}, banks_by(lds.lanes, chase, curve(0)));
  }
  for (unsigned i = 0; i < 500; ++i) {
    Random random(no_bank_seeds(i));
    const std::vector<double> xs = strides(happens(random, 0.7));
    const Curve chase = nothing(xs, random);
    answers.add({}, banks_by(64, chase, nothing(xs, random)));
  }
  expect_goals(answers, {.right = 0.7});
  // There two numbers of banks may look alike.
  expect_goals(of_short_strides, {.right = 0.4});
}

// --- Wave size ----------------------------------------------------------------------------------

Inference wave_by(const Curve& granularity, const Curve& paths) {
  MadeResults made("wave_divergence");
  if (!granularity.empty()) {
    made.curve("granularity", "cycles", granularity);
  }
  if (!paths.empty()) {
    made.curve("paths", "FMA rate", paths);
  }
  wave_divergence::conclude(made.results());
  return made.inference("wave size");
}

const std::vector<double>& granularities() {
  static const std::vector<double> all = {1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024};
  return all;
}

const std::vector<double>& path_counts() {
  static const std::vector<double> all = {1, 2, 4, 8, 16, 24, 32, 48, 64, 96, 128};
  return all;
}

// A rate is less where a time is longer.
Curve reciprocal(Curve times) {
  for (CurvePoint& point : times) {
    point.y = 1e6 / point.y;
  }
  return times;
}

const Seeds wave_seeds(28);
const Seeds no_wave_seeds(29);

TEST(StaircaseTrial, WaveSize) {
  Tally& answers = tally("wave size by divergence");
  for (unsigned i = 0; i < 1000; ++i) {
    Random random(wave_seeds(i));
    const Disturbance& disturbance = one_of(random, all_disturbances());
    const double lanes = one_of(random, std::vector<double>{32, 64});
    const double both = between(random, 1.8, 2.2);
    const Curve granularity = measured(
        granularities(), [&](double x) { return x < lanes ? 1000 * both : 1000; }, disturbance,
        random);
    const Curve paths = reciprocal(measured(
        path_counts(), [&](double x) { return 1000 * std::min(x, lanes); }, disturbance, random));
    answers.add({.value = lanes}, wave_by(granularity, happens(random, 0.7) ? paths : Curve{}));
  }
  for (unsigned i = 0; i < 500; ++i) {
    Random random(no_wave_seeds(i));
    const Curve granularity = nothing(granularities(), random);
    answers.add({}, wave_by(granularity, reciprocal(nothing(path_counts(), random))));
  }
  expect_goals(answers, {.right = 0.6});
}

// --- Memory channels ----------------------------------------------------------------------------

std::vector<double> powers(double first, double last) {
  std::vector<double> xs;
  for (double x = first; x <= last; x *= 2) {
    xs.push_back(x);
  }
  return xs;
}

Inference interleave_by(const DeviceDescription& device, const Curve& power,
                        const Curve& neighbour) {
  Curve ratios = power;
  for (std::size_t i = 0; i < ratios.size(); ++i) {
    ratios[i].y /= neighbour[i].y;
  }
  MadeResults made("memory_channels", device);
  made.curve("stride", "power-of-two rate", power);
  made.curve("stride", "neighbour rate", neighbour);
  made.curve("stride", "of neighbour", ratios);
  memory_channels::conclude(made.results());
  return made.inference("channel interleave");
}

const Seeds channel_seeds(30);
const Seeds no_channel_seeds(31);

TEST(StaircaseTrial, ChannelInterleave) {
  Tally& answers = tally("channel interleave");
  const std::vector<double> strides = powers(128, 1 << 20);
  constexpr double sector_bytes = 64;
  for (unsigned i = 0; i < 1000; ++i) {
    Random random(channel_seeds(i));
    const Disturbance& disturbance = one_of(random, all_disturbances());
    const double interleave = one_of(random, std::vector<double>{256, 512, 1024, 2048, 4096});
    const double channels = one_of(random, std::vector<double>{8, 16, 32, 64});
    // Of some, a half or a quarter of the channels gives all that the CUs ask for.
    const double enough = one_of(random, std::vector<double>{1, 1, 1, 0.5, 0.25});
    const double rate = between(random, 5, 50);
    DeviceDescription device = fake::describe();
    if (happens(random, 0.6)) {
      device.memory_bus_bits = 4096;
      device.memory_mhz = rate * sector_bytes / enough / between(random, 0.6, 0.95) / 1.024;
    }
    const auto seconds = [&](double met) { return std::max(1.0, enough * channels / met) / rate; };
    const auto reciprocal_of = [](Curve curve) {
      for (CurvePoint& point : curve) {
        point.y = 1 / point.y;
      }
      return curve;
    };
    const Curve power = reciprocal_of(measured(
        strides,
        [&](double x) { return seconds(std::clamp(channels * interleave / x, 1.0, channels)); },
        disturbance, random));
    const Curve neighbour = reciprocal_of(measured(
        strides, [&](double) { return seconds(channels); }, disturbance, random));
    answers.add({.value = interleave}, interleave_by(device, power, neighbour));
  }
  for (unsigned i = 0; i < 500; ++i) {
    Random random(no_channel_seeds(i));
    const Curve power = nothing(strides, random);
    // What slows both alike is no channel's doing.
    Curve neighbour = power;
    for (CurvePoint& point : neighbour) {
      point.y *= between(random, 0.9, 1.1);
    }
    const bool are_alike = happens(random, 0.5);
    answers.add({}, interleave_by(fake::describe(), power,
                                  are_alike ? neighbour : nothing(strides, random)));
  }
  expect_goals(answers, {.right = 0.25});
}

// --- Access granularity -------------------------------------------------------------------------

const std::vector<double>& access_strides() {
  static const std::vector<double> all = {1,  2,  3,  4,  5,  7,  8,  9,  12, 15,
                                          16, 17, 24, 31, 32, 33, 48, 63, 64};
  return all;
}

Inference granularity_by(int lanes, const Curve& costs) {
  MadeResults made("store_divergence", device_of(60, lanes));
  made.curve("stride-loads", "cycles per access", costs);
  store_divergence::conclude(made.results());
  return made.inference("access granularity of loads from memory");
}

const Seeds access_seeds(32);
const Seeds no_access_seeds(33);

TEST(StaircaseTrial, AccessGranularity) {
  Tally& answers = tally("access granularity");
  for (unsigned i = 0; i < 1000; ++i) {
    Random random(access_seeds(i));
    const unsigned lanes = one_of(random, std::vector<unsigned>{32, 64});
    const double bytes = one_of(random, std::vector<double>{32, 64, 128});
    const double least = between(random, 0, 1) * lanes * 4 / bytes;
    const double per_segment = between(random, 0.5, 5);
    const auto cycles = [&](double stride) {
      std::set<double> segments;
      for (unsigned lane = 0; lane < lanes; ++lane) {
        segments.insert(std::floor(lane * stride * 4 / bytes));
      }
      return per_segment * std::max(least, static_cast<double>(segments.size()));
    };
    answers.add({.value = bytes},
                granularity_by(static_cast<int>(lanes),
                               measured(access_strides(), cycles,
                                        one_of(random, all_disturbances()), random)));
  }
  for (unsigned i = 0; i < 500; ++i) {
    Random random(no_access_seeds(i));
    answers.add({}, granularity_by(64, nothing(access_strides(), random)));
  }
  expect_goals(answers, {.right = 0.3});
}

// --- Latency ------------------------------------------------------------------------------------

Inference latency_by(const Curve& chains, const Curve& waves) {
  MadeResults made("ilp_tlp");
  made.curve("fma-chains", "round", chains);
  made.curve("fma-waves", "round", waves);
  ilp_tlp::conclude(made.results(), {{.name = "fma", .title = "FMA"}});
  return made.inference("FMA latency");
}

const Seeds latency_seeds(34);
const Seeds no_latency_seeds(35);

TEST(StaircaseTrial, InstructionLatency) {
  Tally& answers = tally("instruction latency");
  const std::vector<double> chains = counted(1, 8);
  const std::vector<double> waves = {1, 2, 3, 4, 8, 12, 16, 20, 24, 28, 32, 40, 48, 64};
  for (unsigned i = 0; i < 1000; ++i) {
    Random random(latency_seeds(i));
    const Disturbance& disturbance = one_of(random, all_disturbances());
    const double latency = between(random, 2, 20);
    const double interval = one_of(random, std::vector<double>{1, 2, 4});
    const double of_a_unit = interval / one_of(random, std::vector<double>{1, 2, 4});
    const Curve by_chains = measured(
        chains, [&](double n) { return std::max(latency, n * interval); }, disturbance, random);
    const Curve by_waves = measured(
        waves, [&](double n) { return std::max(latency, n * of_a_unit); }, disturbance, random);
    // One chain can be held up by the interval, too.
    answers.add({.value = std::max(latency, interval), .tolerance = 0.05},
                latency_by(by_chains, by_waves));
  }
  for (unsigned i = 0; i < 500; ++i) {
    Random random(no_latency_seeds(i));
    const Curve by_chains = nothing(chains, random);
    const Inference found = latency_by(by_chains, nothing(waves, random));
    // Two constants that agree are a latency, which nothing else limits.
    answers.add(found.value ? Truth{.value = 1000, .tolerance = 0.1} : Truth{}, found);
  }
  expect_goals(answers, {.right = 0.4});
}

// --- Registers ----------------------------------------------------------------------------------

const Seeds register_seeds(36);
const Seeds no_register_seeds(37);

TEST(StaircaseTrial, RegisterBudget) {
  Tally& answers = tally("register budget");
  const std::vector<double> values = {8,   16,  32,  64,  96,  128, 160, 192, 208, 224,
                                      232, 240, 248, 252, 256, 272, 288, 320, 512};
  const auto conclude = [&](const Curve& times, double budget) {
    MadeResults made("vgpr_limit");
    Curve scratch = times;
    for (CurvePoint& point : scratch) {
      point.y = point.x > budget ? 64 : 0;
    }
    made.curve("live-256", "scratch", scratch);
    made.curve("live-256", "FMA rate", reciprocal(times));
    Curve registers = times;
    for (CurvePoint& point : registers) {
      point.y = point.x + 6;
    }
    made.curve("live-256", "registers", registers);
    vgpr_limit::conclude(made.results());
    return made.inference("register budget per thread, blocks of 256");
  };
  for (unsigned i = 0; i < 1000; ++i) {
    Random random(register_seeds(i));
    // In some the rate falls before the compiler needs scratch.
    const double budget = one_of(random, std::vector<double>{64, 128, 192, 248, 252, 256});
    const double step = between(random, 1.3, 4);
    const double slope = between(random, 0, 2);
    const auto cycles = [&](double x) {
      return 1000 * (x <= budget ? 1 : step + slope * (x / budget - 1));
    };
    answers.add({.value = budget + 6},
                conclude(measured(values, cycles, one_of(random, all_disturbances()), random),
                         happens(random, 0.9) ? budget : 320));
  }
  for (unsigned i = 0; i < 500; ++i) {
    Random random(no_register_seeds(i));
    answers.add({}, conclude(nothing(values, random), 512));
  }
  expect_goals(answers, {.right = 0.6});
}

// --- Lines and rates ----------------------------------------------------------------------------

const Seeds fma_seeds(38);

TEST(StaircaseTrial, FmaLatency) {
  Tally& answers = tally("FMA latency by the loop's length");
  for (unsigned i = 0; i < 500; ++i) {
    Random random(fma_seeds(i));
    const Loop loop{.bytes_per_fma = 8,
                    .latency = between(random, 2, 12),
                    .end = between(random, 1, 40),
                    .cache = 1e9,
                    .step = 1};
    MadeResults made("fma_loop");
    add_loops(made, "unroll-64", loop.bytes_per_fma,
              measured(
                  loop_lengths(loop.bytes_per_fma), [&](double x) { return loop.cycles(x); },
                  one_of(random, all_disturbances()), random));
    fma_loop::conclude(made.results());
    answers.add({.value = loop.latency, .tolerance = 0.05}, made.inference("FMA latency"));
  }
  expect_goals(answers, {.right = 0.8});
}

const Seeds launch_seeds(39);

TEST(StaircaseTrial, LaunchInterval) {
  Tally& answers = tally("interval of launches");
  const std::vector<double> kernels = powers(1, 256);
  for (unsigned i = 0; i < 500; ++i) {
    Random random(launch_seeds(i));
    const Disturbance& disturbance = one_of(random, all_disturbances());
    const double interval = between(random, 0.3e-6, 8e-6);
    const double first = between(random, 2e-6, 20e-6);
    MadeResults made("launch_latency");
    for (const std::string value : {"completion", "device", "enqueue"}) {
      made.curve("stream", value,
                 measured(
                     kernels, [&](double n) { return first + n * interval; }, disturbance, random));
    }
    launch_latency::conclude(made.results());
    answers.add({.value = interval * 1e6, .tolerance = 0.1},
                made.inference("interval in a stream"));
  }
  expect_goals(answers, {.right = 0.8});
}

Inference wave_by_steps(const Curve& cycles) {
  MadeResults made("thread_rate");
  made.curve("block-size", "cycles per block", cycles);
  thread_rate::conclude(made.results());
  return made.inference("wave size");
}

const Seeds step_seeds(40);
const Seeds no_step_seeds(41);

TEST(StaircaseTrial, WaveSizeBySteps) {
  Tally& answers = tally("wave size by the block's steps");
  std::vector<double> sizes;
  for (double threads = 8; threads <= 1024; threads += 8) {
    sizes.push_back(threads);
  }
  for (unsigned i = 0; i < 500; ++i) {
    Random random(step_seeds(i));
    const double lanes = one_of(random, std::vector<double>{32, 64});
    const double fixed = between(random, 4, 20);
    answers.add({.value = lanes},
                wave_by_steps(measured(
                    sizes, [&](double threads) { return fixed + std::ceil(threads / lanes); },
                    one_of(random, all_disturbances()), random)));
  }
  for (unsigned i = 0; i < 500; ++i) {
    Random random(no_step_seeds(i));
    answers.add({}, wave_by_steps(nothing(sizes, random)));
  }
  expect_goals(answers, {.right = 0.2});
}

Inference block_rate_by(const Curve& times) {
  constexpr double threads = 1 << 26;
  Curve launched = times;
  Curve rates = times;
  for (std::size_t i = 0; i < times.size(); ++i) {
    launched[i].y = threads;
    rates[i].y = threads / times[i].y;
  }
  MadeResults made("thread_rate");
  made.curve("null-1d", "launched", launched);
  made.curve("null-1d", "thread rate", rates);
  made.curve("null-1d", "time", times);
  thread_rate::conclude(made.results());
  return made.inference("block rate");
}

const Seeds rate_seeds(42);

TEST(StaircaseTrial, BlockRate) {
  Tally& answers = tally("block rate");
  const std::vector<double> sizes = powers(1, 1024);
  constexpr double threads = 1 << 26;
  for (unsigned i = 0; i < 500; ++i) {
    Random random(rate_seeds(i));
    const double per_second = between(random, 0.2e9, 2e9);
    const double threads_per_second = per_second * between(random, 50, 5000);
    const Curve times = measured(
        sizes,
        [&](double block) {
          return std::max(threads / block / per_second, threads / threads_per_second);
        },
        one_of(random, all_disturbances()), random);
    // The clock is 1 GHz.
    answers.add({.value = per_second * 1e-9, .tolerance = 0.05}, block_rate_by(times));
  }
  expect_goals(answers, {.right = 0.5});
}

}  // namespace
}  // namespace hipscope::trial
