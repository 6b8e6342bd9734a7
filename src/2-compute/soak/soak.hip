// What does a GPU do after minutes of the same work?
//
// A benchmark of milliseconds sees a cool chip at its highest clock. Under load the clock follows
// power, in milliseconds, and then temperature, in minutes. Two kinds of work, matrix instructions
// with random operands and a stream through memory, run on without a pause; each row is a second
// (a tenth of one in the first): the rate, the cycles of a launch by the GPU's own counter, and the
// clock as one over the other. Work that slows down with the clock alone takes the same cycles as
// before; memory that slows down, or a clock of its own, takes more.
//
// The results of every row are compared with those of the first launch, which is verified, so that
// a device that computes wrongly when it is hot is found out.
#include <hipscope/cache_hint.h>
#include <hipscope/hipscope.h>
#include <hipscope/keep_busy.h>
#include <hipscope/timed_rounds.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "../board_sensors.h"
#include "../matrix_rate/instructions.h"
#include "../matrix_rate/launcher.h"
#include "soak_findings.h"

namespace soak {
namespace {

using hipscope::DeviceBuffer;
using hipscope::launch;
using hipscope::Point;
using hipscope::Sweep;
using hipscope::WaveTime;
using matrix_rate::Instruction;

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

// --- Kernels ----------------------------------------------------------------------------------

// matrix_rate's: operands and sums in registers, as many instructions as there are rounds.
template <typename Code, unsigned Chains>
__global__ void __launch_bounds__((matrix_rate::most_threads<Code, Chains>))
    multiply_kernel(const void* a_of_lanes, const void* b_of_lanes, const void* starts, void* ends,
                    WaveTime* times, unsigned rounds) {
  const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned lane = thread % Code::lanes;
  typename Code::A a[matrix_rate::pairs];
  typename Code::B b[matrix_rate::pairs];
#pragma unroll
  for (unsigned pair = 0; pair < matrix_rate::pairs; ++pair) {
    a[pair] = static_cast<const typename Code::A*>(a_of_lanes)[pair * Code::lanes + lane];
    b[pair] = static_cast<const typename Code::B*>(b_of_lanes)[pair * Code::lanes + lane];
  }
  typename Code::Sum sums[Chains];
#pragma unroll
  for (unsigned chain = 0; chain < Chains; ++chain) {
    sums[chain] = matrix_rate::load_sum<typename Code::Sum>(starts, chain, lane, Code::lanes);
  }
  const WaveTime time = hipscope::time_rounds<true>(rounds, [&] {
#pragma unroll
    for (unsigned step = 0; step < matrix_rate::body_instructions / Chains; ++step) {
#pragma unroll
      for (unsigned chain = 0; chain < Chains; ++chain) {
        Code::multiply_add(sums[chain], a[step % matrix_rate::pairs], b[step % matrix_rate::pairs]);
      }
    }
  });
#pragma unroll
  for (unsigned chain = 0; chain < Chains; ++chain) {
    matrix_rate::store_sum(ends, thread / Code::lanes * Chains + chain, lane, Code::lanes,
                           sums[chain]);
  }
  if (threadIdx.x % warpSize == 0) {
    times[thread / warpSize] = time;
  }
}

// The same of wgmma, with B in LDS.
template <typename Code, unsigned Chains>
__global__ void __launch_bounds__((matrix_rate::most_threads<Code, Chains>))
    multiply_group_kernel(const void* a_given, const void* b_given, const void* starts, void* ends,
                          WaveTime* times, unsigned rounds) {
  __shared__ matrix_rate::GroupOperands<Code, matrix_rate::pairs> lds;
  const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned lane = thread % Code::lanes;
  lds.fill(a_given, b_given);
  typename Code::A a[matrix_rate::pairs];
  std::uint64_t b[matrix_rate::pairs];
#pragma unroll
  for (unsigned pair = 0; pair < matrix_rate::pairs; ++pair) {
    a[pair] = lds.a_of(a_given, pair, lane);
    b[pair] = lds.b_of(pair);
  }
  typename Code::Sum sums[Chains];
#pragma unroll
  for (unsigned chain = 0; chain < Chains; ++chain) {
    sums[chain] = matrix_rate::load_sum<typename Code::Sum>(starts, chain, lane, Code::lanes);
  }
  hipscope::CycleClock clock;
  clock.start();
#pragma unroll 1
  for (unsigned round = 0; round < hipscope::warm_up_rounds + rounds; ++round) {
    matrix_rate::wgmma_fence();
#pragma unroll
    for (unsigned step = 0; step < matrix_rate::body_instructions / Chains; ++step) {
#pragma unroll
      for (unsigned chain = 0; chain < Chains; ++chain) {
        lds.multiply_add(sums[chain], a[step % matrix_rate::pairs], b[step % matrix_rate::pairs],
                         step % matrix_rate::pairs);
      }
    }
    matrix_rate::wgmma_wait<1>();
  }
  matrix_rate::wgmma_wait<0>();
  clock.stop();
#pragma unroll
  for (unsigned chain = 0; chain < Chains; ++chain) {
    matrix_rate::store_sum(ends, thread / Code::lanes * Chains + chain, lane, Code::lanes,
                           sums[chain]);
  }
  if (threadIdx.x % warpSize == 0) {
    times[thread / warpSize] = {.start = clock.started(), .end = clock.ended()};
  }
}

constexpr unsigned stream_block = 1024;
constexpr unsigned stream_loads = 4;  // of 16 bytes, by each thread, under way at once

// Every thread adds up what it reads; all together read the data once in each round.
__global__ void __launch_bounds__(stream_block, 1)
    stream_kernel(const uint4* data, std::size_t quads, unsigned* sums, WaveTime* times,
                  unsigned rounds) {
  const std::size_t thread = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const std::size_t threads = std::size_t{gridDim.x} * blockDim.x;
  unsigned sum = 0;
  hipscope::CycleClock clock;
  clock.start();
#pragma unroll 1
  for (unsigned round = 0; round < rounds; ++round) {
#pragma unroll 1
    for (std::size_t i = thread; i < quads; i += stream_loads * threads) {
      uint4 loaded[stream_loads];
#pragma unroll
      for (unsigned load = 0; load < stream_loads; ++load) {
        loaded[load] = hipscope::load<hipscope::Hint::past_l1>(data + i + load * threads);
      }
#pragma unroll
      for (const uint4& one : loaded) {
        sum += one.x + one.y;
        sum += one.z + one.w;
      }
      clock.lap();
    }
  }
  clock.stop();
  sums[thread] = sum;
  if (threadIdx.x % warpSize == 0) {
    times[thread / warpSize] = {.start = clock.started(), .end = clock.ended()};
  }
}

constexpr unsigned comparing_block = 256;

// Counts words of `made` that are those of `expected`. (Right ones, not wrong ones: where it does
// not run, nothing is right.)
__global__ void __launch_bounds__(comparing_block)
    compare_kernel(const unsigned* made, const unsigned* expected, std::size_t words,
                   unsigned long long* right) {
  const std::size_t threads = std::size_t{gridDim.x} * comparing_block;
  unsigned long long found = 0;
  for (std::size_t i = std::size_t{blockIdx.x} * comparing_block + threadIdx.x; i < words;
       i += threads) {
    found += made[i] == expected[i] ? 1 : 0;
  }
  atomicAdd(right, found);
}

// --- One row after the other ------------------------------------------------------------------

// A kind of work: launches that all do the same.
struct Work {
  std::function<void(Point&)> begin;  // before the first row
  std::function<void()> run;
  std::function<double(Point&)> cycles;     // of one of the last launches
  std::function<void(Point&)> verify_last;  // what the last launch made
  double per_launch = 0;                    // FLOP or bytes
  double rate_scale = 1;
  std::string rate_unit{};
};

// Compares what launches make with what the first one made.
class FirstResult {
 public:
  FirstResult(const void* results, std::size_t bytes)
      : results_(static_cast<const unsigned*>(results)), first_(bytes / sizeof(unsigned)) {
    hipscope::check(hipMemcpy(first_.data(), results, bytes, hipMemcpyDeviceToDevice));
  }

  void verify(Point& point) {
    constexpr unsigned blocks = 256;
    right_.clear();
    launch(compare_kernel, {.grid = dim3(blocks), .block = dim3(comparing_block)}, results_,
           first_.data(), first_.size(), right_.data());
    point.verify("every result as the first launch made it", first_.size() - right_.to_host()[0],
                 first_.size());
  }

 private:
  const unsigned* results_;
  DeviceBuffer<unsigned> first_;
  DeviceBuffer<unsigned long long> right_{1};
};

// What sensors said during a row.
class Seen {
 public:
  explicit Seen(const board::Sensors& sensors) : sensors_(sensors) {}

  void read_if_due() {
    constexpr double interval = 0.02;
    if (sensors_.tell_anything() &&
        (readings_.empty() || board::seconds_now() - readings_.back().power.seconds >= interval)) {
      readings_.push_back(sensors_.read());
    }
  }

  void add_to(Point& point) const {
    const auto power = mean_power();
    point.value("power", power, "W");
    point.value("temperature", mean(&hipscope::TelemetryReading::temperature_c), "C");
    point.value("memory temperature", mean(&hipscope::TelemetryReading::memory_temperature_c), "C");
    double held_back = 0;
    for (const board::Reading& reading : readings_) {
      held_back += reading.all.throttle_reasons.empty() ? 0 : 1;
    }
    point.value("held back",
                readings_.empty() ? unknown : 100 * held_back / double(readings_.size()), "%");
  }

  // How often each reason was told.
  void count_reasons(std::map<std::string, double>& shares) const {
    for (const board::Reading& reading : readings_) {
      for (const std::string& reason : reading.all.throttle_reasons) {
        shares[reason] += 1;
      }
    }
    shares[""] += double(readings_.size());
  }

  // As sampled, or counted where that changed often enough within the row.
  [[nodiscard]] double mean_power() const {
    std::vector<hipscope::PowerReading> power;
    for (const board::Reading& reading : readings_) {
      power.push_back(reading.power);
    }
    const auto mean = hipscope::mean_power(power);
    return mean ? mean->watts : this->mean(&hipscope::TelemetryReading::power_w);
  }

 private:
  [[nodiscard]] double mean(std::optional<double> hipscope::TelemetryReading::*value) const {
    double sum = 0;
    double count = 0;
    for (const board::Reading& reading : readings_) {
      if (reading.all.*value) {
        sum += *(reading.all.*value);
        count += 1;
      }
    }
    return count > 0 ? sum / count : unknown;
  }

  const board::Sensors& sensors_;
  std::vector<board::Reading> readings_;
};

// How long the rows are: tenths of the first second, then seconds; more where there would be very
// many of them.
double seconds_of_row(double begun, double all) {
  constexpr double first = 0.1;
  constexpr double most_rows = 300;
  return begun < 1 - first / 2 ? first : std::max(1.0, all / most_rows);
}

void note_reasons(Sweep& sweep, const std::map<std::string, double>& shares) {
  const auto readings = shares.find("");
  if (readings == shares.end() || readings->second == 0) {
    return;
  }
  for (const auto& [reason, count] : shares) {
    if (!reason.empty()) {
      sweep.note("held back by " + reason + ": " +
                 hipscope::number(100 * count / readings->second, 3) + " % of the readings");
    }
  }
}

void run_for(Sweep& sweep, const Work& work, std::uint64_t milliseconds) {
  sweep.axis({.name = "time", .unit = "s"});
  sweep.headline("of the start");
  const board::Sensors sensors(sweep.telemetry());
  if (!sensors.tell_power()) {
    sweep.note("power and temperatures are left out: " + sensors.why_not());
  }
  const double all = 1e-3 * static_cast<double>(milliseconds);
  std::map<std::string, double> reasons;
  std::optional<double> first_rate;
  std::optional<double> first_cycles;
  std::optional<double> first_clock;
  std::optional<double> first_power;
  const auto of_the_start = [](std::optional<double>& first, double value) {
    first = first.value_or(value);
    return 100 * value / *first;
  };
  for (double begun = 0; begun < all;) {
    Seen seen(sensors);
    const double wanted = seconds_of_row(begun, all);
    const double until = sweep.is_hardware() ? begun + wanted : all;
    auto point = sweep.point(hipscope::number(until, 4) + " s", until);
    if (begun == 0) {
      work.begin(point);
    }
    const double began = board::seconds_now();
    const auto busy = hipscope::keep_busy(sweep.is_hardware() ? wanted : 0, work.run,
                                          [&] { seen.read_if_due(); });
    const double rate = work.per_launch * busy.launches_per_second();
    const double cycles = sweep.counted(work.cycles(point));
    const double clock = 1e-6 * cycles * busy.launches_per_second();
    point.value("of the start", of_the_start(first_rate, rate), "%");
    point.value("cycles of the start", of_the_start(first_cycles, cycles), "%");
    point.value("clock of the start", of_the_start(first_clock, clock), "%");
    const double power = seen.mean_power();
    point.value("power of the start", of_the_start(first_power, power), "%");
    point.value("rate", rate / work.rate_scale, work.rate_unit);
    point.value("cycles", cycles, "cycles");
    point.value("clock", clock, "MHz");
    seen.add_to(point);
    seen.count_reasons(reasons);
    work.verify_last(point);
    // The time that the check took counts too: the rows' times are those since the beginning.
    begun = sweep.is_hardware() ? begun + std::max(wanted, board::seconds_now() - began) : all;
  }
  note_reasons(sweep, reasons);
}

// --- The two kinds of work --------------------------------------------------------------------

// Halves with sums in single precision, where there is such an instruction, else FMAs: each with
// as many chains as matrix_rate's peak has.
template <typename Code>
void add_if_wanted(std::vector<Instruction>& list) {
  constexpr std::string_view format = Code::format;
  if constexpr (format == "FP16" || format == "FP32 vector") {
    constexpr unsigned wanted = format == "FP16" ? 4 : 8;
    constexpr unsigned chains = matrix_rate::has_registers_for<Code, wanted> ? wanted
                                : matrix_rate::has_registers_for<Code, 2>    ? 2
                                                                             : 1;
    Instruction instruction = matrix_rate::describe<Code>();
    matrix_rate::Kernel kernel = nullptr;
    if constexpr (matrix_rate::is_of_groups<Code>) {
      kernel = multiply_group_kernel<Code, chains>;
    } else {
      kernel = multiply_kernel<Code, chains>;
    }
    instruction.kernels.push_back({chains, matrix_rate::most_threads<Code, chains>, kernel});
    list.push_back(instruction);
  }
}

Instruction instruction_of(const hipscope::DeviceDescription& device) {
  std::vector<Instruction> list;
  matrix_rate::visit_instructions(
      device, [&]<typename Code>(const Code* /*type*/) { add_if_wanted<Code>(list); });
  return *std::max_element(
      list.begin(), list.end(),
      [](const Instruction& a, const Instruction& b) { return a.fmas() <= b.fmas(); });
}

// So many that a launch takes about as long as is wanted.
template <typename Run>
unsigned rounds_for(const Sweep& sweep, double seconds, const Run& run) {
  constexpr unsigned most_rounds = 1U << 24;
  constexpr double largest_step = 16;
  unsigned rounds = 1;
  while (sweep.is_hardware() && rounds < most_rounds) {
    run(rounds);
    const double step = seconds / hipscope::keep_busy(
                                      0, [&] { run(rounds); }, [] {})
                                      .seconds;
    if (step < 2) {
      break;
    }
    rounds =
        static_cast<unsigned>(std::min<double>(most_rounds, rounds * std::min(step, largest_step)));
  }
  return rounds;
}

void measure_multiply(Sweep& sweep, std::uint64_t milliseconds, double launch_seconds) {
  const Instruction instruction = instruction_of(sweep.device());
  sweep.note(instruction.title() + ", random operands, on every CU");
  const auto wave_size = static_cast<unsigned>(sweep.device().wave_size);
  const auto units = static_cast<unsigned>(sweep.device().compute_units);
  const matrix_rate::ChainKernel& kernel = instruction.kernels.front();
  const unsigned groups = sweep.is_hardware() ? std::min(instruction.peak_groups,
                                                         kernel.most_threads / instruction.lanes)
                                              : std::max(1U, wave_size / instruction.lanes);
  matrix_rate::Launcher launcher(instruction, kernel, {.blocks = units, .groups = groups},
                                 wave_size, matrix_rate::Data::random, sweep.seed());
  const unsigned rounds =
      rounds_for(sweep, launch_seconds, [&](unsigned wanted) { launcher.run(wanted); });
  std::optional<FirstResult> first;
  const double flops = 2 * instruction.fmas() * matrix_rate::body_instructions * launcher.groups() *
                       (double{hipscope::warm_up_rounds} + rounds);
  run_for(sweep,
          {.begin =
               [&](Point& point) {
                 launcher.verify(point);
                 launcher.run(rounds);
                 first.emplace(launcher.sums().data(), launcher.sums().size());
               },
           .run = [&] { launcher.run(rounds); },
           .cycles = [&](Point& point) { return launcher.cycles_of_launch(point); },
           .verify_last = [&](Point& point) { first->verify(point); },
           .per_launch = flops,
           .rate_scale = 1e12,
           .rate_unit = "TFLOP/s"},
          milliseconds);
}

void measure_stream(Sweep& sweep, std::uint64_t milliseconds, double launch_seconds,
                    std::uint64_t footprint) {
  sweep.note("all CUs together read the data again and again, past L1");
  const auto units = static_cast<unsigned>(sweep.device().compute_units);
  const unsigned block = sweep.is_hardware() ? stream_block : 64;
  const std::uint64_t step = std::uint64_t{units} * block * stream_loads * sizeof(uint4);
  const std::uint64_t bytes = std::max(step, footprint / step * step);
  sweep.require_memory(bytes, "--footprint");
  // Random words that repeat: the host adds up one piece of them.
  std::vector<unsigned> piece(step / sizeof(unsigned));
  const unsigned key = hipscope::key_of(sweep.seed());
  for (std::size_t i = 0; i < piece.size(); ++i) {
    piece[i] = hipscope::random_bits(static_cast<unsigned>(i) + key);
  }
  DeviceBuffer<unsigned> data(bytes / sizeof(unsigned));
  for (std::uint64_t at = 0; at < bytes; at += step) {
    hipscope::check(
        hipMemcpy(data.data() + at / sizeof(unsigned), piece.data(), step, hipMemcpyHostToDevice));
  }
  DeviceBuffer<unsigned> sums(std::size_t{units} * block);
  hipscope::WaveTimes times(units * block / static_cast<unsigned>(sweep.device().wave_size));
  const auto run = [&](unsigned rounds) {
    launch(stream_kernel, {.grid = dim3(units), .block = dim3(block)},
           static_cast<const uint4*>(static_cast<const void*>(data.data())), bytes / sizeof(uint4),
           sums.data(), times.next(), rounds);
  };
  const unsigned rounds = rounds_for(sweep, launch_seconds, run);
  const unsigned of_piece = std::accumulate(piece.begin(), piece.end(), 0U);
  run_for(sweep,
          {.begin = [](Point& /*point*/) {},
           .run = [&] { run(rounds); },
           .cycles = [&](Point& point) { return times.take_of_each(point); },
           .verify_last =
               [&](Point& point) {
                 const std::vector<unsigned> made = sums.to_host();
                 const unsigned total = std::accumulate(made.begin(), made.end(), 0U);
                 const auto pieces = static_cast<unsigned>(bytes / step);
                 point.verify("sum of all bytes", total == rounds * pieces * of_piece ? 0 : 1, 1);
               },
           .per_launch = static_cast<double>(bytes) * rounds,
           .rate_scale = 1e9,
           .rate_unit = "GB/s"},
          milliseconds);
}

int run(int argc, char** argv) {
  hipscope::Experiment experiment("soak",
                                  {.question = "What does a GPU do after minutes of the same work?",
                                   .sources = {"hipscope's own"}});
  const auto milliseconds = experiment.size(
      "--milliseconds", "of each kind of work, on and on",
      {.gpu = 60'000, .quick = 5'000, .host = 1, .minimum = 1, .maximum = 86'400'000});
  const auto launch_time = experiment.size(
      "--launch", "microseconds of one launch, about",
      {.gpu = 10'000, .quick = 10'000, .host = 1, .minimum = 1, .maximum = 1'000'000});
  const auto footprint = experiment.size("--footprint", "bytes that the stream reads",
                                         {.gpu = std::uint64_t{1} << 30,
                                          .quick = std::uint64_t{1} << 30,
                                          .host = std::uint64_t{1} << 14,
                                          .minimum = sizeof(uint4),
                                          .maximum = std::uint64_t{1} << 36,
                                          .share_of_memory = 0.25});
  constexpr double micro = 1e-6;
  experiment.sweep("multiply", "matrix instructions, for minutes", [=](Sweep& sweep) {
    measure_multiply(sweep, milliseconds, micro * static_cast<double>(launch_time));
  });
  experiment.sweep("stream", "a stream through memory, for minutes", [=](Sweep& sweep) {
    measure_stream(sweep, milliseconds, micro * static_cast<double>(launch_time), footprint);
  });
  experiment.conclude([](hipscope::Results& results) { conclude(results); });
  return experiment.run(argc, argv);
}

}  // namespace
}  // namespace soak

int main(int argc, char** argv) { return soak::run(argc, argv); }
