#include "inference_capacity.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <vector>

#include "hipscope/capacity_laws.h"
#include "hipscope/confidence.h"
#include "inference_rising.h"

namespace hipscope {

namespace {

// Where a rising curve comes to a share, and the points on both sides.
struct Crossing {
  double x = 0;
  double below = 0;
  double above = 0;
};

Crossing crossing(std::span<const CurvePoint> curve, const std::vector<double>& rising,
                  double share) {
  const auto found =
      std::find_if(rising.begin(), rising.end(), [&](double each) { return each >= share; });
  const auto above = static_cast<std::size_t>(found - rising.begin());
  if (above == 0 || above == rising.size()) {
    const double x = above == 0 ? curve.front().x : curve.back().x;
    return {.x = x, .below = x, .above = x};
  }
  const double part = (share - rising[above - 1]) / (rising[above] - rising[above - 1]);
  const double octaves = std::log2(curve[above].x / curve[above - 1].x);
  return {.x = curve[above - 1].x * std::exp2(part * octaves),
          .below = curve[above - 1].x,
          .above = curve[above].x};
}

// A share on a scale that spreads the first misses, by which laws differ most.
double stretched(double share) {
  constexpr double even_up_to = 0.02;  // as far as noise may reach
  return (std::sqrt(share + even_up_to) - std::sqrt(even_up_to)) /
         (std::sqrt(1 + even_up_to) - std::sqrt(even_up_to));
}

// The area between a curve and a law, in octaves: a sharp step that is an octave off has 1.
double area_between(std::span<const CurvePoint> curve, const std::vector<double>& rising,
                    const CapacityLaw& law, double capacity) {
  const auto difference_at = [&](std::size_t i) {
    return std::abs(stretched(rising[i]) -
                    stretched(law.miss_share(std::log2(curve[i].x / capacity))));
  };
  double area = 0;
  double last = difference_at(0);
  for (std::size_t i = 1; i < curve.size(); ++i) {
    const double difference = difference_at(i);
    area += (last + difference) / 2 * std::log2(curve[i].x / curve[i - 1].x);
    last = difference;
  }
  return area;
}

// How often a capacity was right within an eighth in the trial (tests/inference, the seeds for
// fitting), by how wide the way from the knee to the full miss is and by how well a law explains
// it. A wide one means half of the time another law than the one that was thought of.
double share_of_right(const Capacity& capacity, double misfit, std::size_t points_beyond) {
  constexpr std::array by_octaves = {Knot{0, 0.98}, Knot{0.3, 0.9}, Knot{0.4, 0.5}, Knot{2, 0.45},
                                     Knot{3, 0.3}};
  constexpr std::array by_misfit = {Knot{0.05, 1}, Knot{0.1, 0.7}, Knot{0.2, 0.5}, Knot{0.5, 0.2}};
  constexpr std::array by_points = {Knot{3, 0.4}, Knot{8, 0.8}, Knot{12, 1}};
  return along(by_octaves, std::log2(capacity.full / capacity.knee)) * along(by_misfit, misfit) *
         along(by_points, static_cast<double>(points_beyond));
}

}  // namespace

std::optional<Capacity> fit_capacity(std::span<const CurvePoint> misses) {
  constexpr std::size_t fewest_points = 4;
  if (misses.size() < fewest_points) {
    return std::nullopt;
  }
  const std::vector<double> rising = never_falling(misses, Middle::mean);
  constexpr double half = 0.5;
  if (rising.front() >= half || rising.back() <= half) {
    return std::nullopt;
  }
  constexpr double clearly = 0.1;  // of loads that miss, or that hit
  const Crossing middle = crossing(misses, rising, half);
  Capacity found{.knee = crossing(misses, rising, clearly).x,
                 .half = middle.x,
                 .full = crossing(misses, rising, 1 - clearly).x};

  struct Fit {
    double capacity;
    double area;
  };
  std::vector<Fit> fits;
  for (const CapacityLaw& law : capacity_laws()) {
    const double capacity = middle.x / law.inverse(half);
    fits.push_back({capacity, area_between(misses, rising, law, capacity)});
  }
  const auto nearest = std::min_element(fits.begin(), fits.end(),
                                        [](const Fit& a, const Fit& b) { return a.area < b.area; });
  // Laws that fit about as well may be the true one.
  const double alike = 1.4 * nearest->area + 0.02;
  double weights = 0;
  double octaves = 0;
  found.low = found.high = nearest->capacity;
  for (const Fit& fit : fits) {
    if (fit.area <= alike) {
      const double weight = 1 / std::pow(fit.area + 0.01, 2);
      weights += weight;
      octaves += weight * std::log2(fit.capacity);
      found.low = std::min(found.low, fit.capacity);
      found.high = std::max(found.high, fit.capacity);
    }
  }
  found.value = std::exp2(octaves / weights);
  // Between two footprints nothing is known.
  const double gap = std::sqrt(middle.above / middle.below);
  found.low /= gap;
  found.high *= gap;
  // A footprint never has a cache for itself alone.
  constexpr double used_by_others = 0.05;
  found.high *= 1 + used_by_others;
  // All of the step between two footprints: the first is the largest that was seen to fit.
  const auto at = [&](double x) {
    return rising[static_cast<std::size_t>(
        std::find_if(misses.begin(), misses.end(),
                     [&](const CurvePoint& point) { return point.x == x; }) -
        misses.begin())];
  };
  if (at(middle.below) <= clearly && at(middle.above) >= 1 - clearly) {
    found.value = found.low = middle.below;
    found.high = middle.above;
  }
  const auto beyond = static_cast<std::size_t>(std::count_if(
      rising.begin(), rising.end(), [](double share) { return share >= 1 - clearly; }));
  found.confidence = share_of_right(found, nearest->area, beyond);
  return found;
}

}  // namespace hipscope
