// The trial of what grid_sync concludes: the cheapest barrier.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "disturbance.h"
#include "findings.h"
#include "made_results.h"
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
  return MadeResults("grid_sync",
                     fake::describe_with(&DeviceDescription::compute_units, blocks.units));
}

// The time of a barrier over that many blocks.
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

TEST(GridSyncTrial, Barriers) {
  Tally& each = tally("grid barrier, one block per CU");
  Tally& all = tally("grid barrier, all resident blocks");
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
    grid_sync::conclude(made.results());
    each.add({.value = cheapest(blocks.units).over(blocks.units), .tolerance = 0.1},
             made.inference(each.inference));
    all.add({.value = cheapest(most).over(most), .tolerance = 0.1}, made.inference(all.inference));
  }
  expect_goals(each, {.right = 0.8});
  expect_goals(all, {.right = 0.8});
}

}  // namespace
}  // namespace hipscope::trial
