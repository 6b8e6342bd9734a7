#include "findings.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "hipscope/confidence.h"
#include "hipscope/format.h"
#include "hipscope/inference.h"

namespace cu_staircase {

using hipscope::number;

namespace {

using Curve = std::vector<hipscope::CurvePoint>;

constexpr double smallest_step = 1.5;

// A staircase of `units` CUs: level n of it is n + 1 blocks on the busiest CU.
struct Staircase {
  double units = 0;
  std::array<double, 3> levels{};
};

// The level of blocks that take `cycles`, by the nearest; the levels beyond the last count as it.
std::size_t level_of(const Staircase& staircase, double cycles) {
  std::size_t level = 0;
  while (level + 1 < staircase.levels.size() &&
         cycles * cycles > staircase.levels[level] * staircase.levels[level + 1]) {
    ++level;
  }
  return level;
}

std::size_t expected_level(const Staircase& staircase, double blocks) {
  const double level = std::ceil(blocks / staircase.units) - 1;
  return static_cast<std::size_t>(
      std::min(level, static_cast<double>(staircase.levels.size() - 1)));
}

bool fits(const Staircase& staircase, const hipscope::CurvePoint& point) {
  return level_of(staircase, point.y) == expected_level(staircase, point.x);
}

// How far a curve is from a staircase. Blocks that are too fast count twice: nothing makes them so.
struct Misfit {
  std::size_t points = 0;
  std::size_t cost = 0;
};

Misfit misfit_of(const Staircase& staircase, const Curve& curve) {
  Misfit misfit;
  for (const hipscope::CurvePoint& point : curve) {
    const std::size_t level = level_of(staircase, point.y);
    const std::size_t expected = expected_level(staircase, point.x);
    misfit.points += level == expected ? 0 : 1;
    misfit.cost += level == expected ? 0 : level > expected ? 1 : 2;
  }
  return misfit;
}

// Whether the step past `blocks` is there as such: the last before it and the next one fit.
bool shows_step(const Staircase& staircase, const Curve& curve, double blocks) {
  const auto last = std::find_if(curve.begin(), curve.end(),
                                 [=](const auto& point) { return point.x == blocks; });
  return last != curve.end() && last + 1 != curve.end() && fits(staircase, *last) &&
         fits(staircase, *(last + 1));
}

// Smaller blocks step where a whole number of them fills every CU.
bool agrees(const hipscope::FirstStep& step, unsigned threads, double units) {
  for (unsigned on_one = 1; on_one * threads <= largest_block; ++on_one) {
    if (step.last_flat_x == on_one * units) {
      return true;
    }
  }
  return false;
}

struct Units {
  double units = 0;
  double confidence = 0;
  std::size_t outliers = 0;
  bool is_confirmed = false;  // by the next step or by smaller blocks
};

// The number of CUs, by the largest blocks: smaller ones may share a CU without a loss. Where the
// last block before the step is disturbed, the step seems to come one block early; the next step,
// and those of smaller blocks, tell.
std::optional<Units> count_units(const hipscope::Results& results) {
  const Curve curve = results.curve(staircase_name(largest_block), "cycles");
  const auto step = hipscope::find_first_step(curve, smallest_step);
  // Every number of blocks must have been measured there.
  if (!step || step->next_x != step->last_flat_x + 1) {
    return std::nullopt;
  }
  std::vector<std::pair<unsigned, hipscope::FirstStep>> others;
  for (const unsigned threads : staircase_blocks) {
    const auto other =
        hipscope::find_first_step(results.curve(staircase_name(threads), "cycles"), smallest_step);
    if (threads != largest_block && other) {
      others.emplace_back(threads, *other);
    }
  }
  const double level = step->flat_y;
  Units best;
  std::size_t least_cost = std::numeric_limits<std::size_t>::max();
  constexpr double most_missed = 2;
  for (double units = step->last_flat_x; units <= step->last_flat_x + most_missed; ++units) {
    const Staircase staircase{
        .units = units, .levels = {level, step->ratio * level, (2 * step->ratio - 1) * level}};
    const Misfit misfit = misfit_of(staircase, curve);
    std::size_t agreeing = shows_step(staircase, curve, 2 * units) ? 1 : 0;
    for (const auto& [threads, other] : others) {
      agreeing += agrees(other, threads, units) ? 1 : 0;
    }
    const std::size_t cost = misfit.cost + 2 * (others.size() + 1 - agreeing);
    if (cost < least_cost) {
      least_cost = cost;
      best = {.units = units, .outliers = misfit.points, .is_confirmed = agreeing > 0};
    }
  }
  constexpr std::size_t few = 100;  // one outlier of these points may well be the one that counts
  const bool may_be_missed = few * best.outliers > curve.size() && !best.is_confirmed;
  best.confidence = hipscope::sure_if(!may_be_missed, step->confidence);
  return best;
}

void infer_compute_units(hipscope::Results& results) {
  const Curve curve = results.curve(staircase_name(largest_block), "cycles");
  if (curve.empty()) {
    return;
  }
  const int driver = results.device().compute_units;
  hipscope::Inference inference{.name = "compute units",
                                .unit = "CUs",
                                .statement = "the staircase does not show where CUs must be shared",
                                .driver = driver};
  if (const auto found = count_units(results)) {
    inference.value = found->units;
    inference.confidence = found->confidence;
    inference.statement =
        "one block of 1024 threads more than " + number(found->units, 5) + " must share a CU";
    if (found->outliers > 0) {
      inference.evidence.push_back(hipscope::outliers_text(found->outliers, curve.size()) +
                                   (found->is_confirmed ? "; other steps confirm this one" : ""));
    }
    if (found->units < driver) {
      constexpr double hardly_sure = 0.2;
      inference.confidence = std::min(inference.confidence, hardly_sure);
      inference.evidence.push_back(
          "fewer than the driver says: some are not in use, or engines of unequal size get blocks "
          "in turn and the smaller ones must share first");
    }
  }
  for (const unsigned threads : staircase_blocks) {
    const auto step =
        hipscope::find_first_step(results.curve(staircase_name(threads), "cycles"), smallest_step);
    if (step) {
      inference.evidence.push_back("blocks of " + std::to_string(threads) + ": no step up to " +
                                   number(step->last_flat_x, 5) + " blocks, " +
                                   number(step->next_x, 5) + " take " + number(step->ratio) +
                                   " times as long");
    }
  }
  results.infer(inference);
}

// Blocks per CU, by a step that must come after a whole number of them on each.
struct Residency {
  double blocks = 0;
  double confidence = 0;
};

std::optional<Residency> whole_blocks(const hipscope::FirstStep& step, double compute_units) {
  const double most = std::ceil(step.next_x / compute_units) - 1;
  const double fewest = std::ceil(step.last_flat_x / compute_units);
  if (most >= fewest && most >= 1) {
    // Several, where the points are further apart than a block per CU.
    return Residency{.blocks = fewest, .confidence = step.confidence / (most - fewest + 1)};
  }
  // The last point before the step may have been disturbed; then the step is one point early.
  const double one_point = step.next_x - step.last_flat_x;
  if (fewest * compute_units - step.last_flat_x <= one_point) {
    return Residency{.blocks = fewest, .confidence = std::min(hipscope::unsure, step.confidence)};
  }
  return std::nullopt;
}

// Blocks that fit on one CU: those that fit on the GPU over its CUs, as the staircase tells their
// number, or else the driver.
void infer_residency(hipscope::Results& results, unsigned threads, int occupancy) {
  const Curve curve = results.curve(residency_name(threads), "cycles");
  if (curve.empty()) {
    return;
  }
  hipscope::Inference inference{
      .name = "resident blocks of " + std::to_string(threads) + " threads",
      .unit = "blocks/CU",
      .statement = "the curve does not show where blocks must wait for a place",
      .driver = occupancy};
  const auto units = count_units(results);
  const double compute_units = units ? units->units : results.device().compute_units;
  const auto lasting = hipscope::find_first_step(curve, smallest_step);
  const auto step = lasting ? lasting : hipscope::find_first_step(curve, smallest_step, 1);
  const auto found = step ? whole_blocks(*step, compute_units) : std::nullopt;
  // A step at the very end may be a disturbance, unless it is where the runtime expects it.
  if (found && (lasting || found->blocks == occupancy)) {
    inference.value = found->blocks;
    inference.confidence = hipscope::sure_if(
        lasting.has_value(), std::min(found->confidence, units ? units->confidence : 1.0));
    inference.statement =
        number(*inference.value * threads, 5) + " threads are in place on one CU at once";
    inference.evidence = {"flat up to " + number(step->last_flat_x, 6) + " blocks, " +
                              number(step->next_x, 6) + " take " + number(step->ratio) +
                              " times as long",
                          "on " + number(compute_units, 5) + " CUs, by " +
                              (units ? "the staircase of blocks of 1024 threads" : "the driver")};
    if (step->outliers > 0) {
      inference.evidence.push_back(hipscope::outliers_text(step->outliers, curve.size()));
    }
    if (!lasting) {
      inference.evidence.emplace_back(
          "too few points after it to tell it from a disturbance, but the runtime's calculator "
          "says the same");
    }
  }
  results.infer(inference);
}

}  // namespace

void conclude(hipscope::Results& results, const std::function<int(unsigned)>& occupancy) {
  infer_compute_units(results);
  for (const unsigned threads : residency_blocks) {
    infer_residency(results, threads, occupancy(threads));
  }
}

}  // namespace cu_staircase
