// What does it cost when the lanes of a wave take different paths?
//
// The lanes of a wave (NVIDIA: warp) share one instruction stream. Where they disagree at a branch
// the wave walks both paths, one after the other, with the lanes of the other path switched off.
// So one stray lane costs as much as if all lanes had gone both ways. Often the paths differ in
// their data only; choosing the operands instead of the code then removes the cost. fsword73's
// kernels come first (example 5a: thread 0 of a block takes another path), then ours, in which one
// lane of each wave does.
//
// The cost rises with the number of paths up to one per lane, and is nothing where a whole wave
// agrees: either curve alone shows how many lanes a wave has. Last (bodies.h), two ways to write a
// short if: compute it always and select (predication), which no lane can make slower, or branch
// over it, which pays only where a whole wave has nothing to do.
#include <hipscope/hipscope.h>

#include <array>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "2-compute/source_operands.h"
#include "bodies.h"
#include "chains.h"
#include "findings.h"
#include "reference.h"

using hipscope::DeviceBuffer;
using hipscope::launch;
using hipscope::Sweep;
using wave_divergence::check_ends;
using wave_divergence::ends_of;
using wave_divergence::fmas_per_iteration;
using wave_divergence::largest_block;
using wave_divergence::path_addend;
using wave_divergence::path_factor;
using wave_divergence::start_value;
using wave_divergence::start_values;
using wave_divergence::Taken;

namespace {

// --- fsword73's example 5a: thread 0 of the block on another path ------------------------------

constexpr unsigned block_5a = 256;

// He stores a sum under a condition that none fulfils; here each is stored and checked. He writes a
// multiplication and an addition, of which his compiler made one v_mad_f32, and fmaf makes one FMA.
__global__ void __launch_bounds__(block_5a) uniform_5a_kernel(float* sums, int first) {
  const auto [t0, t1] = source_loop::operands_of(first);
  float sum = 0;
  for (unsigned i = 0; i < source_loop::fmas; ++i) {
    sum = fmaf(t0, sum, t1);
  }
  sums[threadIdx.x] = sum;
}

__global__ void __launch_bounds__(block_5a) divergent_5a_kernel(float* sums, int first) {
  const auto [t0, t1] = source_loop::operands_of(first);
  float sum = 0;
  if (threadIdx.x == 0) {
    for (unsigned i = 0; i < source_loop::fmas; ++i) {
      sum = fmaf(t0, sum, t1);
    }
  } else {
    for (unsigned i = 0; i < source_loop::fmas; ++i) {
      sum = fmaf(t1, sum, t0);
    }
  }
  sums[threadIdx.x] = sum;
}

// His rewrite gives thread 0 one value for both operands, and leaves the others as they are. Here
// the others swap, so that all compute what the divergent kernel does.
__global__ void __launch_bounds__(block_5a) swapped_5a_kernel(float* sums, int first) {
  auto [t0, t1] = source_loop::operands_of(first);
  if (threadIdx.x != 0) {
    const float t = t0;
    t0 = t1;
    t1 = t;
  }
  float sum = 0;
  for (unsigned i = 0; i < source_loop::fmas; ++i) {
    sum = fmaf(t0, sum, t1);
  }
  sums[threadIdx.x] = sum;
}

// --- Lane 0 of each wave on another path --------------------------------------------------------

// The operands of x -> x * first + second. With these two x tells its number of steps in either
// order: in this one it jumps about a fixed point, which it nears in 2^20 steps, and swapped it
// drifts away from 0 for 2^21 steps. Were they more alike, a wrong swap would hardly show.
struct Operands {
  float first;
  float second;
};
constexpr Operands common_operands = {-(1.0F - 0x1p-20F), 1.0F - 0x1p-21F};

// Dependent FMAs, whose operands the compiler does not know, and has loaded before the loop.
__device__ float fma_chain(float x, float multiplier, float addend, unsigned iterations) {
  wave_divergence::hide(multiplier);
  wave_divergence::hide(addend);
#pragma unroll 1
  for (unsigned i = 0; i < iterations; ++i) {
#pragma unroll
    for (unsigned step = 0; step < fmas_per_iteration; ++step) {
      x = fmaf(x, multiplier, addend);
    }
  }
  return x;
}

// All three kernels load their operands per thread, though they are the same for all: so they are
// in vector registers and the three loops consist of the same instructions.
__global__ void __launch_bounds__(largest_block)
    uniform_kernel(float* output, const Operands* operands, unsigned iterations) {
  const auto [first, second] = operands[threadIdx.x];
  output[threadIdx.x] = fma_chain(start_value(threadIdx.x), first, second, iterations);
}

__global__ void __launch_bounds__(largest_block)
    divergent_kernel(float* output, const Operands* operands, unsigned iterations,
                     unsigned wave_size) {
  const auto [first, second] = operands[threadIdx.x];
  const float start = start_value(threadIdx.x);
  if (threadIdx.x % wave_size == 0) {
    output[threadIdx.x] = fma_chain(start, second, first, iterations);
  } else {
    output[threadIdx.x] = fma_chain(start, first, second, iterations);
  }
}

// The same values as of divergent_kernel: a lane chooses its operands, not its code.
__global__ void __launch_bounds__(largest_block)
    swapped_kernel(float* output, const Operands* operands, unsigned iterations,
                   unsigned wave_size) {
  const auto [first, second] = operands[threadIdx.x];
  const bool swap = threadIdx.x % wave_size == 0;
  const float multiplier = swap ? second : first;
  const float addend = swap ? first : second;
  output[threadIdx.x] = fma_chain(start_value(threadIdx.x), multiplier, addend, iterations);
}

// --- Many paths ---------------------------------------------------------------------------------

// The loop of one path. Its factor is a literal, so that no compiler makes one loop of two paths.
template <unsigned path>
__device__ void walk(unsigned own_path, float& x, unsigned iterations) {
  constexpr float factor = path_factor(path);
  if (own_path == path) {
#pragma unroll 1
    for (unsigned i = 0; i < iterations; ++i) {
#pragma unroll
      for (unsigned step = 0; step < fmas_per_iteration; ++step) {
        x = fmaf(x, -factor, path_addend);
      }
    }
  }
}

template <unsigned... path>
__device__ float walk_own(unsigned own_path, float x, unsigned iterations,
                          std::integer_sequence<unsigned, path...>) {
  (walk<path>(own_path, x, iterations), ...);
  return x;
}

__host__ __device__ unsigned path_of(unsigned thread, unsigned granularity, unsigned paths) {
  return thread / granularity % paths;
}

// Neighbouring threads, `granularity` at a time, take path 0, the next path 1 ... `paths` - 1, 0.
template <unsigned paths_in_code>
__global__ void __launch_bounds__(largest_block)
    paths_kernel(float* output, unsigned iterations, unsigned granularity, unsigned paths) {
  output[threadIdx.x] = walk_own(path_of(threadIdx.x, granularity, paths), start_value(threadIdx.x),
                                 iterations, std::make_integer_sequence<unsigned, paths_in_code>{});
}

// Twice the lanes of the largest wave, so that the curve shows where it ends.
constexpr unsigned most_paths = 128;
constexpr std::array path_counts = {1U, 2U, 4U, 8U, 16U, 24U, 32U, 48U, 64U, 96U, most_paths};

// --- Sweeps -------------------------------------------------------------------------------------

void add_rates(hipscope::Point& point, const hipscope::Measurement& time, unsigned threads,
               std::uint64_t fmas) {
  point.value("FMA rate", static_cast<double>(threads) * static_cast<double>(fmas) / time.cycles(),
              "FMA/cycle");
  point.value("cycles", time.cycles(), "cycles");
}

// One point of sweep example-5a; the series of its published figures is its label without the
// number.
void measure_5a(Sweep& sweep, double x, const std::string& series, void (*kernel)(float*, int)) {
  auto point = sweep.point("5a " + series, x, series, "1x256");
  DeviceBuffer<float> sums(block_5a);
  const auto run = [&](int first) {
    launch(kernel, {.grid = dim3(1), .block = dim3(block_5a)}, sums.data(), first);
  };
  const auto check = [&](const std::string& what, int first, unsigned checked) {
    sums.poison();
    run(first);
    check_ends(point, what, sums, checked, [&](unsigned thread) {
      const bool swaps = kernel != uniform_5a_kernel && thread != 0;
      return wave_divergence::sum_5a(first + thread, swaps, source_loop::fmas);
    });
  };
  check("sum of every thread", 0, block_5a);
  // Where nothing is swapped these sums still grow with the last FMA.
  constexpr unsigned few = 8;
  check("sums that tell the number of FMAs", source_loop::fmas, few);
  add_rates(point, point.measure([&] { run(0); }), block_5a, source_loop::fmas);
}

void measure_example_5a(Sweep& sweep) {
  sweep.axis({.name = "kernel"});
  sweep.headline("FMA rate");
  sweep.note(
      "fsword73's kernels, one block of 256; here each sum is stored, so that it can be "
      "checked");
  sweep.note(
      "5a operands swapped: his gives thread 0 one value for both operands; here all threads "
      "but 0 swap theirs, which computes what the divergent kernel does");
  measure_5a(sweep, 1, "uniform", uniform_5a_kernel);
  measure_5a(sweep, 2, "divergent", divergent_5a_kernel);
  measure_5a(sweep, 3, "operands swapped", swapped_5a_kernel);
}

// The kernels of "lane 0 on another path".
enum class Branch { uniform, divergent, swapped };

void run_branch(Branch branch, unsigned threads, const DeviceBuffer<float>& output,
                const DeviceBuffer<Operands>& operands, std::uint64_t iterations,
                unsigned wave_size) {
  const hipscope::LaunchShape shape = {.grid = dim3(1), .block = dim3(threads)};
  switch (branch) {
    case Branch::uniform:
      return launch(uniform_kernel, shape, output.data(), operands.data(), iterations);
    case Branch::divergent:
      return launch(divergent_kernel, shape, output.data(), operands.data(), iterations, wave_size);
    case Branch::swapped:
      return launch(swapped_kernel, shape, output.data(), operands.data(), iterations, wave_size);
  }
}

// The rewritten kernel must equal the divergent one bit for bit.
void verify_same(hipscope::Point& point, unsigned threads, const DeviceBuffer<float>& output,
                 const DeviceBuffer<Operands>& operands, std::uint64_t iterations,
                 unsigned wave_size) {
  const DeviceBuffer<float> divergent(threads);
  run_branch(Branch::divergent, threads, divergent, operands, iterations, wave_size);
  const std::vector<float> expected = divergent.to_host();
  check_ends(point, "the same bits as of the divergent kernel", output, threads,
             [&](unsigned thread) { return expected[thread]; });
}

void measure_lane(Sweep& sweep, Branch branch, std::uint64_t iterations) {
  sweep.axis({.name = "block", .unit = "threads", .scale = hipscope::Scale::logarithmic});
  sweep.headline("FMA rate");
  const auto wave_size = static_cast<unsigned>(sweep.device().wave_size);
  const std::uint64_t fmas = iterations * fmas_per_iteration;
  const auto ends = ends_of([&](float x) {
    return wave_divergence::chain_end(x, common_operands.first, common_operands.second, fmas);
  });
  const auto lane_0_ends = ends_of([&](float x) {
    return wave_divergence::chain_end(x, common_operands.second, common_operands.first, fmas);
  });
  const std::vector<Operands> same_for_all(largest_block, common_operands);
  const DeviceBuffer<Operands> operands{std::span<const Operands>(same_for_all)};
  DeviceBuffer<float> output(largest_block);
  for (unsigned threads = 64; threads <= largest_block; threads *= 2) {
    auto point = sweep.point("1x" + std::to_string(threads), threads);
    const auto run = [&] { run_branch(branch, threads, output, operands, iterations, wave_size); };
    output.poison();
    run();
    const auto expected = [&](unsigned thread) {
      const bool is_lane_0 = branch != Branch::uniform && thread % wave_size == 0;
      return (is_lane_0 ? lane_0_ends : ends)[thread % start_values];
    };
    check_ends(point, "end of every lane's FMA chain", output, threads, expected);
    if (branch == Branch::swapped) {
      verify_same(point, threads, output, operands, iterations, wave_size);
    }
    add_rates(point, point.measure(run), threads, iterations * fmas_per_iteration);
  }
}

// One point of the two sweeps below.
template <unsigned paths_in_code>
void measure_paths_at(hipscope::Point point, unsigned threads, unsigned granularity, unsigned paths,
                      std::uint64_t iterations, const std::vector<std::vector<float>>& ends) {
  DeviceBuffer<float> output(threads);
  const auto run = [&] {
    launch(paths_kernel<paths_in_code>, {.grid = dim3(1), .block = dim3(threads)}, output.data(),
           iterations, granularity, paths);
  };
  run();
  const auto expected = [&](unsigned thread) {
    return ends[path_of(thread, granularity, paths)][thread % start_values];
  };
  check_ends(point, "end of every lane's path", output, threads, expected);
  add_rates(point, point.measure(run), threads, iterations * fmas_per_iteration);
}

// Two paths, taken in turns by groups of neighbouring lanes.
void measure_granularity(Sweep& sweep, unsigned threads, std::uint64_t iterations) {
  sweep.axis({.name = "granularity", .unit = "lanes", .scale = hipscope::Scale::logarithmic});
  sweep.headline("cycles");
  const auto ends = wave_divergence::ends_of_paths(2, iterations);
  for (unsigned granularity = 1; granularity <= threads; granularity *= 2) {
    measure_paths_at<2>(sweep.point(std::to_string(granularity), granularity), threads, granularity,
                        2, iterations, ends);
  }
}

void measure_paths(Sweep& sweep, std::uint64_t iterations) {
  sweep.axis({.name = "paths", .scale = hipscope::Scale::logarithmic});
  sweep.headline("cycles");
  const auto ends = wave_divergence::ends_of_paths(most_paths, iterations);
  for (const unsigned paths : path_counts) {
    measure_paths_at<most_paths>(sweep.point(std::to_string(paths), paths), largest_block, 1, paths,
                                 iterations, ends);
  }
}

}  // namespace

int main(int argc, char** argv) {
  hipscope::Experiment experiment(
      "wave_divergence",
      {.question = "What does it cost when the lanes of a wave take different paths?",
       .sources = {"fsword73/HIP-Performance-Optmization-on-VEGA64, 2.5 (example 5a)"}});
  const auto iterations = experiment.size(
      "--iterations", "loop iterations of 16 dependent FMAs, in the sweeps of one lane",
      {.gpu = 62500, .quick = 6250, .host = 4, .minimum = 1, .maximum = 1U << 20});
  const auto path_iterations = experiment.size(
      "--path-iterations", "loop iterations of 16 dependent FMAs on each of many paths",
      {.gpu = 4096, .quick = 1024, .host = 2, .minimum = 1, .maximum = 1U << 16});
  const auto body_iterations =
      experiment.size("--body-iterations", "executions of a short body",
                      {.gpu = 4096, .quick = 1024, .host = 2, .minimum = 1, .maximum = 1U << 16});

  experiment.sweep("example-5a", "thread 0 of the block on another path, as fsword73 wrote it",
                   measure_example_5a);
  experiment.sweep("lane-uniform", "all lanes on one path",
                   [=](Sweep& sweep) { measure_lane(sweep, Branch::uniform, iterations); });
  experiment.sweep("lane-divergent", "lane 0 of each wave on another path",
                   [=](Sweep& sweep) { measure_lane(sweep, Branch::divergent, iterations); });
  experiment.sweep("lane-swapped", "lane 0 with other operands",
                   [=](Sweep& sweep) { measure_lane(sweep, Branch::swapped, iterations); });
  experiment.sweep(
      "granularity", "two paths, taken in turns by groups of lanes",
      [=](Sweep& sweep) { measure_granularity(sweep, largest_block, path_iterations); });
  experiment.sweep("granularity-alone", "the same with one wave per SIMD", [=](Sweep& sweep) {
    constexpr unsigned simds = 4;  // of a CU and of an SM; a CU of RDNA has 2
    measure_granularity(sweep, simds * static_cast<unsigned>(sweep.device().wave_size),
                        path_iterations);
  });
  experiment.sweep("paths", "by the number of paths, each lane on the next one",
                   [=](Sweep& sweep) { measure_paths(sweep, path_iterations); });
  const auto body_sweep = [&](const std::string& name, const std::string& title, Taken taken) {
    experiment.sweep(name, title, [=](Sweep& sweep) {
      wave_divergence::measure_bodies<1, 2, 4, 8, 16, 32, 64>(sweep, taken, body_iterations);
    });
  };
  body_sweep("body-none", "a short if whose body no lane runs", Taken::none);
  body_sweep("body-half", "a short if whose body every other lane runs", Taken::every_other);
  body_sweep("body-all", "a short if whose body all lanes run", Taken::all);
  experiment.conclude(wave_divergence::conclude);
  return experiment.run(argc, argv);
}
