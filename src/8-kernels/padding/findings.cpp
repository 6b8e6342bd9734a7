#include "findings.h"

#include <algorithm>
#include <cstddef>
#include <optional>

#include "hipscope/format.h"

namespace padding {

using hipscope::CurvePoint;
using hipscope::Inference;
using hipscope::number;

namespace {

using Curve = std::vector<CurvePoint>;

constexpr const char* run_time_sweep = "channels-run-time";
constexpr const char* compile_time_sweep = "channels-compile-time";
constexpr double mix_x = 0;

// The time for a number of channels per thread: the best of those named.
std::optional<CurvePoint> best_time(const hipscope::Results& results, const std::string& sweep,
                                    const std::vector<std::string>& names, unsigned channels) {
  std::optional<CurvePoint> best;
  for (const std::string& name : names) {
    for (const CurvePoint& point : results.curve(sweep, name)) {
      if (point.x == channels && (!best || point.y < best->y)) {
        best = point;
      }
    }
  }
  return best;
}

std::optional<CurvePoint> source_time(const hipscope::Results& results, const std::string& sweep,
                                      unsigned channels) {
  return best_time(results, sweep, {"time"}, channels);
}

// Of ours, at the better of two block sizes.
std::optional<CurvePoint> our_time(const hipscope::Results& results, const std::string& sweep,
                                   unsigned channels) {
  return best_time(results, sweep, {"side by side", "blocks of 256"}, channels);
}

std::string time_text(const std::string& what, const CurvePoint& point) {
  return what + ": " + number(point.y * 1e6, 4) + " us";
}

double confidence_of(const CurvePoint& a, const CurvePoint& b) {
  return 1 - std::min(1.0, std::max(a.relative_spread, b.relative_spread));
}

// fsword73's open question, by fsword73's own kernel.
void infer_channels(hipscope::Results& results) {
  const auto four = source_time(results, compile_time_sweep, 4);
  const auto sixteen = source_time(results, compile_time_sweep, 16);
  if (!four || !sixteen) {
    return;
  }
  constexpr double as_fast = 1.02;
  const double ratio = four->y / sixteen->y;
  Inference inference{.name = "4 channels per thread against 16, compile-time count",
                      .value = ratio,
                      .unit = "times the time",
                      .confidence = confidence_of(*four, *sixteen),
                      .statement = ratio <= as_fast ? "4 channels per thread reach the speed of 16"
                                                    : "4 channels per thread are slower than 16",
                      .evidence = {time_text("V's kernel, 4 channels", *four),
                                   time_text("V's kernel, 16 channels", *sixteen)}};
  const auto our_four = our_time(results, compile_time_sweep, 4);
  const auto our_sixteen = our_time(results, compile_time_sweep, 16);
  if (our_four && our_sixteen) {
    inference.evidence.push_back(
        "ours, several planes side by side, at the better of two block "
        "sizes: " +
        number(our_four->y / our_sixteen->y) + " times the time");
  }
  results.infer(inference);
}

// By ours, which differ in nothing else; fsword73's differ in their divisions as well.
void infer_scratch(hipscope::Results& results) {
  const auto run_time = our_time(results, run_time_sweep, 16);
  const auto compile_time = our_time(results, compile_time_sweep, 16);
  const Curve scratch = results.curve(run_time_sweep, "scratch, side by side");
  if (!run_time || !compile_time || scratch.empty()) {
    return;
  }
  Inference inference{.name = "cost of an array that is indexed at run time",
                      .unit = "times the time",
                      .statement = "this compiler keeps the array in registers",
                      .evidence = {time_text("run-time count of 16", *run_time),
                                   time_text("compile-time count of 16", *compile_time),
                                   number(scratch.back().y, 4) +
                                       " bytes of scratch per thread, as the runtime reports"}};
  const auto source_run_time = source_time(results, run_time_sweep, 16);
  const auto source_compile_time = source_time(results, compile_time_sweep, 16);
  if (source_run_time && source_compile_time) {
    inference.evidence.push_back("V's kernels, whose sizes are run-time and compile-time too: " +
                                 number(source_run_time->y / source_compile_time->y) +
                                 " times the time");
  }
  if (scratch.back().y > 0) {
    inference.value = run_time->y / compile_time->y;
    inference.confidence = confidence_of(*run_time, *compile_time);
    inference.statement = "16 channels per thread, run-time count over compile-time count";
  }
  results.infer(inference);
}

void infer_best(hipscope::Results& results, const std::vector<std::string>& stages) {
  const Curve shares = results.curve("stages", "share of copy");
  if (shares.empty()) {
    return;
  }
  const auto best = std::max_element(shares.begin(), shares.end(),
                                     [](const auto& a, const auto& b) { return a.y < b.y; });
  Inference inference{.name = "padding over copy",
                      .value = best->y,
                      .unit = "% of the copy's bandwidth",
                      .confidence = 1 - std::min(1.0, best->relative_spread),
                      .statement = "fastest: " + stages[static_cast<std::size_t>(best->x) - 1],
                      .evidence = {"the copy moves as many bytes in the same run"}};
  for (const CurvePoint& point : results.curve("stages", "bandwidth")) {
    if (point.x == mix_x) {
      inference.evidence.push_back(
          "the same reads and writes without padding: " + number(point.y, 4) + " GB/s");
    } else if (point.x == best->x) {
      inference.evidence.push_back("padding: " + number(point.y, 4) + " GB/s");
    }
  }
  results.infer(inference);
}

}  // namespace

void conclude(hipscope::Results& results, const std::vector<std::string>& stages) {
  infer_channels(results);
  infer_scratch(results);
  infer_best(results, stages);
}

}  // namespace padding
