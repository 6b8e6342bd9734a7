// What does a mathematical function cost, and how exact is it?
//
// sin(x) is one word in a source and anything from one to several hundred instructions on a GPU.
// For each function in FP32 and FP64, and for the fast intrinsics that both vendors have:
//   latency     cycles until the result is there, by the cycle counter of the compute unit (CU;
//               NVIDIA: SM): one wave (NVIDIA: warp), each argument made from the result before
//   throughput  results per cycle and CU, every CU full of waves
//   error       the largest error over a stated range, in ulp (units in the last place), against a
//               host reference in a wider type; it must stay within what the vendor documents
//   rewrites    the same result, written so that it costs less
//
// One kernel does all this. A lane's next argument is f(x) * zero + x0, where zero is a kernel
// argument: the step waits for f(x), and yet its x is x0 again. So every step evaluates f in the
// stated range, on the library's path for that range, and the sum of a lane's steps must be their
// number times f(x0). Sweep published has a kernel of its own, as fsword73 wrote it: f = sin(f) in
// one thread.
#include <hipscope/footprint.h>
#include <hipscope/hipscope.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "function_chain.h"
#include "function_rows.h"

using hipscope::CycleClock;
using hipscope::DeviceBuffer;
using hipscope::launch;
using hipscope::Sweep;
using math::Arguments;
using math::Chain;
using math::Grid;
using math::is_fp32;
using math::Row;

namespace {

// --- Kernels ----------------------------------------------------------------------------------

constexpr unsigned block_threads = 256;

// Far fewer than a narrow cycle counter can count, and enough that reading it costs little.
constexpr unsigned steps_per_lap = 16;

__device__ float multiply_add(float x, float y, float z) { return fmaf(x, y, z); }
__device__ double multiply_add(double x, double y, double z) { return fma(x, y, z); }

// Thread i sums up `steps` values of the function at its arguments, x[i % arguments] and
// y[i % arguments]; the first one also stores how many cycles its wave took. Per step there is one
// FMA (a second one where the function has a y), one addition off the chain, and a quarter of a
// loop's overhead.
template <typename Function, typename T>
__global__ void __launch_bounds__(block_threads)
    chain_kernel(const T* x_arguments, const T* y_arguments, unsigned arguments, T* sums,
                 long long* cycles, unsigned steps, T zero) {
  const unsigned number = blockIdx.x * blockDim.x + threadIdx.x;
  const T x0 = x_arguments[number % arguments];
  const T y0 = y_arguments[number % arguments];
  T x = x0;
  T y = y0;
  T sum = 0;
  CycleClock<> clock;
  clock.start();
#pragma unroll 4
  for (unsigned i = 0; i < steps; ++i) {
    const T result = Function::value(x, y);
    sum += result;
    x = multiply_add(result, zero, x0);
    y = multiply_add(result, zero, y0);
    if (i % steps_per_lap == 0) {
      clock.lap();
    }
  }
  clock.stop();
  sums[number] = sum;
  if (number == 0) {
    *cycles = clock.elapsed();
  }
}

// fsword73's own (example 11a): thread x begins with sin(x / 256). Only one thread runs, so all its
// arguments are 0. Corrected: the end is stored, which the source's condition, f > 0.999, never
// lets happen.
constexpr unsigned published_steps = 100;  // of the inner loop

__global__ void __launch_bounds__(1) sine_chain_kernel(double* ends, int outer_loops) {
  const auto x = static_cast<int>(blockDim.x * blockIdx.x + threadIdx.x);
  double f = sin(x / 256.0);
  for (int i = 0; i < outer_loops; ++i) {
    for (unsigned j = 0; j < published_steps; ++j) {
      f = sin(f);
    }
  }
  ends[x] = f;
}

// The kernels of the rows of function_rows.h.
struct Kernels {
  template <typename Function, typename T>
  static math::ChainKernel<T> chain() {
    return chain_kernel<Function, T>;
  }
};

// --- Verification -----------------------------------------------------------------------------

template <typename T>
void verify(hipscope::Point& point, Chain<T>& chain, std::uint64_t steps) {
  const std::vector<T> results = chain.results();
  point.verify(chain.row().label + ": errors within their bound",
               errors_of(chain.row(), chain.arguments(), results).results);
  const std::vector<T> sums = chain.sums_of(steps);
  point.verify(chain.row().label + ": sum of every lane's steps",
               math::compare_sums(results, sums, steps));
}

// --- Sweeps -----------------------------------------------------------------------------------

constexpr double not_known = std::numeric_limits<double>::quiet_NaN();

struct Latency {
  double counted = not_known;  // cycles between the two reads of the counter
  double step = not_known;     // cycles that each further step adds
};

// The wave's cycles for all steps and for half of them: their difference is free of the counter's
// cost, of the arguments' loads, and of instructions that come from memory the first time.
template <typename T>
Latency measure_latency(hipscope::Point& point, const Sweep& sweep, const Row<T>& row,
                        std::uint64_t steps) {
  const Grid wave{.blocks = 1, .threads = static_cast<unsigned>(sweep.device().wave_size)};
  const Arguments<T> arguments = arguments_of(row, wave.total(), sweep.seed());
  Chain<T> chain(row, arguments, wave);
  verify(point, chain, steps);
  const double counted = sweep.counted(chain.cycles(steps));
  const double counted_half = sweep.counted(chain.cycles(steps / 2));
  const std::uint64_t more_steps = steps - steps / 2;
  return {.counted = counted, .step = (counted - counted_half) / static_cast<double>(more_steps)};
}

// x only numbers the rows: those without a function come before first_function_x.
// Logarithmic, since the functions' values differ by orders of magnitude.
constexpr double counter_x = 0.25;
constexpr double empty_x = 0.5;
constexpr double first_function_x = 1;

void set_axis(Sweep& sweep, const std::string& headline) {
  sweep.axis({.name = "function", .scale = hipscope::Scale::logarithmic});
  sweep.headline(headline);
}

template <typename T>
void measure_latencies(Sweep& sweep, std::uint64_t steps) {
  set_axis(sweep, "latency");
  sweep.note(
      "counted: cycles of the whole chain; step: cycles that a further step adds; latency: "
      "the step less that of no function");
  const auto add = [&](const Row<T>& row, double x, std::uint64_t row_steps, double empty_step) {
    auto point = sweep.point(row.label, x);
    const Latency latency = measure_latency(point, sweep, row, row_steps);
    point.value("counted", latency.counted, "cycles");
    point.value("step", latency.step, "cycles");
    point.value("latency", latency.step - empty_step, "cycles");
    return latency.step;
  };
  const Row<T> empty = math::empty_row<T, Kernels>();
  Row<T> counter = empty;
  counter.label = "counter alone, no step";
  add(counter, counter_x, 0, not_known);
  const double empty_step = add(empty, empty_x, steps, not_known);
  double x = first_function_x;
  for (const Row<T>& row : math::function_rows<T, Kernels>()) {
    add(row, x++, steps, empty_step);
  }
}

// Four rounds of as many blocks as all CUs hold at once: each CU is full to the end.
template <typename T>
Grid full_grid(const Sweep& sweep, const Row<T>& row) {
  if (!sweep.is_hardware()) {
    return {.blocks = 1, .threads = block_threads};
  }
  const int resident = hipscope::resident_blocks(row.kernel, block_threads);
  constexpr int rounds = 4;
  return {.blocks = static_cast<unsigned>(rounds * resident * sweep.device().compute_units),
          .threads = block_threads};
}

// Enough different arguments that no two waves of a CU share theirs.
constexpr std::size_t most_throughput_arguments = 4096;

// Results per cycle and CU.
template <typename T>
double measure_rate(hipscope::Point& point, const Sweep& sweep, const Row<T>& row,
                    std::uint64_t steps, const std::string& name = "time") {
  const Grid grid = full_grid(sweep, row);
  const Arguments<T> arguments =
      arguments_of(row, std::min(grid.total(), most_throughput_arguments), sweep.seed());
  Chain<T> chain(row, arguments, grid);
  verify(point, chain, steps);
  const auto time = point.measure([&] { chain.run(steps); }, {.name = name});
  return static_cast<double>(grid.total() * steps) / time.cycles() / sweep.device().compute_units;
}

template <typename T>
void measure_throughputs(Sweep& sweep, std::uint64_t steps) {
  set_axis(sweep, "rate");
  sweep.note(
      "rate: as measured, with an FMA, an addition and a quarter of a loop's overhead per "
      "result; net rate: had they cost what they cost alone, which is too much where units work "
      "side by side: an upper bound");
  const auto add = [&](const Row<T>& row, double x, double empty_rate) {
    auto point = sweep.point(row.label, x);
    const double rate = measure_rate(point, sweep, row, steps);
    const double net_cycles = 1 / rate - 1 / empty_rate;
    point.value("rate", rate, "results/cycle/CU");
    point.value("net rate", net_cycles > 0 ? 1 / net_cycles : not_known, "results/cycle/CU");
    return rate;
  };
  const double empty_rate = add(math::empty_row<T, Kernels>(), empty_x, not_known);
  double x = first_function_x;
  for (const Row<T>& row : math::function_rows<T, Kernels>()) {
    add(row, x++, empty_rate);
  }
}

// At least one thread per argument; x, y and the result must fit into memory.
template <typename T>
Grid grid_of(const Sweep& sweep, std::uint64_t points) {
  const Grid grid{.blocks = static_cast<unsigned>((points + block_threads - 1) / block_threads),
                  .threads = block_threads};
  sweep.require_memory(3 * grid.total() * sizeof(T), "--points");
  return grid;
}

template <typename T>
void measure_errors(Sweep& sweep, std::uint64_t points) {
  if constexpr (!math::has_reference<T>) {
    sweep.note("not measured: this machine's long double has no more digits than double");
    return;
  }
  set_axis(sweep, "largest error");
  sweep.note(
      std::string("against the host's ") + (is_fp32<T> ? "double" : "long double") +
      ", counted from the exact result; bound: where most of it is used, the documented one, "
      "with half an ulp more where that is counted from the rounded result");
  const Grid grid = grid_of<T>(sweep, points);
  double x = first_function_x;
  for (const Row<T>& row : math::function_rows<T, Kernels>()) {
    auto point = sweep.point(row.label, x++);
    const Arguments<T> arguments = arguments_of(row, grid.total(), sweep.seed());
    const math::Errors errors = errors_of(row, arguments, Chain<T>(row, arguments, grid).results());
    point.verify("errors within their bound", errors.results);
    point.value("largest error", errors.largest, "ulp");
    point.value("at x", errors.at, "");
    point.value("bound", errors.limit, "ulp");
    point.value("of bound", 100 * errors.share, "%");
  }
}

// Both sides at the same arguments: each within its limit of the exact result, and how many differ.
template <typename T>
void compare_results(hipscope::Point& point, const Sweep& sweep, const math::Rewrite<T>& rewrite,
                     std::uint64_t points) {
  const Grid grid = grid_of<T>(sweep, points);
  Arguments<T> arguments = arguments_of(rewrite.before, grid.total(), sweep.seed());
  if (rewrite.boundary != nullptr) {
    math::move_to_boundary(arguments, rewrite.boundary);
  }
  const auto results_of = [&](const Row<T>& row) {
    std::vector<T> results = Chain<T>(row, arguments, grid).results();
    point.verify(row.label + ": at " + std::to_string(results.size()) + " arguments",
                 errors_of(row, arguments, results).results);
    return results;
  };
  const std::vector<T> before = results_of(rewrite.before);
  const std::vector<T> after = results_of(rewrite.after);
  std::size_t different = 0;
  for (std::size_t i = 0; i < before.size(); ++i) {
    different += before[i] == after[i] ? 0 : 1;
  }
  point.value("different",
              100 * static_cast<double>(different) / static_cast<double>(before.size()), "%");
}

template <typename T>
void measure_rewrites(Sweep& sweep, std::uint64_t steps, std::uint64_t points) {
  set_axis(sweep, "gain");
  sweep.note(
      "gain: rate as rewritten over rate as written; different: results that are not the "
      "same (of a comparison's arguments a third are at its boundary)");
  double x = first_function_x;
  for (const math::Rewrite<T>& rewrite : math::rewrites<T, Kernels>()) {
    auto point = sweep.point(rewrite.label, x++);
    const double step_before = measure_latency(point, sweep, rewrite.before, steps).step;
    const double step_after = measure_latency(point, sweep, rewrite.after, steps).step;
    const double rate_before = measure_rate(point, sweep, rewrite.before, steps, "time as written");
    const double rate_after = measure_rate(point, sweep, rewrite.after, steps, "time rewritten");
    point.value("step as written", step_before, "cycles");
    point.value("step rewritten", step_after, "cycles");
    point.value("rate as written", rate_before, "results/cycle/CU");
    point.value("rate rewritten", rate_after, "results/cycle/CU");
    point.value("gain", rate_after / rate_before, "times");
    compare_results(point, sweep, rewrite, points);
  }
}

// The published time is of all steps, by events; so is this.
void measure_published(Sweep& sweep, std::uint64_t loops) {
  sweep.axis({.name = "chain"});
  sweep.headline("latency");
  sweep.note("one thread, f = sin(f) from 0 in FP64, 100 steps to a loop; time by events");
  auto point = sweep.point("11a f = sin(f)", 1, "sin, fp64, dependent chain");
  constexpr unsigned most_threads = 64;
  DeviceBuffer<double> ends(most_threads);
  const auto run = [&](unsigned threads, std::uint64_t outer_loops) {
    launch(sine_chain_kernel, {.grid = dim3(threads), .block = dim3(1)}, ends.data(),
           static_cast<int>(outer_loops));
  };
  // From 0 every chain ends at 0, however long it is: others tell the steps.
  const auto verify = [&](unsigned threads, std::uint64_t outer_loops) {
    ends.poison();
    run(threads, outer_loops);
    std::vector<double> found = ends.to_host();
    found.resize(threads);
    point.verify("ends of " + std::to_string(threads) + " chains",
                 math::compare_sine_chains(found, 1 + outer_loops * published_steps,
                                           math::allowed_ulps(math::fp64_sine)));
  };
  verify(most_threads, std::min<std::uint64_t>(loops, 2));
  verify(1, loops);
  const auto time = point.measure([&] { run(1, loops); });
  point.value("latency", time.cycles() / (static_cast<double>(loops) * published_steps), "cycles");
}

template <typename T>
std::string named(const std::string& sweep) {
  return sweep + (is_fp32<T> ? "-fp32" : "-fp64");
}

// --- Main -------------------------------------------------------------------------------------

template <typename T>
void declare(hipscope::Experiment& experiment, const hipscope::Size& steps,
             const hipscope::Size& points) {
  const std::string precision = is_fp32<T> ? " in FP32" : " in FP64";
  experiment.sweep(named<T>("latency"), "latency of functions" + precision,
                   [=](Sweep& sweep) { measure_latencies<T>(sweep, steps); });
  experiment.sweep(named<T>("throughput"), "throughput of functions" + precision,
                   [=](Sweep& sweep) { measure_throughputs<T>(sweep, steps); });
  experiment.sweep(named<T>("error"), "largest error of functions" + precision,
                   [=](Sweep& sweep) { measure_errors<T>(sweep, points); });
  experiment.sweep(named<T>("rewrites"), "the same result for less" + precision,
                   [=](Sweep& sweep) { measure_rewrites<T>(sweep, steps, points); });
}

}  // namespace

int main(int argc, char** argv) {
  hipscope::Experiment experiment(
      "math_functions",
      {.question = "What does a mathematical function cost, and how exact is it?",
       .sources = {"fsword73/HIP-Performance-Optmization-on-VEGA64, 2.11 (example 11a)"}});
  // With more steps a missing one could hide in the rounding of an FP32 sum.
  const auto steps = experiment.size(
      "--steps", "evaluations per lane of a timed kernel (published: hundreds)",
      {.gpu = 1024, .quick = 128, .host = 6, .tiny = 4, .minimum = 2, .maximum = 2048});
  const auto points = experiment.size("--points", "arguments per function of the error sweeps",
                                      {.gpu = 1U << 20,
                                       .quick = 1U << 14,
                                       .host = 256,
                                       .tiny = 61,
                                       .minimum = 1,
                                       .maximum = 1U << 24});
  const auto loops =
      experiment.size("--published-loops", "loops of 100 steps in sweep published",
                      {.gpu = 10'000, .quick = 1000, .host = 4, .minimum = 1, .maximum = 1U << 20});
  declare<float>(experiment, steps, points);
  declare<double>(experiment, steps, points);
  experiment.sweep("published", "a sine's latency as the published program has it",
                   [=](Sweep& sweep) { measure_published(sweep, loops); });
  return experiment.run(argc, argv);
}
