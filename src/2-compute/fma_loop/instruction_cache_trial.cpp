// The instruction cache by both passes over the length of a loop: where full speed ends, and the
// finer lengths about that.
#include <gtest/gtest.h>

#include <vector>

#include "cache_simulator.h"
#include "disturbance.h"
#include "findings.h"
#include "loop_lengths.h"
#include "made_results.h"
#include "trial.h"

namespace hipscope::trial {
namespace {

constexpr double code_tolerance = 0.125;

// The sizes of a GPU's instructions: NVIDIA's and AMD's, as fma_loop has them.
struct Code {
  double bytes_per_fma = 0;
  double chunk_bytes = 0;
  unsigned most_chunks = 0;
};

const std::vector<Code>& codes() {
  static const std::vector<Code> all = {
      {.bytes_per_fma = 16, .chunk_bytes = 1056, .most_chunks = 248},
      {.bytes_per_fma = 8, .chunk_bytes = 524, .most_chunks = 192}};
  return all;
}

std::vector<double> fine_lengths(const Code& code, const Curve& coarse) {
  std::vector<double> xs;
  for (const unsigned chunks : fma_loop::edge_chunks(coarse, code.chunk_bytes, code.most_chunks)) {
    xs.push_back(chunks * code.chunk_bytes + loop_bytes);
  }
  return xs;
}

// A loop that misses takes up to `slowdown` times as long.
struct CodeMachine {
  Cache cache{};
  double latency = 0;
  double end = 0;  // cycles that an iteration's end costs
  double slowdown = 0;

  [[nodiscard]] double loss(double bytes) const {
    return 1 + (slowdown - 1) * miss_share(cache, bytes);
  }
};

CodeMachine random_code_caches(Random& random) {
  CodeMachine machine{.latency = one_of(random, std::vector<double>{4, 8}),
                      .end = between(random, 1, 40),
                      .slowdown = between(random, 1.1, 4)};
  Cache& cache = machine.cache;
  constexpr unsigned many = 6;  // a loop goes round hundreds of times
  cache.laps = many;
  cache.bytes = kib * one_of(random, std::vector<double>{16, 24, 32, 32, 48, 64, 64, 96, 128, 192});
  cache.line = one_of(random, std::vector<double>{64, 128});
  cache.ways = one_of(random, std::vector<unsigned>{4, 8, 8, 16});
  cache.replacement = one_of(
      random, std::vector<Replacement>{Replacement::lru, Replacement::lru, Replacement::tree_plru,
                                       Replacement::random, Replacement::not_most_recent});
  cache.sets = one_of(random, std::vector<Sets>{Sets::in_turn, Sets::in_turn, Sets::in_turn,
                                                Sets::hashed, Sets::pages});
  return machine;
}

// What fma_loop measures of blocks of `threads`: sweep unroll-N, and edge-N where that has an end.
void add_sweeps(MadeResults& made, unsigned threads, const Code& code, const CodeMachine& machine,
                const Disturbance& disturbance, Random& random) {
  const Curve coarse = measured(
      loop_lengths(code.bytes_per_fma),
      [&](double x) {
        return (machine.latency + machine.end / fmas_of(x, code.bytes_per_fma)) * machine.loss(x);
      },
      disturbance, random);
  made.curve(fma_loop::unroll_name(threads), "cycles per FMA", coarse);
  const std::vector<double> lengths = fine_lengths(code, coarse);
  if (!lengths.empty()) {
    // What the chunks' ends cost is the same at all lengths.
    made.curve(fma_loop::edge_name(threads), "cycles per FMA",
               measured(
                   lengths, [&](double x) { return 1.02 * machine.latency * machine.loss(x); },
                   disturbance, random));
  }
}

const Seeds code_seeds(43);
const Seeds no_code_cache_seeds(44);

TEST(InstructionCacheTrial, BothPasses) {
  Tally& capacities = tally("instruction cache capacity");
  Tally& longest = tally("largest loop at full speed, both passes");
  for (unsigned i = 0; i < 1000; ++i) {
    Random random(code_seeds(i));
    const Disturbance& disturbance = one_of(random, all_disturbances());
    const Code& code = one_of(random, codes());
    const CodeMachine machine = random_code_caches(random);
    MadeResults made("fma_loop");
    for (const unsigned threads : fma_loop::edge_threads) {
      if (threads == fma_loop::edge_threads.front() || happens(random, 0.8)) {
        add_sweeps(made, threads, code, machine, disturbance, random);
      }
    }
    fma_loop::conclude(made.results());
    const Inference found = made.inference("instruction cache capacity");
    constexpr double well_within = 1.6;
    const bool is_reached = well_within * machine.cache.bytes < code.most_chunks * code.chunk_bytes;
    if (is_reached || found.value) {
      capacities.add({.value = machine.cache.bytes, .tolerance = code_tolerance}, found);
    }
    // Still at full speed as far as noise can tell, and hardly any longer not.
    const Inference loop = made.inference("largest loop at full speed, 64 threads");
    constexpr double little_more = 1.6;  // lengths are up to 1.5 times apart
    const bool is_right = loop.value && machine.loss(*loop.value) < 1.03 + 4 * disturbance.noise &&
                          machine.loss(little_more * *loop.value) > 1.01;
    longest.add({.value = is_right ? *loop.value : machine.cache.bytes / 4}, loop);
  }
  for (unsigned i = 0; i < 500; ++i) {
    Random random(no_code_cache_seeds(i));
    const Code& code = one_of(random, codes());
    MadeResults made("fma_loop");
    for (const unsigned threads : fma_loop::edge_threads) {
      const Curve coarse = nothing(loop_lengths(code.bytes_per_fma), random);
      made.curve(fma_loop::unroll_name(threads), "cycles per FMA", coarse);
      std::vector<double> lengths = fine_lengths(code, coarse);
      if (lengths.empty()) {
        continue;
      }
      made.curve(fma_loop::edge_name(threads), "cycles per FMA", nothing(lengths, random));
    }
    fma_loop::conclude(made.results());
    capacities.add({}, made.inference("instruction cache capacity"));
    longest.add({}, made.inference("largest loop at full speed, 64 threads"));
  }
  expect_goals(capacities, {.right = 0.4});
  expect_goals(longest, {.right = 0.4});
}

}  // namespace
}  // namespace hipscope::trial
