// The capacities of caches from latency as a whole.
#pragma once

#include <span>
#include <vector>

#include "hipscope/experiment.h"
#include "text.h"

namespace memory_latency {

/// The capacities of several caches, from the smallest on, by two curves of latency over the
/// footprint, of which one may be empty: the mean of `loads` that may each read any line,
/// independent of the last, and a `walk` that reads every line in turn, lap after lap. Past a
/// capacity loads miss, so each curve is a staircase of known steps, which need neither be high nor
/// become flat before the next one; both have their steps at the same capacities. The first curve
/// rises by at least `smallest_ratio` (such as 1.12) with each cache. Points clearly above a later
/// one are left out. Empty if a curve falls for long, and if cubics of the octaves fit as well.
std::vector<FoundCapacity> fit_misses(std::span<const hipscope::CurvePoint> loads,
                                      std::span<const hipscope::CurvePoint> walk,
                                      double smallest_ratio);

}  // namespace memory_latency
