// A chase as it is launched and checked.
#pragma once

#include <hipscope/hipscope.h>

#include <cstdint>
#include <string>
#include <vector>

#include "node_ring.h"

namespace cache_sharing {

using hipscope::Comparison;
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

// The places where walks ended, beside those where they should have.
class Ends {
 public:
  void compare(const NodeRing& ring, std::uint64_t steps, std::uint64_t end) {
    comparison_.compare(comparison_.checked(), ring.place_after(steps), end);
  }
  void verify(Point& point, const std::string& what = "ends of the walks") {
    point.verify(what, comparison_);
    comparison_ = Comparison();
  }

 private:
  Comparison comparison_;
};

// The median cycles per step of the last walk, over the launches. `prepare` is called before
// each.
template <typename Prepare>
double run_checked(std::uint64_t repeats, PhasesKernel kernel, const NodeRing& kept,
                   const NodeRing& evictor, const Phases& phases, Ends& ends, Prepare prepare,
                   std::uint32_t lds_bytes = 0) {
  DeviceBuffer<Outcome> outcome(1);
  std::vector<double> cycles;
  for (std::uint64_t i = 0; i < repeats; ++i) {
    outcome.poison();
    prepare();
    hipscope::launch(kernel, {.grid = dim3(1), .block = dim3(1), .lds_bytes = lds_bytes}, phases,
                     outcome.data());
    const Outcome made = outcome.to_host()[0];
    ends.compare(kept, phases.fill_steps, made.filled);
    ends.compare(evictor, phases.evict_steps, made.evicted);
    ends.compare(kept, phases.look_steps, made.looked);
    cycles.push_back(static_cast<double>(made.cycles) / phases.look_steps);
  }
  return median_of(cycles);
}

// The same as a point's: its check is the point's, too, and where nothing is counted it is NaN.
template <typename Prepare>
double run_phases(const Sweep& sweep, Point& point, const Sizes& sizes, PhasesKernel kernel,
                  const NodeRing& kept, const NodeRing& evictor, const Phases& phases,
                  const std::string& what, Prepare prepare, std::uint32_t lds_bytes = 0) {
  Ends ends;
  const double cycles =
      run_checked(sizes.repeats, kernel, kept, evictor, phases, ends, prepare, lds_bytes);
  ends.verify(point, what + ", ends of the walks");
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
