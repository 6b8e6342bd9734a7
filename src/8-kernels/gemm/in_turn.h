// Stages and the vendor's library at one size, verified, then measured in turn.
#pragma once

#include <hipscope/hipscope.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cases.h"
#include "judge.h"
#include "library.h"
#include "problem.h"
#include "stage.h"

namespace gemm {

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
    const Verdict verdict = judge(stage, problem, factors);
    point.verify(stage.technique, verdict.wrong, verdict.checked);
    const auto prepared = std::make_shared<Prepared<Value, Result>>(stage, product);
    bodies.emplace_back([prepared] { prepared->enqueue(); });
    options.push_back({.name = stage.technique});
  }
  const auto ways = is_for_library<Value>(product.extents) ? ways_of_library<Value, Result>(sweep)
                                                           : std::vector<LibraryWay>{};
  for (const LibraryWay& way : ways) {
    const auto library = std::make_shared<Library<Value, Result>>(way);
    const Verdict verdict = judge(*library, problem, factors);
    point.verify("library, " + way.name, verdict.wrong, verdict.checked);
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
