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
//   events                      the same by device events, which must agree with the counter
// Further questions have a file each:
//   published          published_chases.h  chases with address arithmetic, as fsword73 wrote them
//   load-times         load_times.h        single loads, and what share of them each level answers
//   constant, texture  other_memory.h      __constant__ memory, and fetches of texels
//   store-to-load      store_to_load.h     how long until a stored value can be loaded
//   tlb-*, cold-tlb    tlb.h               nodes spread over pages against dense ones: translation
//   lines, units       lines_and_units.h   single lines of L2 from one CU, one line from every CU
#include <hipscope/compute_unit.h>
#include <hipscope/hipscope.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "chaser.h"
#include "findings.h"
#include "lines_and_units.h"
#include "load_times.h"
#include "other_memory.h"
#include "published_chases.h"
#include "store_to_load.h"
#include "tlb.h"

namespace memory_latency {
namespace {

using hipscope::CycleClock;
using memory::load;

using Curve = std::vector<hipscope::CurvePoint>;

// --- The kernel -------------------------------------------------------------------------------

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

}  // namespace

// All lanes warm the caches, the first one chases. Scalar loads warm by the chase alone. Where a CU
// is given, the first block that finds itself there chases, and nothing runs beside that.
template <Load kind>
__global__ void __launch_bounds__(largest_block) walk_kernel(WalkResult* result, Walk walk) {
  const bool is_given = walk.compute_unit != any_unit;
  if (is_given && walk.compute_unit != hipscope::compute_unit_id()) {
    return;
  }
  unsigned long long sum = 0;
  if constexpr (kind != Load::scalar) {
    for (unsigned k = threadIdx.x; k < walk.nodes.count && !is_given; k += blockDim.x) {
      sum += load<kind>(visited_address(walk.nodes, k), walk.texture);
    }
  }
  __syncthreads();
  if (threadIdx.x == 0 && atomicCAS(&result->taken, 0U, 1U) == 0) {
    run_walk<kind>(walk, result);
  }
  __syncthreads();
  if (sum != 0) {
    atomicAdd(&result->warm_sum, sum);
  }
}

namespace {

// --- Sweeps over the footprint ----------------------------------------------------------------

// Chases each of the footprints `all`; returns the curve. The first one of each octave up to
// `again_up_to` bytes, which take little of the time, is read once more at the end: where that
// differs, something has drifted.
template <Load kind>
Curve measure_footprints(Sweep& sweep, const Sizes& sizes, const std::set<std::uint64_t>& all,
                         std::uint64_t again_up_to = 0) {
  const DeviceBuffer<unsigned char> memory(open_footprints(sweep, all, sizes.spacing));
  Chaser<kind> chaser(sweep, sizes.steps);
  const auto linked_nodes = [&](std::uint64_t bytes) {
    const Nodes nodes =
        dense_nodes(address_of(memory), bytes / sizes.spacing, sizes.spacing, sweep.seed());
    link(sweep, nodes);
    return nodes;
  };
  Curve curve;
  std::vector<Point> points;
  for (const std::uint64_t bytes : all) {
    const auto x = static_cast<double>(bytes);
    points.push_back(sweep.point(std::to_string(bytes), x));
    curve.push_back({.x = x, .y = chaser.measure_row(points.back(), linked_nodes(bytes))});
  }
  std::uint64_t octave = 0;
  auto point = points.begin();
  for (auto bytes = all.begin(); bytes != all.end() && *bytes <= again_up_to; ++bytes, ++point) {
    if (std::bit_floor(*bytes) > octave) {
      octave = std::bit_floor(*bytes);
      const Walk walk = chaser.walk(linked_nodes(*bytes));
      point->value("again", chaser.measure(*point, walk, "again, ").net, "cycles");
    }
  }
  return curve;
}

// Finer footprints where sweep `footprint` has found the end of a level.
void measure_edges(Sweep& sweep, const Sizes& sizes, const Curve& coarse) {
  std::vector<Footprints> ranges = second_pass(coarse);
  if (!sweep.is_hardware()) {  // there is nothing to find
    ranges = {{.first = smallest_footprint, .last = 1.1 * smallest_footprint, .per_octave = 64}};
  }
  std::set<std::uint64_t> all;
  for (const Footprints& range : ranges) {
    const auto last =
        std::min<std::uint64_t>(static_cast<std::uint64_t>(range.last), sizes.footprint);
    all.merge(
        footprints(static_cast<std::uint64_t>(range.first), last, range.per_octave, sizes.spacing));
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

// The same by device events, which must agree with the counter: the chase once and nine times over
// the same warm-up; by events the difference is eight of it.
void measure_events(Sweep& sweep, const Sizes& sizes) {
  std::set<std::uint64_t> all = {4 * kib, 2 * mib, 16 * mib, sizes.footprint};
  std::erase_if(all, [&](std::uint64_t bytes) { return bytes > sizes.footprint; });
  const DeviceBuffer<unsigned char> memory(open_footprints(sweep, all, sizes.spacing));
  sweep.headline("by events");
  sweep.note("two launches whose chases differ by eight times --steps");
  Chaser<Load::global> chaser(sweep, sizes.steps);
  for (const std::uint64_t bytes : all) {
    auto point = sweep.point(std::to_string(bytes), static_cast<double>(bytes));
    const std::uint64_t count = std::max<std::uint64_t>(1, bytes / sizes.spacing);
    const Nodes nodes = dense_nodes(address_of(memory), count, sizes.spacing, sweep.seed());
    link(sweep, nodes);
    const Walk once = chaser.walk(nodes);
    const Walk more = chaser.walk(nodes, 9);
    chaser.verify(point, more);
    const auto timed = [&](const Walk& walk, const std::string& name) {
      const auto time = point.measure([&] { chaser.run(walk); }, {.name = name, .batch = 1});
      return std::pair{time.cycles(), chaser.take_cycles()};
    };
    const auto [events_once, counter_once] = timed(once, "once");
    const auto [events_more, counter_more] = timed(more, "nine times");
    // Events also see the steps in which a walk settles, the counter does not.
    const double more_timed = more.timed_steps - once.timed_steps;
    const double more_settling =
        static_cast<double>(more.settling_steps) - static_cast<double>(once.settling_steps);
    const double by_events = (events_more - events_once) / (more_timed + more_settling);
    const double by_counter = (counter_more - counter_once) / more_timed;
    point.value("by events", by_events, "cycles");
    point.value("by counter", by_counter, "cycles");
    point.value("difference", 100 * (by_events / by_counter - 1), "%");
  }
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
  add("footprint", "latency over footprint", [&](Sweep& sweep, const Sizes& all) {
    coarse = measure_footprints<Load::global>(
        sweep, all, footprints(smallest_footprint, all.footprint, all.points, all.spacing),
        all.footprint / 16);
  });
  add("edges", "finer footprints at the ends of the levels",
      [&](Sweep& sweep, const Sizes&) { measure_edges(sweep, sizes, coarse); });
  add("load-times", "single loads over footprint, and what share of them each level answers",
      measure_load_times);
  add("published", "chases as the published programs have them", measure_published);
  add("events", "the same by device events", measure_events);
  add("generic", "plain C++ `p = *p`, a load from whatever memory p points to",
      measure_kind<Load::generic>);
  add("read-only", "loads of data that no thread writes", measure_kind<Load::read_only>);
  add("scalar", "scalar loads of device memory, one for the whole wave",
      measure_kind<Load::scalar>);
  add("constant", "__constant__ memory", measure_constant);
  add("texture", "fetches of texels", measure_texture);
  add("store-to-load", "a store, and the load of what it stored", measure_store_to_load);
  add("tlb-64k", "lines in pages of 64 KiB against dense lines",
      [](Sweep& sweep, const Sizes& all) { measure_tlb(sweep, all, small_page); });
  add("tlb-2m", "lines in pages of 2 MiB against dense lines",
      [](Sweep& sweep, const Sizes& all) { measure_tlb(sweep, all, large_page); });
  add("cold-tlb", "memory's latency with a warm and with a cold TLB", measure_cold_tlb);
  add("lines", "single lines of L2 from one CU",
      [](Sweep& sweep, const Sizes&) { measure_lines(sweep, false); });
  add("units", "one line of L2 from every CU",
      [](Sweep& sweep, const Sizes&) { measure_lines(sweep, true); });
  experiment.conclude(conclude);
  return experiment.run(argc, argv);
}

}  // namespace
}  // namespace memory_latency

int main(int argc, char** argv) { return memory_latency::run(argc, argv); }
