#include "cu_staircase_findings.h"

#include <cmath>
#include <string>
#include <vector>

#include "hipscope/format.h"
#include "hipscope/inference.h"

namespace cu_staircase {

using hipscope::number;

namespace {

constexpr double smallest_step = 1.5;

// The published staircase of the same block size, for the evidence.
std::vector<std::string> published_evidence(const hipscope::Results& results, unsigned threads) {
  std::vector<std::string> evidence;
  for (const auto& curve :
       results.published(std::to_string(threads) + " threads per block", "time")) {
    std::vector<hipscope::CurvePoint> points;
    for (const auto& [blocks, time] : curve.points) {
      points.push_back({.x = std::stod(blocks), .y = time});
    }
    if (const auto step = hipscope::find_first_step(points, smallest_step)) {
      evidence.push_back("published for " + curve.gpu + ": flat up to " +
                         number(step->last_flat_x) + " blocks, then " + number(step->ratio) +
                         " times as long");
    }
  }
  return evidence;
}

// The number of CUs, by the largest blocks: smaller ones may share a CU without a loss.
void infer_compute_units(hipscope::Results& results) {
  const auto curve = results.curve(staircase_name(largest_block), "cycles");
  if (curve.empty()) {
    return;
  }
  hipscope::Inference inference{.name = "compute units",
                                .unit = "CUs",
                                .statement = "the staircase does not show where CUs must be shared",
                                .driver = results.device().compute_units};
  if (const auto step = hipscope::find_first_step(curve, smallest_step)) {
    inference.value = step->last_flat_x;
    inference.confidence = step->confidence;
    inference.statement =
        "one block of 1024 threads more than " + number(step->last_flat_x, 5) + " must share a CU";
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
  for (const std::string& line : published_evidence(results, largest_block)) {
    inference.evidence.push_back(line);
  }
  results.infer(inference);
}

// Blocks that fit on one CU: those that fit on the GPU over its CUs, as the staircase tells their
// number, or else the driver.
void infer_residency(hipscope::Results& results, unsigned threads, int occupancy) {
  const auto curve = results.curve(residency_name(threads), "cycles");
  if (curve.empty()) {
    return;
  }
  hipscope::Inference inference{
      .name = "resident blocks of " + std::to_string(threads) + " threads",
      .unit = "blocks/CU",
      .statement = "the curve does not show where blocks must wait for a place",
      .driver = occupancy};
  if (const auto step = hipscope::find_first_step(curve, smallest_step)) {
    const auto staircase = hipscope::find_first_step(
        results.curve(staircase_name(largest_block), "cycles"), smallest_step);
    const double compute_units =
        staircase ? staircase->last_flat_x : results.device().compute_units;
    inference.value = std::floor(step->last_flat_x / compute_units);
    inference.confidence = step->confidence;
    inference.statement =
        number(*inference.value * threads, 5) + " threads are in place on one CU at once";
    inference.evidence = {
        "flat up to " + number(step->last_flat_x, 6) + " blocks, " + number(step->next_x, 6) +
            " take " + number(step->ratio) + " times as long",
        "on " + number(compute_units, 5) + " CUs, by " +
            (staircase ? "the staircase of blocks of 1024 threads" : "the driver")};
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
