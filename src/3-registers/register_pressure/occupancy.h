// How many waves of a stage fit on a CU (NVIDIA: SM), by the runtime's figures; how many were
// there, by the waves' records; and LDS, taken so that fewer fit.
#pragma once

#include <hipscope/footprint.h>
#include <hipscope/hipscope.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "lattice.h"
#include "stages.h"
#include "wave_spans.h"

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

/// Waves in percent of those that a CU keeps track of.
inline double occupancy(const Sweep& sweep, double waves) {
  const auto most = static_cast<double>(sweep.device().maximum_threads_per_compute_unit) /
                    sweep.device().wave_size;
  return 100 * waves / most;
}

inline void add_resources(const Sweep& sweep, Point& point, const Stage& stage,
                          const Blocks& blocks) {
  const Footprint footprint = footprint_of(sweep, stage.step.kernel);
  point.value("registers", footprint.registers, "per thread");
  point.value("scratch", footprint.scratch_bytes, "bytes/thread");
  point.value("LDS", footprint.lds_bytes, "bytes/block");
  const double waves =
      sweep.is_hardware() ? resident_waves(sweep, stage.step, blocks) : not_measured;
  point.value("resident", waves, "waves/CU");
  point.value("occupancy", occupancy(sweep, waves), "%");
}

/// How full the CUs were in a step, from when each of its waves was where; and that the kernel that
/// tells does the same as the one that does not.
inline void add_achieved_occupancy(Sweep& sweep, Point& point, Lattice& lattice, const Stage& stage,
                                   const Blocks& blocks, Work work) {
  const Grid grid = lattice.grid();
  const dim3 in_grid = shape_of(grid, blocks).grid;
  const std::size_t waves =
      std::size_t{in_grid.x} * in_grid.y * in_grid.z * waves_of_block(sweep, blocks);
  DeviceBuffer<WaveSpan> spans(waves);
  spans.clear();
  verify(point, lattice, work, 1,
         "recorded: ", [&] { stage.recorded.run(lattice, blocks, spans.data()); });
  const std::vector<WaveSpan> recorded = spans.to_host();
  const auto told = [](const WaveSpan& span) { return span.end > 0 && span.end >= span.start; };
  const auto first_lanes = first_lanes_in(grid, blocks, sweep.device().wave_size);
  const auto all =
      static_cast<std::uint64_t>(std::count_if(recorded.begin(), recorded.end(), told));
  point.verify("recorded: every wave", all > first_lanes ? all - first_lanes : first_lanes - all,
               first_lanes,
               [&](Comparison& comparison) { comparison.compare(0, first_lanes, all); });
  const double achieved = occupancy(sweep, average_resident_waves(recorded));
  point.value("achieved", sweep.is_hardware() ? achieved : not_measured, "%");
  if (resident_waves(sweep, stage.recorded, blocks) != resident_waves(sweep, stage.step, blocks)) {
    sweep.note(stage.name + ": of the kernel that records " +
               number(resident_waves(sweep, stage.recorded, blocks), 4) + " waves per CU fit");
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
