#include "findings.h"

#include <algorithm>
#include <string>
#include <vector>

#include "hipscope/format.h"
#include "hipscope/inference.h"

namespace vgpr_limit {

using hipscope::number;

namespace {

using Curve = std::vector<hipscope::CurvePoint>;

// Values that fit cost nothing; with more an FMA takes longer, by more than noise and the loop do.
constexpr double noticeable = 1.1;

void infer_budget(hipscope::Results& results, unsigned threads) {
  const std::string sweep = "live-" + std::to_string(threads);
  Curve times = results.curve(sweep, "FMA rate");
  if (times.empty()) {
    return;
  }
  for (hipscope::CurvePoint& point : times) {
    point.y = 1 / point.y;
  }
  hipscope::Inference inference{
      .name = "register budget per thread, blocks of " + std::to_string(threads),
      .unit = "registers",
      .statement = "the FMA rate shows no cliff"};
  // Where the compiler's report first has scratch.
  const Curve scratch = results.curve(sweep, "scratch");
  const auto spilled =
      std::find_if(scratch.begin(), scratch.end(), [](auto& point) { return point.y > 0; });
  if (spilled != scratch.end()) {
    inference.evidence.push_back("by the compiler's report " + number(spilled->x, 4) +
                                 " values need " + number(spilled->y, 4) +
                                 " bytes of scratch per thread, and fewer none");
  }
  if (const auto step = hipscope::find_plateau_end(times, noticeable)) {
    inference.value = results.at(sweep, "registers", step->last_flat_x)->y;
    inference.confidence = step->confidence;
    inference.statement = "full rate up to " + number(step->last_flat_x, 4) + " live values in " +
                          number(*inference.value, 4) + " registers; with " +
                          number(step->next_x, 4) + " an FMA takes " + number(step->ratio) +
                          " times as long";
    if (step->outliers > 0) {
      inference.evidence.push_back(hipscope::outliers_text(step->outliers, times.size()));
    }
    if (spilled != scratch.end() && spilled->x != step->next_x) {
      constexpr double hardly_sure = 0.2;
      inference.confidence = std::min(inference.confidence, hardly_sure);
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
  std::vector<double> taken;
  std::size_t outliers = 0;
  for (std::size_t i = 0; i < counted.size(); ++i) {
    taken.push_back(counted[i].y * results.device().wave_size * registers[i].y);
    outliers += counted[i].y != measured[i].y ? 1 : 0;
  }
  const double most = *std::max_element(taken.begin(), taken.end());
  std::size_t limited_points = 0;
  std::size_t filling_points = 0;
  for (std::size_t i = 0; i < counted.size(); ++i) {
    if (counted[i].y < counted.front().y) {
      constexpr double nearly_full = 0.8;
      ++limited_points;
      filling_points += taken[i] > nearly_full * most ? 1 : 0;
    }
  }
  if (limited_points > 0) {
    inference.value = most;
    inference.confidence = double(filling_points) / static_cast<double>(limited_points);
    inference.statement = "waves in place hold up to " + number(most, 6) + " registers, " +
                          number(most * 4 / 1024, 4) + " KiB, of one CU";
    inference.evidence = {residency_steps(counted, registers)};
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
