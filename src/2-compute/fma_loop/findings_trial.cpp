// Loops of FMAs by their length: where full speed ends, and the latency of an FMA. For the
// instruction cache by both passes over the length see instruction_cache_trial.cpp.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "disturbance.h"
#include "findings.h"
#include "loop_lengths.h"
#include "made_results.h"
#include "trial.h"

namespace hipscope::trial {
namespace {

void add_loops(MadeResults& made, const std::string& sweep, double bytes_per_fma,
               const Curve& cycles) {
  Curve fmas = cycles;
  for (CurvePoint& point : fmas) {
    point.y = fmas_of(point.x, bytes_per_fma);
  }
  made.curve(sweep, "FMAs in the loop", fmas);
  made.curve(sweep, "cycles per FMA", cycles);
}

// A loop past `cache` bytes loses `step` at once, or bit by bit over some octaves.
struct Loop {
  double bytes_per_fma = 0;
  double latency = 0;
  double end = 0;
  double cache = 0;
  double step = 0;
  double octaves = 0;

  [[nodiscard]] double cycles(double x) const {
    const double beyond = std::log2(x / cache);
    const double lost = beyond <= 0 ? 0 : octaves > 0 ? std::min(1.0, beyond / octaves) : 1;
    return (latency + end / fmas_of(x, bytes_per_fma)) * (1 + (step - 1) * lost);
  }
};

const Seeds loop_seeds(24);
const Seeds no_loop_seeds(25);

TEST(FmaLoopTrial, InstructionCache) {
  Tally& answers = tally("largest loop at full speed");
  for (unsigned i = 0; i < 1000; ++i) {
    Random random(loop_seeds(i));
    const Disturbance& disturbance = one_of(random, all_disturbances());
    Loop loop{.bytes_per_fma = one_of(random, std::vector<double>{4, 8, 16}),
              .latency = one_of(random, std::vector<double>{4, 8}),
              .end = between(random, 1, 40),
              .step = between(random, 1.1, 4),
              .octaves = one_of(random, std::vector<double>{0, 0.3, 1})};
    const std::vector<double> xs = loop_lengths(loop.bytes_per_fma);
    const auto after = static_cast<std::size_t>(between(random, 4, 10));
    const std::size_t last = xs.size() - 1 - after;
    loop.cache = between(random, xs[last], xs[last + 1]);
    MadeResults made("fma_loop");
    for (const std::string sweep : {"unroll-64", "unroll-256"}) {
      if (sweep == "unroll-64" || happens(random, 0.8)) {
        add_loops(made, sweep, loop.bytes_per_fma,
                  measured(
                      xs, [&](double x) { return loop.cycles(x); }, disturbance, random));
      }
    }
    fma_loop::conclude(made.results());
    const Inference found = made.inference("largest loop at full speed, 64 threads");
    // One point early is as near as a disturbed one lets it be; where the loss comes bit by bit,
    // 5 % more than fits is none yet, and what is within the noise is none either.
    const auto is_lost = [&](double x) {
      return x > 1.05 * loop.cache &&
             loop.cycles(x) / loop.cycles(xs[last]) > 1.03 + 4 * disturbance.noise;
    };
    const bool is_right = found.value && *found.value >= xs[last - 1] && !is_lost(*found.value);
    answers.add({.value = is_right ? *found.value : loop.cache}, found);
  }
  for (unsigned i = 0; i < 500; ++i) {
    Random random(no_loop_seeds(i));
    MadeResults made("fma_loop");
    // A clock that falls while a sweep runs looks like an end, for each block elsewhere.
    const bool is_clock_step = i % 5 == 0;
    for (const std::string sweep : {"unroll-64", "unroll-256"}) {
      const std::vector<double> xs = loop_lengths(16);
      const double falls_at = one_of(random, xs);
      const auto clock_step = [&](double x) { return x < falls_at ? 4.0 : 4.2; };
      add_loops(
          made, sweep, 16,
          is_clock_step ? measured(xs, clock_step, {.noise = 0.001}, random) : nothing(xs, random));
    }
    fma_loop::conclude(made.results());
    answers.add({}, made.inference("largest loop at full speed, 64 threads"));
  }
  expect_goals(answers, {.right = 0.7});
}

const Seeds fma_seeds(38);

TEST(FmaLoopTrial, FmaLatency) {
  Tally& answers = tally("FMA latency by the loop's length");
  for (unsigned i = 0; i < 500; ++i) {
    Random random(fma_seeds(i));
    const Loop loop{.bytes_per_fma = 8,
                    .latency = between(random, 2, 12),
                    .end = between(random, 1, 40),
                    .cache = 1e9,
                    .step = 1};
    MadeResults made("fma_loop");
    add_loops(made, "unroll-64", loop.bytes_per_fma,
              measured(
                  loop_lengths(loop.bytes_per_fma), [&](double x) { return loop.cycles(x); },
                  one_of(random, all_disturbances()), random));
    fma_loop::conclude(made.results());
    answers.add({.value = loop.latency, .tolerance = 0.05}, made.inference("FMA latency"));
  }
  expect_goals(answers, {.right = 0.8});
}

}  // namespace
}  // namespace hipscope::trial
