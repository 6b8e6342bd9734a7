// How many independent instructions keep a compute unit busy, and does it matter whether they come
// from one wave or from many?
//
// An arithmetic instruction takes some cycles until its result can be used: its latency. A chain of
// dependent instructions waits for it each time. Two things fill the wait: more independent chains
// in the same wave (instruction-level parallelism, ILP), and more waves (thread-level parallelism,
// TLP). With n instructions in flight a round, in which every chain advances once, takes
// max(latency, n x interval): flat at first, then in proportion to n. Both limits are read off two
// curves, of one wave with 1 ... 8 chains and of one chain in 1 ... all waves of a CU, which must
// agree about the latency. The grid has both together, and peak has every CU full. The table of
// single instructions is in instruction_table.h.
//
// Cycles are counted in the kernel, from the first wave's start after a barrier to the last one's
// end, so that launching is no part of them. What is counted for a loop of no rounds is taken off.
#include <hipscope/compute_unit.h>
#include <hipscope/hipscope.h>

#include <algorithm>
#include <array>
#include <limits>
#include <string>
#include <tuple>
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

constexpr unsigned most_chains = 8;

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
    chains_kernel(const typename Operation::Bits* starts, typename Operation::Bits* ends,
                  WaveTime* times, unsigned rounds, Operands given) {
  using Value = typename Operation::Value;
  const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
  Value x[Chains];
#pragma unroll
  for (unsigned chain = 0; chain < Chains; ++chain) {
    x[chain] = same_bits<Value>(loaded(starts[(thread * Chains + chain) % start_values]));
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
    ends[thread * Chains + chain] = same_bits<typename Operation::Bits>(x[chain]);
  }
  if (threadIdx.x % warpSize == 0) {
    times[thread / warpSize] = {.start = clock.started(),
                                .end = clock.ended(),
                                .compute_unit = hipscope::compute_unit_id()};
  }
}

template <typename Operation, unsigned... Indices>
Kernel<Operation> kernel_of(unsigned chains,
                            std::integer_sequence<unsigned, Indices...> /*chains*/) {
  const std::array<Kernel<Operation>, sizeof...(Indices)> kernels = {
      chains_kernel<Operation, Indices + 1>...};
  return kernels[chains - 1];
}

template <typename Operation>
Kernel<Operation> kernel_of(unsigned chains) {
  return kernel_of<Operation>(chains, std::make_integer_sequence<unsigned, most_chains>{});
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

template <typename Operation>
void measure(Sweep& sweep, const std::string& label, double x, unsigned chains, unsigned waves,
             std::uint64_t rounds, Reference<Operation>& reference) {
  const Kernel<Operation> kernel = kernel_of<Operation>(chains);
  const auto wave_size = static_cast<unsigned>(sweep.device().wave_size);
  const Shape shape = shape_of(sweep, waves);
  if (sweep.is_hardware() && occupancy<Operation>(kernel, shape.threads) < shape.blocks_per_unit) {
    sweep.note(label + ": too many registers for that many waves");
    return;
  }
  auto point = sweep.point(label, x);
  Launcher<Operation> launcher(kernel, chains, shape, wave_size);
  launcher.verify(point, rounds, reference);
  point.measure([&] { launcher.run(rounds); }, {.batch = 1});
  const unsigned counter_bits = sweep.device().cycle_counter_bits;
  const double cycles = sweep.counted(launcher.take_cycles(waves, counter_bits));
  const double empty =
      sweep.counted(empty_cycles<Operation>(kernel, chains, wave_size, counter_bits));
  const double per_step = (cycles - empty) / static_cast<double>(steps_of(chains, rounds));
  point.value("cycles", cycles, "cycles");
  point.value("of an empty loop", empty, "cycles");
  point.value("round", per_step, "cycles");
  point.value("cycles per instruction", per_step / chains, "cycles");
  point.value("rate", waves * chains / per_step, "instructions/cycle/CU");
}

constexpr const char* round_note =
    "round: the time in which every chain of every wave advances by one instruction; more waves "
    "than a block of 1024 threads has are several blocks, of which the older may run first";

template <typename Operation>
void measure_chains(Sweep& sweep, std::uint64_t rounds, Reference<Operation>& reference) {
  sweep.axis({.name = "chains"});
  sweep.headline("round");
  sweep.note(round_note);
  for (unsigned chains = 1; chains <= most_chains; ++chains) {
    measure(sweep, std::to_string(chains), chains, chains, 1, rounds, reference);
  }
}

template <typename Operation>
void measure_waves(Sweep& sweep, std::uint64_t rounds, Reference<Operation>& reference) {
  sweep.axis({.name = "waves"});
  sweep.headline("round");
  sweep.note(round_note);
  for (const unsigned waves : wave_counts(sweep)) {
    measure(sweep, std::to_string(waves), waves, 1, waves, rounds, reference);
  }
}

template <typename Operation>
void measure_grid(Sweep& sweep, std::uint64_t rounds, Reference<Operation>& reference) {
  sweep.axis({.name = "chains x waves", .scale = hipscope::Scale::logarithmic});
  sweep.headline("rate");
  sweep.note(round_note);
  for (unsigned chains = 1; chains <= most_chains; ++chains) {
    for (const unsigned waves : wave_counts(sweep)) {
      measure(sweep, std::to_string(chains) + " x " + std::to_string(waves), chains * waves, chains,
              waves, rounds, reference);
    }
  }
}

// As many waves as there is room for, on every CU.
template <typename Operation, unsigned Chains = 4>
void measure_peak(Sweep& sweep, const std::string& label, double x, std::uint64_t rounds,
                  Reference<Operation>& reference) {
  constexpr unsigned threads_on_host = 64;
  const unsigned threads = sweep.is_hardware() ? largest_block : threads_on_host;
  const auto units = static_cast<unsigned>(sweep.device().compute_units);
  const Kernel<Operation> kernel = chains_kernel<Operation, Chains>;
  const unsigned per_unit = sweep.is_hardware() ? occupancy<Operation>(kernel, threads) : 1;
  const unsigned blocks = units * per_unit;
  auto point = sweep.point(label, x);
  Launcher<Operation> launcher(kernel, Chains, {.blocks = blocks, .threads = threads},
                               static_cast<unsigned>(sweep.device().wave_size));
  launcher.verify(point, rounds, reference);
  const auto time = point.measure([&] { launcher.run(rounds); }, {.batch = 1});
  const double steps =
      static_cast<double>(steps_of(Chains, warm_up_rounds + rounds)) * Chains * blocks * threads;
  const double rate = steps * Operation::per_lane / time.cycles() / units;
  const double documented = documented_rate<Operation>(sweep.device().architecture);
  point.value("operation rate", rate, "operations/cycle/CU");
  point.value("share of documented",
              documented > 0 ? 100 * rate / documented : std::numeric_limits<double>::quiet_NaN(),
              "%");
  point.value("peak", steps * Operation::flops * 1e-12 / time.seconds().median, "TFLOP/s or TOP/s");
}

template <typename Operation>
void add_sweeps(hipscope::Experiment& experiment, const hipscope::Size& rounds,
                Reference<Operation>& reference) {
  const std::string title = Operation::title;
  experiment.sweep(sweep_name(Operation::name, "chains"),
                   title + ", one wave with more and more chains",
                   [=, &reference](Sweep& sweep) { measure_chains(sweep, rounds, reference); });
  experiment.sweep(sweep_name(Operation::name, "waves"),
                   title + ", one chain in each of more and more waves",
                   [=, &reference](Sweep& sweep) { measure_waves(sweep, rounds, reference); });
  experiment.sweep(
      sweep_name(Operation::name, "grid"), title + ", chains and waves together",
      [=, &reference](Sweep& sweep) { measure_grid(sweep, rounds, reference); },
      hipscope::InTiny::left_out);
}

// The operations that have sweeps of their own.
using References =
    std::tuple<Reference<FloatFma>, Reference<FloatAdd>, Reference<FloatMul>, Reference<DoubleFma>,
               Reference<PackedHalfFma>, Reference<IntegerMad>>;

// The rows of sweep peak that follow theirs.
enum OtherPeak : unsigned {
  last_of_operations = std::tuple_size_v<References>,
  registers,
  registers_one_chain,
  pairs,
  halves_eight_chains,
  halves_literal
};

// What sweep peak has of an operation beside its own row.
template <typename Operation>
std::vector<PeakRow> more_peaks_of() {
  if (std::is_same_v<Operation, FloatFma>) {
    return {{registers, "3 registers"}, {registers_one_chain, "3 registers, 1 chain"}};
  }
  if (std::is_same_v<Operation, PackedHalfFma>) {
    return {{halves_eight_chains, "8 chains"}, {halves_literal, "literal addend", true}};
  }
  return {};
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
  References references;
  Reference<FloatFmaOfRegisters> register_reference;
  Reference<FloatPairFma> pair_reference;
  Reference<PackedHalfFmaOfLiteral> literal_reference;

  std::apply([&](auto&... reference) { (add_sweeps(experiment, rounds, reference), ...); },
             references);
  experiment.sweep(
      "peak", "every CU full of waves, with 4 chains each where nothing else is said",
      [&](Sweep& sweep) {
        sweep.axis({.name = "operation"});
        sweep.headline("operation rate");
        double row = 0;
        std::apply(
            [&]<typename... Operation>(Reference<Operation>&... reference) {
              (measure_peak(sweep, Operation::title, ++row, peak_rounds, reference), ...);
            },
            references);
        measure_peak(sweep, "FP32 FMA, 3 registers", registers, peak_rounds, register_reference);
        measure_peak<FloatFmaOfRegisters, 1>(sweep, "FP32 FMA, 3 registers, 1 chain",
                                             registers_one_chain, peak_rounds, register_reference);
        measure_peak(sweep, "FP32 FMA in pairs", pairs, peak_rounds, pair_reference);
        measure_peak<PackedHalfFma, 8>(sweep, "FP16 packed FMA, 8 chains", halves_eight_chains,
                                       peak_rounds, std::get<Reference<PackedHalfFma>>(references));
        measure_peak(sweep, "FP16 packed FMA, literal addend", halves_literal, peak_rounds,
                     literal_reference);
      });
  experiment.sweep("instructions", "latency and rate of single instructions",
                   [=](Sweep& sweep) { measure_instructions(sweep, rounds); });
  experiment.conclude([&](hipscope::Results& results) {
    std::apply(
        [&]<typename... Operation>(const Reference<Operation>&... /*references*/) {
          conclude(results, {{Operation::name, Operation::title, more_peaks_of<Operation>()}...});
        },
        references);
  });
  return experiment.run(argc, argv);
}

}  // namespace
}  // namespace ilp_tlp

int main(int argc, char** argv) { return ilp_tlp::run(argc, argv); }
