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
#include <hipscope/hipscope.h>

#include <limits>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "findings.h"
#include "instruction_table.h"
#include "launcher.h"
#include "operations.h"

using hipscope::CycleClock;
using hipscope::Sweep;

namespace ilp_tlp {
namespace {

// --- Kernels ----------------------------------------------------------------------------------

// `Steps` steps of every chain in turn. Compilers unroll loops up to some length: longer ones by
// halves.
template <typename Operation, unsigned Steps, unsigned Chains>
__device__ void advance(typename Operation::Value (&x)[Chains], Operands& given) {
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

// `rounds` times the body, after a warm-up that fetches its instructions. Both go through the same
// code, so that the compiler can move nothing from before the first into the timed one.
template <typename Operation, unsigned Chains>
__global__ void __launch_bounds__(largest_block)
    chains_kernel(const void* starts, void* ends, WaveTime* times, unsigned rounds,
                  Operands given) {
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
  CycleClock<> clock;
  unsigned repeats = warm_up_rounds;
#pragma unroll 1
  for (unsigned pass = 0; pass < 2; ++pass) {
    __syncthreads();
    clock.start();
#pragma unroll 1
    for (unsigned round = 0; round < repeats; ++round) {
      advance<Operation, body_instructions / Chains>(x, given);
      clock.lap();
    }
    clock.stop();
    repeats = rounds;
  }
#pragma unroll
  for (unsigned chain = 0; chain < Chains; ++chain) {
    static_cast<Bits*>(ends)[thread * Chains + chain] = same_bits<Bits>(x[chain]);
  }
  if (threadIdx.x % warpSize == 0) {
    times[thread / warpSize] = {.start = clock.started(),
                                .end = clock.ended(),
                                .compute_unit = hipscope::compute_unit_id()};
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
          return same_bits<Bits>(Operation::reference(x, operands));
        } else {
          return same_bits<Bits>(Operation::step(x, operands));
        }
      }};
  ((operation.kernels[Chains - 1] = chains_kernel<Operation, Chains>), ...);
  return operation;
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

void begin_sweep(Sweep& sweep, const hipscope::Axis& axis, const std::string& headline) {
  sweep.axis(axis);
  sweep.headline(headline);
  sweep.note(
      "round: the time in which every chain of every wave advances by one instruction; more waves "
      "than a block of 1024 threads has are several blocks, of which the older may run first");
}

void measure_chains(Sweep& sweep, OperationRow& operation, std::uint64_t rounds) {
  begin_sweep(sweep, {.name = "chains"}, "round");
  for (unsigned chains = 1; chains <= most_chains; ++chains) {
    measure(sweep, operation, std::to_string(chains), chains, chains, 1, rounds);
  }
}

void measure_waves(Sweep& sweep, OperationRow& operation, std::uint64_t rounds) {
  begin_sweep(sweep, {.name = "waves"}, "round");
  for (const unsigned waves : wave_counts(sweep)) {
    measure(sweep, operation, std::to_string(waves), waves, 1, waves, rounds);
  }
}

void measure_grid(Sweep& sweep, OperationRow& operation, std::uint64_t rounds) {
  begin_sweep(sweep, {.name = "chains x waves", .scale = hipscope::Scale::logarithmic}, "rate");
  for (unsigned chains = 1; chains <= most_chains; ++chains) {
    for (const unsigned waves : wave_counts(sweep)) {
      measure(sweep, operation, std::to_string(chains) + " x " + std::to_string(waves),
              chains * waves, chains, waves, rounds);
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
  const double steps =
      static_cast<double>(steps_of(chains, warm_up_rounds + rounds)) * chains * blocks * threads;
  const double rate = steps * operation.per_lane / time.cycles() / units;
  const double documented = operation.documented_rate(sweep.device().architecture);
  point.value("operation rate", rate, "operations/cycle/CU");
  point.value("share of documented",
              documented > 0 ? 100 * rate / documented : std::numeric_limits<double>::quiet_NaN(),
              "%");
  point.value("peak", steps * operation.flops * 1e-12 / time.seconds().median, "TFLOP/s or TOP/s");
}

void add_sweeps(hipscope::Experiment& experiment, OperationRow& operation,
                const hipscope::Size& rounds) {
  experiment.sweep(sweep_name(operation.name, "chains"),
                   operation.title + ", one wave with more and more chains",
                   [=, &operation](Sweep& sweep) { measure_chains(sweep, operation, rounds); });
  experiment.sweep(sweep_name(operation.name, "waves"),
                   operation.title + ", one chain in each of more and more waves",
                   [=, &operation](Sweep& sweep) { measure_waves(sweep, operation, rounds); });
  experiment.sweep(
      sweep_name(operation.name, "grid"), operation.title + ", chains and waves together",
      [=, &operation](Sweep& sweep) { measure_grid(sweep, operation, rounds); },
      hipscope::InTiny::left_out);
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
    add_sweeps(experiment, operation, rounds);
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
