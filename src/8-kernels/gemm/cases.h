// The sizes and factors at which matrix products are measured and checked.
#pragma once

#include <hipscope/hipscope.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "problem.h"

namespace gemm {

/// Factors with which a result is checked: those that are measured, and others, for which C's old
/// content matters.
template <typename Value>
struct Factors {
  Factor<Value> alpha;
  Factor<Value> beta;
};
template <typename Value>
inline constexpr Factors<Value> measured_factors = {.alpha = 1, .beta = 0};
template <typename Value>
inline constexpr Factors<Value> other_factors = {.alpha = 1.5, .beta = -0.5};

/// 256, 384, 512, 768, 1024 ...: half an octave each; where none is between, `largest` alone.
inline std::vector<unsigned> sizes_between(unsigned smallest, unsigned largest) {
  std::vector<unsigned> sizes;
  for (unsigned power = 2; power <= largest; power *= 2) {
    for (const unsigned size : {power, power + power / 2}) {
      if (size >= smallest && size <= largest) {
        sizes.push_back(size);
      }
    }
  }
  return sizes.empty() ? std::vector<unsigned>{largest} : sizes;
}

/// Different odd sizes, at most `count` (two or more), spread evenly from about a sixth of
/// `largest` to `largest` or one less.
inline std::vector<unsigned> odd_sizes(unsigned count, unsigned largest) {
  const unsigned first = (largest + 7) / 6;
  const unsigned last = (largest - 1) | 1U;
  std::vector<unsigned> sizes;
  for (unsigned i = 0; i < count; ++i) {
    const unsigned size = (first + (last - first) * i / (count - 1)) | 1U;
    if (sizes.empty() || size != sizes.back()) {
      sizes.push_back(size);
    }
  }
  return sizes;
}

/// A product of which one side, or all but k, is short.
struct FlatShape {
  unsigned m;
  unsigned n;
  unsigned k;
};

/// With short sides of 16, 64 and 256, as many of these as `count`, or `largest` if that is less:
/// few rows, few columns, and both with four times as many k.
inline std::vector<FlatShape> flat_shapes(unsigned largest, unsigned count) {
  constexpr unsigned sides[] = {16, 64, 256};
  std::vector<FlatShape> shapes;
  for (unsigned i = 0; i < count; ++i) {
    const unsigned side = std::min(sides[i], largest);
    shapes.push_back({side, largest, largest});
    shapes.push_back({largest, side, largest});
    shapes.push_back({side, side, 4 * largest});
  }
  return shapes;
}

template <typename Value>
struct AwkwardCase {
  unsigned m;
  unsigned n;
  unsigned k;
  Factors<Value> factors;
  Gaps gaps;
};

/// The extents `above` and a little less are as large as the sweep's option says; the others are
/// under 260.
template <typename Value>
std::vector<AwkwardCase<Value>> awkward_cases(unsigned above) {
  const unsigned below = above - 2;
  const Gaps odd_gaps = {.a = 3, .b = 5, .c = 7};
  const Gaps whole_gaps = {.a = 8, .b = 16, .c = 32};
  const Factors<Value> measured = measured_factors<Value>;
  const Factors<Value> other = other_factors<Value>;
  return {{1, 1, 1, measured, {}},
          {1, 1, above, other, odd_gaps},
          {17, 1, 257, measured, {}},
          {1, 257, 19, other, {}},
          {255, 17, 1, other, odd_gaps},
          {17, 255, 0, other, {}},
          {17, 17, 0, measured, odd_gaps},
          {130, 255, 33, {.alpha = 0, .beta = 2}, {}},
          {65, 63, 31, {.alpha = 0, .beta = 0}, {}},
          {128, 256, 16, other, whole_gaps},
          {below, above, 17, {.alpha = -1, .beta = 1}, {}},
          {above, 17, below, measured, odd_gaps},
          {17, below, above, other, {}},
          // Tiles that are split along k among blocks, of several rows and columns.
          {190, 63, 150, other, {}},
          {190, 127, 151, measured, odd_gaps}};
}

template <typename Value>
struct AwkwardProblem {
  AwkwardCase<Value> what;
  Values values;
  std::unique_ptr<Problem<Value>> problem;
};

/// All of them at once, checked by every stage; asks for their memory first. Where the largest are
/// no larger than the others, for the host backend and for checkers, which take their time, a case
/// has random values or integers, in turn.
template <typename Value>
std::vector<AwkwardProblem<Value>> awkward_problems(const hipscope::Sweep& sweep, unsigned above) {
  const bool in_turn = above < 260;
  std::vector<AwkwardProblem<Value>> problems;
  const auto cases = awkward_cases<Value>(above);
  std::uint64_t bytes = 0;
  for (const AwkwardCase<Value>& awkward : cases) {
    bytes += bytes_of_problem<Value>(awkward.m, awkward.n, awkward.k);
  }
  sweep.require_memory((in_turn ? 1 : 2) * bytes, "--largest-awkward");
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const AwkwardCase<Value>& awkward = cases[i];
    for (const Values values : {Values::random, Values::integers}) {
      if (in_turn && (values == Values::random) != (i % 2 == 0)) {
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
