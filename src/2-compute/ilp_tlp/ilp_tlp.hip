// How many independent instructions keep a compute unit busy, and does it matter whether they come
// from one wave or from many?
//
// The result of an arithmetic instruction can be used some cycles later: its latency. A chain of
// dependent instructions waits for it each time. Two things fill the wait: more independent chains
// in the same wave (instruction-level parallelism, ILP), and more waves (thread-level parallelism,
// TLP). With n instructions in flight, a round, in which every chain advances once, takes
// max(latency, n x interval): flat at first, then in proportion to n. Two curves show both limits,
// one wave with 1 ... 8 chains and one chain in 1 ... all waves of a CU, and must agree about the
// latency. Sweep grid combines them, and peak fills every CU. instruction_table.h has the table of
// single instructions.
//
// The kernel counts cycles from the first wave's start, after a barrier, to the last one's end, so
// launching is no part of them. The count of a loop with no rounds is taken off.
#include <hipscope/compute_unit.h>
#include <hipscope/footprint.h>
#include <hipscope/hipscope.h>
#include <hipscope/timed_rounds.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "findings.h"
#include "instruction_table.h"
#include "operations.h"

using hipscope::Sweep;

namespace ilp_tlp {
namespace {

// --- Kernels ----------------------------------------------------------------------------------

// Steps in the body of the loop, whose own three or four instructions are less than half a percent
// of it. On NVIDIA 16 KiB, on AMD 8 to 12: no larger than the instruction caches.
#if defined(HIPSCOPE_BACKEND_HOST)
constexpr unsigned body_instructions = 128;  // scaled down
#else
constexpr unsigned body_instructions = 1024;
#endif

// `Steps` steps of every chain in turn. Compilers unroll loops up to some length: longer ones by
// halves.
template <typename Operation, unsigned Steps, unsigned Chains>
__device__ void advance(typename Operation::Value (&x)[Chains], Given& given) {
  constexpr unsigned longest_unrolled = 128;
  if constexpr (Steps * Chains > longest_unrolled) {
    advance<Operation, Steps / 2>(x, given);
    advance<Operation, Steps - Steps / 2>(x, given);
  } else {
#pragma unroll
    for (unsigned step = 0; step < Steps; ++step) {
      renew_operands<Operation>(given);
#pragma unroll
      for (unsigned chain = 0; chain < Chains; ++chain) {
        x[chain] = separate_step<Operation>(x[chain], given);
      }
    }
  }
}

// `rounds` times the body, after a warm-up that fetches its instructions.
template <typename Operation, unsigned Chains>
__global__ void __launch_bounds__(largest_block)
    chains_kernel(const void* starts, void* ends, WaveTime* times, unsigned rounds, Given given) {
  using Value = typename Operation::Value;
  using Bits = typename Operation::Bits;
  const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
  Value x[Chains];
#pragma unroll
  for (unsigned chain = 0; chain < Chains; ++chain) {
    x[chain] = same_bits<Value>(
        loaded(static_cast<const Bits*>(starts)[(thread * Chains + chain) % start_values]));
  }
  load_operands<Operation>(given, x[0]);
  const hipscope::WaveTime time = hipscope::time_rounds<true>(
      rounds, [&] { advance<Operation, body_instructions / Chains>(x, given); });
#pragma unroll
  for (unsigned chain = 0; chain < Chains; ++chain) {
    static_cast<Bits*>(ends)[thread * Chains + chain] = same_bits<Bits>(x[chain]);
  }
  if (threadIdx.x % warpSize == 0) {
    times[thread / warpSize] = {
        .start = time.start, .end = time.end, .compute_unit = hipscope::compute_unit_id()};
  }
}

constexpr std::integer_sequence<unsigned, 1, 2, 3, 4, 5, 6, 7, most_chains> all_chains;

// What the host is to know of `Operation`, with the kernels of these numbers of chains.
template <typename Operation, unsigned... Chains>
OperationRow describe(Documented documented,
                      std::integer_sequence<unsigned, Chains...> /*chains*/) {
  using Bits = typename Operation::Bits;
  using Value = typename Operation::Value;
  OperationRow operation = {
      .name = Operation::name,
      .title = Operation::title,
      .per_lane = Operation::per_lane,
      .flops = Operation::flops,
      .documented = documented,
      .bytes = sizeof(Bits),
      .start = [](unsigned i) -> std::uint64_t { return same_bits<Bits>(Operation::start(i)); },
      .step = [](std::uint64_t bits) -> std::uint64_t {
        const auto x = same_bits<Value>(static_cast<Bits>(bits));
        if constexpr (std::is_base_of_v<PackedHalfFma, Operation>) {
          return same_bits<Bits>(Operation::reference(x, Given{}));
        } else {
          return same_bits<Bits>(Operation::step(x, Given{}));
        }
      }};
  ((operation.kernels[Chains - 1] = chains_kernel<Operation, Chains>), ...);
  return operation;
}

// --- Launches ---------------------------------------------------------------------------------

std::uint64_t steps_of(unsigned chains, std::uint64_t rounds) {
  return rounds * (body_instructions / chains);
}

// Waves on one CU: one block if they fit into it, else several on every CU, since only a full GPU
// puts more than one on each.
struct Shape {
  unsigned blocks = 1;
  unsigned threads = 0;
  unsigned blocks_per_unit = 1;
};

Shape shape_of(const hipscope::Sweep& sweep, unsigned waves) {
  const auto wave_size = static_cast<unsigned>(sweep.device().wave_size);
  constexpr unsigned waves_on_host = 2;
  const unsigned waves_per_block = sweep.is_hardware() ? largest_block / wave_size : waves_on_host;
  unsigned per_unit = 1;
  while (waves % per_unit != 0 || waves / per_unit > waves_per_block) {
    ++per_unit;
  }
  const auto units = static_cast<unsigned>(sweep.device().compute_units);
  return {.blocks = per_unit == 1 ? 1 : per_unit * units,
          .threads = waves / per_unit * wave_size,
          .blocks_per_unit = per_unit};
}

// From the first wave's start to the last one's end on each CU that was given `waves` of them: the
// median over CUs. NaN where there is none. Their blocks fit at once, by the occupancy calculator,
// but need not run side by side. So where the counter begins again all the time, a CU tells nothing
// if one of its blocks took half of what that counts.
double cycles_of(std::span<const WaveTime> times, unsigned waves, unsigned blocks,
                 unsigned counter_bits) {
  std::map<unsigned, std::vector<WaveTime>> by_unit;
  for (const WaveTime& time : times) {
    by_unit[time.compute_unit].push_back(time);
  }
  std::vector<double> cycles;
  for (const auto& [unit, mine] : by_unit) {
    const bool starts_are_known =
        blocks == 1 || std::all_of(mine.begin(), mine.end(), [=](const WaveTime& time) {
          return hipscope::is_within_half_round(time.end - time.start, counter_bits);
        });
    if (mine.size() == waves && starts_are_known) {
      cycles.push_back(static_cast<double>(
          hipscope::cycles_of_all(std::span<const WaveTime>(mine), counter_bits)));
    }
  }
  return cycles.empty() ? std::numeric_limits<double>::quiet_NaN()
                        : hipscope::summarize(cycles).median;
}

// A kernel with its buffers and one launch shape; keeps the times of its last
// launches.
class Launcher {
 public:
  Launcher(OperationRow& operation, unsigned chains, const Shape& shape, unsigned wave_size)
      : operation_(operation),
        chains_(chains),
        shape_(shape),
        waves_(shape.blocks * shape.threads / wave_size),
        starts_(operation.ends_after(0), operation.bytes),
        ends_(std::size_t{shape.blocks} * shape.threads * chains, operation.bytes),
        times_(std::size_t{waves_} * kept_launches) {}

  void run(std::uint64_t rounds) {
    WaveTime* const times = times_.data() + std::size_t{waves_} * (launches_++ % kept_launches);
    hipscope::launch(operation_.kernels[chains_ - 1],
                     {.grid = dim3(shape_.blocks), .block = dim3(shape_.threads)}, starts_.data(),
                     ends_.data(), times, static_cast<unsigned>(rounds), Given{});
  }

  // The warm-up alone is checked too: a chain of halves remembers no more than its length.
  void verify(hipscope::Point& point, std::uint64_t rounds) {
    check(point, "end of every chain after the warm-up", 0);
    check(point, "end of every chain", rounds);
  }

  // The median cycles of the launches since the last call, of `waves` waves on a CU.
  double take_cycles(unsigned waves, unsigned counter_bits) {
    const std::vector<WaveTime> times = times_.to_host();
    std::vector<double> cycles;
    for (unsigned i = 0; i < std::min(launches_, kept_launches); ++i) {
      const auto launch = std::span(times).subspan(std::size_t{i} * waves_, waves_);
      cycles.push_back(cycles_of(launch, waves, shape_.blocks_per_unit, counter_bits));
    }
    launches_ = 0;
    const bool all_known =
        std::none_of(cycles.begin(), cycles.end(), [](double value) { return std::isnan(value); });
    return all_known ? hipscope::summarize(cycles).median
                     : std::numeric_limits<double>::quiet_NaN();
  }

  static constexpr unsigned kept_launches = 8;

 private:
  void check(hipscope::Point& point, const std::string& what, std::uint64_t rounds) {
    const std::vector<std::uint64_t>& expected =
        operation_.ends_after(steps_of(chains_, hipscope::warm_up_rounds + rounds));
    ends_.poison();
    run(rounds);
    launches_ = 0;
    point.check(what, ends_.to_host(), [&](std::uint64_t i) { return expected[i % start_values]; });
  }

  OperationRow& operation_;
  unsigned chains_;
  Shape shape_;
  unsigned waves_;
  unsigned launches_ = 0;
  Words starts_;
  Words ends_;
  hipscope::DeviceBuffer<WaveTime> times_;
};

// What one wave counts for a loop of no rounds: the counter's own cost. That many waves come apart
// at the barrier is no part of it, since one works while the other still waits.
double empty_cycles(OperationRow& operation, unsigned chains, unsigned wave_size,
                    unsigned counter_bits) {
  Launcher launcher(operation, chains, {.threads = wave_size}, wave_size);
  for (unsigned i = 0; i < launcher.kept_launches; ++i) {
    launcher.run(0);
  }
  return launcher.take_cycles(1, counter_bits);
}

// --- Sweeps -----------------------------------------------------------------------------------

// Up to 4 waves each has a SIMD (NVIDIA: SM sub-partition) of its own; more are multiples of 4, so
// that all SIMDs have equally many.
std::vector<unsigned> wave_counts(const Sweep& sweep) {
  if (!sweep.is_hardware()) {
    return {1, 4};
  }
  const auto most = static_cast<unsigned>(sweep.device().maximum_threads_per_compute_unit /
                                          sweep.device().wave_size);
  std::vector<unsigned> counts = {1, 2, 3, 4, 8, 12, 16, 20, 24, 28, 32, 40, 48, 64};
  std::erase_if(counts, [=](unsigned waves) { return waves > most; });
  return counts;
}

unsigned occupancy(const OperationRow& operation, unsigned chains, unsigned threads) {
  return static_cast<unsigned>(hipscope::resident_blocks(operation.kernels[chains - 1], threads));
}

void measure(Sweep& sweep, OperationRow& operation, const std::string& label, double x,
             unsigned chains, unsigned waves, std::uint64_t rounds) {
  const auto wave_size = static_cast<unsigned>(sweep.device().wave_size);
  const Shape shape = shape_of(sweep, waves);
  if (sweep.is_hardware() && occupancy(operation, chains, shape.threads) < shape.blocks_per_unit) {
    sweep.note(label + ": too many registers for that many waves");
    return;
  }
  auto point = sweep.point(label, x);
  Launcher launcher(operation, chains, shape, wave_size);
  launcher.verify(point, rounds);
  point.measure([&] { launcher.run(rounds); }, {.batch = 1});
  const unsigned counter_bits = sweep.device().cycle_counter_bits;
  const double cycles = sweep.counted(launcher.take_cycles(waves, counter_bits));
  const double empty = sweep.counted(empty_cycles(operation, chains, wave_size, counter_bits));
  const double per_step = (cycles - empty) / static_cast<double>(steps_of(chains, rounds));
  point.value("cycles", cycles, "cycles");
  point.value("of an empty loop", empty, "cycles");
  point.value("round", per_step, "cycles");
  point.value("cycles per instruction", per_step / chains, "cycles");
  point.value("rate", waves * chains / per_step, "instructions/cycle/CU");
}

enum class By { chains, waves, both };

void measure_all(Sweep& sweep, OperationRow& operation, By by, std::uint64_t rounds) {
  if (by == By::both) {
    sweep.axis({.name = "chains x waves", .scale = hipscope::Scale::logarithmic});
  } else {
    sweep.axis({.name = by == By::chains ? "chains" : "waves"});
  }
  sweep.headline(by == By::both ? "rate" : "round");
  sweep.note(
      "round: the time in which every chain of every wave advances by one instruction; more waves "
      "than a block of 1024 threads has are several blocks, of which the older may run first");
  for (unsigned chains = 1; chains <= (by == By::waves ? 1 : most_chains); ++chains) {
    for (const unsigned waves : by == By::chains ? std::vector{1U} : wave_counts(sweep)) {
      const std::string label = by == By::both
                                    ? std::to_string(chains) + " x " + std::to_string(waves)
                                    : std::to_string(chains * waves);
      measure(sweep, operation, label, chains * waves, chains, waves, rounds);
    }
  }
}

// As many waves as there is room for, on every CU.
void measure_peak(Sweep& sweep, OperationRow& operation, const std::string& label, double x,
                  unsigned chains, std::uint64_t rounds) {
  constexpr unsigned threads_on_host = 64;
  const unsigned threads = sweep.is_hardware() ? largest_block : threads_on_host;
  const auto units = static_cast<unsigned>(sweep.device().compute_units);
  const unsigned per_unit = sweep.is_hardware() ? occupancy(operation, chains, threads) : 1;
  const unsigned blocks = units * per_unit;
  auto point = sweep.point(label, x);
  Launcher launcher(operation, chains, {.blocks = blocks, .threads = threads},
                    static_cast<unsigned>(sweep.device().wave_size));
  launcher.verify(point, rounds);
  const auto time = point.measure([&] { launcher.run(rounds); }, {.batch = 1});
  const double steps = static_cast<double>(steps_of(chains, hipscope::warm_up_rounds + rounds)) *
                       chains * blocks * threads;
  const double rate = steps * operation.per_lane / time.cycles() / units;
  const double documented = operation.documented_rate(sweep.device().architecture);
  point.value("operation rate", rate, "operations/cycle/CU");
  point.value("share of documented",
              documented > 0 ? 100 * rate / documented : std::numeric_limits<double>::quiet_NaN(),
              "%");
  point.value("peak", steps * operation.flops * 1e-12 / time.seconds().median, "TFLOP/s or TOP/s");
}

int run(int argc, char** argv) {
  hipscope::Experiment experiment(
      "ilp_tlp",
      {.question = "How many independent instructions keep a compute unit busy, from one wave or "
                   "from many?",
       .sources = {"hipscope's own; the table is that of RRZE-HPC/gpu-benches' incore benchmark"}});
  constexpr std::uint64_t most_rounds = 1U << 16;
  const auto rounds =
      experiment.size("--rounds", "rounds of about 1024 instructions per wave",
                      {.gpu = 64, .quick = 4, .host = 1, .minimum = 1, .maximum = most_rounds});
  const auto peak_rounds =
      experiment.size("--peak-rounds", "rounds of 1024 instructions per wave in sweep peak",
                      {.gpu = 600, .quick = 100, .host = 1, .minimum = 1, .maximum = most_rounds});
  std::vector<OperationRow> operations = {
      describe<FloatFma>(fp32, all_chains),      describe<FloatAdd>(fp32, all_chains),
      describe<FloatMul>(fp32, all_chains),      describe<DoubleFma>(fp64, all_chains),
      describe<PackedHalfFma>(fp16, all_chains), describe<IntegerMad>(int32, all_chains)};
  OperationRow& halves = operations[4];
  using Four = std::integer_sequence<unsigned, 4>;
  auto registers = describe<FloatFmaOfRegisters>(fp32, std::integer_sequence<unsigned, 1, 4>());
  auto pairs = describe<FloatPairFma>(fp32_pairs, Four());
  auto literal = describe<PackedHalfFmaOfLiteral>(fp16, Four());
  for (OperationRow& operation : operations) {
    const auto add = [&](const std::string& what, const std::string& title, By by) {
      experiment.sweep(
          sweep_name(operation.name, what), operation.title + title,
          [=, &operation](Sweep& sweep) { measure_all(sweep, operation, by, rounds); },
          by == By::both ? hipscope::InTiny::left_out : hipscope::InTiny::measured);
    };
    add("chains", ", one wave with more and more chains", By::chains);
    add("waves", ", one chain in each of more and more waves", By::waves);
    add("grid", ", chains and waves together", By::both);
  }
  experiment.sweep("peak", "every CU full of waves, with 4 chains each where nothing else is said",
                   [&](Sweep& sweep) {
                     sweep.axis({.name = "operation"});
                     sweep.headline("operation rate");
                     double row = 0;
                     const auto measure = [&](OperationRow& operation, const std::string& way = "",
                                              unsigned chains = 4) {
                       measure_peak(sweep, operation, operation.title + way, ++row, chains,
                                    peak_rounds);
                     };
                     for (OperationRow& operation : operations) {
                       measure(operation);
                     }
                     measure(registers, ", 3 registers");
                     measure(registers, ", 3 registers, 1 chain", 1);
                     measure(pairs);
                     measure(halves, ", 8 chains", 8);
                     measure(literal, ", literal addend");
                   });
  experiment.sweep("instructions", "latency and rate of single instructions",
                   [=](Sweep& sweep) { measure_instructions(sweep, rounds); });
  experiment.conclude([&](hipscope::Results& results) {
    std::vector<OperationName> names;
    for (const OperationRow& operation : operations) {
      names.push_back({operation.name, operation.title, {}});
    }
    // By their rows of sweep peak, which follow those of the operations, a row each from 1 on.
    const auto last = static_cast<double>(operations.size());
    names[0].more_peaks = {{last + 1, "3 registers"}, {last + 2, "3 registers, 1 chain"}};
    names[4].more_peaks = {{last + 4, "8 chains"}, {last + 5, "literal addend", true}};
    conclude(results, names);
  });
  return experiment.run(argc, argv);
}

}  // namespace
}  // namespace ilp_tlp

int main(int argc, char** argv) { return ilp_tlp::run(argc, argv); }
