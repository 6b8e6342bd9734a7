// How long does a load take, from which level of the memory, and how large is each level?
//
// One lane follows pointers: each load gives the address of the next, so nothing overlaps, and the
// time of a step is the latency. The nodes form one cycle in random order. Up to the size of a
// cache all of them stay in it; with more, the next level answers. Latency over footprint is a
// staircase; its flat parts are the levels.
//
// Before the chase, all lanes of its block visit all nodes in the order of the cycle, so that the
// caches are as a cyclic walk leaves them. (No other block may: it would put copies into the L2
// partition of its own CU. On an H200 that wiped out the step between the near and the far one.)
// The chase is then a sample of the walk: with more nodes than steps it visits none twice.
//
// The counter's own cost, measured by a chase of no steps, is taken off; both raw and net are
// shown.
//
//   footprint, edges            the staircase, and finer points at the ends of its levels
//   generic, read-only, scalar  other kinds of load on the way to the same memory
// Further questions have a file each:
//   published      published_chases.h   chases with address arithmetic, as fsword73 wrote them
//   events         events.h             the same by device events, which must agree with the
//                                       counter
//   load-times     load_times.h         single loads, and what share of them each level answers
//   constant       constant_memory.h    __constant__ memory
//   texture        texture.h            fetches of texels
//   store-to-load  store_to_load.h      how long until a stored value can be loaded
//   tlb-*          tlb.h                nodes spread over pages against dense ones: translation
//   lines, units   lines_and_units.h    single lines of L2 from one CU, one line from every CU
#include <hipscope/compute_unit.h>
#include <hipscope/hipscope.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "5-memory/loads.h"
#include "chaser.h"
#include "constant_memory.h"
#include "events.h"
#include "findings.h"
#include "footprints.h"
#include "lines_and_units.h"
#include "load_times.h"
#include "published_chases.h"
#include "store_to_load.h"
#include "texture.h"
#include "tlb.h"
#include "visiting_order.h"

namespace memory_latency {
namespace {

using hipscope::CycleClock;
using memory::Load;
using memory::load;

using Curve = std::vector<hipscope::CurvePoint>;

// --- Kernels ----------------------------------------------------------------------------------

// The timed steps are whole rounds.
template <Load kind>
__device__ std::uint64_t chase(std::uint64_t address, unsigned steps, unsigned long long texture,
                               CycleClock<>& clock) {
#pragma unroll 1
  for (unsigned step = 0; step < steps % steps_per_round; ++step) {
    address = load<kind>(address, texture);
  }
#pragma unroll 1
  for (unsigned round = 0; round < steps / steps_per_round; ++round) {
#pragma unroll
    for (unsigned i = 0; i < steps_per_round; ++i) {
      address = load<kind>(address, texture);
    }
    clock.lap();
  }
  return address;
}

// The steps that settle and those that are timed, through the same code, so that its instructions
// have been fetched.
template <Load kind>
__device__ void run_walk(const Walk& walk, WalkResult* result) {
  std::uint64_t address = visited_address(walk.nodes, 0);
#if defined(__HIP_DEVICE_COMPILE__)
  if constexpr (kind != Load::scalar) {
    // What is the same in all lanes clang would load with scalar loads.
    asm volatile("" : "+v"(address));
  }
#endif
  CycleClock<> clock;
  unsigned steps = walk.settling_steps;
#pragma unroll 1
  for (unsigned pass = 0; pass < 2; ++pass) {
    clock.start(cycles_after(address));
    address = chase<kind>(address, steps, walk.texture, clock);
    clock.stop(cycles_after(address));
    steps = walk.timed_steps;
  }
  result->end = address;
  result->cycles = clock.elapsed();
}

// One block: all lanes warm the caches, the first one chases. Scalar loads warm by the chase alone.
template <Load kind>
__global__ void __launch_bounds__(largest_block) walk_kernel(WalkResult* result, Walk walk) {
  unsigned long long sum = 0;
  if constexpr (kind != Load::scalar) {
    for (unsigned k = threadIdx.x; k < walk.nodes.count; k += blockDim.x) {
      sum += load<kind>(visited_address(walk.nodes, k), walk.texture);
    }
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    run_walk<kind>(walk, result);
  }
  __syncthreads();
  if constexpr (kind != Load::scalar) {
    atomicAdd(&result->warm_sum, sum);
  }
}

// The same from a given CU: the first block that finds itself there chases.
template <Load kind>
__global__ void __launch_bounds__(largest_block) unit_walk_kernel(WalkResult* result, Walk walk) {
  const bool is_here =
      walk.compute_unit == any_unit || walk.compute_unit == hipscope::compute_unit_id();
  if (threadIdx.x == 0 && is_here && atomicCAS(&result->taken, 0U, 1U) == 0) {
    run_walk<kind>(walk, result);
  }
}

// Loads that lead to any node each, and how long each of them takes: see load_times.h. The times
// stay in LDS, so that no store of them comes into the caches.
static __global__ void __launch_bounds__(largest_block)
    random_walk_kernel(RandomWalkResult* result, unsigned* times, RandomWalk walk) {
  __shared__ unsigned short times_of[most_timed_loads];
  unsigned long long sum = 0;
  for (unsigned lap = 0; lap < walk.laps; ++lap) {
    for (unsigned k = threadIdx.x; k < walk.nodes.count; k += blockDim.x) {
      sum += load<Load::global>(visited_address(walk.nodes, k));
    }
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    unsigned node = 0;
    long long empty = 0;
    for (unsigned step = 0; step < walk.loads; ++step) {
      std::uint64_t address = address_of(walk.nodes, node);
      const long long start = cycles_after(address);
#if defined(__HIP_DEVICE_COMPILE__)
      asm volatile("" : "+v"(address));  // no scalar load, and none before the counter is read
#endif
      const std::uint64_t content = load<Load::global>(address);
      const long long end = cycles_after(content);
      empty = hipscope::cycles_between(end, cycles_after(content));
      const long long cycles = hipscope::cycles_between(start, end);
      times_of[step] = static_cast<unsigned short>(cycles < longest_time ? cycles : longest_time);
      node = drawn_node(walk, content, step);
    }
    result->empty_cycles = empty;
    result->end = node;
  }
  __syncthreads();
  for (unsigned step = threadIdx.x; step < walk.loads; step += blockDim.x) {
    times[step] = times_of[step];
  }
  atomicAdd(&result->warm_sum, sum);
}

// --- Sweeps over the footprint ----------------------------------------------------------------

// Chases each of the footprints `all`; returns the curve. The first one of each octave up to
// `again_up_to` bytes, which take little of the time, is read once more at the end: where that
// differs, something has drifted.
template <Load kind>
Curve measure_footprints(Sweep& sweep, const Sizes& sizes, const std::set<std::uint64_t>& all,
                         std::uint64_t again_up_to = 0) {
  require_spacing(sizes);
  if (all.empty()) {
    throw hipscope::UsageError("--footprint and --spacing leave no footprint to measure");
  }
  const std::uint64_t largest = *all.rbegin();
  set_footprint_axis(sweep, sizes.spacing);
  sweep.require_memory(largest, "--footprint");
  const DeviceBuffer<unsigned char> memory(largest);
  Chaser chaser(sweep, walk_kernel<kind>, kind == Load::scalar, sizes.steps);
  const auto linked_nodes = [&](std::uint64_t bytes) {
    const Nodes nodes =
        dense_nodes(address_of(memory), bytes / sizes.spacing, sizes.spacing, sweep.seed());
    link(sweep, nodes);
    return nodes;
  };
  Curve curve;
  struct ReadAgain {
    std::uint64_t bytes;
    Point point;
  };
  std::vector<ReadAgain> again;
  for (const std::uint64_t bytes : all) {
    const auto x = static_cast<double>(bytes);
    auto point = sweep.point(std::to_string(bytes), x);
    curve.push_back({.x = x, .y = measure_row(chaser, point, linked_nodes(bytes))});
    const bool opens_octave =
        again.empty() || std::bit_floor(bytes) != std::bit_floor(again.back().bytes);
    if (bytes <= again_up_to && opens_octave) {
      again.push_back({.bytes = bytes, .point = point});
    }
  }
  for (auto& [bytes, point] : again) {
    const Nodes nodes = linked_nodes(bytes);
    point.value("again", chaser.measure(point, chaser.walk(nodes), "again, ").net, "cycles");
  }
  return curve;
}

void measure_footprint(Sweep& sweep, const Sizes& sizes, Curve& coarse) {
  coarse = measure_footprints<Load::global>(
      sweep, sizes, footprints(smallest_footprint, sizes.footprint, sizes.points, sizes.spacing),
      sizes.footprint / 16);
}

// Finer footprints where sweep `footprint` has found the end of a level.
void measure_edges(Sweep& sweep, const Sizes& sizes, const Curve& coarse) {
  std::set<std::uint64_t> all;
  const auto add = [&](const Footprints& range) {
    all.merge(
        footprints(static_cast<std::uint64_t>(range.first),
                   std::min<std::uint64_t>(static_cast<std::uint64_t>(range.last), sizes.footprint),
                   range.per_octave, sizes.spacing));
  };
  if (sweep.is_hardware()) {
    for (const Footprints& range : second_pass(coarse)) {
      add(range);
    }
  } else {  // there is nothing to find
    add({.first = smallest_footprint, .last = 1.1 * smallest_footprint, .per_octave = 64});
  }
  if (all.empty()) {
    sweep.note("sweep footprint was left out or shows no level's end: there is nothing to refine");
    return;
  }
  measure_footprints<Load::global>(sweep, sizes, all);
}

// Another kind of load, as far as the caches next to a CU reach.
template <Load kind>
void measure_kind(Sweep& sweep, const Sizes& sizes) {
#if defined(HIPSCOPE_BACKEND_AMD)
  if (kind == Load::read_only) {
    sweep.note("not on this device: AMD's GPUs have one path for all vector loads");
    return;
  }
#elif defined(HIPSCOPE_BACKEND_NVIDIA)
  if (kind == Load::scalar) {
    sweep.note("not on this device: NVIDIA's GPUs have no scalar load of device memory");
    return;
  }
#endif
  // Plain C++ must only be as fast as `footprint` says: a few points.
  const std::uint64_t points = kind == Load::generic ? 2 : std::uint64_t{sizes.points};
  measure_footprints<kind>(
      sweep, sizes,
      footprints(smallest_footprint, std::min<std::uint64_t>(sizes.footprint, largest_of_a_kind),
                 points, sizes.spacing));
}

int run(int argc, char** argv) {
  hipscope::Experiment experiment(
      "memory_latency",
      {.question = "How long does a load take, from which level, and how large is each level?",
       .sources = {"fsword73/HIP-Performance-Optmization-on-VEGA64, 2.6.1 and 2.6.3 (examples 6a, "
                   "6c, 6d)"}});
  const Sizes sizes = {
      .footprint = experiment.size("--footprint", "largest footprint in bytes",
                                   {.gpu = 2048 * mib,
                                    .quick = 512 * mib,
                                    .host = 16 * kib,
                                    .minimum = smallest_footprint,
                                    .maximum = 512 * 1024 * mib,
                                    .share_of_memory = 0.25}),
      .spacing = experiment.size("--spacing",
                                 "bytes from node to node, a multiple of 8; best a cache line",
                                 {.gpu = line_bytes,
                                  .quick = line_bytes,
                                  .host = line_bytes,
                                  .minimum = 8,
                                  .maximum = mib}),
      .steps = experiment.size(
          "--steps", "timed steps of a chase, rounded up to 32",
          {.gpu = 4096, .quick = 2048, .host = 128, .tiny = 32, .minimum = 1, .maximum = 1U << 24}),
      .points = experiment.size("--points", "footprints per octave",
                                {.gpu = 8, .quick = 4, .host = 2, .minimum = 1, .maximum = 64}),
      .pages = experiment.size(
          "--pages", "most pages of the TLB sweeps, as far as they fit into memory",
          {.gpu = 65536, .quick = 2048, .host = 8, .tiny = 9, .minimum = 4, .maximum = 1U << 24})};
  Curve coarse;  // what sweep `footprint` has found, for `edges` to look closer at
  const auto add = [&](const std::string& name, const std::string& title, auto measure) {
    experiment.sweep(name, title, [&sizes, measure](Sweep& sweep) { measure(sweep, sizes); });
  };
  experiment.sweep("footprint", "latency over footprint",
                   [&](Sweep& sweep) { measure_footprint(sweep, sizes, coarse); });
  experiment.sweep("edges", "finer footprints at the ends of the levels",
                   [&](Sweep& sweep) { measure_edges(sweep, sizes, coarse); });
  add("load-times", "single loads over footprint, and what share of them each level answers",
      [](Sweep& sweep, const Sizes& all) { measure_load_times(sweep, all, random_walk_kernel); });
  add("published", "chases as the published programs have them", measure_published);
  add("events", "the same by device events", [](Sweep& sweep, const Sizes& all) {
    measure_events(sweep, all, walk_kernel<Load::global>);
  });
  add("generic", "plain C++ `p = *p`, a load from whatever memory p points to",
      measure_kind<Load::generic>);
  add("read-only", "loads of data that no thread writes", measure_kind<Load::read_only>);
  add("scalar", "scalar loads of device memory, one for the whole wave",
      measure_kind<Load::scalar>);
  add("constant", "__constant__ memory", [](Sweep& sweep, const Sizes& all) {
    measure_constant(sweep, all, walk_kernel<Load::scalar>);
  });
  add("texture", "fetches of texels", [](Sweep& sweep, const Sizes& all) {
    measure_texture(sweep, all, walk_kernel<Load::texture>);
  });
  add("store-to-load", "a store, and the load of what it stored", measure_store_to_load);
  add("tlb-64k", "lines in pages of 64 KiB against dense lines",
      [](Sweep& sweep, const Sizes& all) {
        measure_tlb<small_page>(sweep, all, walk_kernel<Load::l2>);
      });
  add("tlb-2m", "lines in pages of 2 MiB against dense lines", [](Sweep& sweep, const Sizes& all) {
    measure_tlb<large_page>(sweep, all, walk_kernel<Load::l2>);
  });
  add("cold-tlb", "memory's latency with a warm and with a cold TLB",
      [](Sweep& sweep, const Sizes& all) { measure_cold_tlb(sweep, all, walk_kernel<Load::l2>); });
  experiment.sweep("lines", "single lines of L2 from one CU", [](Sweep& sweep) {
    measure_lines<false>(sweep, unit_walk_kernel<Load::l2>, unit_walk_kernel<Load::atomic>);
  });
  experiment.sweep("units", "one line of L2 from every CU", [](Sweep& sweep) {
    measure_lines<true>(sweep, unit_walk_kernel<Load::l2>, unit_walk_kernel<Load::atomic>);
  });
  experiment.conclude(conclude);
  return experiment.run(argc, argv);
}

}  // namespace
}  // namespace memory_latency

int main(int argc, char** argv) { return memory_latency::run(argc, argv); }
