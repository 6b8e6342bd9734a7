#include "findings.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "hipscope/confidence.h"
#include "hipscope/format.h"
#include "hipscope/statistics.h"

namespace atomics {

using hipscope::CurvePoint;
using hipscope::number;

namespace {

// A word's rate is the word's own if it no longer grows with the CUs: over the last three octaves
// of them it is the same within a tenth, but for one point, not the last, that something else has
// slowed down.
constexpr double same = 0.1;

// The rates of the last octaves, rising, without that one.
std::vector<double> last_rates(const std::vector<CurvePoint>& rates) {
  constexpr double last_octaves = 8;
  std::vector<double> last;
  for (const CurvePoint& point : rates) {
    if (last_octaves * point.x >= rates.back().x) {
      last.push_back(point.y);
    }
  }
  constexpr std::size_t enough = 4;
  const auto lowest = std::min_element(last.begin(), last.end());
  if (last.size() >= enough && *lowest < (1 - same) * last.back()) {
    last.erase(lowest);
  }
  std::sort(last.begin(), last.end());
  return last;
}

void infer_rate_of_a_word(hipscope::Results& results) {
  const auto rates = results.curve("units", "one address");
  constexpr std::size_t fewest = 4;
  if (rates.size() < fewest) {
    return;
  }
  const std::vector<double> last = last_rates(rates);
  const double rate = hipscope::quantile(last, 0.5);
  const double growth = last.back() / last.front() - 1;
  const auto enough = std::find_if(rates.begin(), rates.end(), [&](const CurvePoint& point) {
    return point.y >= (1 - same) * rate;
  });
  const double units = rates.back().x;
  hipscope::Inference inference{
      .name = "additions at one word of L2",
      .unit = "G/s",
      .statement = "the rate at one word still changes with the number of CUs",
      .evidence = {number(1e3 * rate / results.clock_mhz()) + " lanes per cycle of the " +
                       number(units, 4) + " CUs",
                   "from an eighth of them on it differs by " + number(100 * growth, 2) + " %"}};
  constexpr std::size_t fewest_rates = 3;
  const double noise = std::max(rates.back().relative_spread, growth);
  if (last.size() >= fewest_rates && growth < same && rates.back().relative_spread < same) {
    inference.value = rate;
    inference.confidence = 1 - noise / same / 2;
    inference.statement = "so many lanes per second add to one word of L2, from " +
                          number(enough->x, 4) + " CUs on; more of them wait for one another";
  }
  results.infer(inference);
}

// The rows of integer and float additions, as operations.h numbers them.
constexpr double add_int = 1;
constexpr double add_float = 4;
constexpr double add_int_returned = 21;

void infer_lds_rate(hipscope::Results& results) {
  const auto rate = results.at("lds", "spread", add_int);
  const auto crowded = results.at("lds", "one address", add_int);
  if (!rate || !crowded || !(crowded->y > 0)) {
    return;
  }
  // Words side by side in one line, and additions whose result is asked for, are often as many.
  const auto agrees = [&](const std::optional<CurvePoint>& other) {
    return other && std::abs(other->y / rate->y - 1) < same;
  };
  const bool is_alone = !agrees(results.at("lds", "one line", add_int)) &&
                        !agrees(results.at("lds", "spread", add_int_returned));
  const double sure = std::max(0.0, 1 - rate->relative_spread / same);
  results.infer({.name = "additions in LDS",
                 .value = rate->y,
                 .unit = "lanes/cycle",
                 .confidence = hipscope::sure_if(!is_alone, sure),
                 .statement = "a CU's LDS adds for so many lanes per cycle, each at its own word",
                 .evidence = {"a block of 1024 threads; at one word: " + number(crowded->y) +
                              " lanes/cycle"}});
}

// A loop loads, adds, and compares and swaps, of which each alone takes about as long as an
// addition by the LDS itself; so the ratio is near 1 or well over it, and between these nothing is
// told.
void infer_float_addition(hipscope::Results& results) {
  const auto integer = results.at("latency", "LDS", add_int);
  const auto real = results.at("latency", "LDS", add_float);
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
    // A loop is slower in rate, too, for whoever has a word of its own.
    const auto integers = results.at("lds", "spread", add_int);
    const auto reals = results.at("lds", "spread", add_float);
    const bool agrees = integers && reals && reals->y > 0 &&
                        (integers->y / reals->y >= at_least_of_loop) == (ratio >= at_least_of_loop);
    inference.confidence = hipscope::sure_if(agrees, inference.confidence);
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
