// Every tile of a rung that chooses one by size, with splits of each kind, whatever it would
// choose.
#pragma once

#include <hipscope/hipscope.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string>
#include <vector>

#include "chosen_tile.h"
#include "judge.h"
#include "problem.h"

namespace gemm {

/// "2 x 3 blocks": so many clusters of so many.
inline std::string name_of(Split split) {
  return std::to_string(split.clusters) + " x " + std::to_string(split.cluster) +
         (split.clusters * split.cluster == 1 ? " block" : " blocks");
}

template <typename Value>
Verdict judge_tile(const SizedKernel<Value>& kernel, Split split, Problem<Value>& problem,
                   Factors<Value> factors) {
  Product<Value> product = problem.product(factors.alpha, factors.beta);
  hipscope::DeviceBuffer<unsigned char> workspace(
      std::max<std::uint64_t>(1, kernel.workspace_bytes(product.extents, split)));
  workspace.clear();
  product.workspace = workspace.data();
  problem.reset(factors.beta);
  kernel.enqueue(product, split);
  return problem.judge(factors.alpha, factors.beta);
}

/// Sweep tiles: a row for each kernel of a rung.
template <typename Value>
void check_tiles(hipscope::Sweep& sweep, const Stage<Value>& rung,
                 const std::vector<SizedKernel<Value>>& kernels, const DeviceCosts& device) {
  sweep.axis({.name = "tile"});
  sweep.headline("largest error");
  sweep.note(
      "each kernel that the last rung chooses from, with splits that it might choose: random "
      "values within the bound; nothing is measured");
  if (!is_here(sweep, rung)) {
    sweep.note("not on this device: " + rung.technique);
    return;
  }
  // Rows that begin at multiples of 16 bytes, and others; the last tiles are not whole.
  const FlatShape shapes[] = {{70, 70, 129}, {68, 136, 136}, {17, 130, 67}, {17, 20, 600}};
  const unsigned gaps[] = {0, 0, 5, 0};
  const Split splits[] = {{1, 1}, {2, 1}, {4, 1}, {8, 1}, {1, 3}, {2, 2}};
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    const TileOption& option = kernels[i].option;
    auto point = sweep.point(std::to_string(i + 1) + ": " + std::to_string(option.rows) + " x " +
                                 std::to_string(option.columns) +
                                 (option.deals_out_steps ? ", steps dealt out" : ""),
                             static_cast<double>(i + 1));
    double largest = 0;
    double cases = 0;
    for (std::size_t s = 0; s < std::size(shapes); ++s) {
      const auto [m, n, k] = shapes[s];
      Problem<Value> problem(m, n, k, Values::random, sweep.seed(),
                             {.a = gaps[s], .b = gaps[s], .c = gaps[s]});
      const unsigned steps = blocks_of(k, option.depth);
      for (const Split split : splits) {
        if (split.cluster > device.units.largest_cluster ||
            split.cluster * split.clusters > (option.deals_out_steps ? 1 : steps)) {
          continue;
        }
        for (const Factors<Value> factors : {measured_factors<Value>, other_factors<Value>}) {
          const Verdict verdict = judge_tile(kernels[i], split, problem, factors);
          point.verify(std::to_string(m) + " x " + std::to_string(n) + " x " + std::to_string(k) +
                           ", " + name_of(split) + (factors.beta == 0 ? "" : ", beta = -0.5"),
                       verdict.wrong, verdict.checked);
          largest = std::max(largest, verdict.error);
          ++cases;
        }
      }
    }
    point.value("cases", cases, "");
    point.value("largest error", largest, "eps");
  }
}

}  // namespace gemm
