// How many scalar registers does a wave get, and what does it cost to want more?
//
// A value that is the same in all lanes of a wave (NVIDIA: warp) needs no register per lane. AMD's
// GPUs keep it in scalar registers (SGPRs): loop counters, addresses and whatever else the compiler
// can prove to be uniform. They are few (102 on gfx9, 106 on gfx10). What does not fit is spilled,
// first into the lanes of a VGPR, by an instruction each way. Kernels keep 8, 16 ... 128 uniform
// values alive in a loop: where does the rate fall?
//
// NVIDIA's GPUs have uniform registers since Turing, but the compiler alone decides what lives
// there: CUDA and PTX have no name for them. So the same kernel also runs with values that differ
// from lane to lane: if uniform values cost just as many of a thread's registers, they live there.
//
// scripts/hipscope/compiled_code/register_limits.py finds the highest SGPR that AMD's assembler
// accepts; it needs no GPU.
#include <hipscope/footprint.h>
#include <hipscope/hipscope.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "findings.h"

using hipscope::DeviceBuffer;
using hipscope::launch;
using hipscope::Sweep;

namespace {

// How many sets of values blocks, or threads, start from. A prime, so that neighbours
// differ.
constexpr unsigned patterns = 31;

constexpr int most_values = 128;

constexpr unsigned block_threads = 256;

// --- Kernels ----------------------------------------------------------------------------------

// Which threads have the same values: all of a block, or no two neighbours.
enum class Values { uniform, per_lane };

// One step of one value, which its neighbour in the ring feeds: two operations that every GPU has
// for scalars and for lanes alike, and of which no two steps can be merged.
constexpr int operations_per_step = 2;
__host__ __device__ constexpr unsigned step(unsigned value, unsigned neighbour) {
  return (value ^ neighbour) + 0x9E3779B9U;
}

// Hashes a value into a number that changes with each of its bits.
__host__ __device__ constexpr unsigned add_to_hash(unsigned hash, unsigned value) {
  return (hash << 5 | hash >> 27) + value;
}

// Steps in the body of the loop, as far as whole passes over the values allow: enough to hide what
// the loop itself costs.
constexpr int wanted_steps_per_iteration = 256;

__host__ __device__ constexpr int passes_per_iteration(int count) {
  return wanted_steps_per_iteration / count;
}

// `Count` values in a ring, each fed by the next: none can be finished before the others, so all
// are alive all the time.
template <int Count, Values values>
__global__ void __launch_bounds__(block_threads)
    ring_kernel(const unsigned* input, unsigned* output, unsigned iterations) {
  const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned pattern = (values == Values::uniform ? blockIdx.x : thread) % patterns;
  unsigned value[Count];
#pragma unroll
  for (int i = 0; i < Count; ++i) {
    value[i] = input[i * patterns + pattern];
  }
  // AMD's compiler waits for loads before a barrier; else it would in every iteration of the loop.
  __syncthreads();
#pragma unroll 1
  for (unsigned iteration = 0; iteration < iterations; ++iteration) {
#pragma unroll
    for (int pass = 0; pass < passes_per_iteration(Count); ++pass) {
#pragma unroll
      for (int i = 0; i < Count; ++i) {
        value[i] = step(value[i], value[(i + 1) % Count]);
      }
    }
  }
  unsigned hash = 0;
#pragma unroll
  for (int i = 0; i < Count; ++i) {
    hash = add_to_hash(hash, value[i]);
  }
  output[thread] = hash;
}

struct Kernel {
  int count;
  decltype(&ring_kernel<8, Values::uniform>) function;
};

// Close together where AMD's scalar registers end.
using UniformCounts = std::integer_sequence<int, 8, 16, 32, 48, 64, 80, 84, 88, 90, 92, 94, 96, 98,
                                            100, 104, 112, 128>;

// To compare with.
using PerLaneCounts = std::integer_sequence<int, 8, 16, 32, 64, 96, 128>;

template <Values values, int... Count>
std::vector<Kernel> ring_kernels(std::integer_sequence<int, Count...> /*counts*/) {
  return {{Count, ring_kernel<Count, values>}...};
}

// --- Reference --------------------------------------------------------------------------------

// Value i of pattern p is at [i * patterns + p].
std::vector<unsigned> random_values(std::uint64_t seed) {
  std::mt19937 random(static_cast<std::mt19937::result_type>(seed));
  std::vector<unsigned> values(std::size_t{most_values} * patterns);
  std::generate(values.begin(), values.end(), random);
  return values;
}

// The hash of each pattern's values after N passes.
std::vector<unsigned> reference(const std::vector<unsigned>& input, int count,
                                std::uint64_t passes) {
  std::vector<unsigned> hashes;
  for (unsigned pattern = 0; pattern < patterns; ++pattern) {
    std::vector<unsigned> value;
    for (int i = 0; i < count; ++i) {
      value.push_back(input[std::size_t(i) * patterns + pattern]);
    }
    for (std::uint64_t pass = 0; pass < passes; ++pass) {
      for (int i = 0; i < count; ++i) {
        value[i] = step(value[i], value[(i + 1) % count]);
      }
    }
    hashes.push_back(std::accumulate(value.begin(), value.end(), 0U, add_to_hash));
  }
  return hashes;
}

// --- Sweeps -----------------------------------------------------------------------------------

void say_what_registers_are(Sweep& sweep) {
#if defined(HIPSCOPE_BACKEND_NVIDIA)
  sweep.note(
      "uniform registers have no name in CUDA or PTX and no count in the runtime: the compiler "
      "alone decides what lives there; registers are those of a thread");
#elif defined(HIPSCOPE_BACKEND_AMD)
  sweep.note("registers are VGPRs: the runtime does not report SGPRs");
#else
  sweep.note("the host backend has no registers");
#endif
}

// Every CU gets as many blocks as fit on it at once, and each of them an equal part of the CU's
// operations. With more blocks than that, some CU gets one more than the others, and all wait for
// it: on an H200 with 8 blocks per CU a launch took 9/8 of the time, with 32 blocks 33/32.
void measure_rings(Sweep& sweep, const std::vector<Kernel>& kernels, Values values,
                   std::uint64_t operations_per_cu) {
  sweep.axis({.name = "live values"});
  sweep.headline("operation rate");
  say_what_registers_are(sweep);
  // The host backend runs one block after the other; two of them have different values.
  const unsigned compute_units =
      sweep.is_hardware() ? static_cast<unsigned>(sweep.device().compute_units) : 2;
  const unsigned waves_per_block = block_threads / static_cast<unsigned>(sweep.device().wave_size);
  const std::vector<unsigned> input = random_values(sweep.seed());
  const DeviceBuffer<unsigned> device_input{std::span<const unsigned>(input)};
  std::vector<hipscope::Point> points;
  std::vector<double> rates;
  for (const Kernel& kernel : kernels) {
    auto point = sweep.point(std::to_string(kernel.count), kernel.count);
    const auto passes = static_cast<std::uint64_t>(passes_per_iteration(kernel.count));
    const std::uint64_t operations_per_iteration = passes * kernel.count * operations_per_step;
    const int resident = hipscope::resident_blocks(kernel.function, block_threads);
    const auto blocks_per_cu = static_cast<unsigned>(std::max(1, resident));
    const unsigned blocks = blocks_per_cu * compute_units;
    const std::uint64_t waves_per_cu = std::uint64_t{blocks_per_cu} * waves_per_block;
    const std::uint64_t iterations =
        std::max<std::uint64_t>(1, operations_per_cu / (waves_per_cu * operations_per_iteration));
    DeviceBuffer<unsigned> output(std::size_t{blocks} * block_threads);
    const auto run = [&] {
      launch(kernel.function, {.grid = dim3(blocks), .block = dim3(block_threads)},
             device_input.data(), output.data(), iterations);
    };
    output.poison();
    run();
    const std::vector<unsigned> hashes = reference(input, kernel.count, iterations * passes);
    point.check("hash of every thread's values", output.to_host(), [&](std::uint64_t thread) {
      return hashes[(values == Values::uniform ? thread / block_threads : thread) % patterns];
    });
    const auto time = point.measure(run);
    point.value("registers", hipscope::footprint_of(sweep, kernel.function).registers,
                "per thread");
    point.value("resident", resident * double(waves_per_block), "waves/CU");
    // Counted per wave: a scalar operation is one for all its lanes.
    const auto operations =
        static_cast<double>(waves_per_cu * iterations * operations_per_iteration);
    rates.push_back(operations / time.cycles());
    point.value("operation rate", rates.back(), "wave operations/cycle/CU");
    points.push_back(point);
  }
  const double best = *std::max_element(rates.begin(), rates.end());
  for (std::size_t i = 0; i < points.size(); ++i) {
    points[i].value("share of best", 100 * rates[i] / best, "%");
  }
}

}  // namespace

int main(int argc, char** argv) {
  hipscope::Experiment experiment(
      "sgpr_limit",
      {.question =
           "How many scalar registers does a wave get, and what do more uniform values cost?",
       .sources = {"fsword73/HIP-Performance-Optmization-on-VEGA64, 2.4 (example 4a)"}});
  const auto operations = experiment.size(
      "--operations", "wave operations per compute unit, shared by all waves that fit on it",
      {.gpu = 1U << 23,
       .quick = 1U << 21,
       .host = 1U << 13,
       .tiny = 8190,
       .minimum = 1,
       .maximum = 1U << 28});

  experiment.sweep("uniform", "values that are the same in all lanes", [&](Sweep& sweep) {
    measure_rings(sweep, ring_kernels<Values::uniform>(UniformCounts()), Values::uniform,
                  operations);
  });
  experiment.sweep("per-lane", "values that differ from lane to lane", [&](Sweep& sweep) {
    measure_rings(sweep, ring_kernels<Values::per_lane>(PerLaneCounts()), Values::per_lane,
                  operations);
  });

  experiment.conclude(sgpr_limit::conclude);
  return experiment.run(argc, argv);
}
