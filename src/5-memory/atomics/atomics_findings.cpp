#include "atomics_findings.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "hipscope/format.h"

namespace atomics {

using hipscope::CurvePoint;
using hipscope::number;

namespace {

// What the curve has in a row of that number; nothing where there is none, or it was not counted.
std::optional<CurvePoint> row_of(const std::vector<CurvePoint>& curve, double x) {
  const auto found = std::find_if(curve.begin(), curve.end(), [x](const CurvePoint& point) {
    return point.x == x && std::isfinite(point.y);
  });
  return found == curve.end() ? std::nullopt : std::optional(*found);
}

// A word's rate is the word's own if it no longer grows with the CUs: at the last two numbers of
// them, at least a doubling apart, it is the same within a tenth.
constexpr double same = 0.1;

void infer_rate_of_a_word(hipscope::Results& results) {
  const auto rates = results.curve("units", "one address");
  constexpr std::size_t fewest = 4;
  if (rates.size() < fewest) {
    return;
  }
  const CurvePoint& last = rates.back();
  const auto before = std::find_if(rates.rbegin(), rates.rend(),
                                   [&](const CurvePoint& point) { return 2 * point.x <= last.x; });
  const double growth = before == rates.rend() ? 1 : std::abs(last.y / before->y - 1);
  const auto enough = std::find_if(rates.begin(), rates.end(), [&](const CurvePoint& point) {
    return point.y >= (1 - same) * last.y;
  });
  hipscope::Inference inference{
      .name = "additions at one word of L2",
      .unit = "G/s",
      .statement = "the rate at one word still changes with the number of CUs",
      .evidence = {number(1e3 * last.y / results.clock_mhz()) + " lanes per cycle of the " +
                       number(last.x, 4) + " CUs",
                   "from half as many or fewer it differs by " + number(100 * growth, 2) + " %"}};
  const double noise = std::max(last.relative_spread, growth);
  if (growth < same && last.relative_spread < same) {
    inference.value = last.y;
    inference.confidence = 1 - noise / same / 2;
    inference.statement = "so many lanes per second add to one word of L2, from " +
                          number(enough->x, 4) + " CUs on; more of them wait for one another";
  }
  results.infer(inference);
}

// The rows of integer and float additions, as operations.h numbers them.
constexpr double add_int = 1;
constexpr double add_float = 4;

void infer_lds_rate(hipscope::Results& results) {
  const auto rate = row_of(results.curve("lds", "spread"), add_int);
  const auto crowded = row_of(results.curve("lds", "one address"), add_int);
  if (!rate || !crowded || !(crowded->y > 0)) {
    return;
  }
  results.infer({.name = "additions in LDS",
                 .value = rate->y,
                 .unit = "lanes/cycle",
                 .confidence = std::max(0.0, 1 - rate->relative_spread / same),
                 .statement = "a CU's LDS adds for so many lanes per cycle, each at its own word",
                 .evidence = {"a block of 1024 threads; at one word: " + number(crowded->y) +
                              " lanes/cycle"}});
}

// A loop loads, adds, and compares and swaps, of which each alone takes about as long as an
// addition by the LDS itself; so the ratio is near 1 or well over it, and between these nothing is
// told.
void infer_float_addition(hipscope::Results& results) {
  const auto latency = results.curve("latency", "LDS");
  const auto integer = row_of(latency, add_int);
  const auto real = row_of(latency, add_float);
  if (!integer || !real || !(integer->y > 0)) {
    return;
  }
  constexpr double at_most_of_one = 1.3;
  constexpr double at_least_of_loop = 1.6;
  const double ratio = real->y / integer->y;
  hipscope::Inference inference{
      .name = "FP32 addition in LDS over INT32's",
      .unit = "times",
      .statement = "neither an instruction's time nor a loop's",
      .evidence = {number(real->y) + " and " + number(integer->y) + " cycles for one lane"}};
  if (ratio <= at_most_of_one || ratio >= at_least_of_loop) {
    inference.value = ratio;
    inference.confidence =
        std::max(0.0, 1 - std::max(real->relative_spread, integer->relative_spread) / same);
    inference.statement = ratio <= at_most_of_one
                              ? "LDS adds floats itself, as it does integers"
                              : "LDS does not add floats itself: a loop of compare-and-swap does";
  }
  results.infer(inference);
}

}  // namespace

void conclude(hipscope::Results& results) {
  infer_rate_of_a_word(results);
  infer_lds_rate(results);
  infer_float_addition(results);
}

}  // namespace atomics
