// What does it cost when the lanes of a wave take different paths?
//
// The lanes of a wave (NVIDIA: warp) share one instruction stream. Where they disagree at a branch
// the wave walks both paths, one after the other, with the lanes of the other path switched off.
// So one lane that goes elsewhere costs as much as if all had gone both ways. Often the paths
// differ in their data only, and to choose the operands instead of the code removes the cost.
// fsword73's kernels come first (example 5a: thread 0 of a block is on another path), then ours, in
// which one lane of each wave is.
//
// Paths add up as far as one wave can hold them, and lanes that agree with all of their wave cost
// nothing: either curve alone shows how many lanes a wave has. Last, the other way to write a short
// if: compute it always and select (predication), which no lane can make slower, or branch over it,
// which pays only where a whole wave has nothing to do.
#include <hipscope/hipscope.h>

#include <array>
#include <bit>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "wave_divergence_findings.h"
#include "wave_divergence_reference.h"

using hipscope::DeviceBuffer;
using hipscope::launch;
using hipscope::Sweep;

namespace {

constexpr unsigned largest_block = 1024;

// A loop's counter and branch take a small part of its time beside this many FMAs, and the loops of
// several waves on different paths still fit into the instruction cache nearest to a SIMD.
constexpr unsigned fmas_per_iteration = 16;

// Threads start from so many different values. A prime, so that threads of one path differ; all
// under 1/2, about which the chains below jump and from which they would never move.
constexpr unsigned start_values = 7;

__host__ __device__ float start_value(unsigned thread) {
  return (1.0F + static_cast<float>(thread % start_values)) / 16;
}

// Hides from the compiler what x is.
__device__ void hide([[maybe_unused]] float& x) {
#if defined(__CUDA_ARCH__)
  asm volatile("" : "+f"(x));
#elif defined(__HIP_DEVICE_COMPILE__)
  asm volatile("" : "+v"(x));
#endif
}

// --- fsword73's example 5a: thread 0 of the block on another path ------------------------------

constexpr unsigned block_5a = 256;
// His count, known to the compiler, which cuts the loops as it likes.
#if defined(HIPSCOPE_BACKEND_HOST)
constexpr unsigned fmas_5a = 1000;  // scaled down
#else
constexpr unsigned fmas_5a = 1'000'000;
#endif

// Both operands follow from the thread's place in the grid: no compiler can know them. His threads
// are counted from 0; counted from `first` on, large factors show how long a chain was.
__device__ float factor_5a(int first) {
  const int x = first + static_cast<int>(blockDim.x * blockIdx.x + threadIdx.x);
  return static_cast<float>(x) / static_cast<float>(x + 1);
}
__device__ float addend_5a() {
  const int y = static_cast<int>(blockDim.y * blockIdx.y + threadIdx.y);
  return static_cast<float>(y + 1) / static_cast<float>(y + 100'000'000);
}

// He stores a sum under a condition that none fulfils; here each is stored and checked.
__global__ void __launch_bounds__(block_5a) uniform_5a_kernel(float* sums, int first) {
  const float t0 = factor_5a(first);
  const float t1 = addend_5a();
  float sum = 0;
  for (unsigned i = 0; i < fmas_5a; ++i) {
    sum = fmaf(t0, sum, t1);
  }
  sums[threadIdx.x] = sum;
}

__global__ void __launch_bounds__(block_5a) divergent_5a_kernel(float* sums, int first) {
  const float t0 = factor_5a(first);
  const float t1 = addend_5a();
  float sum = 0;
  if (threadIdx.x == 0) {
    for (unsigned i = 0; i < fmas_5a; ++i) {
      sum = fmaf(t0, sum, t1);
    }
  } else {
    for (unsigned i = 0; i < fmas_5a; ++i) {
      sum = fmaf(t1, sum, t0);
    }
  }
  sums[threadIdx.x] = sum;
}

// His rewrite gives thread 0 one value for both operands, and leaves the others as they are. Here
// the others swap, so that all compute what the divergent kernel does.
__global__ void __launch_bounds__(block_5a) swapped_5a_kernel(float* sums, int first) {
  float t0 = factor_5a(first);
  float t1 = addend_5a();
  if (threadIdx.x != 0) {
    const float t = t0;
    t0 = t1;
    t1 = t;
  }
  float sum = 0;
  for (unsigned i = 0; i < fmas_5a; ++i) {
    sum = fmaf(t0, sum, t1);
  }
  sums[threadIdx.x] = sum;
}

// --- Lane 0 of each wave on another path --------------------------------------------------------

// The operands of x -> x * first + second. With these two x keeps a memory of its number of steps
// in either order: in this one it jumps about a fixed point, which it nears in 2^20 steps, and
// swapped it drifts away from 0, 2^21 steps long. Were they more alike, a wrong swap would hardly
// show.
struct Operands {
  float first;
  float second;
};
constexpr Operands common_operands = {-(1.0F - 0x1p-20F), 1.0F - 0x1p-21F};

// Dependent FMAs, whose operands the compiler does not know, and has loaded before the loop.
__device__ float fma_chain(float x, float multiplier, float addend, unsigned iterations) {
  hide(multiplier);
  hide(addend);
#pragma unroll 1
  for (unsigned i = 0; i < iterations; ++i) {
#pragma unroll
    for (unsigned step = 0; step < fmas_per_iteration; ++step) {
      x = fmaf(x, multiplier, addend);
    }
  }
  return x;
}

// All three kernels load their operands per thread, though they are the same for all: so they lie
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

// x -> addend - factor * x on each path, with a factor of its own, and so near to 1 that x keeps a
// memory of its start for 2^16 steps at least: a result tells its path, length and start.
constexpr float path_addend = 1.0F;
__host__ __device__ constexpr float path_factor(unsigned path) {
  return 1.0F - static_cast<float>(path + 1) * 0x1p-22F;
}

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

// Twice the lanes of the largest wave there is, so that the curve shows where it ends.
constexpr unsigned most_paths = 128;
constexpr std::array path_counts = {1U, 2U, 4U, 8U, 16U, 24U, 32U, 48U, 64U, 96U, most_paths};

// --- Short bodies -------------------------------------------------------------------------------

// How a short if is written.
enum class Form {
  plain,   // as an if: the compiler chooses
  select,  // its body is computed always, then one of two values is selected
  branch,  // as an if whose body no compiler can compute without the branch
};

// Keeps the compiler from predicating the body of an if. AMD's takes a volatile asm for something
// that must not happen without its condition. NVIDIA's assembler does not see an empty one, and
// predicates up to seven instructions; but it leaves the branch before a profiler trigger, which
// costs one instruction.
__device__ void keep_branch(float& x) {
  hide(x);
#if defined(__CUDA_ARCH__)
  __prof_trigger(0);
#endif
}

constexpr float common_factor = path_factor(0);
constexpr float body_factor = path_factor(1);

template <unsigned fmas>
__device__ float short_body(float x) {
#pragma unroll
  for (unsigned step = 0; step < fmas; ++step) {
    x = fmaf(x, -body_factor, path_addend);
  }
  return x;
}

// Each iteration is one FMA for all lanes and `fmas` more for those whose x is under their limit.
template <Form form, unsigned fmas>
__global__ void __launch_bounds__(largest_block)
    short_body_kernel(float* output, const float* limits, unsigned iterations) {
  const float limit = limits[threadIdx.x];
  float x = start_value(threadIdx.x);
#pragma unroll 1
  for (unsigned i = 0; i < iterations; ++i) {
    x = fmaf(x, -common_factor, path_addend);
    if constexpr (form == Form::select) {
      float result = short_body<fmas>(x);
      hide(result);
      x = x < limit ? result : x;
    } else if (x < limit) {
      if constexpr (form == Form::branch) {
        keep_branch(x);
      }
      x = short_body<fmas>(x);
    }
  }
  output[threadIdx.x] = x;
}

// Which lanes run the body.
enum class Taken { none, every_other, all };

// All values lie between 0 and 1.
float limit_of(unsigned thread, Taken taken) {
  const bool is_taken = taken == Taken::all || (taken == Taken::every_other && thread % 2 == 0);
  return is_taken ? 2.0F : -1.0F;
}

// --- Reference ----------------------------------------------------------------------------------

// The end of `chain` for each start value.
template <typename Chain>
std::vector<float> ends_of(Chain chain) {
  std::vector<float> ends(start_values);
  for (unsigned i = 0; i < start_values; ++i) {
    ends[i] = chain(start_value(i));
  }
  return ends;
}

// How many of the first `threads` results differ in any bit from `expected(thread)`.
template <typename Expected>
std::uint64_t count_wrong(const DeviceBuffer<float>& output, unsigned threads, Expected expected) {
  const std::vector<float> results = output.to_host();
  std::uint64_t wrong = 0;
  for (unsigned thread = 0; thread < threads; ++thread) {
    const auto bits = std::bit_cast<std::uint32_t>(results[thread]);
    wrong += bits == std::bit_cast<std::uint32_t>(float{expected(thread)}) ? 0 : 1;
  }
  return wrong;
}

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
  const auto wrong = [&](int first, unsigned checked) {
    sums.poison();
    run(first);
    return count_wrong(sums, checked, [&](unsigned thread) {
      const bool swaps = kernel != uniform_5a_kernel && thread != 0;
      return wave_divergence::sum_5a(first + thread, swaps, fmas_5a);
    });
  };
  point.verify("sum of every thread", wrong(0, block_5a), block_5a);
  // Where nothing is swapped these sums still grow with the last FMA.
  constexpr unsigned few = 8;
  point.verify("sums that tell the number of FMAs", wrong(fmas_5a, few), few);
  add_rates(point, point.measure([&] { run(0); }), block_5a, fmas_5a);
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
enum class Variant { uniform, divergent, swapped };

void run_variant(Variant variant, unsigned threads, const DeviceBuffer<float>& output,
                 const DeviceBuffer<Operands>& operands, std::uint64_t iterations,
                 unsigned wave_size) {
  const hipscope::LaunchShape shape = {.grid = dim3(1), .block = dim3(threads)};
  switch (variant) {
    case Variant::uniform:
      return launch(uniform_kernel, shape, output.data(), operands.data(), iterations);
    case Variant::divergent:
      return launch(divergent_kernel, shape, output.data(), operands.data(), iterations, wave_size);
    case Variant::swapped:
      return launch(swapped_kernel, shape, output.data(), operands.data(), iterations, wave_size);
  }
}

// The rewritten kernel must not only be right, but the same as the divergent one.
void verify_same(hipscope::Point& point, unsigned threads, const DeviceBuffer<float>& output,
                 const DeviceBuffer<Operands>& operands, std::uint64_t iterations,
                 unsigned wave_size) {
  const DeviceBuffer<float> divergent(threads);
  run_variant(Variant::divergent, threads, divergent, operands, iterations, wave_size);
  const std::vector<float> expected = divergent.to_host();
  point.verify("the same bits as of the divergent kernel",
               count_wrong(output, threads, [&](unsigned thread) { return expected[thread]; }),
               threads);
}

void measure_lane(Sweep& sweep, Variant variant, std::uint64_t iterations) {
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
    const auto run = [&] {
      run_variant(variant, threads, output, operands, iterations, wave_size);
    };
    output.poison();
    run();
    const auto expected = [&](unsigned thread) {
      const bool is_lane_0 = variant != Variant::uniform && thread % wave_size == 0;
      return (is_lane_0 ? lane_0_ends : ends)[thread % start_values];
    };
    point.verify("end of every lane's FMA chain", count_wrong(output, threads, expected), threads);
    if (variant == Variant::swapped) {
      verify_same(point, threads, output, operands, iterations, wave_size);
    }
    add_rates(point, point.measure(run), threads, iterations * fmas_per_iteration);
  }
}

// The end of each path for each start value.
std::vector<std::vector<float>> ends_of_paths(unsigned paths, std::uint64_t iterations) {
  std::vector<std::vector<float>> ends;
  for (unsigned path = 0; path < paths; ++path) {
    ends.push_back(ends_of([&](float x) {
      return wave_divergence::chain_end(x, -path_factor(path), path_addend,
                                        iterations * fmas_per_iteration);
    }));
  }
  return ends;
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
  point.verify("end of every lane's path", count_wrong(output, threads, expected), threads);
  add_rates(point, point.measure(run), threads, iterations * fmas_per_iteration);
}

// Two paths, taken in turns by so many neighbouring lanes.
void measure_granularity(Sweep& sweep, unsigned threads, std::uint64_t iterations) {
  sweep.axis({.name = "granularity", .unit = "lanes", .scale = hipscope::Scale::logarithmic});
  sweep.headline("cycles");
  const auto ends = ends_of_paths(2, iterations);
  for (unsigned granularity = 1; granularity <= threads; granularity *= 2) {
    measure_paths_at<2>(sweep.point(std::to_string(granularity), granularity), threads, granularity,
                        2, iterations, ends);
  }
}

void measure_paths(Sweep& sweep, std::uint64_t iterations) {
  sweep.axis({.name = "paths", .scale = hipscope::Scale::logarithmic});
  sweep.headline("cycles");
  const auto ends = ends_of_paths(most_paths, iterations);
  for (const unsigned paths : path_counts) {
    measure_paths_at<most_paths>(sweep.point(std::to_string(paths), paths), largest_block, 1, paths,
                                 iterations, ends);
  }
}

template <Form form, unsigned fmas>
void measure_form(hipscope::Point& point, const std::string& name, Taken taken,
                  std::uint64_t iterations) {
  std::vector<float> limits(largest_block);
  for (unsigned thread = 0; thread < largest_block; ++thread) {
    limits[thread] = limit_of(thread, taken);
  }
  const DeviceBuffer<float> device_limits{std::span<const float>(limits)};
  const DeviceBuffer<float> output(largest_block);
  const auto run = [&] {
    launch(short_body_kernel<form, fmas>, {.grid = dim3(1), .block = dim3(largest_block)},
           output.data(), device_limits.data(), iterations);
  };
  run();
  const auto ends_with = [&](unsigned body_fmas) {
    return ends_of([&](float x) {
      for (std::uint64_t i = 0; i < iterations; ++i) {
        x = wave_divergence::chain_end(std::fma(x, -common_factor, path_addend), -body_factor,
                                       path_addend, body_fmas);
      }
      return x;
    });
  };
  const auto taken_ends = ends_with(fmas);
  const auto other_ends = ends_with(0);
  const auto expected = [&](unsigned thread) {
    return (limits[thread] > 0 ? taken_ends : other_ends)[thread % start_values];
  };
  point.verify("end of every lane's chain, " + name, count_wrong(output, largest_block, expected),
               largest_block);
  const auto time = point.measure(run, {.name = name});
  point.value(name + " cycles", time.cycles() / static_cast<double>(iterations), "cycles");
}

template <unsigned... fmas>
void measure_bodies(Sweep& sweep, Taken taken, std::uint64_t iterations) {
  sweep.axis({.name = "body", .unit = "FMAs", .scale = hipscope::Scale::logarithmic});
  sweep.headline("branch cycles");
  sweep.note("cycles are of one iteration of all 1024 threads");
  sweep.note("branch: on NVIDIA one instruction longer, by a profiler trigger that keeps it");
  const auto measure_body = [&]<unsigned count>(std::integral_constant<unsigned, count>) {
    auto point = sweep.point(std::to_string(count), count);
    measure_form<Form::plain, count>(point, "plain", taken, iterations);
    measure_form<Form::select, count>(point, "select", taken, iterations);
    measure_form<Form::branch, count>(point, "branch", taken, iterations);
  };
  (measure_body(std::integral_constant<unsigned, fmas>{}), ...);
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
                   [=](Sweep& sweep) { measure_lane(sweep, Variant::uniform, iterations); });
  experiment.sweep("lane-divergent", "lane 0 of each wave on another path",
                   [=](Sweep& sweep) { measure_lane(sweep, Variant::divergent, iterations); });
  experiment.sweep("lane-swapped", "lane 0 with other operands",
                   [=](Sweep& sweep) { measure_lane(sweep, Variant::swapped, iterations); });
  experiment.sweep("granularity", "two paths, taken in turns by so many lanes", [=](Sweep& sweep) {
    measure_granularity(sweep, largest_block, path_iterations);
  });
  experiment.sweep("granularity-alone", "the same with one wave per SIMD", [=](Sweep& sweep) {
    constexpr unsigned simds = 4;  // of a CU and of an SM; a CU of RDNA has 2
    measure_granularity(sweep, simds * static_cast<unsigned>(sweep.device().wave_size),
                        path_iterations);
  });
  experiment.sweep("paths", "so many paths, each lane on the next one",
                   [=](Sweep& sweep) { measure_paths(sweep, path_iterations); });
  const auto body_sweep = [&](const std::string& name, const std::string& title, Taken taken) {
    experiment.sweep(name, title, [=](Sweep& sweep) {
      measure_bodies<1, 2, 4, 8, 16, 32, 64>(sweep, taken, body_iterations);
    });
  };
  body_sweep("body-none", "a short if whose body no lane runs", Taken::none);
  body_sweep("body-half", "a short if whose body every other lane runs", Taken::every_other);
  body_sweep("body-all", "a short if whose body all lanes run", Taken::all);
  experiment.conclude(wave_divergence::conclude);
  return experiment.run(argc, argv);
}
