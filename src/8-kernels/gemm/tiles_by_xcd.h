// An order of tiles that minimizes the loads of each L2, where a GPU has several XCDs.
#pragma once

#include <string>

#include "stage.h"
#include "tile_order.h"

namespace gemm {

/// Which of `count` tiles, one after the other, block `block` has, when blocks go round `xcds`
/// XCDs: each XCD has a run of neighbours.
__host__ __device__ inline unsigned tile_in_run(unsigned block, unsigned count, unsigned xcds) {
  const unsigned xcd = block % xcds;
  const unsigned more = count % xcds;  // XCDs with one tile more, the first ones
  return count / xcds * xcd + (xcd < more ? xcd : more) + block / xcds;
}

/// The place of a tile of `down` x `across`, in panels of up to eight rows of tiles.
__host__ __device__ inline TilePlace place_in_panels(unsigned tile, unsigned down,
                                                     unsigned across) {
  constexpr unsigned panel_rows = 8;
  const unsigned panel = tile / (panel_rows * across);
  const unsigned in_panel = tile % (panel_rows * across);
  const unsigned left = down - panel * panel_rows;
  const unsigned rows = left < panel_rows ? left : panel_rows;
  return {panel * panel_rows + in_panel % rows, in_panel / rows};
}

/// The same of a block: an XCD has neighbours.
__host__ __device__ inline TilePlace tile_by_xcd(unsigned block, unsigned down, unsigned across,
                                                 unsigned xcds) {
  return place_in_panels(tile_in_run(block, down * across, xcds), down, across);
}

/// XCDs by CUs: MI300's have 38 each, MI350's 32. A partition of one XCD has as many CUs as that.
inline unsigned count_xcds(const std::string& architecture, unsigned units) {
  const unsigned of_one = architecture.starts_with("gfx942")   ? 38
                          : architecture.starts_with("gfx950") ? 32
                                                               : units;
  return units % of_one == 0 ? units / of_one : 1;
}

/// XCDs of the device that is used.
inline unsigned xcds() {
  static const unsigned found = count_xcds(device_architecture(), compute_units());
  return found;
}

}  // namespace gemm
