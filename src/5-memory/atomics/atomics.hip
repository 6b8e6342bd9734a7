// What does an atomic cost, where threads meet and where they do not?
//
// An atomic reads a word, computes and writes it back, with nobody in between: in a block's LDS, or
// in L2, where all CUs see the same. Waiting for the value that it returns takes as long as a load.
// Many lanes at one word wait for one another, and do better to combine in LDS or registers first.
//   latency    one lane, each atomic on what the last one returned, by operation and type
//   l2         all CUs at words of L2, by operation, and by who meets whom
//   lds        the same for one block in LDS
//   waves      by the waves of one CU, beside an addition that is a loop of compare-and-swap
//   units      by the number of CUs
//   order      order.h     a sum of floats by atomics: is it the same every time, and how exact?
//   remedies   remedies.h  one sum over many values: what is added up before the atomic
//   histogram  histogram/  256 bins: a ladder, beside the vendor's library
// operations.h and words.h say what each operation does and what must be in memory afterwards.
#include <hipscope/hipscope.h>
#include <hipscope/timed_rounds.h>
#include <hipscope/wait_for_lds.h>

#include <algorithm>
#include <string>
#include <vector>

#include "findings.h"
#include "histogram/ladder.h"
#include "operations.h"
#include "order.h"
#include "rates.h"
#include "remedies.h"
#include "words.h"

namespace atomics {
namespace {

using hipscope::DeviceBuffer;
using hipscope::launch;
using hipscope::Point;
using hipscope::Sweep;
using hipscope::WaveTime;

constexpr unsigned chain_steps = 16;  // in the body of the loop

// --- Kernels ----------------------------------------------------------------------------------

// What a chain begins with. `mask` is 0, which the compiler does not know: so an operand that never
// changes still waits for what was returned.
template <typename Word>
struct Chain {
  Word start;
  Word first;
  Word mask;
};

// Between two atomics of the chain is one instruction.
template <typename Op>
__device__ typename Op::Word next_operand(const Chain<typename Op::Word>& chain,
                                          typename Op::Word returned) {
  if constexpr (Op::adds) {
    return (returned & chain.mask) | chain.first;
  } else {
    return Op::kind == Kind::minimum ? returned - 2 : returned + 2;
  }
}

// One lane. Its word's place is loaded: nvcc would add up a wave at an address that it knows.
template <typename Op, Scope scope>
__global__ void __launch_bounds__(1)
    chain_kernel(typename Op::Word* words, const unsigned* places, Chain<typename Op::Word> chain,
                 typename Op::Word* ends, WaveTime* time, unsigned rounds) {
  using Word = typename Op::Word;
  __shared__ Word lds[1];
  Word* const word = (scope == Scope::block ? lds : words) + places[0];
  *word = chain.start;
  Word operand = chain.first;
  Word returned = 0;
  *time = hipscope::time_rounds<false>(rounds, [&] {
#pragma unroll
    for (unsigned step = 0; step < chain_steps; ++step) {
      returned = apply<Op, scope>(word, operand);
      operand = next_operand<Op>(chain, returned);
    }
  });
  ends[0] = returned;
  ends[1] = *word;
}

// A lane at its word. With `Returned` it keeps a tally of what its atomics return; without, nobody
// asks, and the compiler may take an instruction that returns nothing.
template <typename Op, bool Returned, Scope scope>
struct Worker {
  using Word = typename Op::Word;
  Word* word;
  Word operand;
  Word increment;
  unsigned tally = 0;

  __device__ void work() {
#pragma unroll
    for (unsigned step = 0; step < body_steps; ++step) {
      const Word returned = apply<Op, scope>(word, operand);
      if constexpr (Returned) {
        tally += tally_of<Op>(returned, operand);
      }
      if constexpr (!Op::adds) {
        operand += increment;
      }
    }
  }
};

// `base` is what the operands have risen by in the launches before.
template <typename Op, bool Returned, Scope scope>
__global__ void __launch_bounds__(largest_block)
    rate_kernel(typename Op::Word* words, const unsigned* places, const typename Op::Word* operands,
                typename Op::Word base, typename Op::Word increment, unsigned* tallies,
                unsigned rounds) {
  const unsigned lane = blockIdx.x * blockDim.x + threadIdx.x;
  Worker<Op, Returned, scope> worker{
      .word = words + places[lane], .operand = operands[lane] + base, .increment = increment};
#pragma unroll 1
  for (unsigned round = 0; round < rounds; ++round) {
    worker.work();
  }
  if constexpr (Returned) {
    tallies[lane] = worker.tally;
  }
}

// The same in LDS, which begins anew with each launch and is stored at its end. Each wave tells its
// time.
template <typename Op, bool Returned>
__global__ void __launch_bounds__(largest_block)
    lds_rate_kernel(typename Op::Word* words, unsigned word_count, typename Op::Word start,
                    const unsigned* places, const typename Op::Word* operands,
                    typename Op::Word increment, unsigned* tallies, WaveTime* times,
                    unsigned rounds) {
  using Word = typename Op::Word;
  HIP_DYNAMIC_SHARED(unsigned long long, dynamic_lds)
  auto* const lds = reinterpret_cast<Word*>(dynamic_lds);
  for (unsigned i = threadIdx.x; i < word_count; i += blockDim.x) {
    lds[i] = start;
  }
  __syncthreads();
  Worker<Op, Returned, Scope::block> worker{
      .word = lds + places[threadIdx.x], .operand = operands[threadIdx.x], .increment = increment};
  const WaveTime taken = hipscope::time_rounds<true>(
      rounds, [&] { worker.work(); }, [] { hipscope::wait_for_lds(); });
  __syncthreads();
  for (unsigned i = threadIdx.x; i < word_count; i += blockDim.x) {
    words[i] = lds[i];
  }
  if constexpr (Returned) {
    tallies[threadIdx.x] = worker.tally;
  }
  if (threadIdx.x % warpSize == 0) {
    times[threadIdx.x / warpSize] = taken;
  }
}

// 1.0 to one word from every lane.
__global__ void __launch_bounds__(largest_block) loop_kernel(float* word, unsigned rounds) {
#pragma unroll 1
  for (unsigned round = 0; round < rounds; ++round) {
    add_by_loop(word, 1.0F);
  }
}

// --- Sweep: latency ---------------------------------------------------------------------------

template <typename Word>
using ChainKernel = void (*)(Word* words, const unsigned* places, Chain<Word> chain, Word* ends,
                             WaveTime* time, unsigned rounds);

template <typename Word>
void measure_latency(const Sweep& sweep, Point& point, const std::string& name,
                     const OperationOn<Word>& operation, ChainKernel<Word> kernel,
                     std::uint64_t rounds) {
  const std::vector<unsigned> place = {0};
  const DeviceBuffer<unsigned> places{std::span<const unsigned>(place)};
  DeviceBuffer<Word> words(1);
  DeviceBuffer<Word> ends(2);
  hipscope::WaveTimes times(1);
  const std::uint64_t start = operation.start_number();
  const Chain<Word> chain = {.start = operation.start(), .first = operation.first(0), .mask = 0};
  const auto run = [&](WaveTime* time) {
    launch(kernel, {.grid = dim3(1), .block = dim3(1)}, words.data(), places.data(), chain,
           ends.data(), time, rounds);
  };
  hipscope::WaveTimes unused(1);
  run(unused.next());
  const std::uint64_t steps = (rounds + hipscope::warm_up_rounds) * chain_steps;
  const bool falls = operation.kind == Kind::minimum;
  const Word last = operation.word_of(falls ? start - steps + 1 : start + steps - 1);
  const Word left = operation.word_of(falls ? start - steps : start + steps);
  point.check(name, ends.to_host(), [&](std::uint64_t i) { return i == 0 ? last : left; });
  point.measure([&] { run(times.next()); }, {.name = name + " time", .batch = 1});
  point.value(name, sweep.counted(times.take(point)) / static_cast<double>(rounds * chain_steps),
              "cycles");
}

void measure_latencies(Sweep& sweep, std::uint64_t rounds) {
  sweep.axis({.name = "operation"});
  sweep.headline("L2");
  sweep.note("one lane; between two atomics stands one instruction, which makes the next operand");
  for_each_operation([&](auto op, double x) {
    using Op = decltype(op);
    if constexpr (Op::kind != Kind::add_one) {  // it has no operand that could wait
      const auto operation = describe<Op>();
      auto point = sweep.point(operation.name, x);
      const auto measure = [&](const std::string& name, ChainKernel<typename Op::Word> kernel) {
        measure_latency(sweep, point, name, operation, kernel, rounds);
      };
      if constexpr (Op::works_in_lds) {
        measure("LDS", chain_kernel<Op, Scope::block>);
      }
      measure("L2", chain_kernel<Op, Scope::device>);
      if constexpr (Op::has_system_scope) {
        measure("system", chain_kernel<Op, Scope::system>);
      }
    }
  });
}

// --- Rates ------------------------------------------------------------------------------------

template <typename Op, bool Returned, Scope scope = Scope::device>
constexpr L2Kernel<typename Op::Word> l2_kernel = {.function = rate_kernel<Op, Returned, scope>,
                                                   .returns = Returned};

// `system`: the same among all who see the memory, or null.
template <typename Word>
void measure_l2_row(Sweep& sweep, double x, const OperationOn<Word>& operation,
                    const L2Kernel<Word>& kernel, const L2Kernel<Word>* system, const Crew& crew,
                    std::uint64_t rounds) {
  auto point = sweep.point(operation.name + (kernel.returns ? ", returned" : ""), x);
  for (const Pattern pattern : {Pattern::one_address, Pattern::one_line, Pattern::per_wave,
                                Pattern::per_block, Pattern::spread, Pattern::scattered}) {
    measure_rate(point, name_of(pattern), operation, kernel, pattern, crew,
                 rounds_for(sweep, pattern, rounds));
  }
  if (system != nullptr) {
    for (const Pattern pattern : {Pattern::one_address, Pattern::spread}) {
      measure_rate(point, std::string("system, ") + name_of(pattern), operation, *system, pattern,
                   crew, rounds_for(sweep, pattern, rounds));
    }
  }
}

// Rows of what returns nothing stand before those of what does. A compare-and-swap without its
// return would be of no use, and an exchange a store, which clang makes of it.
template <typename MeasureRow>
void measure_rows(MeasureRow measure_row) {
  for_each_operation([&](auto op, double x) {
    using Op = decltype(op);
    if constexpr (Op::kind != Kind::compare_and_swap && Op::kind != Kind::exchange) {
      measure_row(op, std::false_type{}, x);
    }
  });
  for_each_operation([&](auto op, double x) {
    constexpr double first_returned = 20;
    measure_row(op, std::true_type{}, first_returned + x);
  });
}

void measure_l2(Sweep& sweep, std::uint64_t rounds, std::uint64_t threads) {
  const Crew crew = whole_device(sweep, threads);
  sweep.axis({.name = "operation"});
  sweep.headline(name_of(Pattern::spread));
  sweep.note(block_on_each(crew) + "; atomics of a lane, of all lanes together");
  measure_rows([&](auto op, auto returned, double x) {
    using Op = decltype(op);
    constexpr bool is_returned = decltype(returned)::value;
    const L2Kernel<typename Op::Word>* system = nullptr;
    if constexpr (std::is_same_v<Op, AddInt>) {
      system = &l2_kernel<Op, is_returned, Scope::system>;
    }
    measure_l2_row(sweep, x, describe<Op>(), l2_kernel<Op, is_returned>, system, crew, rounds);
  });
}

// --- Sweep: lds -------------------------------------------------------------------------------

template <typename Word>
void measure_lds_row(Sweep& sweep, double x, const OperationOn<Word>& operation,
                     const LdsKernel<Word>& kernel, const Crew& crew, std::uint64_t rounds) {
  auto point = sweep.point(operation.name + (kernel.returns ? ", returned" : ""), x);
  for (const Pattern pattern :
       {Pattern::one_address, Pattern::one_line, Pattern::spread, Pattern::one_bank}) {
    measure_rate(sweep, point, name_of(pattern), operation, kernel, pattern, crew,
                 static_cast<unsigned>(rounds));
  }
}

void measure_lds(Sweep& sweep, std::uint64_t rounds, std::uint64_t threads) {
  Crew crew = whole_device(sweep, threads);
  crew.blocks = 1;
  sweep.axis({.name = "operation"});
  sweep.headline(name_of(Pattern::spread));
  sweep.note("one block of " + std::to_string(crew.threads) + " threads, by its CU's counter");
  measure_rows([&](auto op, auto returned, double x) {
    using Op = decltype(op);
    if constexpr (Op::works_in_lds) {
      constexpr bool is_returned = decltype(returned)::value;
      const LdsKernel<typename Op::Word> kernel = {.function = lds_rate_kernel<Op, is_returned>,
                                                   .returns = is_returned};
      measure_lds_row(sweep, x, describe<Op>(), kernel, crew, rounds);
    }
  });
}

// --- Sweeps: waves, units ---------------------------------------------------------------------

// 1.0 from each lane of a block, by a loop.
void measure_loop(Point& point, const Crew& crew, unsigned rounds) {
  DeviceBuffer<float> word(1);
  const auto run = [&] {
    launch(loop_kernel, {.grid = dim3(crew.blocks), .block = dim3(crew.threads)}, word.data(),
           rounds);
  };
  word.clear();
  run();
  const auto adds = static_cast<double>(crew.lanes()) * rounds;
  point.check_value("loop, one address", word.to_host()[0], static_cast<float>(adds));
  word.clear();
  const auto time = point.measure(run, {.name = "loop, one address time"});
  point.value("loop, one address", 1e-9 * adds / time.seconds().median, "G/s");
}

void measure_crew(Point& point, const Crew& crew, unsigned rounds, unsigned crowded_rounds) {
  const auto operation = describe<AddInt>();
  const auto measure = [&](const std::string& name, const L2Kernel<unsigned>& kernel,
                           Pattern pattern) {
    measure_rate(point, name, operation, kernel, pattern, crew,
                 pattern == Pattern::spread ? rounds : crowded_rounds);
  };
  measure("one address", l2_kernel<AddInt, false>, Pattern::one_address);
  measure("one address, returned", l2_kernel<AddInt, true>, Pattern::one_address);
  measure("spread", l2_kernel<AddInt, false>, Pattern::spread);
  measure("spread, returned", l2_kernel<AddInt, true>, Pattern::spread);
}

void measure_waves(Sweep& sweep, std::uint64_t rounds, std::uint64_t threads) {
  sweep.axis({.name = "waves", .scale = hipscope::Scale::logarithmic});
  sweep.headline(name_of(Pattern::spread));
  sweep.note("one block; loop: a float is added by compare-and-swap until nobody came in between");
  Crew crew = whole_device(sweep, threads);
  crew.blocks = 1;
  const unsigned most_waves = crew.threads / crew.wave_size;
  for (unsigned waves = 1; waves <= most_waves; waves *= 2) {
    auto point = sweep.point(std::to_string(waves), waves);
    crew.threads = waves * crew.wave_size;
    const unsigned many = rounds_for(sweep, Pattern::spread, rounds);
    measure_crew(point, crew, many, many);
    measure_loop(point, crew, 1);
  }
}

void measure_units(Sweep& sweep, std::uint64_t rounds, std::uint64_t threads) {
  Crew crew = whole_device(sweep, threads);
  sweep.axis({.name = "CUs", .scale = hipscope::Scale::logarithmic});
  sweep.headline(name_of(Pattern::one_address));
  sweep.note(block_on_each(crew) + "; int32, add");
  const unsigned units = crew.blocks;
  for (crew.blocks = 1; crew.blocks <= units;
       crew.blocks = crew.blocks < units ? std::min(units, 2 * crew.blocks) : units + 1) {
    auto point = sweep.point(std::to_string(crew.blocks), crew.blocks);
    measure_crew(point, crew, rounds_for(sweep, Pattern::spread, rounds),
                 static_cast<unsigned>(rounds));
  }
}

// --- The experiment ---------------------------------------------------------------------------

int run(int argc, char** argv) {
  hipscope::Experiment experiment(
      "atomics", {.question = "What does an atomic cost, where threads meet and where they do not?",
                  .sources = {"hipscope's own"}});
  const auto rounds = experiment.size(
      "--rounds", "rounds of 8 atomics (16 for one lane); 16 times as many if lanes do not meet",
      {.gpu = 4, .quick = 2, .host = 1, .minimum = 1, .maximum = 6});
  const auto threads = experiment.size("--threads", "threads of a block",
                                       {.gpu = largest_block,
                                        .quick = largest_block,
                                        .host = smallest_block,
                                        .minimum = smallest_block,
                                        .maximum = largest_block});
  const auto values = experiment.size("--values", "values to sum in sweep remedies",
                                      {.gpu = 1U << 23,
                                       .quick = 1U << 20,
                                       .host = 2000,
                                       .tiny = 1999,
                                       .minimum = 1,
                                       .maximum = 1U << 28});
  const auto floats = experiment.size("--floats", "floats to sum in sweep order",
                                      {.gpu = 1U << 20,
                                       .quick = 1U << 17,
                                       .host = 1000,
                                       .tiny = 999,
                                       .minimum = 1,
                                       .maximum = 1U << 20});
  const auto samples = experiment.size(
      "--samples", "samples of sweep histogram",
      {.gpu = 1U << 27, .quick = 1U << 24, .host = 5003, .minimum = 1, .maximum = 1U << 30});
  experiment.sweep("latency", "atomics of one lane, each with what the last one returned",
                   [&](Sweep& sweep) { measure_latencies(sweep, 8 * rounds); });
  experiment.sweep("l2", "atomics of all CUs on words of L2",
                   [&](Sweep& sweep) { measure_l2(sweep, rounds, threads); });
  experiment.sweep("lds", "atomics of a block on words of its LDS",
                   [&](Sweep& sweep) { measure_lds(sweep, 16 * rounds, threads); });
  experiment.sweep("waves", "additions in L2 by the waves of one CU",
                   [&](Sweep& sweep) { measure_waves(sweep, rounds, threads); });
  experiment.sweep("units", "additions in L2 by CUs",
                   [&](Sweep& sweep) { measure_units(sweep, rounds, threads); });
  experiment.sweep("order", "sums of floats by atomics, and how they differ",
                   [&](Sweep& sweep) { measure_order(sweep, floats); });
  experiment.sweep("remedies", "one sum over many values: who adds up first",
                   [&](Sweep& sweep) { measure_remedies(sweep, values); });
  experiment.sweep("histogram", "256 bins, by the stages of a ladder and three kinds of data",
                   [&](Sweep& sweep) { measure_histograms(sweep, samples); });
  experiment.conclude(conclude);
  return experiment.run(argc, argv);
}

}  // namespace
}  // namespace atomics

int main(int argc, char** argv) { return atomics::run(argc, argv); }
