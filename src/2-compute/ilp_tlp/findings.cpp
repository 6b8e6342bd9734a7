#include "findings.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "hipscope/confidence.h"
#include "hipscope/format.h"
#include "hipscope/inference.h"

namespace ilp_tlp {

using hipscope::number;

namespace {

std::string fit_text(const std::string& what, const hipscope::TwoLimits& fit,
                     const std::string& per) {
  const std::string text = what + ": latency " + number(fit.level, 4) + " cycles, ";
  return fit.slope ? text + "then one instruction per " + number(*fit.slope, 4) + " cycles " + per
                   : text + "which nothing else limits";
}

// The latency, which both sweeps must tell alike.
void infer_latency(hipscope::Results& results, const std::string& name, const std::string& title) {
  const auto chains = hipscope::fit_issue(results.curve(sweep_name(name, "chains"), "round"));
  const auto waves = hipscope::fit_issue(results.curve(sweep_name(name, "waves"), "round"));
  if (results.curve(sweep_name(name, "chains"), "round").empty() ||
      results.curve(sweep_name(name, "waves"), "round").empty()) {
    return;
  }
  hipscope::Inference inference{
      .name = title + " latency",
      .unit = "cycles",
      .statement = "max(latency, n x interval) does not describe the curves"};
  if (chains && waves) {
    const double mean = (chains->level + waves->level) / 2;
    const double disagreement = std::abs(chains->level - waves->level) / mean;
    const double misfit =
        std::max(chains->largest_relative_residual, waves->largest_relative_residual);
    inference.evidence = {fit_text("one wave, 1 ... 8 chains", *chains, "in one wave"),
                          fit_text("one chain, 1 ... all waves", *waves, "on one CU"),
                          "the two latencies are " + number(100 * disagreement, 2) +
                              " % apart; the model is at most " + number(100 * misfit, 2) +
                              " % off"};
    constexpr double largest_disagreement = 0.05;
    if (disagreement <= largest_disagreement) {
      inference.value = mean;
      inference.confidence = std::max(0.0, 1 - disagreement - misfit);
      inference.statement = "chains in one wave and waves of one chain tell the same latency";
    } else {
      inference.statement = "chains in one wave and waves of one chain tell different latencies";
    }
  }
  results.infer(inference);
}

// The highest rate of one CU, and how many instructions in flight it takes.
void infer_rate(hipscope::Results& results, const std::string& name, const std::string& title) {
  const auto best = results.highest(sweep_name(name, "grid"), "rate");
  if (!best) {
    return;
  }
  constexpr double nearly_full = 0.95;
  double fewest = best->x;
  for (const auto& point : results.curve(sweep_name(name, "grid"), "rate")) {
    if (point.y >= nearly_full * best->y) {
      fewest = std::min(fewest, point.x);
    }
  }
  results.infer(
      {.name = title + " rate",
       .value = best->y,
       .unit = "instructions/cycle/CU",
       .confidence = 1 - std::min(1.0, best->relative_spread),
       .statement = "the most that any number of waves and chains reach; at the best split " +
                    number(fewest, 4) +
                    " instructions in flight (waves x chains) reach 95 % of it"});
}

// What the whole GPU reaches in the best of an operation's rows of sweep peak, of which `x` is the
// first. Half of that is one of two units: not every instruction goes to both of Hopper's for
// packed halves. Under nine tenths of what the vendor documents even the best is the peak of these
// instructions and not the hardware's.
void infer_peak(hipscope::Results& results, const OperationName& operation, double x) {
  auto peak = results.at("peak", "peak", x);
  if (!peak) {
    return;
  }
  std::string way = "waves of 4 chains";
  for (const PeakRow& row : operation.more_peaks) {
    const auto other = results.at("peak", "peak", row.x);
    if (other && other->y > peak->y) {
      peak = other;
      way = "waves, " + row.way;
    }
  }
  constexpr double nearly_documented = 90;  // in %
  const auto share = results.at("peak", "share of documented", peak->x);
  const bool is_whole = !share || share->y >= nearly_documented;
  std::vector<std::string> evidence;
  if (share) {
    evidence.push_back(number(share->y, 4) + " % of what the vendor documents");
  }
  for (const PeakRow& row : operation.more_peaks) {
    constexpr double about_half = 0.55;
    const auto other = results.at("peak", "peak", row.x);
    if (other && row.is_other_unit && other->y <= about_half * peak->y) {
      evidence.push_back(row.way + ": " + number(other->y, 4) + ", one of two units");
    }
  }
  results.infer(
      {.name = operation.title + " peak",
       .value = peak->y,
       .unit = "TFLOP/s or TOP/s",
       .confidence = hipscope::sure_if(is_whole, 1 - std::min(1.0, peak->relative_spread)),
       .statement = "with every CU full of " + way +
                    (is_whole ? ""
                              : "; more is documented, so these instructions reach only some of "
                                "the units for them"),
       .evidence = evidence});
}

}  // namespace

void conclude(hipscope::Results& results, const std::vector<OperationName>& operations) {
  double peak_row = 0;
  for (const OperationName& operation : operations) {
    infer_latency(results, operation.name, operation.title);
    infer_rate(results, operation.name, operation.title);
    infer_peak(results, operation, ++peak_row);
  }
}

}  // namespace ilp_tlp
