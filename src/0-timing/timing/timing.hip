// How is a kernel timed, and how exactly?
//
// first_benchmark.hip does what is needed; this measures how far to trust it, and how far to trust
// the times of all other experiments:
//   clocks   each clock: its step, and what a reading costs
//   known    a kernel that takes a known time, timed in four ways: what each adds
//   gate     one launch or many between two events: all enqueued before the device begins
//            ("gated": the host opens the gate), and without
//   first    the first launches of a kernel: the very first waits for its code
//   samples  how far the median of N samples is from that of N others
//   drift    the shader clock from idle to full load
#include <hipscope/cycle_counter.h>
#include <hipscope/hipscope.h>
#include <hipscope/timer.h>

#include <algorithm>
#include <chrono>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "clock_readings.h"
#include "event_pair.h"
#include "findings.h"
#include "load_reference.h"

using hipscope::check;
using hipscope::DeviceBuffer;
using hipscope::launch;
using hipscope::Sweep;
using timing::EventPair;
using HostClock = std::chrono::steady_clock;

namespace {

constexpr unsigned block_threads = 256;
constexpr double microseconds = 1e6;
constexpr double nanoseconds = 1e9;

// --- Kernels ----------------------------------------------------------------------------------

// One thread reads the shader's cycle counter again and again. Neighbouring readings are close
// enough for every counter's width.
__global__ void __launch_bounds__(1) read_cycles_kernel(long long* differences, unsigned count) {
  long long last = hipscope::cycle_count();
  for (unsigned i = 0; i < count; ++i) {
    const long long now = hipscope::cycle_count();
    differences[i] = hipscope::cycles_between(last, now);
    last = now;
  }
}

// The same with the timer, whose rate never changes.
__global__ void __launch_bounds__(1) read_timer_kernel(long long* differences, unsigned count) {
  long long last = hipscope::timer_ticks();
  for (unsigned i = 0; i < count; ++i) {
    const long long now = hipscope::timer_ticks();
    differences[i] = now - last;
    last = now;
  }
}

__global__ void __launch_bounds__(1) now_kernel(long long* ticks) {
  *ticks = hipscope::timer_ticks();
}

// Takes `ticks` of the timer and stores how many it was. It ends even if the timer stands still.
__global__ void __launch_bounds__(1)
    wait_kernel(long long* waited, long long ticks, unsigned most_readings) {
  const long long start = hipscope::timer_ticks();
  long long elapsed = 0;
  for (unsigned i = 0; i < most_readings && elapsed < ticks; ++i) {
    elapsed = hipscope::timer_ticks() - start;
  }
  *waited = elapsed;
}

__global__ void __launch_bounds__(block_threads) count_kernel(unsigned* counter) {
  if (threadIdx.x == 0) {
    atomicAdd(counter, 1U);
  }
}

// Each number makes a new kernel, which was never launched before.
template <unsigned Number>
__global__ void __launch_bounds__(block_threads) fresh_kernel(unsigned* output) {
  output[threadIdx.x] = threadIdx.x * Number + 1;
}

__global__ void __launch_bounds__(block_threads)
    scale_kernel(const float* input, float* output, unsigned count) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) {
    output[i] = 2 * input[i];
  }
}

// Keeps every CU busy; the first thread stores how many cycles and ticks its own part took.
__global__ void __launch_bounds__(block_threads)
    load_kernel(float* output, long long* cycles_and_ticks, unsigned laps) {
  const unsigned number = blockIdx.x * blockDim.x + threadIdx.x;
  float x = static_cast<float>(threadIdx.x);
  const long long start = hipscope::timer_ticks();
  hipscope::CycleClock<> clock;
  clock.start();
  for (unsigned lap = 0; lap < laps; ++lap) {
#pragma unroll 16
    for (unsigned i = 0; i < timing::fmas_per_lap; ++i) {
      x = fmaf(x, timing::factor, timing::addend);
    }
    clock.lap();
  }
  clock.stop();
  const long long ticks = hipscope::timer_ticks() - start;
  output[number] = x;
  if (number == 0) {
    cycles_and_ticks[0] = clock.elapsed();
    cycles_and_ticks[1] = ticks;
  }
}

// --- Clocks -----------------------------------------------------------------------------------

void wait() { check(hipDeviceSynchronize()); }

double seconds_since(HostClock::time_point start) {
  return std::chrono::duration<double>(HostClock::now() - start).count();
}

// The timer's rate in ticks per second.
double timer_hz() {
  const DeviceBuffer<long long> ticks(1);
  return hipscope::measured_timer_hz([&] {
    launch(now_kernel, {.grid = dim3(1), .block = dim3(1)}, ticks.data());
    return ticks.to_host()[0];
  });
}

void measure_clocks(Sweep& sweep) {
  sweep.axis({.name = "clock"});
  sweep.headline("smallest step");
  sweep.note(
      "smallest step: between any two different readings or times; between readings: from one to "
      "the next, on average (of events: what two with nothing between them are apart)");
  const double tick = 1 / timer_hz();
  const double cycle_hz =
      sweep.is_hardware() ? sweep.device().maximum_shader_mhz * 1e6 : nanoseconds;
  sweep.note("the timer ticks " + hipscope::number(1e-6 / tick, 5) +
             " million times per second by the host's clock, rounded to a whole number; cycles are "
             "taken at the driver's "
             "highest clock, " +
             hipscope::number(cycle_hz * 1e-6, 5) + " MHz");
  timing::add_clock(sweep, "host clock", 1, timing::host_differences(), 1);
  timing::add_clock(sweep, "events", 2, timing::event_distances(), 1);
  timing::add_clock(sweep, "device's timer", 3, timing::device_differences(read_timer_kernel),
                    tick);
  timing::add_clock(sweep, "cycle counter", 4, timing::device_differences(read_cycles_kernel),
                    1 / cycle_hz);
}

// --- A known time, in four ways ---------------------------------------------------------------

void measure_known(Sweep& sweep) {
  sweep.axis({.name = "time", .unit = "us", .scale = hipscope::Scale::logarithmic});
  sweep.headline("added, gated events");
  sweep.note(
      "one thread waits for so long by the device's own timer; added: what each way of "
      "timing tells beyond that");
  const double hz = timer_hz();
  DeviceBuffer<long long> waited(1);
  for (const double known :
       {1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1000.0, 5000.0}) {
    auto point = sweep.point(hipscope::number(known), known);
    const auto ticks = static_cast<long long>(known * 1e-6 * hz);
    constexpr unsigned most_readings = 1U << 24;
    const auto run = [&] {
      launch(wait_kernel, {.grid = dim3(1), .block = dim3(1)}, waited.data(), ticks, most_readings);
    };
    run();
    const long long told = waited.to_host()[0];
    const double inside = static_cast<double>(told) / hz;
    point.check_value("as long as it should be", told, std::max(told, ticks));
    const auto gated = point.measure(run, {.name = "gated", .batch = 1});
    const auto plain = point.measure(run, {.name = "ungated", .batch = 1, .synchronous = true});
    const auto host = point.measure_on_host("host", [&] {
      run();
      wait();
    });
    const auto added = [&](const std::string& name, double seconds) {
      point.value("added, " + name, seconds * microseconds - known, "us");
    };
    added("timer in the kernel", inside);
    added("gated events", gated.seconds().median);
    added("events", plain.seconds().median);
    added("host clock", host.seconds().median);
  }
}

// --- The gate ---------------------------------------------------------------------------------

constexpr unsigned most_launches = 64;

void measure_gate(Sweep& sweep) {
  sweep.axis({.name = "launches", .scale = hipscope::Scale::logarithmic});
  sweep.headline("per launch, gated");
  DeviceBuffer<unsigned> counter(1);
  for (unsigned launches = 1; launches <= most_launches; launches *= 2) {
    auto point = sweep.point(std::to_string(launches), launches);
    const auto run = [&] {
      for (unsigned i = 0; i < launches; ++i) {
        launch(count_kernel, {.grid = dim3(1), .block = dim3(block_threads)}, counter.data());
      }
    };
    counter.clear();
    run();
    const unsigned counted = counter.to_host()[0];
    point.check_value("launches that ran", counted, launches);
    const auto gated = point.measure(run, {.name = "gated", .batch = 1});
    const auto plain = point.measure(run, {.name = "ungated", .batch = 1, .synchronous = true});
    point.value("per launch, gated", gated.seconds().median * microseconds / launches, "us");
    point.value("per launch, no gate", plain.seconds().median * microseconds / launches, "us");
  }
}

// --- The first launches -----------------------------------------------------------------------

constexpr unsigned fresh_kernels = 8;
constexpr unsigned fresh_launches = 6;

// Launches a new kernel several times; returns each launch's time to completion by the host's
// clock, in microseconds, and compares the values.
template <unsigned Number>
std::vector<double> launch_fresh(const DeviceBuffer<unsigned>& output,
                                 hipscope::Comparison& values) {
  std::vector<double> times;
  for (unsigned i = 0; i < fresh_launches; ++i) {
    wait();
    const auto start = HostClock::now();
    launch(fresh_kernel<Number>, {.grid = dim3(1), .block = dim3(block_threads)}, output.data());
    wait();
    times.push_back(seconds_since(start) * microseconds);
  }
  unsigned expected = 1;
  for (const unsigned value : output.to_host()) {
    values.compare(values.checked(), expected, value);
    expected += Number;
  }
  return times;
}

template <unsigned... Numbers>
std::vector<std::vector<double>> launch_all_fresh(std::integer_sequence<unsigned, Numbers...>,
                                                  hipscope::Comparison& values) {
  const DeviceBuffer<unsigned> output(block_threads);
  return {launch_fresh<Numbers + 1>(output, values)...};
}

void measure_first(Sweep& sweep) {
  sweep.axis({.name = "launch"});
  sweep.headline("completion");
  sweep.note("launch to completion by the host's clock: the median of " +
             std::to_string(fresh_kernels) + " kernels, each launched " +
             std::to_string(fresh_launches) + " times in a row; the slowest beside it");
  hipscope::Comparison values;
  const auto times =
      launch_all_fresh(std::make_integer_sequence<unsigned, fresh_kernels>{}, values);
  for (unsigned i = 0; i < fresh_launches; ++i) {
    auto point = sweep.point(std::to_string(i + 1), i + 1);
    point.verify("values of all kernels", values);
    std::vector<double> of_all;
    for (const std::vector<double>& of_one : times) {
      of_all.push_back(of_one[i]);
    }
    const hipscope::Summary summary = hipscope::summarize(of_all);
    point.value("completion", summary.median, "us");
    point.value("slowest", summary.maximum, "us");
  }
}

// --- How many samples -------------------------------------------------------------------------

void measure_samples(Sweep& sweep, std::uint64_t samples, std::uint64_t values) {
  sweep.axis({.name = "samples", .scale = hipscope::Scale::logarithmic});
  sweep.headline("spread of medians");
  sweep.note("of " + std::to_string(samples) +
             " times of one kernel by events, cut into groups of N: interquartile range over "
             "median of the groups' medians, means and minima");
  sweep.require_memory(2 * values * sizeof(float), "--values");
  const auto count = static_cast<unsigned>(values);
  std::mt19937 random(static_cast<unsigned>(sweep.seed()));
  std::vector<float> input(count);
  std::generate(input.begin(), input.end(), [&] { return static_cast<float>(random()); });
  const DeviceBuffer<float> device_input{std::span<const float>(input)};
  const DeviceBuffer<float> output(count);
  const EventPair events;
  std::vector<double> times(samples);
  for (double& time : times) {
    time = events.time([&] {
      launch(
          scale_kernel,
          {.grid = dim3((count + block_threads - 1) / block_threads), .block = dim3(block_threads)},
          device_input.data(), output.data(), count);
    });
  }
  const std::vector<float> scaled = output.to_host();
  for (std::size_t size = 1; size * timing::fewest_groups <= times.size(); size *= 2) {
    auto point = sweep.point(std::to_string(size), static_cast<double>(size));
    point.check("every value", scaled, [&](std::uint64_t i) { return 2 * input[i]; });
    const timing::GroupSpreads spreads = timing::spreads_of_groups(times, size);
    point.value("spread of medians", 100 * spreads.medians, "%");
    point.value("spread of means", 100 * spreads.means, "%");
    point.value("spread of minima", 100 * spreads.minima, "%");
  }
}

// --- From idle to full load -------------------------------------------------------------------

void measure_drift(Sweep& sweep, std::uint64_t idle_ms, std::uint64_t load_ms) {
  sweep.axis({.name = "under load", .unit = "ms", .scale = hipscope::Scale::logarithmic});
  sweep.headline("shader clock");
  sweep.note("after " + std::to_string(idle_ms) +
             " ms without work, launches of FMAs on all CUs, one after the other; each row is the "
             "median of the launches that began within its octave");
  constexpr unsigned blocks_per_cu = 8;
  constexpr unsigned laps_on_gpu = 1024;  // about a millisecond
  const unsigned laps = sweep.is_hardware() ? laps_on_gpu : 1;
  const unsigned blocks =
      sweep.is_hardware() ? blocks_per_cu * static_cast<unsigned>(sweep.device().compute_units) : 1;
  const DeviceBuffer<float> output(std::size_t{blocks} * block_threads);
  const DeviceBuffer<long long> counted(2);
  const double hz = timer_hz();
  const auto run = [&] {
    launch(load_kernel, {.grid = dim3(blocks), .block = dim3(block_threads)}, output.data(),
           counted.data(), laps);
  };
  run();  // waits for the code
  wait();
  std::this_thread::sleep_for(std::chrono::milliseconds(idle_ms));
  std::vector<hipscope::CurvePoint> clocks;  // MHz over milliseconds
  const auto start = HostClock::now();
  for (double now = 0; now * 1e3 < static_cast<double>(load_ms); now = seconds_since(start)) {
    run();
    const std::vector<long long> result = counted.to_host();
    const double mhz = static_cast<double>(result[0]) / static_cast<double>(result[1]) * hz * 1e-6;
    clocks.push_back({.x = std::max(now * 1e3, timing::first_octave_ms), .y = mhz});
  }
  const std::vector<float> ends = timing::ends_of_chains(block_threads, laps);
  const std::vector<float> found = output.to_host();
  for (const hipscope::CurvePoint& octave : timing::medians_of_octaves(clocks)) {
    auto point = sweep.point(hipscope::number(octave.x), octave.x);
    point.check("every thread's chain", found,
                [&](std::uint64_t thread) { return ends[thread % block_threads]; });
    point.value("shader clock", sweep.counted(octave.y), "MHz");
  }
}

}  // namespace

int main(int argc, char** argv) {
  hipscope::Experiment experiment(
      "timing", {.question = "How is a kernel timed, and how exactly?",
                 .sources = {"hipscope's own; the sources time by hipEventElapsedTime"}});
  const auto samples = experiment.size("--samples", "timed launches of sweep samples",
                                       {.gpu = 2048,
                                        .quick = 512,
                                        .host = 64,
                                        .minimum = timing::fewest_groups,
                                        .maximum = 1 << 20});
  const auto values = experiment.size(
      "--values", "values scaled by its kernel",
      {.gpu = 1 << 22, .quick = 1 << 20, .host = 1 << 10, .minimum = 1, .maximum = 1 << 28});
  const auto idle =
      experiment.size("--idle", "milliseconds without work before sweep drift",
                      {.gpu = 1000, .quick = 200, .host = 1, .minimum = 1, .maximum = 60000});
  const auto load = experiment.size(
      "--load", "milliseconds of load in sweep drift",
      {.gpu = 2000, .quick = 300, .host = 10, .tiny = 1, .minimum = 1, .maximum = 600000});
  experiment.sweep("first", "the first launches of a kernel", measure_first);
  experiment.sweep("clocks", "what can be read, and in which steps", measure_clocks);
  experiment.sweep("known", "a known time, timed in four ways", measure_known);
  experiment.sweep("gate", "launches between two events, gated and not", measure_gate);
  experiment.sweep("samples", "how many samples until the median holds",
                   [&](Sweep& sweep) { measure_samples(sweep, samples, values); });
  experiment.sweep("drift", "the shader clock from idle to full load",
                   [&](Sweep& sweep) { measure_drift(sweep, idle, load); });
  experiment.conclude(timing::conclude);
  return experiment.run(argc, argv);
}
