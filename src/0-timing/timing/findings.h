// What timing concludes from its curves, and the statistics that it is made of. Plain C++, no GPU
// headers.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "hipscope/experiment.h"

namespace timing {

/// What successive readings of a clock show, in the readings' unit.
struct Steps {
  double smallest = 0;       ///< between any two that differ by more than rounding; 0: none do
  double mean = 0;           ///< from one reading to the next
  std::size_t backward = 0;  ///< readings that were less than the one before
};

/// `differences` of successive readings, or times of nothing: all multiples of the clock's step.
/// The smallest step is the least distance between two different ones of them, 0 among them.
Steps steps_of(std::span<const double> differences);

/// A spread of groups' estimates needs that many groups.
inline constexpr std::size_t fewest_groups = 8;

/// Interquartile range over median, of the groups' medians, means and minima.
struct GroupSpreads {
  double medians = 0;
  double means = 0;
  double minima = 0;
};

/// Cuts `times` into successive groups of `size`; what is left over is left out.
/// Throws std::invalid_argument when there are fewer than `fewest_groups`.
GroupSpreads spreads_of_groups(std::span<const double> times, std::size_t size);

/// Where the first octave of medians_of_octaves begins, in x's unit, milliseconds.
inline constexpr double first_octave_ms = 0.5;

/// The median y of the points in each octave of x from `first_octave_ms` on (points before it count
/// for the first), at the octave's beginning; octaves without a point are left out.
std::vector<hipscope::CurvePoint> medians_of_octaves(std::span<const hipscope::CurvePoint> points);

/// What events and the host's clock add to a time (sweep known: "added, ..."), what a first launch
/// costs (first: "completion"), and what the clock does under load (drift: "shader clock"). What
/// was not measured is left out.
void conclude(hipscope::Results& results);

}  // namespace timing
