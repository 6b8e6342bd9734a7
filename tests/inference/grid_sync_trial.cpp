// The trial of what grid_sync concludes: the cheapest barrier, its line over blocks, and launches.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "grid_sync_findings.h"
#include "hipscope/statistics.h"
#include "made_results.h"
#include "samples.h"
#include "staircase_curves.h"
#include "trial.h"

namespace hipscope::trial {
namespace {

// What the lesson's sweeps ask of one GPU.
struct Blocks {
  double units = 0;
  std::vector<double> one_per_unit{};
  std::vector<double> per_unit{};
};

Blocks some_blocks(Random& random) {
  Blocks blocks{.units = one_of(random, std::vector<double>{20, 60, 104, 132, 228})};
  for (double count = 1; count < blocks.units; count *= 2) {
    blocks.one_per_unit.push_back(count);
  }
  blocks.one_per_unit.push_back(blocks.units);
  const double most = one_of(random, std::vector<double>{4, 8});
  for (double count = 1; count <= most; count *= 2) {
    blocks.per_unit.push_back(count);
  }
  return blocks;
}

MadeResults made_on(const Blocks& blocks) {
  DeviceDescription device = fake::describe();
  device.compute_units = static_cast<int>(blocks.units);
  return MadeResults("grid_sync", device);
}

// The time of a barrier over so many blocks.
struct Barrier {
  double fixed = 0;
  double per_block = 0;

  [[nodiscard]] double over(double blocks) const { return fixed + per_block * blocks; }
};

void add_barrier(MadeResults& made, const std::string& way, const Blocks& blocks,
                 const std::function<double(double)>& over, const Disturbance& disturbance,
                 Random& random) {
  made.curve("blocks", way + " step", sampled(blocks.one_per_unit, over, disturbance, random));
  made.curve("per-cu", way + " step",
             sampled(
                 blocks.per_unit, [&](double count) { return over(count * blocks.units); },
                 disturbance, random));
}

const Seeds barrier_seeds(73);
const Seeds nothing_seeds(74);

TEST(GridSyncTrial, BarriersAndLaunches) {
  Tally& each = tally("grid barrier, one block per CU");
  Tally& all = tally("grid barrier, all resident blocks");
  Tally& fixed = tally("grid barrier, fixed part");
  Tally& per_block = tally("grid barrier, per block");
  Tally& launches = tally("grid barriers in the time of a launch");
  for (unsigned i = 0; i < 1000; ++i) {
    Random random(barrier_seeds(i));
    const Disturbance& disturbance = one_of(random, all_disturbances());
    const Blocks blocks = some_blocks(random);
    MadeResults made = made_on(blocks);
    std::vector<Barrier> barriers;
    for (const std::string way : grid_sync::barrier_names) {
      barriers.push_back({.fixed = between_octaves(random, 500, 2500),
                          .per_block = between_octaves(random, 0.3, 8)});
      const Barrier& barrier = barriers.back();
      add_barrier(
          made, way, blocks, [&](double count) { return barrier.over(count); }, disturbance,
          random);
    }
    const auto cheapest = [&](double count) {
      return *std::min_element(barriers.begin(), barriers.end(),
                               [=](auto& a, auto& b) { return a.over(count) < b.over(count); });
    };
    const double most = blocks.units * blocks.per_unit.back();
    const double launch = between_octaves(random, 1000, 6000);
    const double launch_of_block = between(random, 0.1, 1);
    for (const std::string way : {"launch step", "graph node step"}) {
      made.curve(
          "launches", way,
          sampled(
              {1, blocks.units, most},
              [&](double count) { return launch + launch_of_block * count; }, disturbance, random));
    }
    grid_sync::conclude(made.results());
    const double of_each = cheapest(blocks.units).over(blocks.units);
    each.add({.value = of_each, .tolerance = 0.1}, made.inference(each.inference));
    all.add({.value = cheapest(most).over(most), .tolerance = 0.1}, made.inference(all.inference));
    launches.add({.value = (launch + launch_of_block * blocks.units) / of_each, .tolerance = 0.15},
                 made.inference(launches.inference));
    // Of those that cost about as much as the cheapest, which the machine says and not the answer,
    // the line of any will do.
    const auto nearest = [&](double Barrier::*part, const Inference& answer) {
      constexpr double about = 1.1;
      double truth = cheapest(blocks.units).*part;
      const double wanted = answer.value.value_or(truth);
      for (const Barrier& barrier : barriers) {
        const bool is_as_cheap = barrier.over(blocks.units) <= about * of_each;
        if (is_as_cheap && std::abs(barrier.*part - wanted) < std::abs(truth - wanted)) {
          truth = barrier.*part;
        }
      }
      return Truth{.value = truth, .tolerance = 0.1};
    };
    const Inference start = made.inference(fixed.inference);
    const Inference line = made.inference(per_block.inference);
    fixed.add(nearest(&Barrier::fixed, start), start);
    per_block.add(nearest(&Barrier::per_block, line), line);
  }
  for (unsigned i = 0; i < 500; ++i) {
    Random random(nothing_seeds(i));
    const Blocks blocks = some_blocks(random);
    std::vector<double> counts = blocks.one_per_unit;
    for (const double count : blocks.per_unit) {
      if (count > 1) {
        counts.push_back(count * blocks.units);
      }
    }
    const Curve law = non_structure(counts, 1000, true, random).curve;
    const auto over = [&](double count) {
      return std::find_if(law.begin(), law.end(), [=](auto& point) { return point.x == count; })->y;
    };
    std::vector<double> times;
    for (const CurvePoint& point : law) {
      times.push_back(point.y);
    }
    const std::vector<double> waiting(counts.begin() + 1, counts.end());
    const LineFit line = fit_line(waiting, std::span(times).subspan(1));
    MadeResults made = made_on(blocks);
    add_barrier(made, grid_sync::barrier_names.front(), blocks, over,
                one_of(random, all_disturbances()), random);
    grid_sync::conclude(made.results());
    if (judged(line.largest_relative_residual) == Judged::as_nothing) {
      fixed.add({}, made.inference(fixed.inference));
      per_block.add({}, made.inference(per_block.inference));
    }
  }
  expect_goals(each, {.right = 0.8});
  expect_goals(all, {.right = 0.8});
  expect_goals(launches, {.right = 0.8});
  expect_goals(fixed, {.right = 0.4});
  expect_goals(per_block, {.right = 0.4});
}

}  // namespace
}  // namespace hipscope::trial
