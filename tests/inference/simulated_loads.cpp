#include "simulated_loads.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <utility>

#include "5-memory/memory_latency/findings.h"
#include "normal_noise.h"

namespace hipscope::trial {

namespace {

using memory_latency::LatencyHistogram;

// Loads whose times are spread around `latency`.
void add_spread(LatencyHistogram& histogram, double loads, double latency, double deviation) {
  constexpr double reach = 3.5;
  const auto below = [&](std::size_t bin) {
    const double deviations =
        std::log(LatencyHistogram::first_of(bin) / latency) / std::max(1e-6, deviation);
    return std::erfc(-deviations / std::sqrt(2.0)) / 2;
  };
  const std::size_t first = LatencyHistogram::bin_of(latency * std::exp(-reach * deviation));
  const std::size_t last = LatencyHistogram::bin_of(latency * std::exp(reach * deviation));
  double so_far = 0;
  for (std::size_t bin = first; bin <= last; ++bin) {
    const double with_this = bin < last ? below(bin + 1) : 1;
    histogram.add(1.0001 * LatencyHistogram::first_of(bin), loads * (with_this - so_far));
    so_far = with_this;
  }
}

// The loads of each footprint, and how they come about: begin(footprint), then use(level, loads
// that it serves, how much slower they are), level after level. Returns how many loads a footprint
// has.
template <typename Begin, typename Use>
int draw_loads(const Loads& levels, const Disturbance& disturbance, Random& random, Begin begin,
               Use use) {
  const auto loads = one_of(random, std::vector<int>{4032, 2016});
  NormalNoise error(1, disturbance.noise);
  for (std::size_t i = 0; i < levels.size(); ++i) {
    const double drift =
        1 + disturbance.drift * static_cast<double>(i) / static_cast<double>(levels.size());
    const double slower = drift * std::max(0.5, error(random));
    begin();
    int left = loads;
    double share_left = 1;
    for (const LoadsOfLevel& level : levels[i]) {
      const double chance = share_left > 0 ? std::clamp(level.share / share_left, 0.0, 1.0) : 0;
      const int taken = std::binomial_distribution<int>(left, chance)(random);
      left -= taken;
      share_left -= level.share;
      use(level, taken, slower);
    }
  }
  return loads;
}

}  // namespace

ModeCurves mode_curves(const std::vector<double>& xs, const Loads& levels,
                       const Disturbance& disturbance, Random& random) {
  std::vector<LatencyHistogram> histograms;
  draw_loads(
      levels, disturbance, random, [&] { histograms.emplace_back(); },
      [&](const LoadsOfLevel& level, int taken, double slower) {
        const double outliers = disturbance.outlier_share * taken;
        add_spread(histograms.back(), taken - outliers, slower * level.latency, level.deviation);
        add_spread(histograms.back(), outliers, disturbance.outlier_factor * slower * level.latency,
                   level.deviation);
      });
  ModeCurves curves;
  for (const auto& mode : memory_latency::find_latency_modes(histograms)) {
    curves.emplace_back();
    for (std::size_t i = 0; i < xs.size(); ++i) {
      curves.back().push_back({.x = xs[i], .y = 100 * histograms[i].share(mode.begin, mode.end)});
    }
  }
  return curves;
}

Curve mean_loads(const std::vector<double>& xs, const Loads& levels, const Disturbance& disturbance,
                 Random& random) {
  std::vector<double> sums;
  const int loads = draw_loads(
      levels, disturbance, random, [&] { sums.push_back(0); },
      [&](const LoadsOfLevel& level, int taken, double slower) {
        if (taken > 0) {
          const int outliers =
              std::binomial_distribution<int>(taken, disturbance.outlier_share)(random);
          const double longer = outliers * (disturbance.outlier_factor - 1);
          NormalNoise spread(1, level.deviation / std::sqrt(taken));
          sums.back() += slower * level.latency * (taken * spread(random) + longer);
        }
      });
  Curve curve;
  for (std::size_t i = 0; i < xs.size(); ++i) {
    curve.push_back({.x = xs[i], .y = sums[i] / loads});
  }
  return curve;
}

Loads loads_of(const Machine& machine, const std::vector<double>& xs, Random& random) {
  const auto laps = one_of(random, std::vector<unsigned>{2, 4, 8});
  std::vector<double> deviations;
  for (std::size_t i = 0; i <= machine.caches.size(); ++i) {
    deviations.push_back(i == 0 ? between_octaves(random, 0.003, 0.03)
                                : between_octaves(random, 0.015, 0.15));
  }
  Loads loads;
  for (const double footprint : xs) {
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
    loads.push_back(std::move(all));
  }
  return loads;
}

}  // namespace hipscope::trial
