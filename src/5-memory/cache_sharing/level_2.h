// Is L2 one cache or several, and who is near to which part of it?
//
// From every CU the same lines, by atomics, which are done where a line is at home (a load may find
// a copy near by). And what one CU has read another looks for, in a second launch: L2 keeps its
// lines from launch to launch.
#pragma once

#include <hipscope/hipscope.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "units.h"

namespace cache_sharing {

// The first block that finds itself on `unit` walks.
struct UnitWalk {
  unsigned unit;
  unsigned settling_steps;
  unsigned steps;
};

// Zero before a launch.
struct WalkOutcome {
  unsigned taken;
  std::uint64_t end;
  long long cycles;
};

using UnitWalkKernel = void (*)(UnitWalk, Ring, WalkOutcome*);

// Cycles per step; NaN if no block has come to that CU.
class UnitWalks {
 public:
  UnitWalks(const Sweep& sweep, UnitWalkKernel kernel) : sweep_(sweep), kernel_(kernel) {}

  double run(const UnitWalk& walk, const NodeRing& ring) {
    outcome_.clear();
    hipscope::launch(kernel_, {.grid = dim3(crew(sweep_)), .block = dim3(1)}, walk, ring.ring(),
                     outcome_.data());
    const WalkOutcome made = outcome_.to_host()[0];
    if (made.taken == 0) {
      return std::numeric_limits<double>::quiet_NaN();
    }
    ends_.compare(ring, std::uint64_t{walk.settling_steps} + walk.steps, made.end);
    return static_cast<double>(made.cycles) / walk.steps;
  }

  // Checks since the last call.
  void verify(Point& point) { ends_.verify(point); }

 private:
  const Sweep& sweep_;
  UnitWalkKernel kernel_;
  DeviceBuffer<WalkOutcome> outcome_{1};
  Ends ends_;
};

inline double median_of_finite(std::vector<double> values) {
  std::erase_if(values, [](double value) { return !std::isfinite(value); });
  return values.empty() ? std::numeric_limits<double>::quiet_NaN() : median_of(values);
}

// A ring of three words in each of line_count lines, far apart.
inline void measure_l2_lines(Sweep& sweep, const Sizes& sizes, UnitWalkKernel atomics) {
  sweep.axis({.name = "CU"});
  sweep.headline(line_name(0));
  sweep.note("cycles per atomic, done where the line is at home; lines at random places");
  // One in each of as many parts of memory.
  const std::uint64_t line = spacing_of(Path::vector);
  const std::uint64_t part = (sweep.is_hardware() ? 1U << 13 : 4) * line;
  sweep.require_memory(line_count * part, "this GPU's memory");
  const auto memory = std::make_shared<DeviceBuffer<std::uint64_t>>(line_count * part / word_bytes);
  std::mt19937_64 random(sweep.seed());
  std::vector<NodeRing> rings;
  for (unsigned i = 0; i < line_count; ++i) {
    const std::uint64_t begin = i * part + random() % (part / line) * line;
    rings.emplace_back(Path::vector, scattered(begin, 3, word_bytes, sweep.seed()), memory);
  }
  UnitWalks walks(sweep, atomics);
  for (const unsigned unit : unit_ids(sweep)) {
    auto point = sweep.point(std::to_string(unit), unit);
    const UnitWalk walk = {.unit = unit, .settling_steps = 4, .steps = 32};
    std::vector<double> medians;
    for (const NodeRing& ring : rings) {
      std::vector<double> cycles;
      for (std::uint64_t i = 0; i < std::min<std::uint64_t>(3, sizes.repeats); ++i) {
        cycles.push_back(walks.run(walk, ring));
      }
      medians.push_back(sweep.counted(median_of_finite(cycles)));
    }
    walks.verify(point);
    for (unsigned i = 0; i < line_count; ++i) {
      point.value(line_name(i), medians[i], "cycles");
    }
  }
}

// Lines that the first CU has read, or each itself, or none since L2 was emptied.
inline void measure_l2_handover(Sweep& sweep, const Sizes& sizes, UnitWalkKernel loads) {
  sweep.axis({.name = "CU"});
  sweep.headline("handed over");
  sweep.note("cycles per load; own: read before by the same CU; handed over: by the first one");
  const unsigned nodes = sweep.is_hardware() ? 128 : 8;
  constexpr std::uint64_t spacing = 4096 + 128;  // so that no prefetch of neighbours helps
  sweep.require_memory(nodes * spacing + sizes.flush, "--flush");
  const DeviceBuffer<unsigned char> other(sizes.flush);
  const NodeRing ring(Path::vector, scattered(0, nodes, spacing, sweep.seed()));
  UnitWalks walks(sweep, loads);
  const auto units = unit_ids(sweep);
  for (const unsigned unit : units) {
    auto point = sweep.point(std::to_string(unit), unit);
    const auto cycles_after = [&](unsigned reader) {
      std::vector<double> cycles;
      for (std::uint64_t i = 0; i < std::min<std::uint64_t>(3, sizes.repeats); ++i) {
        hipscope::check(hipMemsetAsync(other.data(), 0, other.size(), nullptr));
        if (reader != no_unit) {
          static_cast<void>(walks.run({.unit = reader, .settling_steps = 0, .steps = nodes}, ring));
        }
        cycles.push_back(walks.run({.unit = unit, .settling_steps = 0, .steps = nodes}, ring));
      }
      return sweep.counted(median_of_finite(cycles));
    };
    const double own = cycles_after(unit);
    const double handed_over = cycles_after(*units.begin());
    const double cold = cycles_after(no_unit);
    walks.verify(point);
    point.value("own", own, "cycles");
    point.value("handed over", handed_over, "cycles");
    point.value("cold", cold, "cycles");
  }
}

}  // namespace cache_sharing
