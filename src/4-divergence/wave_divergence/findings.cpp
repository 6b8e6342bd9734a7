#include "findings.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "hipscope/format.h"
#include "hipscope/inference.h"

namespace wave_divergence {
namespace {

using hipscope::number;

using Curve = std::vector<hipscope::CurvePoint>;

// Where a curve that ends flat takes its last drop, of at least `smallest_ratio`: the first step of
// the curve read backwards, which may rise on from there. last_flat_x is where the flat part
// begins.
std::optional<hipscope::FirstStep> find_last_drop(const Curve& curve, double smallest_ratio) {
  return hipscope::find_first_step(Curve(curve.rbegin(), curve.rend()), smallest_ratio,
                                   hipscope::fewest_after_step, hipscope::AfterStep::anything);
}

}  // namespace

// Two paths fall to the cost of one where each wave is on one path; the FMA rate of many paths
// stops falling where each lane of a wave has its own. RDNA runs a wave of 64 as two halves and
// skips one that has no lane switched on, so it may show 32 in both.
void conclude(hipscope::Results& results) {
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
                                 " times as long up to " + number(by_granularity->next_x) +
                                 " lanes at a time as from " + number(by_granularity->last_flat_x) +
                                 " on");
    if (by_granularity->outliers > 0) {
      inference.evidence.push_back(
          hipscope::outliers_text(by_granularity->outliers, two_paths.size()));
    }
  }
  if (by_paths) {
    inference.evidence.push_back("the FMA rate falls with the number of paths up to " +
                                 number(by_paths->last_flat_x) + " and no further");
  } else if (!many_paths.empty()) {
    inference.evidence.push_back("the FMA rate over the number of paths shows no end of its fall");
  }
  const bool only_one_shows_it =
      !two_paths.empty() && !many_paths.empty() && !(by_granularity && by_paths);
  const bool disagree =
      by_granularity && by_paths && by_granularity->last_flat_x != by_paths->last_flat_x;
  if (disagree) {
    inference.statement = "the curves of granularity and of paths disagree";
  } else if (only_one_shows_it) {
    inference.statement = "only one of the curves of granularity and of paths shows it";
  } else if (const auto& drop = by_granularity ? by_granularity : by_paths) {
    inference.value = drop->last_flat_x;
    inference.confidence =
        by_paths ? std::min(drop->confidence, by_paths->confidence) : drop->confidence;
    inference.statement =
        number(drop->last_flat_x) + " neighbouring lanes share one path at a time";
  }
  results.infer(inference);
}

}  // namespace wave_divergence
