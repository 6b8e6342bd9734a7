// The trial of what memory_channels concludes: the interleave of the channels.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "disturbance.h"
#include "findings.h"
#include "made_results.h"
#include "trial.h"

namespace hipscope::trial {
namespace {

Inference interleave_by(const DeviceDescription& device, const Curve& power,
                        const Curve& neighbour) {
  Curve ratios = power;
  for (std::size_t i = 0; i < ratios.size(); ++i) {
    ratios[i].y /= neighbour[i].y;
  }
  MadeResults made("memory_channels", device);
  made.curve("stride", "neighbour rate", neighbour);
  made.curve("stride", "of neighbour", ratios);
  memory_channels::conclude(made.results());
  return made.inference("channel interleave");
}

const Seeds channel_seeds(30);
const Seeds no_channel_seeds(31);

TEST(MemoryChannelsTrial, ChannelInterleave) {
  Tally& answers = tally("channel interleave");
  const std::vector<double> strides = powers(128, 1 << 20);
  for (unsigned i = 0; i < 1000; ++i) {
    Random random(channel_seeds(i));
    const Disturbance& disturbance = one_of(random, all_disturbances());
    const double interleave = one_of(random, std::vector<double>{256, 512, 1024, 2048, 4096});
    const double channels = one_of(random, std::vector<double>{8, 16, 32, 64});
    // Of some, a half or a quarter of the channels gives all that the CUs ask for.
    const double enough = one_of(random, std::vector<double>{1, 1, 1, 0.5, 0.25});
    const double rate = between(random, 5, 50);
    const double sector_bytes = one_of(random, std::vector<double>{32, 64});
    DeviceDescription device = fake::describe();
    if (happens(random, 0.6)) {
      device.memory_bus_bits = 4096;
      device.memory_mhz = rate * sector_bytes / enough / between(random, 0.6, 1) / 1.024;
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

}  // namespace
}  // namespace hipscope::trial
