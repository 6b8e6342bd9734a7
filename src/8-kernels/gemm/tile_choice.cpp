#include "tile_choice.h"

#include <algorithm>
#include <cmath>

namespace gemm {

namespace {

constexpr unsigned most_blocks_of_a_cluster = 8;

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
  const double copies = 1.0 * option.depth * (option.rows + option.columns) / lanes;
  return std::max(option.step_cycles, size.is_aligned ? 0 : copies * device.copy_cycles);
}

// Of all that `steps` steps of the kernel read.
double bytes_cycles_of(const TileOption& option, double steps, const DeviceCosts& device) {
  const double values = 1.0 * option.depth * (option.rows + option.columns);
  return steps * values * device.value_bytes / device.bytes_per_cycle;
}

// CUs that blocks of a tile can be on if `blocks` of them share it.
double units_of(unsigned blocks, const DeviceCosts& device) {
  const unsigned* units = device.units;
  for (unsigned cluster = std::min(blocks, most_blocks_of_a_cluster); cluster > 1; cluster /= 2) {
    ++units;
  }
  return *units;
}

double dealt_out_cycles_of(const TileOption& option, const ProductSize& size,
                           const DeviceCosts& device) {
  constexpr double fewest_steps = 4;  // of a block
  const double tiles = tiles_of(option, size);
  const double steps = tiles * steps_of(option, size);
  const double busy = std::clamp(steps / fewest_steps, 1.0, units_of(1, device));
  return device.start_cycles +
         std::max(steps / busy * step_cycles_of(option, size, device),
                  bytes_cycles_of(option, steps, device)) +
         option.end_cycles * std::max(1.0, busy / tiles);
}

}  // namespace

double cycles_of(const TileOption& option, unsigned blocks, const ProductSize& size,
                 const DeviceCosts& device) {
  if (option.deals_out_steps) {
    return dealt_out_cycles_of(option, size, device);
  }
  const double steps = over(steps_of(option, size), blocks);
  const double all_blocks = tiles_of(option, size) * blocks;
  const double of_unit = over(all_blocks, units_of(blocks, device));
  const double rounds = over(of_unit, option.resident);
  const double computing = steps * std::max(of_unit * step_cycles_of(option, size, device),
                                            rounds * option.least_step_cycles);
  double cycles = device.start_cycles +
                  std::max(computing, bytes_cycles_of(option, all_blocks * steps, device)) +
                  of_unit * option.end_cycles;
  if (blocks > 1) {
    const double sums = 1.0 * option.rows * option.columns * device.value_bytes;
    const double meetings = blocks > most_blocks_of_a_cluster ? 2 : 1;
    cycles += meetings * device.meeting_cycles + of_unit * sums / device.summed_per_cycle;
  }
  return cycles;
}

TileChoice choose_tile(const std::vector<TileOption>& options, const ProductSize& size,
                       const DeviceCosts& device) {
  TileChoice best{};
  for (unsigned i = 0; i < options.size(); ++i) {
    const double steps = steps_of(options[i], size);
    for (unsigned blocks = 1; blocks <= options[i].most_blocks && blocks <= steps; blocks *= 2) {
      const double cycles = cycles_of(options[i], blocks, size, device);
      if (best.blocks == 0 || cycles < best.cycles) {
        best = {i, blocks, cycles};
      }
    }
  }
  return best;
}

}  // namespace gemm
