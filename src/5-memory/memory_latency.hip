// How long does a load take, from which level of the memory, and how large is each level?
//
// One lane follows pointers: each load gives the address of the next, so that nothing overlaps, and
// the time of a step is the latency. The nodes form one cycle in random order, and the more of them
// there are, the farther away they lie: up to the size of a cache all of them stay in it, past that
// the next level answers. Latency over footprint is a staircase; its flat parts are the levels.
//
// So that the chase meets the caches as a cyclic walk leaves them, all lanes of its block visit all
// nodes in the order of the cycle before. (No other block may: it would put copies into the L2
// partition of its own CU. On an H200 that wiped out the step between the near and the far one.)
// The chase is then a sample of the walk: where there are more nodes than steps none comes twice.
//
// The counter's own cost, that of a chase of no steps, is taken off: raw and net are both shown.
//
//   footprint, edges            the staircase, and finer points at the ends of its levels
//   published                   three chases with address arithmetic, as fsword73 wrote them
//   events                      the same by device events, which must agree with the counter
//   generic, read-only, scalar  other kinds of load on the way to the same memory
//   constant                    __constant__ memory
//   store-to-load               how long until a stored value can be loaded
//   tlb-*                       nodes spread over pages against dense ones: what translation costs
//   lines, units                single lines of L2 from one CU, one line from every CU
#include <hipscope/hipscope.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "chaser.h"
#include "memory_latency_findings.h"
#include "visiting_order.h"

using hipscope::check;
using hipscope::CycleClock;
using hipscope::DeviceBuffer;
using hipscope::launch;
using hipscope::Level;
using hipscope::number;
using hipscope::Point;
using hipscope::Sweep;
using memory_latency::address_of;
using memory_latency::any_unit;
using memory_latency::block_threads;
using memory_latency::Chaser;
using memory_latency::dense_nodes;
using memory_latency::large_page;
using memory_latency::largest_block;
using memory_latency::Latency;
using memory_latency::line_bytes;
using memory_latency::Nodes;
using memory_latency::paged_nodes;
using memory_latency::round_up;
using memory_latency::small_page;
using memory_latency::smallest_step;
using memory_latency::steps_per_round;
using memory_latency::sum_of;
using memory_latency::visited;
using memory_latency::visited_address;
using memory_latency::Walk;
using memory_latency::WalkResult;

namespace {

using Curve = std::vector<hipscope::CurvePoint>;

constexpr std::uint64_t kib = 1024;
constexpr std::uint64_t mib = 1024 * kib;

// --- Kinds of load ----------------------------------------------------------------------------

enum class Load {
  global,     // the plain load of device memory
  generic,    // what `p = *p` becomes: it must find out first which memory the address lies in
  l2,         // past the CU's own caches
  atomic,     // done where the line is at home, not in a copy
  read_only,  // NVIDIA's load of data that no thread writes while the kernel runs (texture path)
  scalar,     // one load for the whole wave: AMD's s_load, NVIDIA's load from the constant bank
};

// A pointer that was loaded may point anywhere, for all that a compiler knows. That it points to
// device memory, or to constant memory, is what the address spaces and the assembly say.
template <Load kind>
__device__ std::uint64_t load(std::uint64_t address) {
  if constexpr (kind == Load::atomic) {
    // It changes nothing, for no node holds a 1. (Of adding 0 clang 15 makes a load.)
#if defined(__HIP_DEVICE_COMPILE__)
    // As atomicCAS, which does not know that the address is one of device memory.
    using Global = __attribute__((address_space(1))) std::uint64_t;
    std::uint64_t value = 1;
    __hip_atomic_compare_exchange_strong(reinterpret_cast<Global*>(address), &value,
                                         std::uint64_t{1}, __ATOMIC_RELAXED, __ATOMIC_RELAXED,
                                         __HIP_MEMORY_SCOPE_AGENT);
    return value;
#else
    return atomicCAS(reinterpret_cast<unsigned long long*>(address), 1ULL, 1ULL);
#endif
  } else if constexpr (kind == Load::generic) {
    return *reinterpret_cast<const std::uint64_t*>(address);
  } else {
#if defined(__CUDA_ARCH__)
    std::uint64_t next = 0;
    if constexpr (kind == Load::global) {
      asm volatile("ld.global.u64 %0, [%1];" : "=l"(next) : "l"(address));
    } else if constexpr (kind == Load::l2) {
      asm volatile("ld.global.cg.u64 %0, [%1];" : "=l"(next) : "l"(address));
    } else if constexpr (kind == Load::read_only) {
      asm volatile("ld.global.nc.u64 %0, [%1];" : "=l"(next) : "l"(address));
    } else {
      asm volatile("ld.const.u64 %0, [%1];" : "=l"(next) : "l"(address));
    }
    return next;
#elif defined(__HIP_DEVICE_COMPILE__)
    using Global = const __attribute__((address_space(1))) std::uint64_t;
    using Constant = const __attribute__((address_space(4))) std::uint64_t;
    if constexpr (kind == Load::l2) {
      return __hip_atomic_load(reinterpret_cast<Global*>(address), __ATOMIC_RELAXED,
                               __HIP_MEMORY_SCOPE_AGENT);
    } else if constexpr (kind == Load::scalar) {
      return *reinterpret_cast<Constant*>(address);
    } else {
      return *reinterpret_cast<Global*>(address);
    }
#else
    return *reinterpret_cast<const std::uint64_t*>(address);
#endif
  }
}

// --- Kernels ----------------------------------------------------------------------------------

// Every node gets the address of the one that is visited after it: one cycle through all of them.
__global__ void __launch_bounds__(largest_block) link_kernel(Nodes nodes) {
  const unsigned threads = gridDim.x * blockDim.x;
  for (unsigned k = blockIdx.x * blockDim.x + threadIdx.x; k < nodes.count; k += threads) {
    *reinterpret_cast<std::uint64_t*>(visited_address(nodes, k)) =
        visited_address(nodes, std::uint64_t{k} + 1);
  }
}

// The timed steps are whole rounds.
template <Load kind>
__device__ std::uint64_t chase(std::uint64_t address, unsigned steps, CycleClock<>& clock) {
#pragma unroll 1
  for (unsigned step = 0; step < steps % steps_per_round; ++step) {
    address = load<kind>(address);
  }
#pragma unroll 1
  for (unsigned round = 0; round < steps / steps_per_round; ++round) {
#pragma unroll
    for (unsigned i = 0; i < steps_per_round; ++i) {
      address = load<kind>(address);
    }
    clock.lap();
  }
  return address;
}

// The cycle counter, read when `address` has arrived: the branch must know it. No node is at an odd
// address; in constant memory one may be at 0.
__device__ long long cycles_after(std::uint64_t address) {
  return address != 1 ? hipscope::cycle_count() : 0;
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
    address = chase<kind>(address, steps, clock);
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
      sum += load<kind>(visited_address(walk.nodes, k));
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

__global__ void __launch_bounds__(largest_block) unit_ids_kernel(unsigned* ids) {
  if (threadIdx.x == 0) {
    ids[blockIdx.x] = hipscope::compute_unit_id();
  }
}

// The address of a node twice: a compiler that does not know that both are the same cannot hand a
// stored value on to the load, as ptxas does where it can. It has to load.
struct Place {
  std::uint64_t store_to;
  std::uint64_t load_from;
};

// Stores the address `value` at `place` and loads it again.
__device__ Place store_and_load([[maybe_unused]] Place place, std::uint64_t value) {
  Place loaded;
#if defined(__CUDA_ARCH__)
  asm volatile("st.global.v2.u64 [%2], {%4, %4}; ld.global.v2.u64 {%0, %1}, [%3];"
               : "=l"(loaded.store_to), "=l"(loaded.load_from)
               : "l"(place.store_to), "l"(place.load_from), "l"(value)
               : "memory");
#elif defined(__HIP_DEVICE_COMPILE__)
  asm volatile(
      "global_store_dwordx2 %1, %2, off\n\t"
      "global_load_dwordx2 %0, %1, off\n\t"
      "s_waitcnt vmcnt(0)"
      : "=&v"(loaded.store_to)
      : "v"(place.store_to), "v"(value)
      : "memory");
  loaded.load_from = loaded.store_to;
#else
  *reinterpret_cast<volatile std::uint64_t*>(place.store_to) = value;
  loaded.store_to = *reinterpret_cast<volatile std::uint64_t*>(place.load_from);
  loaded.load_from = loaded.store_to;
#endif
  return loaded;
}

// One lane stores the address of the next of three nodes where it is, loads it, and goes there: the
// next store waits for the load. `ends` is where it arrives and the two nodes after that. Three, so
// that no round, of an even number of steps, leads back to where it began.
__global__ void __launch_bounds__(1)
    store_to_load_kernel(std::uint64_t* ends, long long* cycles, Place here, std::uint64_t next,
                         std::uint64_t last, unsigned timed_steps) {
  CycleClock<> clock;
  unsigned steps = steps_per_round;
#pragma unroll 1
  for (unsigned pass = 0; pass < 2; ++pass) {
    clock.start(cycles_after(here.load_from));
#pragma unroll 1
    for (unsigned step = 0; step < steps; step += steps_per_round) {
#pragma unroll
      for (unsigned i = 0; i < steps_per_round; ++i) {
        const std::uint64_t left = here.load_from;
        here = store_and_load(here, next);
        next = last;
        last = left;
      }
      clock.lap();
    }
    clock.stop(cycles_after(here.load_from));
    *cycles = clock.elapsed();
    steps = timed_steps;
  }
  ends[0] = here.load_from;
  ends[1] = next;
  ends[2] = last;
}

constexpr std::uint64_t constant_bytes = 64 * kib;
static __constant__ std::uint64_t constant_nodes[constant_bytes / sizeof(std::uint64_t)];

// The address of constant_nodes as a scalar load takes it.
__global__ void __launch_bounds__(1) constant_address_kernel(std::uint64_t* address) {
#if defined(__CUDA_ARCH__)
  *address = __cvta_generic_to_constant(constant_nodes);
#else
  *address = reinterpret_cast<std::uint64_t>(constant_nodes);
#endif
}

// fsword73's own (examples 6a, 6c and 6d): one thread, whose next index is computed of what it has
// just loaded. All of `values` are the same number, but where the chain is checked. Corrected: the
// end is stored, where the published kernels have a condition that is never true. His text prints
// 6c and 6d with value * i * range, which is the same place whatever i is; his two figures differ,
// so they are of the kernel in his repository, which is this one.
__global__ void __launch_bounds__(1) stride_kernel(const int* values, int* end, int loads) {
  int value = values[threadIdx.x];
  for (int i = 1; i < loads; ++i) {
    value = values[value * i];
  }
  *end = value;
}

__global__ void __launch_bounds__(1)
    range_kernel(const int* values, int* end, int range, int loads) {
  int value = values[threadIdx.x];
  for (int i = 1; i < loads; ++i) {
    value = values[(value * i - 1) & (range - 1)];
  }
  *end = value;
}

// --- A walk, launched and checked -------------------------------------------------------------

void link(const Sweep& sweep, const Nodes& nodes) {
  const unsigned blocks = sweep.is_hardware() ? 2 * sweep.device().compute_units : 1;
  launch(link_kernel, {.grid = dim3(blocks), .block = dim3(block_threads(sweep))}, nodes);
}

template <Load kind>
Chaser chaser_of(const Sweep& sweep, std::uint64_t steps) {
  return {sweep, walk_kernel<kind>, kind == Load::scalar, steps};
}

// A row with all that is known of one latency; returns the net one.
double measure_row(Chaser& chaser, Point& point, const Nodes& nodes) {
  const Latency latency = chaser.measure(point, chaser.walk(nodes));
  point.value("raw", latency.raw, "cycles");
  point.value("latency", latency.net, "cycles");
  point.value("latency in time", latency.nanoseconds, "ns");
  return latency.net;
}

// --- Sweeps over the footprint ----------------------------------------------------------------

struct Sizes {
  hipscope::Size footprint;
  hipscope::Size spacing;
  hipscope::Size steps;
  hipscope::Size points;
  hipscope::Size pages;
};

constexpr std::uint64_t smallest_footprint = kib;

void require_spacing(const Sizes& sizes) {
  if (sizes.spacing % sizeof(std::uint64_t) != 0 || sizes.spacing > sizes.footprint) {
    throw hipscope::UsageError("--spacing must be a multiple of 8 and no more than --footprint");
  }
  constexpr std::uint64_t most_nodes = std::uint64_t{1} << 31;  // so that 32 bits number them
  if (sizes.footprint / sizes.spacing > most_nodes) {
    throw hipscope::UsageError("--footprint must be no more than 2^31 times --spacing");
  }
}

// So many per octave, equally far apart in it, whole multiples of `spacing`: first ... last.
std::set<std::uint64_t> footprints(std::uint64_t first, std::uint64_t last,
                                   std::uint64_t per_octave, std::uint64_t spacing) {
  std::set<std::uint64_t> all;
  for (std::uint64_t octave = std::bit_floor(first); octave <= last; octave *= 2) {
    for (std::uint64_t i = 0; i < per_octave; ++i) {
      const std::uint64_t bytes = (octave + octave * i / per_octave) / spacing * spacing;
      if (bytes >= std::max(first, spacing) && bytes <= last) {
        all.insert(bytes);
      }
    }
  }
  return all;
}

void set_footprint_axis(Sweep& sweep, std::uint64_t spacing) {
  sweep.axis({.name = "footprint", .unit = "bytes", .scale = hipscope::Scale::logarithmic});
  sweep.headline("latency");
  sweep.note("nodes are " + std::to_string(spacing) + " bytes apart");
}

// Chases each of the footprints `all`; returns the curve.
template <Load kind>
Curve measure_footprints(Sweep& sweep, const Sizes& sizes, const std::set<std::uint64_t>& all) {
  require_spacing(sizes);
  if (all.empty()) {
    throw hipscope::UsageError("--footprint and --spacing leave no footprint to measure");
  }
  const std::uint64_t largest = *all.rbegin();
  set_footprint_axis(sweep, sizes.spacing);
  sweep.require_memory(largest, "--footprint");
  const DeviceBuffer<unsigned char> memory(largest);
  Chaser chaser = chaser_of<kind>(sweep, sizes.steps);
  Curve curve;
  for (const std::uint64_t bytes : all) {
    const auto x = static_cast<double>(bytes);
    auto point = sweep.point(std::to_string(bytes), x);
    const Nodes nodes =
        dense_nodes(address_of(memory), bytes / sizes.spacing, sizes.spacing, sweep.seed());
    link(sweep, nodes);
    curve.push_back({.x = x, .y = measure_row(chaser, point, nodes)});
  }
  return curve;
}

void measure_footprint(Sweep& sweep, const Sizes& sizes, Curve& coarse) {
  coarse = measure_footprints<Load::global>(
      sweep, sizes, footprints(smallest_footprint, sizes.footprint, sizes.points, sizes.spacing));
}

// The published times are those of all that a step holds, by events, and so are these. `index` says
// which value a chain loads next, by the last one and the number of the load.
template <typename Run, typename Index>
void measure_chain(Sweep& sweep, const std::string& label, double x, const std::string& series,
                   std::vector<int> values, int loads, int constant, Run run, Index index) {
  auto point = sweep.point(label, x, series);
  const DeviceBuffer<int> end(1);
  {
    const DeviceBuffer<int> random{std::span<const int>(values)};
    run(random.data(), end.data(), loads);
  }
  int expected = values[0];
  for (int i = 1; i < loads; ++i) {
    expected = values[static_cast<std::size_t>(index(expected, i))];
  }
  point.verify("end of the chain", end.to_host()[0] == expected ? 0 : 1, 1);
  std::fill(values.begin(), values.end(), constant);
  const DeviceBuffer<int> same{std::span<const int>(values)};
  const auto time = point.measure([&] { run(same.data(), end.data(), loads); });
  point.value("latency", time.cycles() / loads, "cycles");
}

void measure_published(Sweep& sweep, const Sizes& sizes) {
  sweep.axis({.name = "chain"});
  sweep.headline("latency");
  sweep.note(
      "one thread; 6a: x = values[x * i], 1 KiB on with each load; 6c and 6d: "
      "x = values[(x * i - 1) & mask], 64 bytes on; time by events");
  constexpr std::uint64_t stride_bytes = kib;
  const std::uint64_t bytes = std::max<std::uint64_t>(sizes.footprint / 2, 64 * stride_bytes);
  sweep.require_memory(2 * bytes, "--footprint");
  const unsigned key = hipscope::key_of(sweep.seed());
  const auto values_up_to = [&](std::uint64_t count, unsigned most) {
    std::vector<int> values(count);
    for (unsigned i = 0; i < count; ++i) {
      values[i] = static_cast<int>(hipscope::random_bits(i + key) % (most + 1));
    }
    return values;
  };
  constexpr int stride = stride_bytes / sizeof(int);
  measure_chain(
      sweep, "6a memory, 1 KiB apart", 1, "DRAM, stride 1 KiB",
      values_up_to(bytes / sizeof(int), stride), static_cast<int>(bytes / stride_bytes), stride,
      [](const int* values, int* end, int loads) {
        launch(stride_kernel, {.grid = dim3(1), .block = dim3(1)}, values, end, loads);
      },
      [](int value, int i) { return value * i; });
  const auto measure_range = [&](const std::string& label, double x, const std::string& series,
                                 int range) {
    constexpr int line = 16;  // values
    constexpr std::uint64_t times = 16;
    const auto loads = static_cast<int>(std::min<std::uint64_t>(times * sizes.steps, 1U << 20));
    measure_chain(
        sweep, label, x, series, values_up_to(static_cast<std::uint64_t>(range), 255), loads, line,
        [=](const int* values, int* end, int count) {
          launch(range_kernel, {.grid = dim3(1), .block = dim3(1)}, values, end, range, count);
        },
        [=](int value, int i) { return (value * i - 1) & (range - 1); });
  };
  measure_range("6c range of 4 KiB", 2, "L1, range 4 KiB", 1024);
  measure_range("6d range of 128 KiB", 3, "L2, range 128 KiB", 32768);
}

// Finer footprints where sweep `footprint` has found the end of a level.
void measure_edges(Sweep& sweep, const Sizes& sizes, const Curve& coarse) {
  std::set<std::uint64_t> all;
  const auto add = [&](double first, double last) {
    constexpr std::uint64_t fine_points = 64;  // per octave
    all.merge(footprints(static_cast<std::uint64_t>(first),
                         std::min<std::uint64_t>(static_cast<std::uint64_t>(last), sizes.footprint),
                         fine_points, sizes.spacing));
  };
  constexpr double margin = 1.07;
  for (const Level& level : hipscope::find_levels(coarse, smallest_step)) {
    if (level.end) {
      add(level.end->last_x / margin, level.end->risen_x * margin);
    }
  }
  if (!sweep.is_hardware()) {
    add(smallest_footprint, 1.1 * smallest_footprint);  // there is nothing to find
  }
  if (all.empty()) {
    sweep.note("sweep footprint was left out or shows no level's end: there is nothing to refine");
    return;
  }
  measure_footprints<Load::global>(sweep, sizes, all);
}

// Another kind of load over a few footprints.
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
  const auto largest = std::min<std::uint64_t>(sizes.footprint, mib);
  measure_footprints<kind>(sweep, sizes, footprints(smallest_footprint, largest, 2, sizes.spacing));
}

// --- Other sweeps -----------------------------------------------------------------------------

// The chase once and nine times over the same warm-up: by events the difference is eight of it.
void measure_events(Sweep& sweep, const Sizes& sizes) {
  require_spacing(sizes);
  set_footprint_axis(sweep, sizes.spacing);
  sweep.headline("by events");
  sweep.note("two launches whose chases differ by eight times --steps");
  constexpr unsigned longer = 9;
  sweep.require_memory(sizes.footprint, "--footprint");
  Chaser chaser = chaser_of<Load::global>(sweep, sizes.steps);
  const DeviceBuffer<unsigned char> memory(sizes.footprint);
  std::set<std::uint64_t> all = {4 * kib, 2 * mib, 16 * mib, sizes.footprint};
  std::erase_if(all, [&](std::uint64_t bytes) { return bytes > sizes.footprint; });
  for (const std::uint64_t bytes : all) {
    auto point = sweep.point(std::to_string(bytes), static_cast<double>(bytes));
    const std::uint64_t count = std::max<std::uint64_t>(1, bytes / sizes.spacing);
    const Nodes nodes = dense_nodes(address_of(memory), count, sizes.spacing, sweep.seed());
    link(sweep, nodes);
    const Walk once = chaser.walk(nodes);
    const Walk more = chaser.walk(nodes, longer);
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

constexpr std::uint64_t constant_spacing = 64;  // the line of AMD's and NVIDIA's constant caches

// Nodes that the host links in __constant__ memory.
void measure_constant(Sweep& sweep, const Sizes& sizes) {
  set_footprint_axis(sweep, constant_spacing);
  DeviceBuffer<std::uint64_t> address(1);
  launch(constant_address_kernel, {.grid = dim3(1), .block = dim3(1)}, address.data());
  const std::uint64_t base = address.to_host()[0];
  Chaser chaser = chaser_of<Load::scalar>(sweep, sizes.steps);
  constexpr std::uint64_t first_bytes = 256;
  for (const std::uint64_t bytes :
       footprints(first_bytes, constant_bytes, sizes.points, constant_spacing)) {
    const Nodes nodes = dense_nodes(base, bytes / constant_spacing, constant_spacing, sweep.seed());
    std::vector<std::uint64_t> memory(bytes / sizeof(std::uint64_t));
    for (std::uint64_t k = 0; k < nodes.count; ++k) {
      memory[(visited_address(nodes, k) - base) / sizeof(std::uint64_t)] =
          visited_address(nodes, k + 1);
    }
    check(hipMemcpyToSymbol(HIP_SYMBOL(constant_nodes), memory.data(), bytes));
    auto point = sweep.point(std::to_string(bytes), static_cast<double>(bytes));
    measure_row(chaser, point, nodes);
  }
}

void measure_store_to_load(Sweep& sweep, const Sizes& sizes) {
  sweep.axis({.name = "kind"});
  sweep.headline("latency");
  const auto steps = static_cast<unsigned>(round_up(sizes.steps, steps_per_round));
  auto point = sweep.point("store, then load of the same address", 1);
  constexpr unsigned count = 3;
  constexpr std::uint64_t words = line_bytes / sizeof(std::uint64_t);
  DeviceBuffer<long long> cycles(1);
  DeviceBuffer<std::uint64_t> ends(count);
  // The nodes, a line each, and one more for where the loads lead if nothing is stored.
  DeviceBuffer<std::uint64_t> lines((count + 1) * words);
  const auto node = [&](std::uint64_t step) {
    return address_of(lines) + step % count * line_bytes;
  };
  const std::vector<std::uint64_t> trap(lines.size(), address_of(lines) + count * line_bytes);
  check(hipMemcpy(lines.data(), trap.data(), trap.size() * sizeof(std::uint64_t),
                  hipMemcpyHostToDevice));
  const auto run = [&](unsigned timed_steps) {
    launch(store_to_load_kernel, {.grid = dim3(1), .block = dim3(1)}, ends.data(), cycles.data(),
           Place{.store_to = node(0), .load_from = node(0)}, node(1), node(2), timed_steps);
  };
  run(steps);
  const std::vector<std::uint64_t> arrived = ends.to_host();
  const std::vector<std::uint64_t> stored = lines.to_host();
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::string name = std::to_string(i);
    point.verify("end " + name, arrived[i] == node(steps_per_round + steps + i) ? 0 : 1, 1);
    point.verify("stored address " + name, stored[i * words] == node(i + 1) ? 0 : 1, 1);
  }
  run(0);
  const auto empty = static_cast<double>(cycles.to_host()[0]);
  point.measure([&] { run(steps); }, {.name = "launch", .batch = 1});
  const double counted = sweep.counted(static_cast<double>(cycles.to_host()[0]));
  point.value("raw", counted / steps, "cycles");
  point.value("latency", (counted - empty) / steps, "cycles");
}

// As many nodes spread over `page_bytes` apart pages as dense: both hit in L2, past L1, whose hits
// may need no translation.
template <std::uint64_t page_bytes>
void measure_tlb(Sweep& sweep, const Sizes& sizes) {
  sweep.axis({.name = "pages", .scale = hipscope::Scale::logarithmic});
  sweep.headline("paged over dense");
  // So many lines at least, since each has a latency of its own.
  constexpr std::uint64_t fewest_nodes = 1024;
  constexpr std::uint64_t fewest_pages = 4;
  const std::uint64_t lines = page_bytes / line_bytes;
  const auto free_bytes = static_cast<double>(sweep.device().free_memory_bytes);
  constexpr double share = 0.9;
  // All nodes must stay in L2: in a quarter of it.
  const std::uint64_t l2_bytes = sweep.device().l2_bytes;
  const std::uint64_t in_l2 = l2_bytes > 0 ? l2_bytes / 4 / line_bytes : sizes.pages;
  const std::uint64_t most_pages = std::clamp<std::uint64_t>(
      static_cast<std::uint64_t>(share * free_bytes) / page_bytes, fewest_pages,
      std::max<std::uint64_t>(fewest_pages, std::min<std::uint64_t>(sizes.pages, in_l2)));
  sweep.note("at most " + number(static_cast<double>(most_pages * page_bytes) / mib, 6) +
             " MiB of memory; past L1, at least " + std::to_string(fewest_nodes) + " lines");
  sweep.require_memory(most_pages * page_bytes, "--pages");
  const DeviceBuffer<unsigned char> memory(most_pages * page_bytes);
  const std::uint64_t base = address_of(memory);
  Chaser chaser = chaser_of<Load::l2>(sweep, sizes.steps);
  // A TLB's reach is far up: finer points over the last two octaves.
  auto all = footprints(fewest_pages, most_pages, std::max<std::uint64_t>(1, sizes.points / 2), 1);
  all.merge(footprints(std::max(fewest_pages, most_pages / 4), most_pages, sizes.points, 1));
  for (const std::uint64_t pages : all) {
    auto point = sweep.point(std::to_string(pages), static_cast<double>(pages));
    const std::uint64_t count = round_up(std::max(fewest_nodes, pages), pages);
    const auto measure = [&](const Nodes& nodes, const std::string& what) {
      link(sweep, nodes);
      const double cycles = chaser.measure(point, chaser.walk(nodes), what).net;
      point.value(what + "latency", cycles, "cycles");
      return cycles;
    };
    const double dense = measure(dense_nodes(base, count, line_bytes, sweep.seed()), "dense ");
    const double paged =
        measure(paged_nodes(base, count, pages, page_bytes, lines, sweep.seed()), "paged ");
    point.value("paged over dense", paged / dense, "");
  }
}

// The CUs by their own numbers, which have gaps on AMD.
std::set<unsigned> unit_ids(const Sweep& sweep, dim3 grid) {
  DeviceBuffer<unsigned> ids(grid.x);
  launch(unit_ids_kernel, {.grid = grid, .block = dim3(block_threads(sweep))}, ids.data());
  const std::vector<unsigned> all = ids.to_host();
  return {all.begin(), all.end()};
}

// Chases three nodes in one line of L2, a random one: from every CU, or many lines from one CU. By
// loads, which may find a copy in the CU's own partition, and by atomics, done at the line's home.
template <bool from_all_units>
void measure_lines(Sweep& sweep, const Sizes& /*sizes*/) {
  const unsigned lines = from_all_units ? 1 : sweep.is_hardware() ? 64 : 4;
  sweep.axis({.name = from_all_units ? "CU" : "line"});
  sweep.headline("latency");
  sweep.note("latency: of loads; atomic: of atomics, done where the line is at home");
  // More blocks than there is room for at once, so that every CU gets one.
  const dim3 grid(sweep.is_hardware() ? 4 * sweep.device().compute_units : 2);
  constexpr std::uint64_t steps = 2048;
  Chaser loads(sweep, unit_walk_kernel<Load::l2>, false, steps, grid);
  Chaser atomics(sweep, unit_walk_kernel<Load::atomic>, false, steps, grid);
  constexpr std::uint64_t candidates = 16 * mib / line_bytes;
  const DeviceBuffer<unsigned char> memory(candidates * line_bytes);
  const Nodes all = dense_nodes(address_of(memory), candidates, line_bytes, sweep.seed());
  const std::set<unsigned> all_units = unit_ids(sweep, grid);
  const std::set<unsigned> units = from_all_units ? all_units : std::set{*all_units.begin()};
  for (unsigned line = 0; line < lines; ++line) {
    const Nodes nodes =
        dense_nodes(visited_address(all, line), 3, sizeof(std::uint64_t), sweep.seed());
    link(sweep, nodes);
    for (const unsigned unit : units) {
      const unsigned x = from_all_units ? unit : line;
      auto point = sweep.point(std::to_string(x), x);
      Walk walk = loads.walk(nodes);
      walk.compute_unit = unit;
      point.value("latency", loads.measure(point, walk, "load ").net, "cycles");
      point.value("atomic", atomics.measure(point, walk, "atomic ").net, "cycles");
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
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
      .spacing = experiment.size(
          "--spacing", "bytes from node to node, a multiple of 8; best the line of the caches",
          {.gpu = line_bytes,
           .quick = line_bytes,
           .host = line_bytes,
           .minimum = 8,
           .maximum = mib}),
      .steps = experiment.size(
          "--steps", "timed steps of a chase, rounded up to 32",
          {.gpu = 4096, .quick = 2048, .host = 128, .minimum = 1, .maximum = 1U << 24}),
      .points = experiment.size("--points", "footprints per octave",
                                {.gpu = 8, .quick = 4, .host = 2, .minimum = 1, .maximum = 64}),
      .pages = experiment.size(
          "--pages", "most pages of the TLB's sweeps, as far as they fit into memory",
          {.gpu = 65536, .quick = 2048, .host = 8, .minimum = 4, .maximum = 1U << 24})};
  Curve coarse;  // what sweep `footprint` has found, for `edges` to look closer at
  const auto add = [&](const std::string& name, const std::string& title, auto measure) {
    experiment.sweep(name, title, [&sizes, measure](Sweep& sweep) { measure(sweep, sizes); });
  };
  experiment.sweep("footprint", "latency over footprint",
                   [&](Sweep& sweep) { measure_footprint(sweep, sizes, coarse); });
  experiment.sweep("edges", "finer footprints at the ends of the levels",
                   [&](Sweep& sweep) { measure_edges(sweep, sizes, coarse); });
  add("published", "chases as the published programs have them", measure_published);
  add("events", "the same by device events", measure_events);
  add("generic", "plain C++ `p = *p`, a load from whatever memory p points to",
      measure_kind<Load::generic>);
  add("read-only", "loads of data that no thread writes", measure_kind<Load::read_only>);
  add("scalar", "scalar loads of device memory, one for the whole wave",
      measure_kind<Load::scalar>);
  add("constant", "__constant__ memory", measure_constant);
  add("store-to-load", "a store, and the load of what it stored", measure_store_to_load);
  add("tlb-64k", "lines in pages of 64 KiB against dense lines", measure_tlb<small_page>);
  add("tlb-2m", "lines in pages of 2 MiB against dense lines", measure_tlb<large_page>);
  add("lines", "single lines of L2 from one CU", measure_lines<false>);
  add("units", "one line of L2 from every CU", measure_lines<true>);
  experiment.conclude(memory_latency::conclude);
  return experiment.run(argc, argv);
}
