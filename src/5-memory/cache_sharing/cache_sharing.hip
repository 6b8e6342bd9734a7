// Which caches are there beside the vector cache, and what shares a cache with what?
//
// Load a few lines by one kind of load, walk through far more by another kind or on another CU, and
// load the first lines again. If they still hit, the two have a cache each; if they miss, they
// share one.
//   pairs          pairs.h          vector, read-only (NVIDIA: ld.global.nc), texture and constant
//                                   loads (AMD: scalar loads) on one CU, each against each
//   lds            pairs.h          the vector cache in a block without LDS and in one with most
//   constant-unit  constant_unit.h  in which pieces the caches of constants fetch
//   constant-line  constant_line.h  in which pieces the first of them keeps what it has fetched
//   units-*        units.h          which CUs share a cache of constant, or of vector loads
//   l2-handover    level_2.h        does one CU find in L2 what another has read?
// memory_latency has the sizes and latencies of these caches (sweeps constant, scalar, read-only).
//
// One lane makes all loads in a chain, each giving the place of the next. The end of each chain is
// checked.
#include <hipscope/compute_unit.h>
#include <hipscope/hipscope.h>
#include <hipscope/timer.h>

#include <cstdint>
#include <string>

#include "5-memory/loads.h"
#include "chase.h"
#include "constant_line.h"
#include "constant_unit.h"
#include "findings.h"
#include "level_2.h"
#include "node_ring.h"
#include "pairs.h"
#include "units.h"

namespace cache_sharing {
namespace {

using hipscope::CycleClock;
using memory::Load;
using memory::load;

// --- Kernels ----------------------------------------------------------------------------------

struct Arrival {
  std::uint64_t place;
  long long cycles;
};

// The cycle counter, read when `place` is known: the branch must know it. No node is at place 1.
__device__ long long cycles_after(std::uint64_t place) {
  return place != 1 ? hipscope::cycle_count() : 0;
}

// What is the same in all lanes clang would load by scalar loads.
__device__ void keep_in_vector_registers([[maybe_unused]] std::uint64_t& place) {
#if defined(__HIP_DEVICE_COMPILE__)
  asm volatile("" : "+v"(place));
#endif
}

// A walk from `place` on, once `before` is known. What is timed takes fewer cycles than the
// narrowest counter can count.
template <Load kind>
__device__ Arrival chase(std::uint64_t place, unsigned steps, std::uint64_t before,
                         unsigned long long texture = 0) {
  CycleClock<> clock;
  clock.start(cycles_after(before));
#pragma unroll 1
  for (unsigned step = 0; step < steps; ++step) {
    place = load<kind>(place, texture);
  }
  clock.stop(cycles_after(place));
  return {.place = place, .cycles = clock.elapsed()};
}

template <Load kind>
__device__ Arrival walk_by(const Ring& ring, unsigned steps, std::uint64_t before) {
  std::uint64_t place = ring.first;
  if constexpr (kind != Load::scalar) {
    keep_in_vector_registers(place);
  }
  return chase<kind>(place, steps, before, ring.texture);
}

__device__ Arrival walk(const Ring& ring, unsigned steps, std::uint64_t before) {
#if defined(HIPSCOPE_BACKEND_NVIDIA)
  if (ring.path == Path::read_only) {
    return walk_by<Load::read_only>(ring, steps, before);
  }
  if (ring.path == Path::texture) {
    return walk_by<Load::texture>(ring, steps, before);
  }
#endif
  if (ring.path == Path::constant) {
    return walk_by<Load::scalar>(ring, steps, before);
  }
  return walk_by<Load::global>(ring, steps, before);
}

// Fill, evict, look: one lane.
__global__ void __launch_bounds__(1) phases_kernel(Phases phases, Outcome* outcome) {
  const Arrival filled = walk(phases.kept, phases.fill_steps, 0);
  const Arrival evicted = walk(phases.evictor, phases.evict_steps, filled.place);
  const Arrival looked = walk(phases.kept, phases.look_steps, evicted.place);
  *outcome = {.filled = filled.place,
              .evicted = evicted.place,
              .looked = looked.place,
              .cycles = looked.cycles};
}

// Each CU's first block keeps a few lines and looks at them after a pause. The second one on the
// CU that disturbs walks.
__global__ void __launch_bounds__(1) neighbour_kernel(Neighbours all, UnitOutcome* outcomes) {
  const unsigned unit = hipscope::compute_unit_id();
  if (unit >= most_units) {
    return;
  }
  UnitOutcome& outcome = outcomes[unit];
  const unsigned number = atomicAdd(&outcome.blocks, 1U);
  const long long begin = hipscope::timer_ticks();
  if (number == 0) {
    const Arrival filled = walk(all.kept, 2 * all.kept.nodes, 0);
    unsigned waits = 0;
    while (hipscope::timer_ticks() - begin < all.pause && waits < all.longest_wait) {
      ++waits;
    }
    outcome.looked_at = hipscope::timer_ticks();
    const Arrival looked = walk(all.kept, all.kept.nodes, filled.place);
    outcome.looked = looked.place;
    outcome.cycles = looked.cycles;
  } else if (number == 1 && unit == all.disturber) {
    const Arrival walked = walk(all.walked, all.passes * all.walked.nodes, 0);
    outcome.walk_ended = walked.place;
    outcome.walked = walked.place != 1 ? 1 : 0;
    outcome.walk_ended_at = hipscope::timer_ticks();
    outcome.walk_ticks = outcome.walk_ended_at - begin;
  }
}

// The first block that finds itself on a CU walks, by loads past its own caches.
__global__ void __launch_bounds__(1)
    unit_walk_kernel(UnitWalk walk, Ring ring, WalkOutcome* outcome) {
  if (walk.unit != hipscope::compute_unit_id() || atomicCAS(&outcome->taken, 0U, 1U) != 0) {
    return;
  }
  std::uint64_t place = ring.first;
  keep_in_vector_registers(place);
  const Arrival settled = chase<Load::l2>(place, walk.settling_steps, 0);
  const Arrival arrived = chase<Load::l2>(settled.place, walk.steps, settled.place);
  outcome->end = arrived.place;
  outcome->cycles = arrived.cycles;
}

// --- Sweeps -----------------------------------------------------------------------------------

int run(int argc, char** argv) {
  constexpr std::uint64_t kib = 1024;
  constexpr std::uint64_t mib = 1024 * kib;
  hipscope::Experiment experiment(
      "cache_sharing",
      {.question = "Which caches are there beside the vector cache, and what shares a cache?",
       .sources = {"hipscope's own"}});
  const Sizes sizes = {
      .evict = experiment.size("--evict", "bytes of the evicting walk, at least 4096",
                               {.gpu = 512 * kib,
                                .quick = 512 * kib,
                                .host = 8 * kib,
                                .minimum = 4 * kib,
                                .maximum = 4 * mib}),
      .flush = experiment.size("--flush", "bytes written to empty L2",
                               {.gpu = 256 * mib,
                                .quick = 256 * mib,
                                .host = 64 * kib,
                                .minimum = 4 * kib,
                                .maximum = 4096 * mib,
                                .share_of_memory = 0.125}),
      .repeats = experiment.size("--repeats", "launches; their median counts",
                                 {.gpu = 9, .quick = 5, .host = 1, .minimum = 1, .maximum = 99})};
  const auto add = [&](const std::string& name, const std::string& title, auto measure) {
    experiment.sweep(name, title, [&sizes, measure](Sweep& sweep) { measure(sweep, sizes); });
  };
  add("pairs", "loads of one path after a walk of another",
      [](Sweep& sweep, const Sizes& all) { measure_pairs(sweep, all, phases_kernel); });
  add("lds", "the vector cache, without LDS and beside it",
      [](Sweep& sweep, const Sizes& all) { measure_lds(sweep, all, phases_kernel); });
  add("constant-unit", "two loads of an aligned block of constants",
      [](Sweep& sweep, const Sizes& all) { measure_constant_unit(sweep, all, phases_kernel); });
  add("constant-line", "constants of chunks that evict what was kept",
      [](Sweep& sweep, const Sizes& all) { measure_constant_line(sweep, all, phases_kernel); });
  add("units-constant", "constant loads of each CU while another one walks",
      [](Sweep& sweep, const Sizes& all) {
        measure_units(sweep, all, neighbour_kernel, Path::constant);
      });
  add("units-vector", "vector loads of each CU while another one walks",
      [](Sweep& sweep, const Sizes& all) {
        measure_units(sweep, all, neighbour_kernel, Path::vector);
      });
  add("l2-handover", "lines that another CU has read",
      [](Sweep& sweep, const Sizes& all) { measure_l2_handover(sweep, all, unit_walk_kernel); });
  experiment.conclude(conclude);
  return experiment.run(argc, argv);
}

}  // namespace
}  // namespace cache_sharing

int main(int argc, char** argv) { return cache_sharing::run(argc, argv); }
