#include "findings.h"

#include <algorithm>

#include "hipscope/format.h"
#include "hipscope/inference.h"
#include "last_drop.h"

namespace wave_divergence {
namespace {

using hipscope::number;

// Two paths fall to the cost of one where each wave is on one path; the FMA rate of many paths
// stops falling where each lane of a wave has its own. RDNA runs a wave of 64 as two halves and
// skips one that has no lane switched on, so it may show 32 in both.
void infer_wave_size(hipscope::Results& results) {
  constexpr double smallest_halving = 1.5;
  constexpr double smallest_fall = 1.15;  // from 24 to 32 paths the rate falls to 3/4
  const auto two_paths = results.curve("granularity", "cycles");
  const auto many_paths = results.curve("paths", "FMA rate");
  if (two_paths.empty() && many_paths.empty()) {
    return;
  }
  const auto by_granularity = find_last_drop(two_paths, smallest_halving);
  const auto by_paths = find_last_drop(many_paths, smallest_fall);
  hipscope::Inference inference{.name = "wave size",
                                .unit = "lanes",
                                .statement = "the curves do not show how many lanes go together",
                                .driver = results.device().wave_size};
  if (by_granularity) {
    inference.evidence.push_back("two paths in turns take " + number(by_granularity->ratio) +
                                 " times as long up to " + number(by_granularity->last_high_x) +
                                 " lanes at a time as from " +
                                 number(by_granularity->first_flat_x) + " on");
    if (by_granularity->outliers > 0) {
      inference.evidence.push_back(
          hipscope::outliers_text(by_granularity->outliers, two_paths.size()));
    }
  }
  if (by_paths) {
    inference.evidence.push_back("the FMA rate falls with the number of paths up to " +
                                 number(by_paths->first_flat_x) + " and no further");
  } else if (!many_paths.empty()) {
    inference.evidence.push_back("the FMA rate over the number of paths shows no end of its fall");
  }
  const bool only_one_shows_it =
      !two_paths.empty() && !many_paths.empty() && !(by_granularity && by_paths);
  const bool disagree =
      by_granularity && by_paths && by_granularity->first_flat_x != by_paths->first_flat_x;
  if (disagree) {
    inference.statement = "the curves of granularity and of paths disagree";
  } else if (only_one_shows_it) {
    inference.statement = "only one of the curves of granularity and of paths shows it";
  } else if (const auto& drop = by_granularity ? by_granularity : by_paths) {
    inference.value = drop->first_flat_x;
    inference.confidence =
        by_paths ? std::min(drop->confidence, by_paths->confidence) : drop->confidence;
    inference.statement =
        number(drop->first_flat_x) + " neighbouring lanes share one path at a time";
  }
  results.infer(inference);
}

double confidence_of(double relative_spread) { return std::max(0.0, 1 - relative_spread); }

// The shortest body that no lane runs from which on a branch is faster than a select.
void infer_break_even(hipscope::Results& results) {
  const auto select = results.curve("body-none", "select cycles");
  const auto branch = results.curve("body-none", "branch cycles");
  if (select.empty()) {
    return;
  }
  constexpr double noticeable = 1.02;
  hipscope::Inference inference{.name = "branch pays, no lane in it",
                                .unit = "FMAs",
                                .statement = "no body up to " + number(select.back().x) +
                                             " FMAs is faster with a branch than with a select"};
  double spread = 0;
  for (std::size_t i = select.size(); i-- > 0 && select[i].y > noticeable * branch[i].y;) {
    inference.value = select[i].x;
    spread = std::max({spread, select[i].relative_spread, branch[i].relative_spread});
  }
  if (inference.value) {
    inference.confidence = confidence_of(spread);
    inference.statement =
        "from bodies of " + number(*inference.value) + " FMAs on a branch is faster than a select";
  }
  for (const std::size_t i : {std::size_t{0}, select.size() - 1}) {
    inference.evidence.push_back("a body of " + number(select[i].x) + ": select " +
                                 number(select[i].y, 4) + " cycles, branch " +
                                 number(branch[i].y, 4));
  }
  results.infer(inference);
}

}  // namespace

void conclude(hipscope::Results& results) {
  infer_wave_size(results);
  infer_break_even(results);
}

}  // namespace wave_divergence
