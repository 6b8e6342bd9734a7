// The times of single loads of any line of a footprint, as memory_latency's sweep load-times takes
// them.
#pragma once

#include <vector>

#include "cache_simulator.h"
#include "disturbance.h"

namespace hipscope::trial {

/// One level's loads: how long they take in the middle, and by how much they differ.
struct LoadsOfLevel {
  double share = 0;
  double latency = 0;
  double deviation = 0;  ///< standard deviation of the logarithm
};

/// Of each footprint the loads, by level.
using Loads = std::vector<std::vector<LoadsOfLevel>>;

/// A machine's loads at the footprints `xs`.
Loads loads_of(const Machine& machine, const std::vector<double>& xs, Random& random);

/// Of each mode the share of loads in percent, over the footprint.
using ModeCurves = std::vector<Curve>;

/// The sweep over `xs`; outliers are single loads, noise and drift are of all loads of a footprint.
ModeCurves mode_curves(const std::vector<double>& xs, const Loads& loads,
                       const Disturbance& disturbance, Random& random);

/// The mean of such loads.
Curve mean_loads(const std::vector<double>& xs, const Loads& loads, const Disturbance& disturbance,
                 Random& random);

}  // namespace hipscope::trial
