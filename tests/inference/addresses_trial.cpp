// What the addresses of a wave meet in: LDS banks, memory channels, and the granularity of access.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include "lds_banks_findings.h"
#include "made_results.h"
#include "memory_channels_findings.h"
#include "staircase_curves.h"
#include "store_divergence_findings.h"
#include "trial.h"

namespace hipscope::trial {
namespace {

DeviceDescription device_of_waves(int lanes) {
  DeviceDescription description = fake::describe();
  description.wave_size = lanes;
  return description;
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
  MadeResults made("lds_banks", device_of_waves(static_cast<int>(lanes)));
  made.curve("chase-4", "latency", chase);
  made.curve("loads-4", lds_banks::throughput, loads);
  lds_banks::conclude(made.results());
  return made.inference("LDS banks");
}

const Seeds bank_seeds(26);
const Seeds no_bank_seeds(27);

TEST(AddressesTrial, LdsBanks) {
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

// --- Memory channels ----------------------------------------------------------------------------

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

TEST(AddressesTrial, ChannelInterleave) {
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
  MadeResults made("store_divergence", device_of_waves(lanes));
  made.curve("stride-loads", "cycles per access", costs);
  store_divergence::conclude(made.results());
  return made.inference("access granularity of loads from memory");
}

const Seeds access_seeds(32);
const Seeds no_access_seeds(33);

TEST(AddressesTrial, AccessGranularity) {
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

}  // namespace
}  // namespace hipscope::trial
