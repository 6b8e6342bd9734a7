// How many compute units does the GPU have, and how many blocks fit on one at once?
//
// Launch 1, 2, 3 ... blocks of the same work. While a compute unit (CU; NVIDIA: streaming
// multiprocessor, SM) is free, each block gets one of its own, and the time stays flat. One block
// more has to share, and if one block keeps a CU's FMA units busy, the time doubles: that tells the
// number of CUs. A block too small to fill a CU shares it for free, so with small blocks the step
// comes later: see the four block sizes. fsword73's own blocks, whose loop takes all operands from
// registers, are shown beside his times.
//
// How many blocks fit at once? To tell, blocks hold their place for a fixed time and compete for
// nothing else: one thread watches the clock, the others wait at a barrier. The time stays flat
// until every place of the GPU is taken.
#include <hipscope/footprint.h>
#include <hipscope/hipscope.h>
#include <hipscope/pause.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "2-compute/chain_reference.h"
#include "2-compute/nested_loop.h"
#include "findings.h"

using hipscope::CycleClock;
using hipscope::DeviceBuffer;
using hipscope::launch;
using hipscope::Sweep;

namespace {

// x -> addend - factor * x jumps about its fixed point, addend / 2, and nears it so slowly that
// another start or another length of a chain ends elsewhere. Both are literals in the instruction:
// three registers can cost half the rate (ilp_tlp, sweep peak), as in fsword73's loop.
constexpr float factor = 1.0F - 0x1p-20F;
constexpr float addend = 1.0F;

// How many values threads start from. A prime, so that blocks differ from each other, and
// a block that ran for another shows.
constexpr unsigned start_values = 61;

__host__ __device__ float start_value(unsigned number) {
  return static_cast<float>(number % start_values) / start_values;
}

// --- Kernels ----------------------------------------------------------------------------------

// `fmas` dependent FMAs.
__device__ float fma_chain(float x, unsigned fmas) {
#pragma unroll 16
  for (unsigned i = 0; i < fmas; ++i) {
    x = fmaf(x, -factor, addend);
  }
  return x;
}

// Every thread computes.
__global__ void __launch_bounds__(cu_staircase::largest_block)
    busy_kernel(float* output, unsigned fmas) {
  const unsigned number = blockIdx.x * blockDim.x + threadIdx.x;
  output[number] = fma_chain(start_value(number), fmas);
}

// Holds its place for `hold` cycles of its own CU's counter, whatever else runs there, and stores
// how long it was; the other threads wait at the barrier. A turn of the loop takes more than one
// cycle, so its count ends a wait by a counter that stands still. Without the pause the
// clock-watching loops of 24 waves on one SM of an H200 delay the blocks that come after them by
// half the hold time.
__global__ void __launch_bounds__(cu_staircase::largest_block)
    waiting_kernel(long long* held, long long hold) {
  if (threadIdx.x == 0) {
    CycleClock<> clock;
    clock.start();
    for (long long turn = 0; turn < hold && clock.elapsed() < hold; ++turn) {
      hipscope::pause();
      clock.stop();
    }
    held[blockIdx.x] = clock.elapsed();
  }
  __syncthreads();
}

// --- Reference --------------------------------------------------------------------------------

// The chain's end for each start value. Host and device round an fma once, so they must agree to
// the last bit.
std::vector<float> reference(std::uint64_t fmas) {
  std::vector<float> ends(start_values);
  for (unsigned i = 0; i < start_values; ++i) {
    float x = start_value(i);
    for (std::uint64_t step = 0; step < fmas; ++step) {
      x = std::fma(x, -factor, addend);
    }
    ends[i] = x;
  }
  return ends;
}

// --- Sweeps -----------------------------------------------------------------------------------

void measure_staircase(Sweep& sweep, unsigned threads, std::uint64_t fmas) {
  sweep.axis({.name = "blocks"});
  sweep.headline("FMA rate");
  const unsigned most_blocks = 2 * static_cast<unsigned>(sweep.device().compute_units) + 2;
  const std::vector<float> ends = reference(fmas);
  DeviceBuffer<float> output(std::size_t{most_blocks} * threads);
  for (unsigned blocks = 1; blocks <= most_blocks; ++blocks) {
    auto point = sweep.point(std::to_string(blocks), blocks);
    const auto run = [&] {
      launch(busy_kernel, {.grid = dim3(blocks), .block = dim3(threads)}, output.data(), fmas);
    };
    output.poison();
    run();
    const std::uint64_t chains = std::uint64_t{blocks} * threads;
    const std::vector<float> results = output.to_host();
    point.check("end of every thread's FMA chain", std::span(results).first(chains),
                [&](std::uint64_t i) { return ends[i % start_values]; });
    const auto time = point.measure(run);
    point.value("FMA rate", static_cast<double>(chains * fmas) / time.cycles(), "FMA/cycle");
    point.value("cycles", time.cycles(), "cycles");
  }
}

// fsword73's numbers of blocks, less the 0 that he begins with, and those about this device's own
// number of CUs.
std::set<unsigned> source_blocks(const Sweep& sweep) {
  if (!sweep.is_hardware()) {
    return {1, 2, 3};
  }
  const auto units = static_cast<unsigned>(sweep.device().compute_units);
  std::set<unsigned> numbers = {units, units + 1, 2 * units};
  for (unsigned blocks = 1; blocks <= 128; ++blocks) {
    numbers.insert(blocks);
  }
  return numbers;
}

// Each thread's sum, within what its FMAs may round it by.
hipscope::Comparison compare_sums(const DeviceBuffer<float>& sums, std::uint64_t count) {
  const std::vector<float> results = sums.to_host();
  hipscope::Comparison comparison;
  for (std::uint64_t number = 0; number < count; ++number) {
    const chain::BoundedSum expected = chain::bounded_sum(number, source_loop::fmas);
    comparison.compare<double>(number, expected.value, results[number], expected.largest_error);
  }
  return comparison;
}

// fsword73's example 2e.
void measure_source(Sweep& sweep, unsigned threads) {
  sweep.axis({.name = "blocks"});
  sweep.headline("FMA rate");
  sweep.compare(std::to_string(threads) + " threads per block");
  sweep.note(
      "fsword73's loop; here each sum is stored, so that it can be checked, and the inner loop is "
      "unrolled by a pragma, as his compiler did by itself");
  const std::set<unsigned> all_blocks = source_blocks(sweep);
  DeviceBuffer<float> sums(std::size_t{*all_blocks.rbegin()} * threads);
  for (const unsigned blocks : all_blocks) {
    auto point = sweep.point(std::to_string(blocks), blocks);
    const auto run = [&] {
      launch(source_loop::nested_kernel, {.grid = dim3(blocks), .block = dim3(threads)},
             sums.data(), 0);
    };
    sums.poison();
    run();
    const std::uint64_t all_threads = std::uint64_t{blocks} * threads;
    point.verify("sum of every thread", compare_sums(sums, all_threads));
    const auto time = point.measure(run);
    point.value("FMA rate", static_cast<double>(all_threads) * source_loop::fmas / time.cycles(),
                "FMA/cycle");
    point.value("cycles", time.cycles(), "cycles");
  }
}

// More blocks than this share no CU of any GPU so far.
constexpr unsigned most_resident_blocks = 64;

void measure_residency(Sweep& sweep, unsigned threads, std::uint64_t hold) {
  sweep.axis({.name = "blocks"});
  sweep.headline("cycles");
  // Quarters of the driver's number of CUs are close enough to tell whole blocks per CU apart.
  const auto compute_units = static_cast<unsigned>(sweep.device().compute_units);
  constexpr unsigned points_per_block = 4;
  const unsigned most_points = sweep.is_hardware() ? most_resident_blocks * points_per_block : 4;
  const unsigned most_blocks = (most_resident_blocks + 1) * compute_units;
  DeviceBuffer<long long> held(most_blocks);
  sweep.note("the runtime's occupancy calculator says " +
             std::to_string(hipscope::resident_blocks(waiting_kernel, threads)) + " blocks per CU");
  const bool counts_cycles = sweep.device().cycle_counter_bits > 0;
  std::optional<double> shortest;
  unsigned doubled_in_a_row = 0;
  for (unsigned i = 1; i <= most_points && doubled_in_a_row < points_per_block; ++i) {
    const unsigned blocks =
        std::max(i, (i * compute_units + points_per_block - 1) / points_per_block);
    auto point = sweep.point(std::to_string(blocks), blocks);
    const auto run = [&] {
      launch(waiting_kernel, {.grid = dim3(blocks), .block = dim3(threads)}, held.data(),
             static_cast<long long>(hold));
    };
    held.poison();
    run();
    const std::vector<long long> cycles = held.to_host();
    const auto least = static_cast<long long>(counts_cycles ? hold : 0);
    point.check("every block held its place long enough", std::span(cycles).first(blocks),
                [&](std::uint64_t block) { return std::max(cycles[block], least); });
    const auto time = point.measure(run);
    point.value("cycles", time.cycles(), "cycles");
    const double seconds = time.seconds().median;
    shortest = shortest ? std::min(*shortest, seconds) : seconds;
    // One such time may be a disturbance, a block per CU more is none.
    constexpr double doubled = 1.7;
    const bool is_doubled = sweep.is_hardware() && seconds > doubled * *shortest;
    doubled_in_a_row = is_doubled ? doubled_in_a_row + 1 : 0;
  }
}

}  // namespace

int main(int argc, char** argv) {
  hipscope::Experiment experiment(
      "cu_staircase",
      {.question = "How many compute units does the GPU have, and how many blocks fit on one?",
       .sources = {"fsword73/HIP-Performance-Optmization-on-VEGA64, 2.2.5 (example 2e)"}});
  const auto fmas = experiment.size(
      "--fmas", "dependent FMAs per thread",
      {.gpu = 16384, .quick = 2048, .host = 64, .tiny = 61, .minimum = 1, .maximum = 1U << 20});
  const auto hold = experiment.size(
      "--hold", "cycles for which a waiting block holds its place",
      {.gpu = 65536, .quick = 8192, .host = 1000, .minimum = 1, .maximum = 1U << 30});
  for (const unsigned threads : cu_staircase::staircase_blocks) {
    experiment.sweep(cu_staircase::staircase_name(threads),
                     "busy blocks of " + std::to_string(threads) + " threads",
                     [=](Sweep& sweep) { measure_staircase(sweep, threads, fmas); });
  }
  for (const unsigned threads : cu_staircase::staircase_blocks) {
    experiment.sweep(
        "source-" + std::to_string(threads),
        "fsword73's busy blocks of " + std::to_string(threads) + " threads",
        [=](Sweep& sweep) { measure_source(sweep, threads); },
        hipscope::InTiny::left_out);  // fma_loop runs the kernel
  }
  for (const unsigned threads : cu_staircase::residency_blocks) {
    experiment.sweep(cu_staircase::residency_name(threads),
                     "waiting blocks of " + std::to_string(threads) + " threads",
                     [=](Sweep& sweep) { measure_residency(sweep, threads, hold); });
  }
  experiment.conclude([](hipscope::Results& results) {
    cu_staircase::conclude(results, [](unsigned threads) {
      return hipscope::resident_blocks(waiting_kernel, threads);
    });
  });
  return experiment.run(argc, argv);
}
