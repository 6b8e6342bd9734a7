// What does it cost when the lanes of one wave load from, or store to, scattered places?
//
// A wave's (NVIDIA: warp's) memory instruction gives one address per lane, and the hardware moves
// the whole segments (sectors, lines) that hold them. Neighbouring dwords share a segment;
// scattered ones each take a whole one. Four ways to scatter:
//   stray       some lanes of each wave store elsewhere: all to one other region, or (scattered)
//               each to a region of its own
//   stride      lane i accesses dword i x stride
//   misaligned  lanes side by side, their start shifted by some dwords
//   permuted    the lanes' dwords exchanged within a line, across lines, across all of memory
// Arithmetic gives the number of segments for each segment size, measurement gives the time. The
// size for which the two are proportional is the size that the hardware moves.
//
// Every pattern is measured beyond the caches, each dword accessed once, and again (-l2) within L2,
// the same dwords accessed over and over: another bottleneck, other costs.
//
// And fsword73's question, example 7c: when both branches of an if store, does the compiler make
// one store of them?
#include <hipscope/elements.h>
#include <hipscope/hipscope.h>

#include <algorithm>
#include <array>
#include <bit>
#include <functional>
#include <string>
#include <vector>

#include "findings.h"
#include "patterns.h"
#include "walk.h"

using hipscope::DeviceBuffer;
using hipscope::launch;
using hipscope::number;
using hipscope::Sweep;
using store_divergence::block_threads;
using store_divergence::dword_bytes;
using store_divergence::in_flight;
using store_divergence::Pattern;
using store_divergence::smallest_footprint;
using store_divergence::Traversal;
using store_divergence::Values;
using store_divergence::Walk;

namespace {

// --- Kernels ----------------------------------------------------------------------------------

// Keeps the compiler from making one store of two.
__device__ void keep_branch() {
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
  asm volatile("" ::: "memory");
#endif
}

// fsword73's example 7c: both branches store, and no compiler can know that the address is the
// same, since only the launch says that there are no more than these threads.
constexpr unsigned if_else_block = 512;
constexpr int if_else_stores = 1 << 28;

__global__ void __launch_bounds__(if_else_block)
    if_else_store_kernel(int* __restrict__ data, int divergence) {
  const int x = static_cast<int>(blockDim.x * blockIdx.x + threadIdx.x);
  if ((static_cast<int>(threadIdx.x) & divergence) == divergence) {
    data[x] = x;
  } else {
    data[x & (if_else_stores - 1)] = x;
  }
}

// The same with something in one branch that must not happen in the other: two stores remain.
__global__ void __launch_bounds__(if_else_block)
    two_stores_kernel(int* __restrict__ data, int divergence) {
  const int x = static_cast<int>(blockDim.x * blockIdx.x + threadIdx.x);
  if ((static_cast<int>(threadIdx.x) & divergence) == divergence) {
    data[x] = x;
    keep_branch();
  } else {
    data[x & (if_else_stores - 1)] = x;
  }
}

__global__ void __launch_bounds__(if_else_block) one_store_kernel(int* __restrict__ data) {
  const int x = static_cast<int>(blockDim.x * blockIdx.x + threadIdx.x);
  data[x] = x;
}

enum class Order { by_table, scrambled };
enum class Path { ordinary, past_l1 };

// Within L2 a plain load may find in L1 what another wave has just loaded.
template <Path path>
__device__ unsigned load(const unsigned* address) {
#if defined(__CUDA_ARCH__)
  return path == Path::past_l1 ? __ldcg(address) : *address;
#elif defined(__HIP_DEVICE_COMPILE__)
  return path == Path::past_l1
             ? __hip_atomic_load(address, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT)
             : *address;
#else
  return *address;
#endif
}

template <Order order, Path path>
__global__ void __launch_bounds__(block_threads)
    load_kernel(const unsigned* data, const unsigned* offsets, Walk walk, unsigned* sums) {
  const unsigned lane = threadIdx.x % warpSize;
  const unsigned waves = block_threads / warpSize;
  const unsigned row = blockIdx.x % walk.rows;
  const unsigned offset = offsets[row * warpSize + lane];
  unsigned sum = 0;
  // One round after the other, so that as much is in flight as `in_flight` says.
#if defined(__clang__)
#pragma clang loop vectorize(disable)
#endif
#pragma unroll 1
  for (unsigned round = 0; round < walk.rounds; ++round) {
    const unsigned tile = store_divergence::first_tile(walk, blockIdx.x, round, waves * in_flight) +
                          threadIdx.x / warpSize;
    unsigned values[in_flight];
#pragma unroll
    for (unsigned i = 0; i < in_flight; ++i) {
      const unsigned mine = tile + i * waves;
      const unsigned index = order == Order::scrambled
                                 ? store_divergence::scramble(store_divergence::source_number(
                                                                  walk, mine, row, warpSize, lane),
                                                              walk.size_bits)
                                 : mine * walk.step + offset;
      values[i] = load<path>(data + index);
    }
#pragma unroll
    for (unsigned i = 0; i < in_flight; ++i) {
      sum += values[i];
    }
  }
  sums[blockIdx.x * block_threads + threadIdx.x] = sum;
}

template <Order order>
__global__ void __launch_bounds__(block_threads)
    store_kernel(unsigned* data, const unsigned* offsets, Walk walk, unsigned seed) {
  const unsigned lane = threadIdx.x % warpSize;
  const unsigned waves = block_threads / warpSize;
  const unsigned row = blockIdx.x % walk.rows;
  const unsigned offset = offsets[row * warpSize + lane];
#pragma unroll 1
  for (unsigned round = 0; round < walk.rounds; ++round) {
    const unsigned tile = store_divergence::first_tile(walk, blockIdx.x, round, waves * in_flight) +
                          threadIdx.x / warpSize;
#pragma unroll
    for (unsigned i = 0; i < in_flight; ++i) {
      const unsigned mine = tile + i * waves;
      const unsigned source = store_divergence::source_number(walk, mine, row, warpSize, lane);
      const unsigned index = order == Order::scrambled
                                 ? store_divergence::scramble(source, walk.size_bits)
                                 : mine * walk.step + offset;
      data[index] = store_divergence::token(source, seed);
    }
  }
}

// --- One pattern --------------------------------------------------------------------------------

// What a sweep does with its patterns, and where.
enum class Operation { load, store };
enum class Place { memory, l2 };

void run_loads(const Traversal& traversal, Place place, const unsigned* data, unsigned* sums) {
  const bool is_scrambled = traversal.is_scrambled();
  const auto kernel = place == Place::memory
                          ? (is_scrambled ? load_kernel<Order::scrambled, Path::ordinary>
                                          : load_kernel<Order::by_table, Path::ordinary>)
                          : (is_scrambled ? load_kernel<Order::scrambled, Path::past_l1>
                                          : load_kernel<Order::by_table, Path::past_l1>);
  launch(kernel, traversal.shape(), data, traversal.offsets(), traversal.walk(), sums);
}

void run_stores(const Traversal& traversal, unsigned* data, unsigned seed) {
  const auto kernel =
      traversal.is_scrambled() ? store_kernel<Order::scrambled> : store_kernel<Order::by_table>;
  launch(kernel, traversal.shape(), data, traversal.offsets(), traversal.walk(), seed);
}

// --- Sweeps -----------------------------------------------------------------------------------

constexpr std::array<unsigned, 3> segment_bytes = {32, 64, 128};

std::string segment_name(unsigned bytes) { return std::to_string(bytes) + "-byte segments"; }

void add_values(hipscope::Point& point, const hipscope::Measurement& time, const Pattern& pattern,
                std::uint64_t accesses, int compute_units) {
  const auto count = static_cast<double>(accesses);
  const double gigabytes = count * 1e-9 / time.seconds().median;
  point.value("useful", gigabytes * pattern.lanes * dword_bytes, "GB/s");
  point.value("cycles per access", time.cycles() * compute_units / count, "cycles x CUs");
  for (const unsigned bytes : segment_bytes) {
    point.value(segment_name(bytes), store_divergence::segments(pattern, bytes), "per access");
  }
  point.value("in 32-byte segments", gigabytes * store_divergence::segments(pattern, 32) * 32,
              "GB/s");
}

// The time of 7c against that of a kernel with one store and of one with two.
void measure_if_else(Sweep& sweep, std::uint64_t footprint) {
  sweep.axis({.name = "divergence"});
  sweep.headline("as written");
  sweep.note(
      "divergence: the bits of the thread's number that are all set where it takes the first "
      "branch; 0: all take it");
  const auto count = static_cast<unsigned>(
      std::min<std::uint64_t>(std::bit_floor(footprint) / dword_bytes, if_else_stores));
  sweep.require_memory(std::uint64_t{count} * dword_bytes, "--footprint");
  DeviceBuffer<int> data(count);
  const hipscope::LaunchShape shape = {.grid = dim3(count / if_else_block),
                                       .block = dim3(if_else_block)};
  for (int divergence = 0; divergence < 4; ++divergence) {
    auto point = sweep.point(std::to_string(divergence), divergence);
    const auto rate = [&](const std::string& name, const std::function<void()>& run) {
      data.poison();
      run();
      hipscope::verify_elements(sweep, point, name + ": every thread's number", data, count,
                                store_divergence::OwnNumber());
      const double seconds = point.measure(run, {.name = name + " time"}).seconds().median;
      point.value(name, 1e-9 * count * dword_bytes / seconds, "GB/s");
    };
    rate("as written", [&] { launch(if_else_store_kernel, shape, data.data(), divergence); });
    rate("one store", [&] { launch(one_store_kernel, shape, data.data()); });
    rate("two stores", [&] { launch(two_stores_kernel, shape, data.data(), divergence); });
  }
}

struct Sizes {
  const hipscope::Size& footprint;
  const hipscope::Size& l2_footprint;
  const hipscope::Size& l2_accesses;
};

// Within L2: no more than half of it, since an H200 keeps data of either half in both. 0 where L2
// is unknown or too small.
std::uint64_t footprint_of(const Sweep& sweep, Place place, const Sizes& sizes) {
  if (place == Place::memory) {
    return sizes.footprint;
  }
  const std::uint64_t half = sweep.device().l2_bytes / 2;
  const std::uint64_t given = sizes.l2_footprint;
  if (!sweep.is_hardware()) {
    return given;
  }
  return half >= smallest_footprint ? std::min(given, half) : 0;
}

using MakePatterns = std::function<std::vector<Pattern>(unsigned lanes, std::uint64_t footprint,
                                                        std::uint64_t seed)>;

void measure(Sweep& sweep, Operation operation, Place place, const MakePatterns& make,
             const Sizes& sizes) {
  sweep.headline("useful");
  const std::uint64_t footprint = footprint_of(sweep, place, sizes);
  if (footprint == 0) {
    sweep.note("not on this device: its L2 is unknown or too small");
    return;
  }
  sweep.note(number(static_cast<double>(footprint) / (1 << 20), 6) + " MiB" +
             (place == Place::memory ? ", each dword once" : ", over and over") +
             "; an access is that of a wave; cycles x CUs: what one CU takes for it while all do");
  constexpr std::uint64_t most_padding = 4096;
  sweep.require_memory(footprint + footprint / 32 + most_padding,
                       place == Place::memory ? "--footprint" : "--l2-footprint");
  DeviceBuffer<unsigned> data(footprint / dword_bytes + most_padding);
  const Values values = store_divergence::values_of(sweep.seed());
  if (operation == Operation::load) {
    launch(store_divergence::fill_kernel,
           {.grid = dim3(Traversal::check_blocks), .block = dim3(block_threads)}, data.data(),
           static_cast<unsigned>(data.size()), values);
  }
  const auto lanes = static_cast<unsigned>(sweep.device().wave_size);
  for (const Pattern& pattern : make(lanes, footprint, sweep.seed())) {
    auto point = sweep.point(pattern.label, pattern.x);
    const std::uint64_t once = pattern.sources() / lanes;
    const std::uint64_t accesses =
        place == Place::memory ? once
                               : std::max(once, std::bit_floor<std::uint64_t>(sizes.l2_accesses));
    const Traversal traversal(pattern, accesses);
    if (operation == Operation::load) {
      const DeviceBuffer<unsigned> sums(std::size_t{traversal.blocks()} * block_threads);
      const auto run = [&] { run_loads(traversal, place, data.data(), sums.data()); };
      run();
      if (pattern.scrambled) {
        store_divergence::verify_scrambled_loads(point, traversal, pattern, sums.to_host(), values,
                                                 accesses);
      } else {
        store_divergence::verify_loads(point, traversal, sums.to_host(), values);
      }
      add_values(point, point.measure(run), pattern, accesses, sweep.device().compute_units);
    } else {
      const auto seed = static_cast<unsigned>(sweep.seed());
      const auto run = [&] { run_stores(traversal, data.data(), seed); };
      data.poison();
      run();
      store_divergence::verify_stores(point, traversal, pattern, data, seed);
      add_values(point, point.measure(run), pattern, accesses, sweep.device().compute_units);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  hipscope::Experiment experiment(
      "store_divergence",
      {.question = "What does it cost when the lanes of a wave load from or store to scattered "
                   "places?",
       .sources = {
           "fsword73/HIP-Performance-Optmization-on-VEGA64, 2.7.2 (example 7c: sweep if-else); "
           "strays, strides, "
           "alignment and permutations are hipscope's own"}});
  constexpr std::uint64_t mebibyte = 1U << 20;
  constexpr std::uint64_t largest_footprint = 4096 * mebibyte;
  const auto footprint = experiment.size("--footprint", "bytes of memory beyond the caches",
                                         {.gpu = 2048 * mebibyte,
                                          .quick = 256 * mebibyte,
                                          .host = smallest_footprint,
                                          .minimum = smallest_footprint,
                                          .maximum = largest_footprint,
                                          .share_of_memory = 0.25});
  const auto l2_footprint = experiment.size("--l2-footprint", "bytes within L2, at most half of it",
                                            {.gpu = 16 * mebibyte,
                                             .quick = 8 * mebibyte,
                                             .host = smallest_footprint,
                                             .minimum = smallest_footprint,
                                             .maximum = largest_footprint});
  const auto l2_accesses = experiment.size(
      "--l2-accesses", "wave accesses within L2, rounded down to a power of two",
      {.gpu = 1U << 24, .quick = 1U << 20, .host = 1U << 10, .minimum = 1, .maximum = 1U << 28});
  const Sizes sizes = {
      .footprint = footprint, .l2_footprint = l2_footprint, .l2_accesses = l2_accesses};

  const auto add = [&](const std::string& name, const std::string& title,
                       const hipscope::Axis& axis, Operation operation, const MakePatterns& make) {
    for (const Place place : {Place::memory, Place::l2}) {
      const bool in_l2 = place == Place::l2;
      experiment.sweep(name + (in_l2 ? "-l2" : ""), title + (in_l2 ? ", within L2" : ""),
                       [=, &sizes](Sweep& sweep) {
                         sweep.axis(axis);
                         measure(sweep, operation, place, make, sizes);
                       });
    }
  };
  const hipscope::Axis lanes_axis = {.name = "stray lanes"};
  add("stray-stores", "some lanes of each wave store to one other region", lanes_axis,
      Operation::store, [](unsigned lanes, std::uint64_t bytes, std::uint64_t /*seed*/) {
        return store_divergence::stray_patterns(lanes, bytes, false);
      });
  add("scattered-stores", "some lanes of each wave store to a region of their own each", lanes_axis,
      Operation::store, [](unsigned lanes, std::uint64_t bytes, std::uint64_t /*seed*/) {
        return store_divergence::stray_patterns(lanes, bytes, true);
      });
  for (const Operation operation : {Operation::load, Operation::store}) {
    const std::string verb = operation == Operation::load ? "loads" : "stores";
    add("stride-" + verb, "lane i " + verb + " dword i x stride",
        {.name = "stride", .unit = "dwords", .scale = hipscope::Scale::logarithmic}, operation,
        [](unsigned lanes, std::uint64_t bytes, std::uint64_t /*seed*/) {
          return store_divergence::stride_patterns(lanes, bytes);
        });
    add("misaligned-" + verb, "lanes side by side, shifted", {.name = "shift", .unit = "dwords"},
        operation, [](unsigned lanes, std::uint64_t bytes, std::uint64_t /*seed*/) {
          return store_divergence::misaligned_patterns(lanes, bytes);
        });
    add("permuted-" + verb, "the dwords of lanes exchanged", {.name = "order"}, operation,
        store_divergence::permuted_patterns);
  }
  experiment.sweep("if-else", "one store of two: both branches of an if store",
                   [=](Sweep& sweep) { measure_if_else(sweep, footprint); });
  experiment.conclude(store_divergence::conclude);
  return experiment.run(argc, argv);
}
