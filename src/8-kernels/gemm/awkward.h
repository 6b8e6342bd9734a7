// The problems of sweep awkward: sizes, gaps and factors at which a stage may go wrong.
#pragma once

#include <hipscope/hipscope.h>

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "cases.h"
#include "problem.h"

namespace gemm {

template <typename Value>
struct AwkwardProblem {
  AwkwardCase<Value> what;
  Values values;
  std::unique_ptr<Problem<Value>> problem;
};

/// All of them at once, checked by every stage; asks for their memory first.
template <typename Value>
std::vector<AwkwardProblem<Value>> awkward_problems(const hipscope::Sweep& sweep, unsigned above) {
  std::vector<AwkwardProblem<Value>> problems;
  const auto cases = awkward_cases<Value>(above);
  std::uint64_t bytes = 0;
  for (const AwkwardCase<Value>& awkward : cases) {
    bytes += bytes_of_problem<Value>(awkward.m, awkward.n, awkward.k);
  }
  sweep.require_memory((sweep.is_hardware() ? 2 : 1) * bytes, "--largest-awkward");
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const AwkwardCase<Value>& awkward = cases[i];
    for (const Values values : {Values::random, Values::integers}) {
      // The host backend takes its time: there the cases have one and the other in turn.
      if (!sweep.is_hardware() && (values == Values::random) != (i % 2 == 0)) {
        continue;
      }
      auto problem = std::make_unique<Problem<Value>>(awkward.m, awkward.n, awkward.k, values,
                                                      sweep.seed(), awkward.gaps);
      if (awkward.factors.alpha == 0) {
        problem->poison_operands();
      }
      problems.push_back({awkward, values, std::move(problem)});
    }
  }
  return problems;
}

}  // namespace gemm
