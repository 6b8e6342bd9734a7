#include "findings.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "hipscope/format.h"
#include "hipscope/inference.h"

namespace vgpr_limit {

using hipscope::number;

namespace {

using Curve = std::vector<hipscope::CurvePoint>;

std::string ring_sweep(unsigned threads) { return "live-" + std::to_string(threads); }

// A slowdown of this factor is no noise and no loop overhead any more.
constexpr double noticeable = 1.1;

// Time per FMA, which is flat as long as the values fit.
Curve reciprocal(Curve curve) {
  for (hipscope::CurvePoint& point : curve) {
    point.y = 1 / point.y;
  }
  return curve;
}

double value_at(const Curve& curve, double x) {
  return std::find_if(curve.begin(), curve.end(), [&](auto& point) { return point.x == x; })->y;
}

// Where the compiler's report first has scratch.
Curve::const_iterator first_spilled(const Curve& scratch) {
  return std::find_if(scratch.begin(), scratch.end(), [](auto& point) { return point.y > 0; });
}

std::vector<std::string> budget_evidence(const hipscope::Results& results, unsigned threads) {
  std::vector<std::string> evidence;
  const Curve scratch = results.curve(ring_sweep(threads), "scratch");
  const Curve registers = results.curve(ring_sweep(threads), "registers");
  const auto spilled = first_spilled(scratch);
  if (spilled != scratch.end() && spilled != scratch.begin()) {
    const double fits = (spilled - 1)->x;
    evidence.push_back("by the compiler's report " + number(fits, 4) + " values fit in " +
                       number(value_at(registers, fits), 4) + " registers; " +
                       number(spilled->x, 4) + " need " + number(spilled->y, 4) +
                       " bytes of scratch per thread");
  }
  return evidence;
}

void infer_budget(hipscope::Results& results, unsigned threads) {
  const Curve rate = results.curve(ring_sweep(threads), "FMA rate");
  const Curve registers = results.curve(ring_sweep(threads), "registers");
  if (rate.empty()) {
    return;
  }
  hipscope::Inference inference{
      .name = "register budget per thread, blocks of " + std::to_string(threads),
      .unit = "registers",
      .statement = "the FMA rate shows no cliff",
      .evidence = budget_evidence(results, threads)};
  if (const auto step = hipscope::find_plateau_end(reciprocal(rate), noticeable)) {
    inference.value = value_at(registers, step->last_flat_x);
    inference.confidence = step->confidence;
    inference.statement = "full rate up to " + number(step->last_flat_x, 4) + " live values in " +
                          number(*inference.value, 4) + " registers; with " +
                          number(step->next_x, 4) + " an FMA takes " + number(step->ratio) +
                          " times as long";
    if (step->outliers > 0) {
      inference.evidence.push_back(hipscope::outliers_text(step->outliers, rate.size()));
    }
    const Curve scratch = results.curve(ring_sweep(threads), "scratch");
    const auto spilled = first_spilled(scratch);
    if (spilled != scratch.end() && spilled->x != step->next_x) {
      constexpr double hardly_sure = 0.2;
      inference.confidence = std::min(inference.confidence, hardly_sure);
      inference.evidence.emplace_back("the compiler needs scratch from elsewhere on");
    }
  }
  results.infer(inference);
}

// "64 waves up to 32 registers, 40 up to 48, ...".
std::string residency_steps(const Curve& counted, const Curve& registers) {
  std::string text;
  for (std::size_t i = 0; i < counted.size(); ++i) {
    if (i + 1 == counted.size() || counted[i + 1].y != counted[i].y) {
      text += (text.empty() ? "" : ", ") + number(counted[i].y, 4) +
              (text.empty() ? " waves" : "") + " up to " + number(registers[i].y, 4) +
              (text.empty() ? " registers" : "");
    }
  }
  return text;
}

// The waves never rise with the registers: the middle of three neighbours is each point itself, or
// better.
Curve without_outliers(const Curve& counted) {
  Curve smooth = counted;
  for (std::size_t i = 1; i + 1 < counted.size(); ++i) {
    const auto [low, high] = std::minmax(counted[i - 1].y, counted[i + 1].y);
    smooth[i].y = std::clamp(counted[i].y, low, high);
  }
  return smooth;
}

// Waves in place x lanes x registers per thread can come close to the size of the register file,
// and never exceed it.
void infer_register_file(hipscope::Results& results) {
  const Curve measured = results.curve("waiting", "counted");
  const Curve counted = without_outliers(measured);
  const Curve registers = results.curve("waiting", "registers");
  if (counted.empty()) {
    return;
  }
  hipscope::Inference inference{
      .name = "registers of a CU",
      .unit = "registers",
      .statement = "the number of waves in place never falls: registers do not limit it",
      .driver = results.device().registers_per_block};
  double most = 0;
  std::size_t limited_points = 0;
  std::size_t filling_points = 0;
  const auto taken = [&](std::size_t i) {
    return counted[i].y * results.device().wave_size * registers[i].y;
  };
  for (std::size_t i = 0; i < counted.size(); ++i) {
    most = std::max(most, taken(i));
  }
  for (std::size_t i = 0; i < counted.size(); ++i) {
    if (counted[i].y < counted.front().y) {
      constexpr double nearly_full = 0.8;
      ++limited_points;
      filling_points += taken(i) > nearly_full * most ? 1 : 0;
    }
  }
  if (limited_points > 0) {
    inference.value = most;
    inference.confidence = double(filling_points) / static_cast<double>(limited_points);
    inference.statement = "waves in place hold up to " + number(most, 6) + " registers, " +
                          number(most * 4 / 1024, 4) + " KiB, of one CU";
    inference.evidence = {residency_steps(counted, registers)};
    std::size_t outliers = 0;
    for (std::size_t i = 0; i < counted.size(); ++i) {
      outliers += counted[i].y != measured[i].y ? 1 : 0;
    }
    if (outliers > 0) {
      inference.evidence.push_back(hipscope::outliers_text(outliers, counted.size()));
    }
  }
  results.infer(inference);
}

}  // namespace

void conclude(hipscope::Results& results) {
  for (const unsigned threads : {256U, 1024U}) {
    infer_budget(results, threads);
  }
  infer_register_file(results);
}

}  // namespace vgpr_limit
