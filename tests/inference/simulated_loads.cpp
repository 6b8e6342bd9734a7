#include "simulated_loads.h"

#include <algorithm>
#include <cmath>
#include <random>

#include "normal_noise.h"

namespace hipscope::trial {

Curve mean_loads(const std::vector<double>& xs,
                 const std::function<std::vector<LoadsOfLevel>(double)>& loads_at,
                 const Disturbance& disturbance, Random& random) {
  const auto loads = one_of(random, std::vector<int>{4032, 2016});
  NormalNoise error(1, disturbance.noise);
  Curve curve;
  for (const double x : xs) {
    const double drift =
        1 + disturbance.drift * static_cast<double>(curve.size()) / static_cast<double>(xs.size());
    const double slower = drift * std::max(0.5, error(random));
    int left = loads;
    double share_left = 1;
    double sum = 0;
    for (const LoadsOfLevel& level : loads_at(x)) {
      const double chance = share_left > 0 ? std::clamp(level.share / share_left, 0.0, 1.0) : 0;
      const int taken = std::binomial_distribution<int>(left, chance)(random);
      left -= taken;
      share_left -= level.share;
      if (taken > 0) {
        const int outliers =
            std::binomial_distribution<int>(taken, disturbance.outlier_share)(random);
        const double longer = outliers * (disturbance.outlier_factor - 1);
        NormalNoise spread(1, level.deviation / std::sqrt(taken));
        sum += level.latency * (taken * spread(random) + longer);
      }
    }
    curve.push_back({.x = x, .y = slower * sum / loads});
  }
  return curve;
}

Curve mean_loads(const Machine& machine, const std::vector<double>& xs,
                 const Disturbance& disturbance, Random& random) {
  const auto laps = one_of(random, std::vector<unsigned>{2, 4, 8});
  std::vector<double> deviations;
  for (std::size_t i = 0; i <= machine.caches.size(); ++i) {
    deviations.push_back(i == 0 ? between_octaves(random, 0.003, 0.03)
                                : between_octaves(random, 0.015, 0.15));
  }
  const auto loads_at = [&](double footprint) {
    std::vector<LoadsOfLevel> all;
    double resident = 0;
    for (std::size_t i = 0; i < machine.caches.size(); ++i) {
      const Cache& cache = machine.caches[i];
      const double here = std::max(resident, resident_share(cache, footprint, laps));
      all.push_back({here - resident, cache.latency, deviations[i]});
      resident = here;
    }
    // Past the TLB's reach some of the loads from memory wait for it, too.
    const double translated =
        machine.tlb_reach > 0 ? std::min(1.0, machine.tlb_reach / footprint) : 1;
    all.push_back({(1 - resident) * translated, machine.latency, deviations.back()});
    all.push_back(
        {(1 - resident) * (1 - translated), machine.latency + machine.tlb_cost, deviations.back()});
    return all;
  };
  return mean_loads(xs, loads_at, disturbance, random);
}

}  // namespace hipscope::trial
