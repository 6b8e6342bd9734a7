#include "hipscope/capacity_laws.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace hipscope {

namespace {

// Lines in their sets in turn, of which the least recently used leaves: a set with one line more
// than it has ways keeps none.
double in_turn(double ratio, double ways) {
  const double lines = ratio * ways;
  return lines <= ways ? 0 : lines >= ways + 1 ? 1 : (lines - ways) * (ways + 1) / lines;
}

// The same with lines in any set: the chance that a line shares its set with as many others as
// there are ways (Poisson).
double at_random(double ratio, int ways) {
  const double mean = ratio * ways;
  double term = std::exp(-mean);
  double fewer = 0;
  for (int others = 0; others < ways; ++others) {
    fewer += term;
    term *= mean / (others + 1);
  }
  return std::max(0.0, 1 - fewer);
}

// Any line leaves. A line of a footprint of `ratio` capacities is still there a lap later with the
// chance exp(-ratio * misses per load in that lap); before the first lap none was.
double any_leaves(double ratio, int laps) {
  constexpr std::size_t steps = 32;  // per lap
  std::vector<double> hits(steps, 0);
  double misses = steps;  // in the last lap
  for (int lap = 0; lap < laps; ++lap) {
    for (std::size_t step = 0; step < steps; ++step) {
      const double hit = std::exp(-ratio * misses / steps);
      misses += hits[step] - hit;
      hits[step] = hit;
    }
  }
  return misses / steps;
}

}  // namespace

double CapacityLaw::ratio_of(int entry) {
  return std::exp2(smallest_octave + entry / entries_per_octave);
}

double CapacityLaw::inverse(double share) const {
  const auto above =
      std::find_if(shares_.begin(), shares_.end(), [&](double each) { return each >= share; });
  const auto entry = static_cast<int>(above - shares_.begin());
  if (entry == 0) {
    return ratio_of(0);
  }
  const double before = *(above - 1);
  const double part = (share - before) / (*above - before);
  return ratio_of(entry - 1) * std::exp2(part / entries_per_octave);
}

std::span<const CapacityLaw> capacity_laws() {
  static const std::vector<CapacityLaw> laws = [] {
    std::vector<CapacityLaw> all;
    for (const int ways : {4, 8, 16, 32}) {
      all.emplace_back([=](double ratio) { return in_turn(ratio, ways); });
      all.emplace_back([=](double ratio) { return at_random(ratio, ways); });
    }
    constexpr int steady = 32;
    for (const int laps : {1, 2, 4, steady}) {
      all.emplace_back([=](double ratio) { return any_leaves(ratio, laps); });
    }
    return all;
  }();
  return laws;
}

}  // namespace hipscope
