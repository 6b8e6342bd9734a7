// How ilp_tlp launches its kernel: shapes, buffers, and the cycles that the waves counted.
#pragma once

#include <hipscope/footprint.h>
#include <hipscope/hipscope.h>
#include <hipscope/timed_rounds.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <span>
#include <vector>

#include "operations.h"

namespace ilp_tlp {

constexpr unsigned largest_block = 1024;

// Steps in the body of the loop, whose own three or four instructions are less than half a percent
// of it. On NVIDIA 16 KiB, on AMD 8 to 12: no larger than the instruction caches.
#if defined(HIPSCOPE_BACKEND_HOST)
constexpr unsigned body_instructions = 128;  // scaled down
#else
constexpr unsigned body_instructions = 1024;
#endif

constexpr unsigned warm_up_rounds = 1;

inline std::uint64_t steps_of(unsigned chains, std::uint64_t rounds) {
  return rounds * (body_instructions / chains);
}

// Waves on one CU: one block if they fit into it, else several on every CU, since only a full GPU
// puts more than one on each.
struct Shape {
  unsigned blocks = 1;
  unsigned threads = 0;
  unsigned blocks_per_unit = 1;
};

inline Shape shape_of(const hipscope::Sweep& sweep, unsigned waves) {
  const auto wave_size = static_cast<unsigned>(sweep.device().wave_size);
  constexpr unsigned waves_on_host = 2;
  const unsigned waves_per_block = sweep.is_hardware() ? largest_block / wave_size : waves_on_host;
  unsigned per_unit = 1;
  while (waves % per_unit != 0 || waves / per_unit > waves_per_block) {
    ++per_unit;
  }
  const auto units = static_cast<unsigned>(sweep.device().compute_units);
  return {.blocks = per_unit == 1 ? 1 : per_unit * units,
          .threads = waves / per_unit * wave_size,
          .blocks_per_unit = per_unit};
}

// From the first wave's start to the last one's end on each CU that was given `waves` of them: the
// median over CUs. NaN where there is none. Their blocks fit at once, by the occupancy calculator,
// but need not run side by side. So where the counter begins again all the time, a CU tells nothing
// if one of its blocks took half of what that counts.
inline double cycles_of(std::span<const WaveTime> times, unsigned waves, unsigned blocks,
                        unsigned counter_bits) {
  std::map<unsigned, std::vector<WaveTime>> by_unit;
  for (const WaveTime& time : times) {
    by_unit[time.compute_unit].push_back(time);
  }
  std::vector<double> cycles;
  for (const auto& [unit, mine] : by_unit) {
    const bool starts_are_known =
        blocks == 1 || std::all_of(mine.begin(), mine.end(), [=](const WaveTime& time) {
          return hipscope::is_within_half_round(time.end - time.start, counter_bits);
        });
    if (mine.size() == waves && starts_are_known) {
      cycles.push_back(static_cast<double>(
          hipscope::cycles_of_all(std::span<const WaveTime>(mine), counter_bits)));
    }
  }
  return cycles.empty() ? std::numeric_limits<double>::quiet_NaN()
                        : hipscope::summarize(cycles).median;
}

// A kernel with its buffers and one launch shape; keeps the times of its last
// launches.
class Launcher {
 public:
  Launcher(OperationRow& operation, unsigned chains, const Shape& shape, unsigned wave_size)
      : operation_(operation),
        chains_(chains),
        shape_(shape),
        waves_(shape.blocks * shape.threads / wave_size),
        starts_(operation.starts(), operation.bytes),
        ends_(std::size_t{shape.blocks} * shape.threads * chains, operation.bytes),
        times_(std::size_t{waves_} * kept_launches) {}

  void run(std::uint64_t rounds) {
    WaveTime* const times = times_.data() + std::size_t{waves_} * (launches_++ % kept_launches);
    hipscope::launch(operation_.kernels[chains_ - 1],
                     {.grid = dim3(shape_.blocks), .block = dim3(shape_.threads)}, starts_.data(),
                     ends_.data(), times, static_cast<unsigned>(rounds), operands);
  }

  // The warm-up alone is checked too: a chain of halves remembers no more than its length.
  void verify(hipscope::Point& point, std::uint64_t rounds) {
    check(point, "end of every chain after the warm-up", 0);
    check(point, "end of every chain", rounds);
  }

  // The median cycles of the launches since the last call, of `waves` waves on a CU.
  double take_cycles(unsigned waves, unsigned counter_bits) {
    const std::vector<WaveTime> times = times_.to_host();
    std::vector<double> cycles;
    for (unsigned i = 0; i < std::min(launches_, kept_launches); ++i) {
      const auto launch = std::span(times).subspan(std::size_t{i} * waves_, waves_);
      cycles.push_back(cycles_of(launch, waves, shape_.blocks_per_unit, counter_bits));
    }
    launches_ = 0;
    const bool all_known =
        std::none_of(cycles.begin(), cycles.end(), [](double value) { return std::isnan(value); });
    return all_known ? hipscope::summarize(cycles).median
                     : std::numeric_limits<double>::quiet_NaN();
  }

  static constexpr unsigned kept_launches = 8;

 private:
  void check(hipscope::Point& point, const std::string& what, std::uint64_t rounds) {
    const std::vector<std::uint64_t>& expected =
        operation_.ends_after(steps_of(chains_, warm_up_rounds + rounds));
    ends_.poison();
    run(rounds);
    launches_ = 0;
    point.check(what, ends_.to_host(), [&](std::uint64_t i) { return expected[i % start_values]; });
  }

  OperationRow& operation_;
  unsigned chains_;
  Shape shape_;
  unsigned waves_;
  unsigned launches_ = 0;
  Words starts_;
  Words ends_;
  hipscope::DeviceBuffer<WaveTime> times_;
};

// What one wave counts for a loop of no rounds: the counter's own cost. That many waves come apart
// at the barrier is no part of it, since one works while the other still waits.
inline double empty_cycles(OperationRow& operation, unsigned chains, unsigned wave_size,
                           unsigned counter_bits) {
  Launcher launcher(operation, chains, {.threads = wave_size}, wave_size);
  for (unsigned i = 0; i < launcher.kept_launches; ++i) {
    launcher.run(0);
  }
  return launcher.take_cycles(1, counter_bits);
}

}  // namespace ilp_tlp
