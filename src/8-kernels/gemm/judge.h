// Checks and measures a stage or the library, and describes a stage's kernel.
#pragma once

#include <hipscope/footprint.h>
#include <hipscope/hipscope.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <limits>
#include <memory>
#include <string>
#include <utility>
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
              Factors<Value> factors, unsigned choice = 0) {
  problem.reset(factors.beta);
  const Prepared<Value, Result> prepared(stage, problem.product(factors.alpha, factors.beta),
                                         choice);
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
                          Factors<Value> factors, BusyUnits& busy, unsigned choice = 0) {
  problem.poison_operands();
  const Prepared<Value, Result> prepared(stage, problem.product(factors.alpha, factors.beta),
                                         choice);
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
         has(stage.needs, sweep.device());
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
  const hipscope::Footprint footprint = hipscope::footprint_of(sweep, stage.kernel);
  const int blocks =
      hipscope::resident_blocks(stage.kernel, stage.tiles.threads, stage.dynamic_lds_bytes);
  point.value("registers", footprint.registers, "per thread");
  point.value("scratch", footprint.scratch_bytes, "bytes per thread");
  point.value("LDS", footprint.lds_bytes + stage.dynamic_lds_bytes, "bytes");
  point.value("blocks per CU", sweep.is_hardware() ? blocks : unknown, "");
}

inline constexpr const char* teraflops = "TFLOP/s";

inline double fmas_of(const Extents& extents) {
  return double{1} * extents.m * extents.n * extents.k;
}

inline double rate_of(const Extents& extents, double seconds) {
  return 2e-12 * fmas_of(extents) / seconds;
}

/// The library in the fastest of these ways, as measured in a graph; null where it has none.
template <typename Value, typename Result>
std::shared_ptr<Library<Value, Result>> fastest_library(hipscope::Point& point,
                                                        const std::vector<LibraryWay>& ways,
                                                        const Product<Value, Result>& product) {
  std::vector<std::pair<std::shared_ptr<Library<Value, Result>>, int>> choices;
  std::vector<std::function<void()>> bodies;
  for (const LibraryWay& way : ways) {
    const auto library = std::make_shared<Library<Value, Result>>(way, product);
    for (int i = 0; i < library->ways(); ++i) {
      choices.emplace_back(library, i);
      bodies.emplace_back([library, i, product] {
        library->choose(i);
        library->enqueue(product);
      });
    }
  }
  if (choices.empty()) {
    return nullptr;
  }
  const auto& [library, way] = choices[point.fastest(bodies)];
  library->choose(way);
  return library;
}

/// The fastest of a stage's choices for a product, as measured in a graph: a library is asked for
/// as many.
template <typename Value, typename Result>
unsigned fastest_choice(const hipscope::Sweep& sweep, hipscope::Point& point,
                        const Stage<Value, Result>& stage, const Product<Value, Result>& product) {
  if (stage.choices == 1 || !sweep.is_hardware()) {
    return 0;
  }
  std::vector<std::function<void()>> bodies;
  for (unsigned choice = 0; choice < stage.choices; ++choice) {
    const auto prepared = std::make_shared<Prepared<Value, Result>>(stage, product, choice);
    bodies.emplace_back([prepared] { prepared->enqueue(); });
  }
  return static_cast<unsigned>(point.fastest(bodies));
}

/// Verifies each of a stage's choices for a product, not the fastest alone: as it comes, and with
/// half of the blocks late.
template <typename Value, typename Result>
void verify_choices(hipscope::Point& point, const Stage<Value, Result>& stage,
                    Problem<Value, Result>& problem, BusyUnits& busy) {
  const Factors<Value> factors = measured_factors<Value>;
  for (unsigned choice = 0; stage.choices > 1 && choice < stage.choices; ++choice) {
    const std::string name = stage.technique + ", choice " + std::to_string(choice + 1);
    verify(point, name + " of all", judge(stage, problem, factors, choice));
    verify(point, name + ", half of the blocks late",
           judge_late_blocks(stage, problem, factors, busy, choice));
  }
}

/// A row: the rate of each stage and of the library, in graphs, all in turn. Then the best of ours
/// and the library's best by themselves, in turn, and their ratio: in graphs, in a stream, and with
/// cold caches. Under a power cap what a kernel is measured between decides its clock: so these two
/// are each between two of the other. Of FP8 also the library's rates by its sums.
template <typename Value, typename Result>
void measure_in_turn(const hipscope::Sweep& sweep, hipscope::Point& point,
                     const std::vector<Stage<Value, Result>>& chosen,
                     Problem<Value, Result>& problem) {
  const Factors<Value> factors = measured_factors<Value>;
  const auto product = problem.product(factors.alpha, factors.beta);
  std::vector<std::function<void()>> bodies;
  std::vector<std::string> names;
  for (const Stage<Value, Result>& stage : chosen) {
    const unsigned choice = fastest_choice(sweep, point, stage, product);
    verify(point, stage.technique + (choice > 0 ? ", choice " + std::to_string(choice + 1) : ""),
           judge(stage, problem, factors, choice));
    const auto prepared = std::make_shared<Prepared<Value, Result>>(stage, product, choice);
    bodies.emplace_back([prepared] { prepared->enqueue(); });
    names.push_back(stage.technique);
  }
  const auto ways = is_for_library<Value>(product.extents) ? ways_of_library<Value, Result>(sweep)
                                                           : std::vector<LibraryWay>{};
  for (const bool is_fast : {false, true}) {
    std::vector<LibraryWay> of_sums;
    std::copy_if(ways.begin(), ways.end(), std::back_inserter(of_sums), [=](const auto& way) {
      return (way.sums == hipscope::vendor::MatrixSums::fast) == is_fast;
    });
    if (const auto library = fastest_library(point, of_sums, product)) {
      verify(point, library->name(), judge(*library, problem, factors));
      bodies.emplace_back([library, product] { library->enqueue(product); });
      names.emplace_back(is_fast                   ? "library, fast sums"
                         : has_b_by_columns<Value> ? "library, standard sums"
                                                   : "library");
    }
  }
  std::vector<hipscope::MeasureOptions> options;
  for (const std::string& name : names) {
    options.push_back({.name = name, .graph = true});
  }
  const std::vector<hipscope::Measurement> times = point.measure_in_turn(bodies, options);
  const auto rate = [&](double time) { return rate_of(problem.extents(), time); };
  for (std::size_t i = 0; i < times.size(); ++i) {
    if (i < chosen.size() || times.size() > chosen.size() + 1) {
      point.value(names[i] + " rate", rate(times[i].seconds().median), teraflops);
    }
  }
  const auto of_library = times.begin() + static_cast<std::ptrdiff_t>(chosen.size());
  const bool has_cycles = std::none_of(times.begin(), times.end(),
                                       [](const auto& time) { return std::isnan(time.cycles()); });
  const auto takes_less = [has_cycles](const auto& one, const auto& other) {
    return has_cycles ? one.cycles() < other.cycles()
                      : one.seconds().median < other.seconds().median;
  };
  const auto ours = std::min_element(times.begin(), of_library, takes_less);
  if (of_library == times.end()) {
    point.value("rate", rate(ours->seconds().median), teraflops);
    point.value("library rate", unknown, teraflops);
    point.value("ratio to the library", unknown, "");
    return;
  }
  const auto library = std::min_element(of_library, times.end(), takes_less);
  const std::vector<std::function<void()>> both = {bodies[ours - times.begin()],
                                                   bodies[library - times.begin()]};
  for (const auto& [term, how] :
       {std::pair<std::string, hipscope::MeasureOptions>{", in a stream", {}},
        {"", {.graph = true}},
        {", cold", {.cold = true}}}) {
    const auto seconds =
        point.measure_in_turn(both, {"ours by itself" + term, "library by itself" + term}, how);
    point.value("rate" + term, rate(seconds[0]), teraflops);
    point.value("library rate" + term, rate(seconds[1]), teraflops);
    point.value("ratio to the library" + term, seconds[1] / seconds[0], "");
  }
}

}  // namespace gemm
