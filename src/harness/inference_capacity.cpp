// The capacity of a cache from how loads begin to miss in it.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <vector>

#include "capacity_laws.h"
#include "hipscope/inference.h"
#include "hipscope/statistics.h"
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
    return std::abs(stretched(rising[i]) - stretched(law.miss_share(curve[i].x / capacity)));
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

// A straight line from knot to knot, and level beyond the first and the last.
struct Knot {
  double x;
  double y;
};

double along(std::span<const Knot> knots, double x) {
  if (x <= knots.front().x) {
    return knots.front().y;
  }
  for (std::size_t i = 1; i < knots.size(); ++i) {
    if (x <= knots[i].x) {
      const double part = (x - knots[i - 1].x) / (knots[i].x - knots[i - 1].x);
      return knots[i - 1].y + part * (knots[i].y - knots[i - 1].y);
    }
  }
  return knots.back().y;
}

// How often a capacity was right within an eighth in the trial (tests/inference, the seeds for
// fitting), by how wide the way from the knee to the full miss is and by how well a law explains
// it. A wide one means half of the time another law than the one that was thought of.
double share_of_right(const Capacity& capacity, std::size_t points_beyond) {
  constexpr std::array by_octaves = {Knot{0, 0.98}, Knot{0.3, 0.9}, Knot{0.4, 0.5}, Knot{2, 0.45},
                                     Knot{3, 0.3}};
  constexpr std::array by_misfit = {Knot{0.05, 1}, Knot{0.1, 0.7}, Knot{0.2, 0.5}, Knot{0.5, 0.2}};
  constexpr std::array by_points = {Knot{3, 0.4}, Knot{8, 0.8}, Knot{12, 1}};
  return along(by_octaves, std::log2(capacity.full / capacity.knee)) *
         along(by_misfit, capacity.misfit) * along(by_points, static_cast<double>(points_beyond));
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
    const double capacity = middle.x / law.half();
    fits.push_back({capacity, area_between(misses, rising, law, capacity)});
  }
  const auto nearest = std::min_element(fits.begin(), fits.end(),
                                        [](const Fit& a, const Fit& b) { return a.area < b.area; });
  found.misfit = nearest->area;
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
  found.confidence = share_of_right(found, beyond);
  return found;
}

namespace {

// What the footprints past a capacity say of it.
struct PastKnee {
  double seen = 0;  // the share of loads in the cache that look like hits
  std::vector<CurvePoint> capacities{};
};

// The footprints that are past a capacity, and share times footprint there. Of loads that hit some
// look like misses, because something slows them down: so does what is seen on the way to the knee
// say, not only at the smallest footprints, which other levels may hold.
PastKnee past_knee(std::span<const CurvePoint> hits) {
  constexpr double nearly_all = 0.8;
  constexpr double clearly_past = 0.75;  // where hardly a set has room left
  constexpr double too_few = 0.1;        // to tell them from what is taken for a hit
  const auto last_inside = std::find_if(
      hits.rbegin(), hits.rend(), [&](const CurvePoint& point) { return point.y >= nearly_all; });
  const auto inside = static_cast<std::size_t>(hits.rend() - last_inside);
  const auto past_of = [&](double seen) {
    std::vector<CurvePoint> past;
    for (const CurvePoint& point : hits.subspan(inside)) {
      const double share = point.y / seen;
      if (share >= too_few && share <= clearly_past) {
        past.push_back({.x = point.x, .y = share * point.x});
      }
    }
    return past;
  };
  const auto middle_of = [](const std::vector<CurvePoint>& points) {
    std::vector<double> ys;
    ys.reserve(points.size());
    for (const CurvePoint& point : points) {
      ys.push_back(point.y);
    }
    return median_of(ys);
  };
  PastKnee found{.capacities = past_of(1)};
  if (found.capacities.empty()) {
    return {};
  }
  constexpr double well_within = 1.6;
  constexpr double octaves_before = 8;  // as a ratio
  const double about = middle_of(found.capacities);
  std::vector<CurvePoint> before;
  std::copy_if(hits.begin(), hits.end(), std::back_inserter(before), [&](const CurvePoint& point) {
    return octaves_before * point.x >= about && well_within * point.x <= about;
  });
  constexpr std::size_t fewest_before = 2;
  if (before.size() < fewest_before) {
    return {};
  }
  found.seen = middle_of(before);
  if (found.seen < nearly_all) {
    return {};
  }
  found.capacities = past_of(found.seen);
  return found;
}

}  // namespace

std::optional<CapacityByHits> fit_capacity_by_hits(std::span<const CurvePoint> hits) {
  constexpr std::size_t fewest_points = 4;
  constexpr double fewest_octaves = 0.8;
  const PastKnee knee = past_knee(hits);
  const std::vector<CurvePoint>& past = knee.capacities;
  if (past.size() < fewest_points || std::log2(past.back().x / past.front().x) < fewest_octaves) {
    return std::nullopt;
  }
  std::vector<double> octaves;
  octaves.reserve(past.size());
  for (const CurvePoint& point : past) {
    octaves.push_back(std::log2(point.y));
  }
  const auto half = static_cast<std::ptrdiff_t>(octaves.size() / 2);
  const auto median = [](auto begin, auto end) {
    return summarize(std::vector(begin, end)).median;
  };
  const double middle = median(octaves.begin(), octaves.end());
  CapacityByHits found{.value = std::exp2(middle),
                       .first_x = past.front().x,
                       .last_x = past.back().x,
                       .points = past.size(),
                       .drift = median(octaves.end() - half, octaves.end()) -
                                median(octaves.begin(), octaves.begin() + half)};
  for (double& each : octaves) {
    each = std::abs(each - middle);
  }
  const double spread = summarize(octaves).median;
  constexpr double largest_spread = 0.15;  // of what falls in another way
  constexpr double largest_drift = 0.4;
  if (spread > largest_spread || std::abs(found.drift) > largest_drift) {
    return std::nullopt;
  }
  // In the trial (tests/inference, the seeds for fitting).
  constexpr std::array by_drift = {Knot{0.05, 0.97}, Knot{0.15, 0.8}, Knot{0.4, 0.3}};
  constexpr std::array by_points = {Knot{4, 0.8}, Knot{8, 1}};
  constexpr std::array by_seen = {Knot{0.8, 0.8}, Knot{0.97, 1}};
  found.confidence = along(by_drift, std::abs(found.drift)) *
                     along(by_points, static_cast<double>(found.points)) *
                     along(by_seen, knee.seen);
  constexpr double always = 0.03;  // octaves: of sets that are not quite full
  const double margin = always + std::abs(found.drift) / 2 +
                        3 * spread / std::sqrt(static_cast<double>(found.points));
  found.low = found.value / std::exp2(margin);
  found.high = found.value * std::exp2(margin);
  return found;
}

}  // namespace hipscope
