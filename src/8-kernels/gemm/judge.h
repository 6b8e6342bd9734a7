// How a stage or the library is checked and measured, and what is known of a stage's kernel.
#pragma once

#include <hipscope/hipscope.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "busy_units.h"
#include "cases.h"
#include "library.h"
#include "problem.h"
#include "stage.h"

namespace gemm {

inline constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

template <typename Value, typename Result>
Verdict judge(const Stage<Value, Result>& stage, Problem<Value, Result>& problem,
              Factors<Value> factors) {
  problem.reset(factors.beta);
  const Prepared<Value, Result> prepared(stage, problem.product(factors.alpha, factors.beta));
  prepared.enqueue();
  prepared.finish();
  return problem.judge(factors.alpha, factors.beta);
}

template <typename Value, typename Result>
Verdict judge(Library<Value, Result>& library, Problem<Value, Result>& problem,
              Factors<Value> factors) {
  problem.reset(factors.beta);
  library.enqueue(problem.product(factors.alpha, factors.beta));
  return problem.judge(factors.alpha, factors.beta);
}

/// Judges a stage whose blocks hand sums to one another through its workspace: what that has is of
/// a product of NaN, and half of the blocks come late.
template <typename Value, typename Result>
Verdict judge_late_blocks(const Stage<Value, Result>& stage, Problem<Value, Result>& problem,
                          Factors<Value> factors, BusyUnits& busy) {
  problem.poison_operands();
  const Prepared<Value, Result> prepared(stage, problem.product(factors.alpha, factors.beta));
  prepared.enqueue();
  problem.fill_operands();
  problem.reset(factors.beta);
  prepared.renew();
  busy.begin();
  prepared.enqueue();
  prepared.finish();
  return problem.judge(factors.alpha, factors.beta);
}

/// Whether the device has what the stage needs.
template <typename Value, typename Result>
bool is_here(const hipscope::Sweep& sweep, const Stage<Value, Result>& stage) {
  return stage.dynamic_lds_bytes <= sweep.device().largest_lds_bytes_per_block &&
         (stage.is_on == nullptr || stage.is_on(sweep.device()));
}

/// Verifies with both factors, and shows the larger error.
template <typename Multiplier, typename Value, typename Result>
void verify_both(hipscope::Point& point, Multiplier& multiplier, Problem<Value, Result>& problem) {
  const Verdict measured = judge(multiplier, problem, measured_factors<Value>);
  const Verdict other = judge(multiplier, problem, other_factors<Value>);
  verify(point, "every element", measured);
  verify(point, "every element, alpha = 1.5, beta = -0.5", other);
  point.value("error", std::max(measured.error, other.error), "eps");
}

/// What the compiler and the runtime say of a stage's kernel.
template <typename Value>
void add_resources(const hipscope::Sweep& sweep, hipscope::Point& point,
                   const Stage<Value>& stage) {
  hipFuncAttributes attributes{};
  int blocks = 0;
  hipscope::check(hipFuncGetAttributes(&attributes, stage.kernel));
  hipscope::check(hipOccupancyMaxActiveBlocksPerMultiprocessor(
      &blocks, stage.kernel, static_cast<int>(stage.tiles.threads), stage.dynamic_lds_bytes));
  const auto known = [&](double value) { return sweep.is_hardware() ? value : unknown; };
  const double lds = static_cast<double>(attributes.sharedSizeBytes) + stage.dynamic_lds_bytes;
  point.value("registers", known(attributes.numRegs), "per thread");
  point.value("scratch", known(static_cast<double>(attributes.localSizeBytes)), "bytes per thread");
  point.value("LDS", known(lds), "bytes");
  point.value("blocks per CU", known(blocks), "");
}

inline constexpr const char* teraflops = "TFLOP/s";

inline double fmas_of(const Extents& extents) {
  return double{1} * extents.m * extents.n * extents.k;
}

inline double rate_of(const Extents& extents, const hipscope::Measurement& time) {
  return 2e-12 * fmas_of(extents) / time.seconds().median;
}

/// A row: the rate of each stage, the best of them, the library's best, and their ratio.
template <typename Value, typename Result>
void measure_in_turn(const hipscope::Sweep& sweep, hipscope::Point& point,
                     const std::vector<Stage<Value, Result>>& chosen,
                     Problem<Value, Result>& problem) {
  const Factors<Value> factors = measured_factors<Value>;
  const auto product = problem.product(factors.alpha, factors.beta);
  std::vector<std::function<void()>> bodies;
  std::vector<hipscope::MeasureOptions> options;
  for (const Stage<Value, Result>& stage : chosen) {
    verify(point, stage.technique, judge(stage, problem, factors));
    const auto prepared = std::make_shared<Prepared<Value, Result>>(stage, product);
    bodies.emplace_back([prepared] { prepared->enqueue(); });
    options.push_back({.name = stage.technique});
  }
  const auto ways = is_for_library<Value>(product.extents) ? ways_of_library<Value, Result>(sweep)
                                                           : std::vector<LibraryWay>{};
  for (const LibraryWay& way : ways) {
    const auto library = std::make_shared<Library<Value, Result>>(way);
    verify(point, "library, " + way.name, judge(*library, problem, factors));
    bodies.emplace_back([library, product] { library->enqueue(product); });
    options.push_back({.name = "library, " + way.name});
  }
  const auto times = point.measure_in_turn(bodies, options);
  double ours = 0;
  double library = ways.empty() ? unknown : 0;
  for (std::size_t i = 0; i < times.size(); ++i) {
    const double rate = rate_of(problem.extents(), times[i]);
    if (i < chosen.size()) {
      point.value(options[i].name + " rate", rate, teraflops);
      ours = std::max(ours, rate);
    } else {
      library = std::max(library, rate);
    }
  }
  point.value("rate", ours, teraflops);
  point.value("library rate", library, teraflops);
  point.value("ratio to the library", ours / library, "");
}

}  // namespace gemm
