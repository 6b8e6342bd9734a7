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
#include <string>
#include <vector>

using hipscope::check;
using hipscope::CycleClock;
using hipscope::DeviceBuffer;
using hipscope::Inference;
using hipscope::launch;
using hipscope::Level;
using hipscope::number;
using hipscope::Point;
using hipscope::Results;
using hipscope::Sweep;

namespace {

using Curve = std::vector<hipscope::CurvePoint>;

constexpr unsigned largest_block = 1024;
constexpr std::uint64_t kib = 1024;
constexpr std::uint64_t mib = 1024 * kib;

// --- The cycle --------------------------------------------------------------------------------

constexpr unsigned line_bytes = 128;

// Where the nodes lie and in which order they are visited. Node i is in page i modulo `pages`, in a
// line that differs from page to page, so that the sets of the caches are used evenly. Dense nodes
// have a page of one line each.
struct Nodes {
  std::uint64_t base;  // address of the first page
  unsigned count;
  unsigned pages;
  std::uint64_t page_bytes;  // from one page to the next
  unsigned last_line;        // lines in a page less one, a mask
  unsigned seed;
  unsigned bits;  // of a node's number, at least 2
};

Nodes paged_nodes(std::uint64_t base, std::uint64_t count, std::uint64_t pages,
                  std::uint64_t page_bytes, std::uint64_t lines, std::uint64_t seed) {
  return {.base = base,
          .count = static_cast<unsigned>(count),
          .pages = static_cast<unsigned>(pages),
          .page_bytes = page_bytes,
          .last_line = static_cast<unsigned>(lines - 1),
          .seed = static_cast<unsigned>(seed),
          .bits = std::max<unsigned>(2, std::bit_width(count - 1))};
}

Nodes dense_nodes(std::uint64_t base, std::uint64_t count, std::uint64_t spacing,
                  std::uint64_t seed) {
  return paged_nodes(base, count, count, spacing, 1, seed);
}

// Every bit of the result depends on every bit of `x` (the last step of MurmurHash3, by Austin
// Appleby).
__host__ __device__ unsigned mix(unsigned x) {
  x = (x ^ (x >> 16)) * 0x85EBCA6BU;
  x = (x ^ (x >> 13)) * 0xC2B2AE35U;
  return x ^ (x >> 16);
}

__host__ __device__ std::uint64_t address_of(const Nodes& nodes, unsigned i) {
  if (nodes.last_line == 0) {
    return nodes.base + i * nodes.page_bytes;
  }
  const unsigned page = i % nodes.pages;
  const unsigned line = (mix(page ^ nodes.seed) + i / nodes.pages) & nodes.last_line;
  return nodes.base + page * nodes.page_bytes + std::uint64_t{line} * line_bytes;
}

// The node that comes as number k of the walk. Two halves of the number's bits are scrambled by
// each other in turns, which can be undone, so no two k give the same (a Feistel network); a result
// that is no node's number is scrambled again. Host and devices compute it wherever they need it:
// a table of the order would stand in the caches.
__host__ __device__ unsigned visited(const Nodes& nodes, unsigned k) {
  const unsigned low_bits = nodes.bits / 2;
  const unsigned low_mask = (1U << low_bits) - 1;
  const unsigned high_mask = (1U << (nodes.bits - low_bits)) - 1;
  do {
    unsigned low = k & low_mask;
    unsigned high = k >> low_bits;
    for (unsigned round = 0; round < 4; round += 2) {
      low ^= mix(high + nodes.seed + round) & low_mask;
      high ^= mix(low + nodes.seed + round + 1) & high_mask;
    }
    k = (high << low_bits) | low;
  } while (k >= nodes.count);
  return k;
}

__host__ __device__ std::uint64_t visited_address(const Nodes& nodes, std::uint64_t k) {
  return address_of(nodes, visited(nodes, static_cast<unsigned>(k % nodes.count)));
}

// Every node gets the address of the one that is visited after it: one cycle through all of them.
__global__ void __launch_bounds__(largest_block) link_kernel(Nodes nodes) {
  const unsigned threads = gridDim.x * blockDim.x;
  for (unsigned k = blockIdx.x * blockDim.x + threadIdx.x; k < nodes.count; k += threads) {
    *reinterpret_cast<std::uint64_t*>(visited_address(nodes, k)) =
        visited_address(nodes, std::uint64_t{k} + 1);
  }
}

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

// Any compute unit will do.
constexpr unsigned any_unit = ~0U;

struct Walk {
  Nodes nodes;
  unsigned settling_steps;  // chased before those that are timed
  unsigned timed_steps;
  unsigned compute_unit;  // where it is to run
};

// All zero before a launch.
struct WalkResult {
  std::uint64_t end;            // where the chase has arrived
  unsigned long long warm_sum;  // of the addresses that the warm-up has loaded
  long long cycles;             // of the timed steps
  unsigned taken;               // 1 when a block has taken the walk
};

// A loop of so many loads: its count and branch run while a load is under way.
constexpr unsigned steps_per_round = 32;

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

// --- A walk, launched and checked -------------------------------------------------------------

using Kernel = void (*)(WalkResult*, Walk);

// What a fiber of the host backend costs is no measure of a thread.
unsigned block_threads(const Sweep& sweep) { return sweep.is_hardware() ? largest_block : 64; }

void link(const Sweep& sweep, const Nodes& nodes) {
  const unsigned blocks = sweep.is_hardware() ? 2 * sweep.device().compute_units : 1;
  launch(link_kernel, {.grid = dim3(blocks), .block = dim3(block_threads(sweep))}, nodes);
}

std::uint64_t round_up(std::uint64_t value, std::uint64_t unit) {
  return (value + unit - 1) / unit * unit;
}

template <typename T>
std::uint64_t address_of(const DeviceBuffer<T>& buffer) {
  return reinterpret_cast<std::uint64_t>(buffer.data());
}

// The sum of the addresses of all nodes.
unsigned long long sum_of(const Nodes& nodes) {
  const std::uint64_t count = nodes.count;
  if (nodes.last_line == 0) {
    return count * nodes.base + count * (count - 1) / 2 * nodes.page_bytes;
  }
  unsigned long long sum = 0;
  for (unsigned i = 0; i < count; ++i) {
    sum += address_of(nodes, i);
  }
  return sum;
}

struct Latency {
  double raw = 0;  // cycles per step
  double net = 0;  // less the counter's cost
  double nanoseconds = 0;
};

// A kernel that chases `steps` steps by one kind of load; keeps the results of its last launches.
class Chaser {
 public:
  Chaser(const Sweep& sweep, Kernel kernel, bool is_scalar, std::uint64_t steps,
         dim3 grid = dim3(1))
      : sweep_(sweep),
        kernel_(kernel),
        is_scalar_(is_scalar),
        steps_(static_cast<unsigned>(round_up(steps, steps_per_round))),
        grid_(grid),
        block_(is_scalar ? static_cast<unsigned>(sweep.device().wave_size) : block_threads(sweep)) {
    hipscope::prefer_level_1_cache(kernel);
    // A chase of no steps: what the counter costs.
    const Walk nothing = {.nodes = dense_nodes(address_of(results_), 1, line_bytes, 0),
                          .settling_steps = 0,
                          .timed_steps = 0,
                          .compute_unit = any_unit};
    for (unsigned i = 0; i < kept_launches; ++i) {
      run(nothing);
    }
    empty_cycles_ = take_cycles();
  }

  // The walk over `nodes`, with so many times the steps. First it settles, until every node has
  // been chased if that takes no more steps than are timed. The chase must end elsewhere than it
  // begins, half a cycle away if it is short: one that did nothing shows.
  [[nodiscard]] Walk walk(const Nodes& nodes, unsigned times = 1) const {
    const unsigned timed = times * steps_;
    unsigned settling = steps_per_round;
    if (nodes.count <= timed || is_scalar_) {
      const unsigned beyond = timed % nodes.count;
      settling = nodes.count + (nodes.count / 2 + nodes.count - beyond) % nodes.count;
    } else if ((settling + timed) % nodes.count == 0) {
      ++settling;
    }
    return {
        .nodes = nodes, .settling_steps = settling, .timed_steps = timed, .compute_unit = any_unit};
  }

  void run(const Walk& walk) {
    WalkResult* const result = results_.data() + launches_++ % kept_launches;
    check(hipMemsetAsync(result, 0, sizeof(WalkResult), nullptr));
    launch(kernel_, {.grid = grid_, .block = block_}, result, walk);
  }

  // The chase must end at the node that so many steps lead to, and the warm-up must have loaded all
  // nodes, each of which holds the address of another.
  void verify(Point& point, const Walk& walk, const std::string& what = "") {
    launches_ = 0;
    run(walk);
    const WalkResult result = results_.to_host()[0];
    const std::uint64_t steps = std::uint64_t{walk.settling_steps} + walk.timed_steps;
    point.verify(what + "end of the chase",
                 result.end == visited_address(walk.nodes, steps) ? 0 : 1, 1);
    if (walk.compute_unit == any_unit && !is_scalar_) {
      point.verify(what + "sum of the nodes in the warm-up",
                   result.warm_sum == sum_of(walk.nodes) ? 0 : 1, 1);
    }
    launches_ = 0;
  }

  // The median cycles of the launches since the last call; NaN on the host backend, which counts
  // nanoseconds.
  double take_cycles() {
    const std::vector<WalkResult> results = results_.to_host();
    std::vector<double> cycles;
    for (unsigned i = 0; i < std::min(launches_, kept_launches); ++i) {
      cycles.push_back(static_cast<double>(results[i].cycles));
    }
    launches_ = 0;
    return sweep_.counted(hipscope::summarize(cycles).median);
  }

  // Verifies and measures; `what` distinguishes several in one row.
  Latency measure(Point& point, const Walk& walk, const std::string& what = "") {
    verify(point, walk, what);
    const auto time = point.measure([&] { run(walk); }, {.name = what + "launch", .batch = 1});
    const double cycles = take_cycles();
    const double net = (cycles - empty_cycles_) / walk.timed_steps;
    return {.raw = cycles / walk.timed_steps,
            .net = net,
            .nanoseconds = net * time.seconds().median / time.cycles() * 1e9};
  }

 private:
  static constexpr unsigned kept_launches = 16;

  const Sweep& sweep_;
  Kernel kernel_;
  bool is_scalar_;
  unsigned steps_;
  dim3 grid_;
  dim3 block_;
  unsigned launches_ = 0;
  DeviceBuffer<WalkResult> results_{kept_launches};
  double empty_cycles_ = 0;
};

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

// The source's figures of the same footprints; that of its stride of 1 KiB is memory's.
std::string published_series(std::uint64_t bytes, std::uint64_t largest) {
  return bytes == 4 * kib     ? "L1, range 4 KiB"
         : bytes == 128 * kib ? "L2, range 128 KiB"
         : bytes == largest   ? "DRAM, stride 1 KiB"
                              : "";
}

// Chases each of the footprints `all`; returns the curve.
template <Load kind>
Curve measure_footprints(Sweep& sweep, const Sizes& sizes, const std::set<std::uint64_t>& all,
                         bool show_published = false) {
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
    auto point = sweep.point(std::to_string(bytes), x,
                             show_published ? published_series(bytes, largest) : "");
    const Nodes nodes =
        dense_nodes(address_of(memory), bytes / sizes.spacing, sizes.spacing, sweep.seed());
    link(sweep, nodes);
    curve.push_back({.x = x, .y = measure_row(chaser, point, nodes)});
  }
  return curve;
}

// A step that is smaller than this is none: latencies of neighbouring levels differ by more.
constexpr double smallest_step = 1.12;

void measure_footprint(Sweep& sweep, const Sizes& sizes, Curve& coarse) {
  sweep.note(
      "published: raw cycles; a step of the source holds five (DRAM) or nine (L1, L2) address "
      "instructions beside the load. Its author's net estimates are 610, 100 to 130 and 270 to "
      "300 cycles. Here a step is the load alone; raw contains the counter's cost");
  coarse = measure_footprints<Load::global>(
      sweep, sizes, footprints(smallest_footprint, sizes.footprint, sizes.points, sizes.spacing),
      true);
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

constexpr std::uint64_t small_page = 64 * kib;
constexpr std::uint64_t large_page = 2 * mib;

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

// --- What the curves show ---------------------------------------------------------------------

std::string in_bytes(double bytes) {
  return bytes < mib          ? number(bytes / kib, 5) + " KiB"
         : bytes < 1024 * mib ? number(bytes / mib, 5) + " MiB"
                              : number(bytes / (1024 * mib), 5) + " GiB";
}

std::string level_text(const Level& level) {
  return number(level.y, 4) + " cycles from " + in_bytes(level.first_x) + " on, over " +
         std::to_string(level.points) + " points within " + number(100 * level.spread, 2) + " %";
}

// How the curve leaves a level.
std::vector<std::string> end_evidence(const Level& level) {
  return {level_text(level), "still there at " + in_bytes(level.end->last_x) + ", risen at " +
                                 in_bytes(level.end->risen_x) +
                                 ", the next level begins or the curve ends at " +
                                 in_bytes(level.end->next_x)};
}

void infer_latency(Results& results, const std::string& name, const Level& level) {
  results.infer({.name = name,
                 .value = level.y,
                 .unit = "cycles",
                 .confidence = level.confidence,
                 .statement = "from one dependent load to the next",
                 .evidence = {level_text(level)}});
}

// Capacity and latency of each level that ends, named after `prefix`. The driver's size of L2, if
// given, stands beside the level that is nearest to it.
void infer_caches(Results& results, const std::vector<Level>& levels, const std::string& prefix,
                  double l2_bytes) {
  const auto distance = [&](const Level& level) {
    return level.end ? std::abs(std::log(level.end->last_x / l2_bytes)) : 1e9;
  };
  const auto nearest =
      std::min_element(levels.begin(), levels.end(),
                       [&](const auto& a, const auto& b) { return distance(a) < distance(b); });
  for (auto level = levels.begin(); level != levels.end() && level->end; ++level) {
    const std::string name = prefix + " level " + std::to_string(level - levels.begin() + 1);
    const double bytes = level->end->last_x;
    Inference capacity{
        .name = name + " capacity",
        .value = bytes,
        .unit = "bytes",
        .confidence = level->end->confidence,
        .statement = in_bytes(bytes) + " are the largest footprint that it serves alone",
        .evidence = end_evidence(*level)};
    if (l2_bytes > 0 && level == nearest && distance(*level) < std::log(2)) {
      capacity.driver = l2_bytes;
    }
    constexpr double clearly_more = 1.2;
    if (l2_bytes > 0 && bytes > clearly_more * l2_bytes) {
      capacity.confidence /= 2;
      capacity.evidence.emplace_back(
          "past what the driver calls L2: a cache behind it, or the reach of a TLB");
    }
    const bool before_last =
        levels.end() - level == 2 || (levels.end() - level == 3 && !levels.back().end);
    if (before_last && level + 1 == nearest && bytes > 0.4 * l2_bytes && bytes < 0.55 * l2_bytes) {
      capacity.evidence.emplace_back(
          "about half of what the driver calls L2: an L2 of two partitions, of which each keeps "
          "copies of its own, looks like this");
    }
    results.infer(capacity);
    infer_latency(results, name + " latency", *level);
  }
}

// In percent; 0 when the sweep was left out.
double largest_difference_by_events(const Results& results) {
  double largest = 0;
  for (const auto& point : results.curve("events", "difference")) {
    largest = std::max(largest, std::abs(point.y));
  }
  return largest;
}

void infer_levels(Results& results) {
  Curve curve = results.curve("footprint", "latency");
  if (curve.empty()) {
    return;
  }
  const Curve finer = results.curve("edges", "latency");
  curve.insert(curve.end(), finer.begin(), finer.end());
  std::stable_sort(curve.begin(), curve.end(), [](auto& a, auto& b) { return a.x < b.x; });
  curve.erase(std::unique(curve.begin(), curve.end(), [](auto& a, auto& b) { return a.x == b.x; }),
              curve.end());
  const auto levels = hipscope::find_levels(curve, smallest_step);
  const auto l2_bytes = static_cast<double>(results.device().l2_bytes);
  if (levels.empty() || !levels.front().end) {
    results.infer({.name = "cache level 1 capacity",
                   .unit = "bytes",
                   .statement = "the curve shows no end of a level"});
  }
  if (const auto difference = largest_difference_by_events(results); difference > 10) {
    results.infer({.name = "cache level 1 latency",
                   .unit = "cycles",
                   .statement = "the counter in the kernel and events around it differ by " +
                                number(difference, 2) +
                                " %: it counts something else than cycles"});
    return;
  }
  infer_caches(results, levels, "cache", l2_bytes);
  Inference memory{.name = "memory latency",
                   .unit = "cycles",
                   .statement = "the curve does not get flat past the last cache"};
  // What is flat up to the end may still be a cache: it must be well past the driver's L2, and past
  // the caches behind L2, of which drivers do not tell; the largest so far has 256 MiB (MI300X).
  constexpr double well_past = 4;
  constexpr double largest_cache = 256 * mib;
  if (levels.size() > 1 && !levels.back().end &&
      curve.back().x >= std::max(well_past * l2_bytes, 2 * largest_cache)) {
    memory.value = levels.back().y;
    memory.confidence = levels.back().confidence;
    memory.statement = "from one dependent load to the next, past all caches";
    memory.evidence = {level_text(levels.back())};
  }
  results.infer(memory);
}

void infer_constant(Results& results) {
  const auto levels = hipscope::find_levels(results.curve("constant", "latency"), smallest_step);
  infer_caches(results, levels, "constant cache", 0);
  if (!levels.empty() && !levels.back().end) {
    // The last one serves all the constant memory there is: how much more it holds does not show.
    infer_latency(results, "constant cache level " + std::to_string(levels.size()) + " latency",
                  levels.back());
  }
}

// Pages cost a few per cent long before a TLB's reach, by a miss in a first TLB that hits in the
// second: a rise that is larger than that.
constexpr double smallest_tlb_rise = 1.05;

void infer_tlb(Results& results) {
  const Curve large = results.curve("tlb-2m", "paged over dense");
  if (large.empty()) {
    return;
  }
  const auto small_rises =
      hipscope::find_clear_rises(results.curve("tlb-64k", "paged over dense"), smallest_tlb_rise);
  const auto rises = hipscope::find_clear_rises(large, smallest_tlb_rise);
  const double last_flat = rises.empty() ? large.back().x : rises.front().last_flat_x;
  const auto beyond = std::find_if(large.begin(), large.end(),
                                   [&](const auto& point) { return point.x > last_flat; });
  const auto [low, high] = std::minmax_element(
      large.begin(), beyond, [](const auto& a, const auto& b) { return a.y < b.y; });
  const auto at = [](const hipscope::CurvePoint& point) {
    return number(point.y, 4) + " at " + number(point.x, 6);
  };
  const std::string range = "up to " + number(last_flat, 6) + " pages of 2 MiB " + at(*low) +
                            " to " + at(*high) + " times as long as dense lines";
  if (rises.empty()) {
    results.infer({.name = "TLB level 1 reach",
                   .unit = "bytes",
                   .statement = "no clear rise up to " + in_bytes(last_flat * large_page),
                   .evidence = {range}});
  }
  for (std::size_t i = 0; i < rises.size(); ++i) {
    const hipscope::FirstStep& rise = rises[i];
    Inference reach{.name = "TLB level " + std::to_string(i + 1) + " reach",
                    .unit = "bytes",
                    .confidence = rise.confidence,
                    .evidence = {range, "then " + number(rise.ratio, 4) +
                                            " times the plateau within an octave"}};
    const auto set_reach = [&](const hipscope::FirstStep& step, double page_bytes) {
      reach.value = step.last_flat_x * page_bytes;
      reach.statement = "from " + in_bytes(*reach.value) + " to " +
                        in_bytes(step.next_x * page_bytes) +
                        " of pages a line begins to take clearly longer";
    };
    set_reach(rise, large_page);
    for (const hipscope::FirstStep& small : small_rises) {
      constexpr double agreement = 0.6;  // octaves
      reach.evidence.push_back("one page per 64 KiB: a rise at " +
                               in_bytes(small.last_flat_x * small_page));
      if (std::abs(std::log2(small.last_flat_x / rise.last_flat_x)) < agreement) {
        reach.evidence.emplace_back("as many pages of 64 KiB: an entry covers no more than that");
        set_reach(small, small_page);
      }
    }
    results.infer(reach);
  }
}

void infer_store_to_load(Results& results) {
  for (const auto& point : results.curve("store-to-load", "latency")) {
    results.infer({.name = "store-to-load latency",
                   .value = point.y,
                   .unit = "cycles",
                   .confidence = 1 - std::min(1.0, point.relative_spread),
                   .statement = "from a store to the next one, whose address was loaded from where "
                                "the first one stored it"});
  }
}

// The spread of a sweep over lines or CUs.
void infer_spread(Results& results, const std::string& sweep, const std::string& over) {
  const auto summary_of = [&](const std::string& value) {
    std::vector<double> all;
    for (const auto& point : results.curve(sweep, value)) {
      all.push_back(point.y);
    }
    return all.size() < 3 ? hipscope::Summary{} : hipscope::summarize(all);
  };
  const auto text = [](const std::string& what, const hipscope::Summary& summary) {
    return what + ": " + number(summary.minimum, 4) + " to " + number(summary.maximum, 4) +
           " cycles, quartiles " + number(summary.first_quartile, 4) + ", " +
           number(summary.median, 4) + ", " + number(summary.third_quartile, 4);
  };
  const hipscope::Summary loads = summary_of("latency");
  const hipscope::Summary atomics = summary_of("atomic");
  if (loads.count == 0 || atomics.count == 0) {
    return;
  }
  const auto count = static_cast<double>(loads.count);
  results.infer({.name = "L2 latency spread over " + over,
                 .value = loads.maximum - loads.minimum,
                 .unit = "cycles",
                 .confidence = count / (count + 1),
                 .statement = "of loads, which may find a copy near by; atomics tell how far "
                              "away lines are at home",
                 .evidence = {text("loads", loads), text("atomics, at the line's home", atomics)}});
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
  experiment.conclude([](Results& results) {
    infer_levels(results);
    infer_constant(results);
    infer_tlb(results);
    infer_store_to_load(results);
    infer_spread(results, "lines", "lines");
    infer_spread(results, "units", "CUs");
  });
  return experiment.run(argc, argv);
}
