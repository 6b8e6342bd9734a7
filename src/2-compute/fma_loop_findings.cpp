#include "fma_loop_findings.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "hipscope/format.h"
#include "hipscope/inference.h"

namespace fma_loop {

using hipscope::number;

namespace {

constexpr unsigned largest_block = 1024;

// The best rate of any loop of one block.
void infer_best_rate(hipscope::Results& results, const std::vector<std::string>& sweeps) {
  hipscope::CurvePoint best;
  std::string best_sweep;
  for (const std::string& sweep : sweeps) {
    for (const auto& point : results.curve(sweep, "FMA rate")) {
      if (point.y > best.y) {
        best = point;
        best_sweep = sweep;
      }
    }
  }
  if (best_sweep.empty()) {
    return;
  }
  results.infer({.name = "best FMA rate of one block",
                 .value = best.y,
                 .unit = "FMA/cycle",
                 .confidence = 1 - std::min(1.0, best.relative_spread),
                 .statement = "one CU runs " + number(best.y, 4) +
                              " FMAs per cycle (lanes, not instructions) with one block",
                 .evidence = {"sweep " + best_sweep + " at " + number(best.x, 6)}});
}

// Noise is under 1 %.
constexpr double smallest_step = 1.02;

// What blocks of other sizes say: they share the cache, so their full speed ends at the same
// length.
enum class Others { not_measured, agree, disagree, see_none };

Others others_say(const hipscope::Results& results, unsigned threads, double bytes) {
  Others say = Others::not_measured;
  for (const unsigned other : unroll_threads) {
    const auto curve = results.curve(unroll_name(other), "cycles per FMA");
    if (other == threads || other >= largest_block || curve.empty()) {
      continue;
    }
    const auto end = hipscope::find_plateau_end(curve, smallest_step);
    const Others says = !end                        ? Others::see_none
                        : end->last_flat_x == bytes ? Others::agree
                                                    : Others::disagree;
    say = std::max(say, says);
  }
  return say;
}

// Where the loop has outgrown an instruction cache.
void infer_instruction_cache(hipscope::Results& results, unsigned threads) {
  const auto curve = results.curve(unroll_name(threads), "cycles per FMA");
  if (curve.empty()) {
    return;
  }
  hipscope::Inference inference{
      .name = "largest loop at full speed, " + std::to_string(threads) + " threads",
      .unit = "bytes",
      .statement = "no loop length up to " + number(curve.back().x, 6) +
                   " bytes slows down for good: the instruction supply keeps up, or the cache is "
                   "larger"};
  const auto end = hipscope::find_plateau_end(curve, smallest_step);
  const Others others = end ? others_say(results, threads, end->last_flat_x) : Others::not_measured;
  if (end && others == Others::see_none) {
    inference.statement = "a loop of more than " + number(end->last_flat_x, 6) +
                          " bytes slows down, but not in a block of another size: no cache that "
                          "they share";
  } else if (end) {
    inference.value = end->last_flat_x;
    inference.confidence = end->confidence;
    inference.statement = "a loop of " + number(end->last_flat_x, 6) +
                          " bytes is the longest at full speed; with " + number(end->next_x, 6) +
                          " an FMA takes " + number(end->ratio, 4) + " times as long";
    inference.evidence = {"the longest loop, " + number(curve.back().x, 6) +
                          " bytes: " + number(curve.back().y / end->flat_y, 3) + " times as long"};
    if (end->outliers > 0) {
      inference.evidence.push_back(hipscope::outliers_text(end->outliers, curve.size()));
    }
    if (others == Others::disagree) {
      constexpr double unsure = 0.5;
      inference.confidence = std::min(inference.confidence, unsure);
      inference.evidence.emplace_back("a block of another size slows down elsewhere");
    }
  }
  results.infer(inference);
}

// Time per iteration over FMAs per iteration: a straight line, whose slope is the latency of an FMA
// and whose start is what the end of an iteration costs.
void infer_loop_cost(hipscope::Results& results, unsigned wave_threads) {
  std::vector<double> fmas;
  std::vector<double> cycles;
  constexpr double shortest = 16;
  constexpr double longest = 512;
  const auto counts = results.curve(unroll_name(wave_threads), "FMAs in the loop");
  const auto per_fma = results.curve(unroll_name(wave_threads), "cycles per FMA");
  for (std::size_t i = 0; i < std::min(counts.size(), per_fma.size()); ++i) {
    const double count = counts[i].y;
    if (count >= shortest && count <= longest) {
      fmas.push_back(count);
      cycles.push_back(count * per_fma[i].y);
    }
  }
  if (fmas.size() < 3) {
    return;
  }
  const auto line = hipscope::fit_robust_line(fmas, cycles);
  const double confidence = std::max(0.0, 1 - 10 * line.largest_relative_residual);
  const std::string evidence =
      "straight line through the cycles per iteration of " + number(fmas.front()) + " ... " +
      number(fmas.back()) + " FMAs, largest error " +
      number(100 * line.largest_relative_residual, 2) + " %" +
      (line.outliers > 0 ? "; " + hipscope::outliers_text(line.outliers, fmas.size()) : "");
  results.infer({.name = "FMA latency",
                 .value = line.slope,
                 .unit = "cycles",
                 .confidence = confidence,
                 .statement = "each further dependent FMA in the loop adds this much",
                 .evidence = {evidence}});
  results.infer({.name = "cost of an iteration's end",
                 .value = line.intercept,
                 .unit = "cycles",
                 .confidence = confidence,
                 .statement =
                     "what one wave pays for count, compare and branch, in iterations of 16 "
                     "FMAs and more",
                 .evidence = {evidence}});
}

// How much the rate changes with where the loop begins, in percent.
void infer_alignment(hipscope::Results& results, const std::string& sweep) {
  const auto curve = results.curve(sweep, "FMA rate");
  if (curve.empty()) {
    return;
  }
  const auto [slowest, fastest] = std::minmax_element(
      curve.begin(), curve.end(), [](const auto& a, const auto& b) { return a.y < b.y; });
  const double effect = 100 * (fastest->y / slowest->y - 1);
  const double noise = std::max(fastest->relative_spread, slowest->relative_spread);
  results.infer({.name = "effect of the loop's place, " + sweep,
                 .value = effect,
                 .unit = "%",
                 .confidence = effect > 0 ? std::max(0.0, 1 - 100 * noise / effect) : 1,
                 .statement = "the best place of the loop is this much faster than the worst",
                 .evidence = {number(slowest->y, 4) + " FMA/cycle behind " + number(slowest->x) +
                                  " bytes of padding",
                              number(fastest->y, 4) + " FMA/cycle behind " + number(fastest->x)}});
}

// fsword73's puzzle: the same instructions, written as unroll 100 and as nested loops.
void infer_form(hipscope::Results& results) {
  const auto unrolled = results.curve("unroll-pragma-100", "FMA rate");
  const auto nested = results.curve("nested", "FMA rate");
  if (unrolled.empty() || nested.empty()) {
    return;
  }
  std::vector<std::string> evidence;
  const auto published_unrolled = results.published("unroll 100", "FMA rate");
  const auto published_nested = results.published("nested 100x10000", "FMA rate");
  for (std::size_t i = 0; i < std::min(published_unrolled.size(), published_nested.size()); ++i) {
    const double ratio =
        published_nested[i].points[0].second / published_unrolled[i].points[0].second;
    evidence.push_back("published for " + published_nested[i].gpu + ": " + number(ratio));
  }
  const double ratio = nested[0].y / unrolled[0].y;
  results.infer({.name = "nested 100 x 10000 over unroll 100",
                 .value = ratio,
                 .unit = "x",
                 .confidence = 1 - std::min(1.0, std::max(nested[0].relative_spread,
                                                          unrolled[0].relative_spread)),
                 .statement = "the same 100 FMAs per iteration, written in two ways, one block of "
                              "256 threads",
                 .evidence = evidence});
}

}  // namespace

void conclude(hipscope::Results& results) {
  infer_best_rate(results, {"simple", "unroll-pragma-100", "nested", "more-threads", "one-register",
                            "unroll-64", "unroll-256", "unroll-1024"});
  infer_loop_cost(results, unroll_threads.front());
  for (const unsigned threads : unroll_threads) {
    // Many waves fetch for each other, so that the rate of a full block falls slowly.
    if (threads < largest_block) {
      infer_instruction_cache(results, threads);
    }
  }
  infer_form(results);
  infer_alignment(results, "alignment-16");
  infer_alignment(results, "alignment-100");
}

}  // namespace fma_loop
