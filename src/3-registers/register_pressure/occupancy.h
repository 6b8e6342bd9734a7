// How many waves of a stage fit on a CU (NVIDIA: SM), by the runtime's figures; how many were
// there, by the waves' records; and LDS, taken so that fewer fit.
#pragma once

#include <hipscope/footprint.h>
#include <hipscope/hipscope.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <tuple>
#include <vector>

#include "lattice.h"
#include "recorder.h"
#include "stages.h"

namespace hipscope::register_pressure {

/// Of what the host backend has no figure for.
constexpr double not_measured = std::numeric_limits<double>::quiet_NaN();

/// How many blocks of a step fit on a CU at once.
inline int resident_blocks(const Step& step, const Blocks& blocks) {
  return hipscope::resident_blocks(step.kernel, blocks.size(), blocks.lds_bytes);
}

inline unsigned waves_of_block(const Sweep& sweep, const Blocks& blocks) {
  const auto lanes = static_cast<unsigned>(sweep.device().wave_size);
  return (blocks.size() + lanes - 1) / lanes;
}

/// How many waves of a step fit on a CU at once.
inline double resident_waves(const Sweep& sweep, const Step& step, const Blocks& blocks) {
  return double(resident_blocks(step, blocks)) * waves_of_block(sweep, blocks);
}

/// Waves in percent of those that a CU keeps track of; not measured on the host backend.
inline double occupancy(const Sweep& sweep, double waves) {
  const auto most = static_cast<double>(sweep.device().maximum_threads_per_compute_unit) /
                    sweep.device().wave_size;
  return sweep.is_hardware() ? 100 * waves / most : not_measured;
}

inline void add_resources(const Sweep& sweep, Point& point, const Stage& stage,
                          const Blocks& blocks) {
  const Footprint footprint = footprint_of(sweep, stage.step.kernel);
  const double waves = resident_waves(sweep, stage.step, blocks);
  point.value("registers", footprint.registers, "per thread");
  point.value("scratch", footprint.scratch_bytes, "bytes/thread");
  point.value("LDS", footprint.lds_bytes, "bytes/block");
  point.value("resident", sweep.is_hardware() ? waves : not_measured, "waves/CU");
  point.value("occupancy", occupancy(sweep, waves), "%");
}

/// How many waves have a cell for their first lane.
inline std::uint64_t count_first_lanes(const Sweep& sweep, const Extents& grid,
                                       const Blocks& blocks) {
  const auto lanes = static_cast<unsigned>(sweep.device().wave_size);
  const dim3& size = blocks.threads;
  std::uint64_t found = 0;
  for_each_cell(grid, [&](unsigned x, unsigned y, unsigned z) {
    const unsigned thread = x % size.x + size.x * (y % size.y + size.y * (z % size.z));
    found += thread % lanes == 0 ? 1 : 0;
  });
  return found;
}

/// How many waves a compute unit had, on average over the time in which it had any, and over all
/// units that had any: what profilers call achieved occupancy. 0 where there is no wave.
inline double average_resident_waves(std::vector<WaveSpan> spans) {
  std::sort(spans.begin(), spans.end(), [](const WaveSpan& a, const WaveSpan& b) {
    return std::tie(a.unit, a.start) < std::tie(b.unit, b.start);
  });
  long long wave_time = 0;
  long long active_time = 0;       // of all units together, in which they had a wave
  const WaveSpan* last = nullptr;  // of the unit's waves so far the one that ends last
  for (const WaveSpan& span : spans) {
    const bool is_first = last == nullptr || last->unit != span.unit;
    const long long from = is_first ? span.start : std::max(span.start, last->end);
    wave_time += span.end - span.start;
    active_time += std::max(span.end - from, 0LL);
    last = is_first || span.end > last->end ? &span : last;
  }
  return active_time > 0 ? static_cast<double>(wave_time) / static_cast<double>(active_time) : 0;
}

/// How full the CUs were in a step, from when each of its waves was where; and that the kernel that
/// tells does the same as the one that does not.
inline void add_achieved_occupancy(Sweep& sweep, Point& point, Lattice& lattice, const Stage& stage,
                                   const Blocks& blocks) {
  const dim3 in_grid = shape_of(lattice.grid(), blocks).grid;
  const std::size_t waves =
      std::size_t{in_grid.x} * in_grid.y * in_grid.z * waves_of_block(sweep, blocks);
  DeviceBuffer<WaveSpan> spans(waves);
  spans.clear();
  verify(point, lattice, stage.work, 1,
         "recorded: ", [&] { stage.recorded.run(lattice, blocks, spans.data()); });
  std::vector<WaveSpan> told = spans.to_host();
  std::erase_if(told, [](const WaveSpan& span) { return span.end <= 0 || span.end < span.start; });
  const std::uint64_t expected = count_first_lanes(sweep, lattice.layout().extents, blocks);
  const std::uint64_t found = told.size();
  point.verify("recorded: every wave", found > expected ? found - expected : expected - found,
               expected, [&](Comparison& comparison) { comparison.compare(0, expected, found); });
  point.value("achieved", occupancy(sweep, average_resident_waves(told)), "%");
  const double waves_that_record = resident_waves(sweep, stage.recorded, blocks);
  if (waves_that_record != resident_waves(sweep, stage.step, blocks)) {
    sweep.note(stage.name + ": of the kernel that records " + number(waves_that_record, 4) +
               " waves per CU fit");
  }
}

/// The most LDS that a block of the kernel may take. On NVIDIA it has to be asked for, and takes
/// from L1, which is to be of the same size for all.
inline std::uint32_t allow_all_lds(const Sweep& sweep, [[maybe_unused]] const void* kernel) {
  const auto bytes = static_cast<std::uint32_t>(sweep.device().largest_lds_bytes_per_block);
  allow_lds(kernel, bytes);
#if defined(HIPSCOPE_BACKEND_NVIDIA)
  check(hipFuncSetAttribute(kernel, hipFuncAttributePreferredSharedMemoryCarveout, 100));
#endif
  return bytes;
}

/// L1 has again what the driver gives it, for the sweeps after it.
inline void give_back_lds([[maybe_unused]] const void* kernel) {
#if defined(HIPSCOPE_BACKEND_NVIDIA)
  check(hipFuncSetAttribute(kernel, hipFuncAttributePreferredSharedMemoryCarveout,
                            cudaSharedmemCarveoutDefault));
#endif
}

/// LDS that a block must take, out of `most`, so that no more than `wanted` are in place.
inline std::uint32_t lds_for(const Stage& stage, Blocks blocks, int wanted, std::uint32_t most) {
  constexpr std::uint32_t step = 512;
  while (resident_blocks(stage.step, blocks) > wanted && blocks.lds_bytes + step <= most) {
    blocks.lds_bytes += step;
  }
  return blocks.lds_bytes;
}

}  // namespace hipscope::register_pressure
