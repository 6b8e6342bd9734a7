// How many vector registers does a thread get, and what does it cost to want more?
//
// Every live value of a thread needs a vector register (VGPR; NVIDIA: register). A thread gets a
// limited number, and what does not fit is spilled to scratch memory (NVIDIA: local memory), which
// is memory like any other. Kernels keep 8, 16 ... 512 values alive in a loop of FMAs: the FMA rate
// is flat while they fit, and then falls off a cliff. The cliff is the register budget, and depends
// on the launch bound: a block of 1024 threads must fit on one compute unit (CU; NVIDIA: streaming
// multiprocessor, SM), so each of its threads gets at most a 1024th of the CU's register file. Four
// rings, repeated with no bound, show what the compiler assumes.
//
// Long before the cliff, registers cost something else: the more a thread has, the fewer waves
// (NVIDIA: warps) fit on a CU. A loop of FMAs does not care, a wave that waits for memory does. The
// sweep of waiting waves counts how many are resident at once, and shows the steps in their rate.
//
// scripts/hipscope/compiled_code/register_limits.py finds what AMD's assembler and compiler allow;
// it needs no GPU.
#include <hipscope/hipscope.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "findings.h"
#include "footprint.h"
#include "hop_chains.h"
#include "load_from_l2.h"

using hipscope::DeviceBuffer;
using hipscope::launch;
using hipscope::Sweep;

namespace {

// How many sets of values threads start from. A prime, so that blocks differ.
constexpr unsigned patterns = 31;

constexpr int most_values = 512;

// What a value takes from its neighbour in each pass: little enough that 2^19 passes stay far from
// overflow, and a thousand times the last bit of a value, so that a missing pass shows.
constexpr float coupling = 0x1p-14F;

// --- Kernels ----------------------------------------------------------------------------------

// The values form one ring, in which each feeds the one before it: none can be finished before the
// others, so all are alive all the time. The ring goes through the even values and then through the
// odd ones, so that a GPU with packed FMAs (gfx90a) can take two neighbours at once.
__host__ __device__ constexpr int neighbour(int i, int values) {
  return i + 2 < values ? i + 2 : (i + 2 - values) ^ 1;
}

// FMAs in the body of the loop, as far as whole passes allow: the loop itself costs three
// instructions, about one percent. More passes would only make the compiler spill more.
constexpr int wanted_fmas_per_iteration = 256;

__host__ __device__ constexpr int passes_per_iteration(int values) {
  return values < wanted_fmas_per_iteration ? wanted_fmas_per_iteration / values : 1;
}

template <int Values>
__device__ void load_values(float (&value)[Values], const float* input, unsigned thread) {
#pragma unroll
  for (int i = 0; i < Values; ++i) {
    value[i] = input[i * patterns + thread % patterns];
  }
  // AMD's compiler waits for loads before a barrier; else it would in every iteration of a loop.
  __syncthreads();
}

// Hashes a value's bits into a number that changes with each of them.
__host__ __device__ constexpr unsigned add_to_hash(unsigned hash, unsigned bits) {
  return (hash << 5 | hash >> 27) + bits;
}

template <int Values>
__device__ unsigned fingerprint(const float (&value)[Values]) {
  unsigned hash = 0;
#pragma unroll
  for (int i = 0; i < Values; ++i) {
    hash = add_to_hash(hash, __float_as_uint(value[i]));
  }
  return hash;
}

// The second bound asks for no more than one resident block (AMD: one wave per SIMD).
template <int Values, int BlockThreads>
__global__ void __launch_bounds__(BlockThreads, 1)
    ring_kernel(const float* input, unsigned* output, unsigned iterations) {
  const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
  float value[Values];
  load_values(value, input, thread);
#pragma unroll 1
  for (unsigned iteration = 0; iteration < iterations; ++iteration) {
#pragma unroll
    for (int pass = 0; pass < passes_per_iteration(Values); ++pass) {
#pragma unroll
      for (int i = 0; i < Values; ++i) {
        value[i] = fmaf(value[neighbour(i, Values)], coupling, value[i]);
      }
    }
  }
  output[thread] = fingerprint(value);
}

// For the kernels that say less. As a call it would have the registers of a call.
template <int Values>
__device__ __forceinline__ void run_ring(const float* input, unsigned* output,
                                         unsigned iterations) {
  const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
  float value[Values];
  load_values(value, input, thread);
#pragma unroll 1
  for (unsigned iteration = 0; iteration < iterations; ++iteration) {
#pragma unroll
    for (int pass = 0; pass < passes_per_iteration(Values); ++pass) {
#pragma unroll
      for (int i = 0; i < Values; ++i) {
        value[i] = fmaf(value[neighbour(i, Values)], coupling, value[i]);
      }
    }
  }
  output[thread] = fingerprint(value);
}

// Without it a compiler may plan for many waves.
template <int Values>
__global__ void __launch_bounds__(256)
    threads_bound_kernel(const float* input, unsigned* output, unsigned iterations) {
  run_ring<Values>(input, output, iterations);
}

// With no bound at all clang plans for blocks of 1024 threads.
template <int Values>
__global__ void unbounded_kernel(const float* input, unsigned* output, unsigned iterations) {
  run_ring<Values>(input, output, iterations);
}

// One wave on AMD's CDNA, two of 32 lanes elsewhere: residency in small steps.
constexpr unsigned waiting_threads = 64;

// A chain stays in one 128-byte line, so that a hop moves no more than that.
constexpr unsigned nodes_per_chain = 32;

// A line for every block that is in place at once, of any GPU so far: 1 MiB in all, which L2 holds.
constexpr unsigned chains = 8192;

// Where the chain of a block starts.
__host__ __device__ constexpr unsigned first_node(unsigned block) {
  return block % chains * nodes_per_chain;
}

// Blocks that are in place at this moment, and the most there ever were.
struct Places {
  unsigned taken;
  unsigned most;
};

// Values that are alive while the block waits for a chain of `hops` dependent loads from L2. All
// lanes of a block follow one chain. `places` is null in timed launches.
template <int Values>
__global__ void __launch_bounds__(waiting_threads, 1)
    waiting_kernel(const float* input, const unsigned* next, unsigned hops, Places* places,
                   unsigned* output) {
  const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
  float value[Values];
  load_values(value, input, thread);
  if (places != nullptr && threadIdx.x == 0) {
    atomicMax(&places->most, atomicAdd(&places->taken, 1U) + 1);
  }
  unsigned node = first_node(blockIdx.x);
  for (unsigned hop = 0; hop < hops; ++hop) {
    node = load_from_l2(next + node);
  }
  if (places != nullptr && threadIdx.x == 0) {
    atomicSub(&places->taken, 1U);
  }
  output[thread] = fingerprint(value) + node;
}

// --- Kernels by their number of values --------------------------------------------------------

template <typename Function>
struct Kernel {
  int values;
  Function function;
};

using RingKernel = Kernel<decltype(&ring_kernel<8, 256>)>;
using WaitingKernel = Kernel<decltype(&waiting_kernel<8>)>;

template <int BlockThreads, int... Values>
std::vector<RingKernel> ring_kernels(std::integer_sequence<int, Values...> /*values*/) {
  return {{Values, ring_kernel<Values, BlockThreads>}...};
}

template <int... Values>
std::vector<RingKernel> less_bound_kernels(bool bound,
                                           std::integer_sequence<int, Values...> /*values*/) {
  return {{Values, bound ? threads_bound_kernel<Values> : unbounded_kernel<Values>}...};
}

template <int... Values>
std::vector<WaitingKernel> waiting_kernels(std::integer_sequence<int, Values...> /*values*/) {
  return {{Values, waiting_kernel<Values>}...};
}

// Close together around 256, where the encoding of every instruction set so far ends.
using ValuesOf256Threads = std::integer_sequence<int, 8, 16, 32, 64, 96, 128, 160, 192, 224, 240,
                                                 244, 248, 252, 256, 264, 272, 288, 320, 512>;

// Close together around 64 and 128: a 1024th of 64 Ki and of 128 Ki registers.
using ValuesOf1024Threads =
    std::integer_sequence<int, 8, 16, 32, 48, 56, 60, 64, 72, 80, 96, 112, 120, 128, 192, 256, 512>;

using ValuesOfBounds = std::integer_sequence<int, 64, 128, 240, 320>;

using ValuesThatWait = std::integer_sequence<int, 8, 16, 24, 32, 40, 48, 56, 64, 72, 80, 88, 96,
                                             104, 112, 120, 128, 144, 160, 176, 192, 208, 224, 240>;

// The host backend runs one block after the other.
unsigned compute_units(const Sweep& sweep) {
  return sweep.is_hardware() ? static_cast<unsigned>(sweep.device().compute_units) : 1;
}

// --- Reference --------------------------------------------------------------------------------

// Value i of pattern p is at [i * patterns + p].
std::vector<float> random_values(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<float> uniform(0.5F, 1.0F);
  std::vector<float> values(std::size_t{most_values} * patterns);
  std::generate(values.begin(), values.end(), [&] { return uniform(random); });
  return values;
}

// The fingerprint of each pattern after N passes. Host and device round an fma once, so they
// must agree to the last bit.
std::vector<unsigned> reference(const std::vector<float>& input, int values, std::uint64_t passes) {
  std::vector<unsigned> hashes;
  for (unsigned pattern = 0; pattern < patterns; ++pattern) {
    std::vector<float> value;
    for (int i = 0; i < values; ++i) {
      value.push_back(input[std::size_t(i) * patterns + pattern]);
    }
    for (std::uint64_t pass = 0; pass < passes; ++pass) {
      for (int i = 0; i < values; ++i) {
        value[i] = std::fma(value[neighbour(i, values)], coupling, value[i]);
      }
    }
    const auto add = [](unsigned hash, float v) {
      return add_to_hash(hash, std::bit_cast<unsigned>(v));
    };
    hashes.push_back(std::accumulate(value.begin(), value.end(), 0U, add));
  }
  return hashes;
}

// --- Sweeps over rings of FMAs ----------------------------------------------------------------

// Every CU gets as many blocks as fit on it at once, and each of them an equal part of the CU's
// FMAs. With more blocks than that, some CU gets one more than the others, and all wait for it: on
// an H200 with 8 blocks per CU a launch took 9/8 of the time, with 32 blocks 33/32.
void measure_rings(Sweep& sweep, const std::vector<RingKernel>& kernels, unsigned threads,
                   std::uint64_t fmas_per_cu) {
  sweep.axis({.name = "live values", .scale = hipscope::Scale::logarithmic});
  sweep.headline("FMA rate");
  const std::vector<float> input = random_values(sweep.seed());
  const DeviceBuffer<float> device_input{std::span<const float>(input)};
  std::vector<hipscope::Point> points;
  std::vector<double> rates;
  for (const RingKernel& kernel : kernels) {
    auto point = sweep.point(std::to_string(kernel.values), kernel.values);
    const int resident = hipscope::resident_blocks(kernel.function, threads);
    const auto blocks_per_cu = static_cast<unsigned>(std::max(1, resident));
    const unsigned blocks = blocks_per_cu * compute_units(sweep);
    const auto passes = static_cast<std::uint64_t>(passes_per_iteration(kernel.values));
    const std::uint64_t fmas_per_iteration = passes * static_cast<unsigned>(kernel.values);
    const std::uint64_t threads_per_cu = std::uint64_t{blocks_per_cu} * threads;
    const std::uint64_t iterations =
        std::max<std::uint64_t>(1, fmas_per_cu / (threads_per_cu * fmas_per_iteration));
    DeviceBuffer<unsigned> output(std::size_t{blocks} * threads);
    const auto run = [&] {
      launch(kernel.function, {.grid = dim3(blocks), .block = dim3(threads)}, device_input.data(),
             output.data(), iterations);
    };
    output.poison();
    run();
    const std::vector<unsigned> expected = reference(input, kernel.values, iterations * passes);
    point.check("fingerprint of every thread's values", output.to_host(),
                [&](std::uint64_t thread) { return expected[thread % patterns]; });
    const auto time = point.measure(run);
    footprint::add(point, sweep, kernel.function, threads);
    const auto fmas = static_cast<double>(threads_per_cu * iterations * fmas_per_iteration);
    rates.push_back(fmas / time.cycles());
    point.value("FMA rate", rates.back(), "FMA/cycle/CU");
    points.push_back(point);
  }
  const double best = *std::max_element(rates.begin(), rates.end());
  for (std::size_t i = 0; i < points.size(); ++i) {
    points[i].value("share of best", 100 * rates[i] / best, "%");
  }
}

// --- Sweep over waiting waves -----------------------------------------------------------------

void measure_waiting(Sweep& sweep, std::uint64_t blocks_per_cu, std::uint64_t hops) {
  sweep.axis({.name = "live values"});
  sweep.headline("hop rate");
  sweep.note("waves are counted where they run: the most blocks that were in place at once");
  const auto blocks = static_cast<unsigned>(compute_units(sweep) * blocks_per_cu);
  const std::vector<float> input = random_values(sweep.seed());
  const std::vector<unsigned> next = hop_chains::make(chains, nodes_per_chain, sweep.seed());
  const std::vector<unsigned> ends = hop_chains::ends(next, nodes_per_chain, hops);
  const DeviceBuffer<float> device_input{std::span<const float>(input)};
  const DeviceBuffer<unsigned> device_next{std::span<const unsigned>(next)};
  DeviceBuffer<unsigned> output(std::size_t{blocks} * waiting_threads);
  DeviceBuffer<Places> places(1);
  for (const WaitingKernel& kernel : waiting_kernels(ValuesThatWait())) {
    auto point = sweep.point(std::to_string(kernel.values), kernel.values);
    const auto run = [&](Places* counters) {
      launch(kernel.function, {.grid = dim3(blocks), .block = dim3(waiting_threads)},
             device_input.data(), device_next.data(), hops, counters, output.data());
    };
    output.poison();
    places.clear();
    run(places.data());
    const std::vector<unsigned> fingerprints = reference(input, kernel.values, 0);
    point.check("fingerprint of every thread's values and end of its chain", output.to_host(),
                [&](std::uint64_t thread) {
                  const auto block = static_cast<unsigned>(thread / waiting_threads);
                  return fingerprints[thread % patterns] + ends[first_node(block)];
                });
    const Places counted = places.to_host()[0];
    point.verify("every block left its place", counted.taken, counted.most,
                 [&](hipscope::Comparison& taken) { taken.compare(0, 0U, counted.taken); });
    const auto time = point.measure([&] { run(nullptr); });
    const double waves_of_block = footprint::waves_per_block(sweep, waiting_threads);
    footprint::add(point, sweep, kernel.function, waiting_threads);
    point.value("counted", counted.most * waves_of_block / compute_units(sweep), "waves/CU");
    point.value("hop rate",
                double(blocks_per_cu) * waves_of_block * static_cast<double>(hops) / time.cycles(),
                "hops/cycle/CU");
  }
}

}  // namespace

int main(int argc, char** argv) {
  hipscope::Experiment experiment(
      "vgpr_limit",
      {.question =
           "How many vector registers does a thread get, and what do more live values cost?",
       .sources = {"fsword73/HIP-Performance-Optmization-on-VEGA64, 2.3 (examples 3a and 3b)"}});
  const auto fmas =
      experiment.size("--fmas", "FMAs per compute unit, shared by all threads that fit on it",
                      {.gpu = 1U << 27,
                       .quick = 1U << 25,
                       .host = 1U << 17,
                       .tiny = 1U << 12,
                       .minimum = 1,
                       .maximum = 1U << 30});
  const auto blocks_per_cu = experiment.size(
      "--blocks-per-cu", "waiting blocks launched per compute unit",
      {.gpu = 256, .quick = 128, .host = 4, .tiny = 2, .minimum = 1, .maximum = 4096});
  const auto hops = experiment.size(
      "--hops", "dependent loads of a waiting block",
      {.gpu = 128, .quick = 64, .host = 5, .tiny = 3, .minimum = 1, .maximum = 1U << 20});

  experiment.sweep("live-256", "rings of FMAs, blocks of 256 threads", [&](Sweep& sweep) {
    measure_rings(sweep, ring_kernels<256>(ValuesOf256Threads()), 256, fmas);
  });
  experiment.sweep("live-256-one-bound",
                   "the same, bound to 256 threads and to no number of blocks", [&](Sweep& sweep) {
                     measure_rings(sweep, less_bound_kernels(true, ValuesOfBounds()), 256, fmas);
                   });
  experiment.sweep("live-256-unbounded", "the same, with no launch bound", [&](Sweep& sweep) {
    measure_rings(sweep, less_bound_kernels(false, ValuesOfBounds()), 256, fmas);
  });
  experiment.sweep("live-1024", "rings of FMAs, blocks of 1024 threads", [&](Sweep& sweep) {
    measure_rings(sweep, ring_kernels<1024>(ValuesOf1024Threads()), 1024, fmas);
  });
  experiment.sweep("waiting", "values alive while a block of 64 threads waits for memory",
                   [&](Sweep& sweep) { measure_waiting(sweep, blocks_per_cu, hops); });

  experiment.conclude(vgpr_limit::conclude);
  return experiment.run(argc, argv);
}
