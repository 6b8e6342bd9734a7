// Is L2 one cache or several? What one CU has read another looks for, in a second launch: L2 keeps
// its lines from launch to launch.
#pragma once

#include <hipscope/hipscope.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
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
