#include "tile_choice.h"

#include <algorithm>
#include <cmath>

namespace gemm {

namespace {

double over(double value, double by) { return std::ceil(value / by); }

double tiles_of(const TileOption& option, const ProductSize& size) {
  return over(size.m, option.rows) * over(size.n, option.columns);
}

double steps_of(const TileOption& option, const ProductSize& size) {
  return std::max(1.0, over(size.k, option.depth));
}

double step_cycles_of(const TileOption& option, const ProductSize& size,
                      const DeviceCosts& device) {
  constexpr double lanes = 32;
  const double copies =
      size.is_aligned ? 0 : 1.0 * option.depth * (option.rows + option.columns) / lanes;
  return std::max(option.step_cycles + copies * device.copy_slots, copies * device.copy_cycles);
}

// Of all that `steps` steps of the kernel read.
double bytes_cycles_of(const TileOption& option, double steps, const DeviceCosts& device) {
  const double values = 1.0 * option.depth * (option.rows + option.columns);
  return steps * values * device.value_bytes / device.bytes_per_cycle;
}

double memory_cycles_of(const TileOption& option, double blocks, const ProductSize& size,
                        const DeviceCosts& device) {
  const double values = 1.0 * size.m * size.k + 1.0 * size.k * size.n + 1.0 * size.m * size.n;
  const double at_once = std::min(blocks, 1.0 * option.resident * device.units.of_cluster[0]);
  const double bytes_per_cycle =
      std::min(device.bytes_from_memory, at_once * option.bytes_on_way / device.memory_cycles);
  return values * device.value_bytes / bytes_per_cycle;
}

double stream_k_cycles_of(const TileOption& option, const ProductSize& size,
                          const DeviceCosts& device) {
  constexpr double fewest_steps = 4;  // of a block
  const double tiles = tiles_of(option, size);
  const double steps = tiles * steps_of(option, size);
  const double busy = std::clamp(steps / fewest_steps, 1.0, 1.0 * units_of(1, device.units));
  return device.start_cycles +
         std::max({steps / busy * step_cycles_of(option, size, device),
                   bytes_cycles_of(option, steps, device),
                   memory_cycles_of(option, busy, size, device)}) +
         option.end_cycles * std::max(1.0, busy / tiles);
}

double sharing_cycles_of(const TileOption& option, Split split, double blocks_of_unit,
                         const DeviceCosts& device) {
  constexpr unsigned least_bytes = 4;  // halves have sums in FP32
  const double sums =
      1.0 * option.rows * option.columns * std::max(least_bytes, device.value_bytes);
  double cycles = 0;
  if (split.cluster > 1) {
    cycles += device.meeting_cycles + blocks_of_unit * sums / device.summed_per_cycle;
  }
  if (split.clusters > 1) {
    constexpr double piece = 16;
    constexpr double clusters_at_once = 4;
    const double pieces = over(sums / piece, 1.0 * split.cluster * option.threads);
    cycles += device.memory_meeting_cycles +
              pieces * over(split.clusters, clusters_at_once) * device.memory_round_cycles;
  }
  return cycles;
}

}  // namespace

unsigned units_of(unsigned cluster, const DeviceUnits& units) {
  const unsigned* of_cluster = units.of_cluster;
  for (; cluster > 1; cluster /= 2) {
    ++of_cluster;
  }
  return *of_cluster;
}

double cycles_of(const TileOption& option, Split split, const ProductSize& size,
                 const DeviceCosts& device) {
  if (option.stream_k) {
    return stream_k_cycles_of(option, size, device);
  }
  const double blocks = 1.0 * split.cluster * split.clusters;
  const double steps = over(steps_of(option, size), blocks);
  const double all_blocks = tiles_of(option, size) * blocks;
  const double of_unit = over(all_blocks, units_of(split.cluster, device.units));
  const double rounds = over(of_unit, option.resident);
  const double computing = steps * std::max(of_unit * step_cycles_of(option, size, device),
                                            rounds * option.least_step_cycles);
  return device.start_cycles +
         std::max({computing, bytes_cycles_of(option, all_blocks * steps, device),
                   memory_cycles_of(option, all_blocks, size, device)}) +
         of_unit * option.end_cycles + sharing_cycles_of(option, split, of_unit, device);
}

std::vector<Split> splits_of(const TileOption& option, const ProductSize& size,
                             const DeviceCosts& device) {
  if (option.stream_k) {
    return {Split{}};
  }
  constexpr double most_rounds = 2;
  const double steps = steps_of(option, size);
  const double tiles = tiles_of(option, size);
  std::vector<Split> splits;
  for (unsigned cluster = 1; cluster <= device.units.largest_cluster; cluster *= 2) {
    const double units = units_of(cluster, device.units);
    const auto add = [&](double clusters) {
      const bool is_new = std::none_of(splits.begin(), splits.end(), [&](Split split) {
        return split.cluster == cluster && split.clusters == clusters;
      });
      if (is_new && clusters >= 1 && clusters * cluster <= steps) {
        splits.push_back({cluster, static_cast<unsigned>(clusters)});
      }
    };
    for (double clusters = 1; clusters * cluster * tiles <= most_rounds * option.resident * units;
         clusters *= 2) {
      add(clusters);
    }
    for (unsigned of_unit = 1; of_unit <= option.resident; ++of_unit) {
      add(std::floor(of_unit * units / (tiles * cluster)));
    }
  }
  if (splits.empty()) {
    splits.emplace_back();
  }
  return splits;
}

std::vector<TileChoice> likely_tiles(const std::vector<TileOption>& options,
                                     const ProductSize& size, const DeviceCosts& device,
                                     std::size_t most) {
  std::vector<TileChoice> choices;
  for (unsigned i = 0; i < options.size(); ++i) {
    if ((options[i].only_whole_rows && !size.is_aligned) ||
        options[i].lds_bytes > device.lds_bytes) {
      continue;
    }
    for (const Split split : splits_of(options[i], size, device)) {
      choices.push_back({i, split, cycles_of(options[i], split, size, device)});
    }
  }
  std::stable_sort(choices.begin(), choices.end(),
                   [](const auto& a, const auto& b) { return a.cycles < b.cycles; });
  constexpr unsigned most_of_an_option = 3;
  std::vector<unsigned> of_option(options.size(), 0);
  std::vector<TileChoice> likely;
  for (const TileChoice& choice : choices) {
    if (likely.size() < most && of_option[choice.option]++ < most_of_an_option) {
      likely.push_back(choice);
    }
  }
  return likely;
}

TileChoice choose_tile(const std::vector<TileOption>& options, const ProductSize& size,
                       const DeviceCosts& device) {
  return likely_tiles(options, size, device, 1).front();
}

}  // namespace gemm
