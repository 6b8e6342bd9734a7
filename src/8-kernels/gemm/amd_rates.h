// What the choice of a tile knows of AMD's GPUs and no runtime tells: rates of a CU, by
// architecture.
//
// The vendor's figures; scripts/hipscope/compiled_code/gpus.py has them by GPU, with sources and
// what had to be assumed. Never compared with a measurement. Plain C++, no GPU headers.
#pragma once

#include <algorithm>
#include <string>

#include "tile_choice.h"

namespace gemm {

/// Of what HIP counts as a CU, which is a WGP of two CUs on RDNA; per cycle, and in cycles.
struct AmdRates {
  double fmas;  ///< of FP32 by vector instructions, packed and dual ones included
  double lds_bytes;
  double l1_bytes;
  double l2_bytes;      ///< a CU's part of what L2 gives
  double memory_bytes;  ///< and of what memory gives
  double lds_cycles;    ///< of a load
  double l2_cycles;
  double memory_cycles;
  double half_fmas = 512;  ///< of FP16 and BF16 by matrix instructions
};

inline AmdRates amd_rates(const std::string& architecture) {
  const auto begins = [&](const std::string& start) { return architecture.starts_with(start); };
  AmdRates rates = {64, 128, 64, 17, 7, 63, 300, 647};  // MI100; MI25 and MI50 have as much of L2
  if (begins("gfx1")) {
    // RX 7900 XTX; RDNA 1 and 2 have no dual FMAs, RDNA 4 twice the WMMA.
    rates = {begins("gfx10") ? 128.0 : 256.0, 256, 128, 32, 8, 20, 320, 647};
    rates.half_fmas = begins("gfx12") ? 1024 : 512;
  } else if (begins("gfx90a")) {  // MI210
    rates.fmas = 128;
    rates.l2_bytes = 19.7;
    rates.memory_bytes = 9.3;
  } else if (begins("gfx94") || begins("gfx95")) {  // MI300X, MI355X
    const bool is_fourth = begins("gfx95");
    rates.fmas = 128;
    rates.half_fmas = is_fourth ? 2048 : 1024;
    rates.l1_bytes = 128;
    rates.l2_bytes = is_fourth ? 64 : 54;
    rates.memory_bytes = is_fourth ? 13 : 8.3;
  }
  return rates;
}

/// A tile of FP32 and a thread's part of it.
struct VectorTile {
  unsigned rows;
  unsigned columns;
  unsigned depth;
  unsigned thread_rows;
  unsigned thread_columns;
};

/// What FMAs and LDS take for a step of a full CU, the longer of them.
inline double step_cycles(const VectorTile& tile, const AmdRates& of) {
  const double fmas = 1.0 * tile.rows * tile.columns * tile.depth;
  const double stored = 1.0 * (tile.rows + tile.columns) * tile.depth;
  const double loaded = fmas * (1.0 / tile.thread_rows + 1.0 / tile.thread_columns);
  return std::max(fmas / of.fmas, (stored + loaded) * sizeof(float) / of.lds_bytes);
}
/// A step of a block that has the CU to itself: its next tile's way through registers to LDS.
inline double least_step_cycles(const VectorTile& tile, const AmdRates& of) {
  return std::max(of.l2_cycles + 2 * of.lds_cycles, step_cycles(tile, of));
}
/// What a block takes for its sums to C.
inline double end_cycles(unsigned rows, unsigned columns, unsigned value_bytes,
                         const AmdRates& of) {
  return of.memory_cycles + 1.0 * rows * columns * value_bytes / of.l1_bytes;
}

/// A device of so many CUs as the model knows it.
inline DeviceCosts amd_costs(const AmdRates& rates, unsigned units, unsigned value_bytes) {
  return {.units = {.of_cluster = {units, units, units, units}, .largest_cluster = 1},
          .value_bytes = value_bytes,
          .start_cycles = 2 * rates.memory_cycles,
          .copy_cycles = 64 / rates.l1_bytes * value_bytes / 2,
          .copy_slots = 0,
          .bytes_per_cycle = rates.l2_bytes * units,
          .bytes_from_memory = rates.memory_bytes * units,
          .memory_cycles = rates.memory_cycles,
          .meeting_cycles = 0,
          .summed_per_cycle = rates.l1_bytes,
          .memory_meeting_cycles = 2 * rates.memory_cycles,
          .memory_round_cycles = rates.memory_cycles};
}

}  // namespace gemm
