// How fast does a GPU multiply matrices, in each number format of its instructions, and how does it
// add?
//
// A matrix instruction computes D = A B + D for small matrices in the registers of a wave
// (NVIDIA: warp) or, with wgmma, in LDS (NVIDIA: shared memory). It has a latency, seen by a chain
// of instructions that each add to the last one's sums, and a rate, reached with independent sums,
// several waves, or both. The first sweeps measure the two apart. Sweep peak fills the GPU. Sweep
// data shows what the values do to the clock: a multiplier of zeros takes less power. Sweep adds
// feeds in single values that show how wide the sum is, how it is rounded, and how many products
// are added at once.
//
// The values are small integers that every format holds exactly, so each element of each sum must
// be exact, wherever in the registers its factors were.
#include <hipscope/hipscope.h>
#include <hipscope/timed_rounds.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "documented.h"
#include "findings.h"
#include "hipscope/matrix/instructions.h"
#include "hipscope/matrix/launcher.h"
#include "library.h"
#include "probes.h"

using hipscope::Sweep;
using hipscope::WaveTime;

namespace matrix_rate {
namespace {

// --- Kernels ----------------------------------------------------------------------------------

// Vector instructions issue every cycle or two: 64 of them with the three instructions of a loop
// are 95 % of its cycles, and NVIDIA's compiler ends a short body with what waits for one chain.
#if defined(HIPSCOPE_BACKEND_NVIDIA)
constexpr unsigned vector_rounds = 8;
#else
constexpr unsigned vector_rounds = 1;
#endif
template <typename Code>
constexpr unsigned rounds_of_a_turn = std::string_view(Code::family) == vector_family
                                          ? vector_rounds
                                          : 1;

// Both pairs of operands stay in registers, and so do the sums of all chains.
template <typename Code, unsigned Chains>
__global__ void __launch_bounds__((most_threads<Code, Chains>))
    chains_kernel(const void* a_of_lanes, const void* b_of_lanes, const void* starts, void* ends,
                  WaveTime* times, unsigned rounds) {
  if constexpr (!is_of_this_pass<Code>()) {
    return;
  }
  const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned lane = thread % Code::lanes;
  typename Code::A a[pairs];
  typename Code::B b[pairs];
#pragma unroll
  for (unsigned pair = 0; pair < pairs; ++pair) {
    a[pair] = static_cast<const typename Code::A*>(a_of_lanes)[pair * Code::lanes + lane];
    b[pair] = static_cast<const typename Code::B*>(b_of_lanes)[pair * Code::lanes + lane];
  }
  typename Code::Sum sums[Chains];
#pragma unroll
  for (unsigned chain = 0; chain < Chains; ++chain) {
    sums[chain] = load_sum<typename Code::Sum>(starts, chain, lane, Code::lanes);
  }
  const WaveTime time = hipscope::time_rounds<true, rounds_of_a_turn<Code>>(rounds, [&] {
#pragma unroll
    for (unsigned step = 0; step < body_instructions / Chains; ++step) {
#pragma unroll
      for (unsigned chain = 0; chain < Chains; ++chain) {
        Code::multiply_add(sums[chain], a[step % pairs], b[step % pairs]);
      }
    }
  });
#pragma unroll
  for (unsigned chain = 0; chain < Chains; ++chain) {
    store_sum(ends, thread / Code::lanes * Chains + chain, lane, Code::lanes, sums[chain]);
  }
  if (threadIdx.x % warpSize == 0) {
    times[thread / warpSize] = time;
  }
}

// wgmma: B, and A too unless it comes from registers, in LDS, where all groups of a block read
// them. The instructions go on by themselves, up to a round ahead of those that issue them.
template <typename Code, unsigned Chains>
__global__ void __launch_bounds__((most_threads<Code, Chains>))
    group_kernel(const void* a_given, const void* b_given, const void* starts, void* ends,
                 WaveTime* times, unsigned rounds) {
  __shared__ GroupOperands<Code, pairs> lds;
  const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned lane = thread % Code::lanes;
  lds.fill(a_given, b_given);
  typename Code::A a[pairs];
  std::uint64_t b[pairs];
#pragma unroll
  for (unsigned pair = 0; pair < pairs; ++pair) {
    a[pair] = lds.a_of(a_given, pair, lane);
    b[pair] = lds.b_of(pair);
  }
  typename Code::Sum sums[Chains];
#pragma unroll
  for (unsigned chain = 0; chain < Chains; ++chain) {
    sums[chain] = load_sum<typename Code::Sum>(starts, chain, lane, Code::lanes);
  }
  hipscope::CycleClock clock;
  unsigned repeats = hipscope::warm_up_rounds;
#pragma unroll 1
  for (unsigned pass = 0; pass < 2; ++pass) {
    __syncthreads();
    clock.start();
    wgmma_fence();
#pragma unroll 1
    for (unsigned round = 0; round < repeats; ++round) {
#pragma unroll
      for (unsigned step = 0; step < body_instructions / Chains; ++step) {
#pragma unroll
        for (unsigned chain = 0; chain < Chains; ++chain) {
          lds.multiply_add(sums[chain], a[step % pairs], b[step % pairs], step % pairs);
        }
      }
      wgmma_wait<1>();
    }
    wgmma_wait<0>();
    clock.stop();
    repeats = rounds;
  }
#pragma unroll
  for (unsigned chain = 0; chain < Chains; ++chain) {
    store_sum(ends, thread / Code::lanes * Chains + chain, lane, Code::lanes, sums[chain]);
  }
  if (threadIdx.x % warpSize == 0) {
    times[thread / warpSize] = {.start = clock.started(), .end = clock.ended()};
  }
}

// A single instruction in each group of lanes, to see how it adds.
template <typename Code>
__global__ void __launch_bounds__((most_threads<Code, 1>))
    once_kernel(const void* a_of_lanes, const void* b_of_lanes, const void* starts, void* ends,
                WaveTime* /*times*/, unsigned /*rounds*/) {
  if constexpr (!is_of_this_pass<Code>()) {
    return;
  }
  const unsigned lane = threadIdx.x % Code::lanes;
  auto sum = load_sum<typename Code::Sum>(starts, 0, lane, Code::lanes);
  Code::multiply_add(sum, static_cast<const typename Code::A*>(a_of_lanes)[lane],
                     static_cast<const typename Code::B*>(b_of_lanes)[lane]);
  store_sum(ends, threadIdx.x / Code::lanes, lane, Code::lanes, sum);
}

template <typename Code>
__global__ void __launch_bounds__((most_threads<Code, 1>))
    group_once_kernel(const void* a_given, const void* b_given, const void* starts, void* ends,
                      WaveTime* /*times*/, unsigned /*rounds*/) {
  __shared__ GroupOperands<Code, 1> lds;
  lds.fill(a_given, b_given);
  auto sum = load_sum<typename Code::Sum>(starts, 0, threadIdx.x, Code::lanes);
  const typename Code::A a = lds.a_of(a_given, 0, threadIdx.x);
  wgmma_fence();
  lds.multiply_add(sum, a, lds.b_of(0), 0);
  wgmma_wait<0>();
  store_sum(ends, 0, threadIdx.x, Code::lanes, sum);
}

// --- Instructions -----------------------------------------------------------------------------

template <typename Code, unsigned Chains>
void add_kernel(Instruction& instruction) {
  if constexpr (has_registers_for<Code, Chains>) {
    Kernel kernel = nullptr;
    if constexpr (is_of_groups<Code>) {
      kernel = group_kernel<Code, Chains>;
    } else {
      kernel = chains_kernel<Code, Chains>;
    }
    instruction.kernels.push_back({Chains, most_threads<Code, Chains>, kernel});
  }
}

// Not inlined: gcc would make one function of all instructions, which takes it long.
template <typename Code>
__attribute__((noinline)) Instruction with_kernels() {
  Instruction instruction = describe<Code>();
  add_kernel<Code, 1>(instruction);
  add_kernel<Code, 2>(instruction);
  add_kernel<Code, 4>(instruction);
  add_kernel<Code, 8>(instruction);
  if constexpr (is_of_groups<Code>) {
    instruction.once = group_once_kernel<Code>;
  } else {
    instruction.once = once_kernel<Code>;
  }
  return instruction;
}

std::vector<Instruction> make_instructions(const hipscope::DeviceDescription& device) {
  std::vector<Instruction> list;
  visit_instructions(
      device, [&]<typename Code>(const Code* /*type*/) { list.push_back(with_kernels<Code>()); });
  return list;
}

const std::vector<Instruction>& instructions_of(const hipscope::DeviceDescription& device) {
  static const std::vector<Instruction> list = make_instructions(device);
  return list;
}

std::vector<const Instruction*> leading_instructions(const hipscope::DeviceDescription& device) {
  return leading(instructions_of(device));
}

// --- Sweeps -----------------------------------------------------------------------------------

unsigned wave_size(const Sweep& sweep) { return static_cast<unsigned>(sweep.device().wave_size); }

void note_instructions(Sweep& sweep) {
  const auto& list = instructions_of(sweep.device());
  if (std::none_of(list.begin(), list.end(), is_matrix_instruction)) {
    sweep.note("this device has no matrix instruction: packed and dot instructions alone");
  }
}

// One value for each number of chains, NaN where registers do not suffice.
void add_by_chains(hipscope::Point& point, const std::map<unsigned, double>& values,
                   const std::string& unit) {
  for (const unsigned chains : {1U, 2U, 4U, 8U}) {
    const auto found = values.find(chains);
    point.value(std::to_string(chains) + (chains == 1 ? " chain" : " chains"),
                found == values.end() ? unknown : found->second, unit);
  }
}

// One group alone: how long a sum takes until the next instruction can add to it, and how closely
// instructions with sums of their own follow one another.
void measure_chains(Sweep& sweep, std::uint64_t rounds) {
  sweep.axis({.name = "instruction"});
  sweep.headline("1 chain");
  sweep.note("cycles from one instruction of a group of lanes to its next, by independent sums");
  note_instructions(sweep);
  double row = 0;
  for (const Instruction& instruction : instructions_of(sweep.device())) {
    auto point = sweep.point(instruction.title(), ++row);
    std::map<unsigned, double> cycles;
    for (const ChainKernel& kernel : instruction.kernels) {
      Launcher launcher(instruction, kernel, {.blocks = 1, .groups = 1}, wave_size(sweep),
                        Data::integers, sweep.seed());
      launcher.verify(point);
      if (kernel.chains == 1) {
        point.measure([&] { launcher.run(rounds); }, {.batch = 1});
      }
      cycles[kernel.chains] = sweep.counted(launcher.cycles_per_instruction(point, rounds));
    }
    add_by_chains(point, cycles, "cycles");
  }
}

std::vector<unsigned> group_counts(const Sweep& sweep) {
  return sweep.is_hardware() ? std::vector<unsigned>{1, 2, 3, 4, 8, 12, 16}
                             : std::vector<unsigned>{2};
}

// More and more groups on one CU, each with 1 ... 8 sums: up to 4 waves each has a SIMD (NVIDIA: SM
// sub-partition) of its own.
void measure_groups(Sweep& sweep, std::uint64_t rounds) {
  sweep.axis({.name = "instruction x groups"});
  sweep.headline("1 chain");
  sweep.note("FMAs per cycle of one CU, by groups of lanes and independent sums of each");
  double row = 0;
  for (const Instruction* instruction : leading_instructions(sweep.device())) {
    for (const unsigned groups : group_counts(sweep)) {
      const unsigned waves = groups * instruction->lanes / wave_size(sweep);
      if (groups * instruction->lanes > instruction->kernels[0].most_threads || waves == 0) {
        continue;
      }
      auto point = sweep.point(instruction->title() + " x " + std::to_string(groups), ++row);
      std::map<unsigned, double> rates;
      for (const ChainKernel& kernel : instruction->kernels) {
        if (groups * instruction->lanes > kernel.most_threads) {
          continue;
        }
        Launcher launcher(*instruction, kernel, {.blocks = 1, .groups = groups}, wave_size(sweep),
                          Data::integers, sweep.seed());
        launcher.verify(point);
        if (kernel.chains == 1) {
          point.measure([&] { launcher.run(rounds); }, {.batch = 1});
        }
        rates[kernel.chains] = sweep.counted(instruction->fmas() * groups /
                                             launcher.cycles_per_instruction(point, rounds));
      }
      add_by_chains(point, rates, "FMAs/cycle/CU");
    }
  }
}

// Runs a kernel for `seconds`.
void warm(Launcher& launcher, std::uint64_t rounds, double seconds) {
  const auto begin = std::chrono::steady_clock::now();
  while (std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() <
         seconds) {
    launcher.run(rounds);
    hipscope::check(hipDeviceSynchronize());
  }
}

// A kernel of an instruction, and how many groups of lanes run it on each CU.
struct Choice {
  const ChainKernel* kernel;
  Shape shape;
};

// Up to four chains hide what a matrix instruction waits for. A vector instruction has as many as
// there are, since neighbours that share operands read them from the registers once; one wave on
// each SIMD (NVIDIA: SM sub-partition) keeps them from the next instruction on, several in turn do
// not, and have more in flight.
std::vector<Choice> choices_of(const Sweep& sweep, const Instruction& instruction) {
  constexpr std::size_t of_four_chains = 2;
  const std::size_t most = instruction.kernels.size() - 1;
  const bool is_matrix = is_matrix_instruction(instruction);
  const ChainKernel& kernel =
      instruction.kernels[is_matrix ? std::min(of_four_chains, most) : most];
  std::vector<Choice> choices = {{&kernel, full_shape(sweep, instruction, kernel)}};
  constexpr unsigned simds = 4;
  if (!is_matrix && choices[0].shape.groups > simds) {
    choices.push_back({&kernel, {.blocks = choices[0].shape.blocks, .groups = simds}});
  }
  return choices;
}

// Every CU full, in the fastest way.
void measure_full(Sweep& sweep, const Instruction& instruction, const std::string& label, double x,
                  std::uint64_t fmas, Data data, double warm_seconds) {
  auto point = sweep.point(label, x);
  const std::vector<Choice> choices = choices_of(sweep, instruction);
  const auto fmas_of_round = [&](const Choice& choice) {
    return instruction.fmas() * body_instructions * choice.shape.groups;
  };
  const auto rounds_of = [&](const Choice& choice) {
    return std::max(std::uint64_t{1},
                    static_cast<std::uint64_t>(double(fmas) / fmas_of_round(choice)));
  };
  const auto launcher_of = [&](const Choice& choice) {
    return std::make_shared<Launcher>(instruction, *choice.kernel, choice.shape, wave_size(sweep),
                                      data, sweep.seed());
  };
  std::vector<std::function<void()>> bodies;
  for (const Choice& choice : choices) {
    bodies.emplace_back(
        [launcher = launcher_of(choice), rounds = rounds_of(choice)] { launcher->run(rounds); });
  }
  const Choice& choice = choices[choices.size() > 1 ? point.fastest(bodies) : 0];
  const std::shared_ptr<Launcher> of_choice = launcher_of(choice);
  Launcher& launcher = *of_choice;
  const std::uint64_t rounds = rounds_of(choice);
  const double round = fmas_of_round(choice);
  launcher.verify(point);
  warm(launcher, rounds, warm_seconds);
  const auto time = point.measure([&] { launcher.run(rounds); });
  add_rates(point, time, round * static_cast<double>(rounds + hipscope::warm_up_rounds),
            choice.shape.blocks, instruction.format);
}

void measure_peak(Sweep& sweep, std::uint64_t fmas) {
  sweep.axis({.name = "instruction"});
  sweep.headline("rate");
  sweep.note("a sparse instruction counts with the FMAs of the zeros that it leaves out");
  note_instructions(sweep);
  double row = 0;
  for (const Instruction& instruction : instructions_of(sweep.device())) {
    measure_full(sweep, instruction, instruction.title(), ++row, fmas, Data::integers, 0);
  }
}

// What the operands do to the clock: a GPU at the limit of its power takes it back after some
// milliseconds, so the same work runs for a while before it is measured.
void measure_data(Sweep& sweep, std::uint64_t fmas, std::uint64_t warm_milliseconds) {
  sweep.axis({.name = "instruction and operands"});
  sweep.headline("peak");
  const double warm_seconds =
      sweep.is_hardware() ? 1e-3 * static_cast<double>(warm_milliseconds) : 0;
  double row = 0;
  for (const Instruction* instruction : leading_instructions(sweep.device())) {
    if (!is_matrix_instruction(*instruction)) {
      continue;
    }
    for (const auto& [data, name] :
         {std::pair(Data::zeros, "zeros"), std::pair(Data::integers, "small integers"),
          std::pair(Data::random, "random bits")}) {
      measure_full(sweep, *instruction, instruction->title() + ", " + name, ++row, fmas, data,
                   warm_seconds);
    }
  }
}

RowName row_name(const Instruction& instruction) {
  return {std::string(instruction.format), std::string(instruction.name),
          std::string(instruction.family)};
}

int run(int argc, char** argv) {
  if (const auto status = probe_if_asked(argc, argv)) {
    return *status;
  }
  hipscope::Experiment experiment(
      "matrix_rate",
      {.question = "How fast are matrices multiplied in each number format, and how is it added?",
       .sources = {
           "hipscope's own; the probes of how it is added follow Fasi, Higham, Mikaitis and "
           "Pranesh, PeerJ CS 7:e330"}});
  const auto rounds =
      experiment.size("--rounds", "rounds of 64 instructions per group of lanes",
                      {.gpu = 64, .quick = 8, .host = 1, .minimum = 1, .maximum = 1U << 16});
  const auto fmas = experiment.size(
      "--fmas", "FMAs per CU in sweeps that fill all CUs",
      {.gpu = 1ULL << 34, .quick = 1ULL << 32, .host = 1, .minimum = 1, .maximum = 1ULL << 40});
  const auto warm_up =
      experiment.size("--warm", "milliseconds of the same work before sweep data measures it",
                      {.gpu = 100, .quick = 10, .host = 1, .minimum = 1, .maximum = 10000});
  const auto side =
      experiment.size("--side", "rows and columns of the library's matrices",
                      {.gpu = 8192, .quick = 4096, .host = 64, .minimum = 16, .maximum = 16384});
  experiment.sweep("chains", "one group of lanes, with more and more independent sums",
                   [=](Sweep& sweep) { measure_chains(sweep, rounds); });
  experiment.sweep(
      "groups", "more and more groups of lanes on one CU",
      [=](Sweep& sweep) { measure_groups(sweep, rounds); }, hipscope::InTiny::left_out);
  experiment.sweep(
      "peak", "every CU full", [=](Sweep& sweep) { measure_peak(sweep, fmas); },
      hipscope::InTiny::left_out);
  experiment.sweep(
      "data", "every CU full, with operands that take more and more power",
      [=](Sweep& sweep) { measure_data(sweep, fmas, warm_up); }, hipscope::InTiny::left_out);
  experiment.sweep(
      "library", "products of large square matrices by the vendor's library",
      [=](Sweep& sweep) { measure_library(sweep, side); }, hipscope::InTiny::left_out);
  experiment.sweep("adds", "how a sum is made, by single products",
                   [](Sweep& sweep) { measure_adds(sweep, leading_instructions(sweep.device())); });
  experiment.conclude([](hipscope::Results& results) {
    std::vector<RowName> all;
    for (const Instruction& instruction : instructions_of(results.device())) {
      all.push_back(row_name(instruction));
    }
    std::vector<RowName> leading;
    for (const Instruction* instruction : leading_instructions(results.device())) {
      leading.push_back(row_name(*instruction));
    }
    conclude(results, all, leading);
  });
  return experiment.run(argc, argv);
}

}  // namespace
}  // namespace matrix_rate

int main(int argc, char** argv) { return matrix_rate::run(argc, argv); }
