// A chase as it is launched and checked.
#pragma once

#include <hipscope/hipscope.h>

#include <cstdint>
#include <string>
#include <vector>

#include "node_ring.h"

namespace cache_sharing {

using hipscope::median_of;
using hipscope::Point;

struct Sizes {
  hipscope::Size evict;    // bytes of a walk that evicts
  hipscope::Size flush;    // bytes that are written to empty L2
  hipscope::Size repeats;  // launches of which the median is taken
};

// First a walk over `kept`, then one over `evictor`, then a timed one over `kept`.
struct Phases {
  Ring kept;
  unsigned fill_steps;
  Ring evictor;
  unsigned evict_steps;
  unsigned look_steps;
};

// Where each walk has arrived.
struct Outcome {
  std::uint64_t filled;
  std::uint64_t evicted;
  std::uint64_t looked;
  long long cycles;  // of the last
};

using PhasesKernel = void (*)(Phases, Outcome*);

// Launches, and how many of them ended elsewhere than they should.
struct Checks {
  std::uint64_t wrong = 0;
  std::uint64_t checked = 0;
};

// The median cycles per step of the last walk, over the launches. `prepare` is called before
// each.
template <typename Prepare>
double run_checked(std::uint64_t repeats, PhasesKernel kernel, const NodeRing& kept,
                   const NodeRing& evictor, const Phases& phases, Checks& checks, Prepare prepare,
                   std::uint32_t lds_bytes = 0) {
  DeviceBuffer<Outcome> outcome(1);
  std::vector<double> cycles;
  for (std::uint64_t i = 0; i < repeats; ++i) {
    outcome.poison();
    prepare();
    hipscope::launch(kernel, {.grid = dim3(1), .block = dim3(1), .lds_bytes = lds_bytes}, phases,
                     outcome.data());
    const Outcome made = outcome.to_host()[0];
    const bool good = made.filled == kept.place_after(phases.fill_steps) &&
                      made.evicted == evictor.place_after(phases.evict_steps) &&
                      made.looked == kept.place_after(phases.look_steps);
    checks.wrong += good ? 0 : 1;
    ++checks.checked;
    cycles.push_back(static_cast<double>(made.cycles) / phases.look_steps);
  }
  return median_of(cycles);
}

// The same as a point's: its check is the point's, too, and where nothing is counted it is NaN.
template <typename Prepare>
double run_phases(const Sweep& sweep, Point& point, const Sizes& sizes, PhasesKernel kernel,
                  const NodeRing& kept, const NodeRing& evictor, const Phases& phases,
                  const std::string& what, Prepare prepare, std::uint32_t lds_bytes = 0) {
  Checks checks;
  const double cycles =
      run_checked(sizes.repeats, kernel, kept, evictor, phases, checks, prepare, lds_bytes);
  point.verify(what + ", ends of the walks", checks.wrong, checks.checked);
  return sweep.counted(cycles);
}

// As much of the memory that NVIDIA's SMs share between L1 and LDS as can be for LDS: then the
// least is left to be evicted.
template <typename... Parameters>
void prefer_lds([[maybe_unused]] void (*kernel)(Parameters...)) {
#if !defined(HIPSCOPE_BACKEND_AMD)
  constexpr int all_of_it = 100;  // percent
  hipscope::check(hipFuncSetAttribute(reinterpret_cast<const void*>(kernel),
                                      hipFuncAttributePreferredSharedMemoryCarveout, all_of_it));
#endif
}

}  // namespace cache_sharing
