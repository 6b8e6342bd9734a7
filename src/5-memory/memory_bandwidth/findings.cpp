#include "findings.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "hipscope/confidence.h"
#include "hipscope/format.h"
#include "hipscope/inference.h"
#include "hipscope/statistics.h"

namespace memory_bandwidth {

using hipscope::Inference;
using hipscope::number;

namespace {

using Curve = std::vector<hipscope::CurvePoint>;

void infer_memory(hipscope::Results& results) {
  const double most = peak(results.device());
  for (const auto& point : results.curve("stream", "bandwidth")) {
    const auto function = static_cast<Function>(point.x);
    if (function == Function::scale || function == Function::add || function == Function::dot) {
      continue;  // they show nothing new
    }
    Inference inference{.name = std::string("memory ") + name_of(function) + " bandwidth",
                        .value = point.y,
                        .unit = gigabytes,
                        .confidence = 1 - std::min(1.0, point.relative_spread),
                        .statement = "sustained over arrays well beyond the caches"};
    if (!std::isnan(most)) {
      inference.evidence = {number(100 * point.y / most) + " % of " + number(most, 4) +
                            " GB/s, by the driver's memory clock and bus width"};
    }
    results.infer(inference);
  }
}

// How a cache's rate falls over the footprint.
struct Fall {
  double last_x = 0;  // the last footprint before it
  double best = 0;    // the second highest rate of the three octaves before it
  double best_x = 0;
  double lowest = 0;  // there
  double confidence = 0;
};

// How much neighbours differ, in the middle of all: a curve that changes everywhere falls nowhere.
double usual_change(const Curve& curve) {
  std::vector<double> changes;
  for (std::size_t i = 1; i < curve.size(); ++i) {
    changes.push_back(std::abs(std::log(curve[i].y / curve[i - 1].y)));
  }
  return hipscope::summarize(changes).median;
}

// The footprints after which a curve clearly falls, from left to right.
std::vector<double> ends_of(const Curve& curve, double clear_change) {
  Curve times = curve;
  for (std::size_t i = 1; i + 1 < curve.size(); ++i) {
    // The middle one of three: a single slow launch is no fall.
    const auto [low, high] = std::minmax(curve[i - 1].y, curve[i + 1].y);
    times[i].y = 1 / std::clamp(curve[i].y, low, high);
  }
  times.front().y = times[1].y;
  times.back().y = times[times.size() - 2].y;
  // Times as long for the same bytes, within an octave. The level before a small fall must be
  // flatter than that before a large one.
  std::vector<double> ends;
  for (const double smallest : {2.0, 1.6, 1.3, 1.2}) {
    if (std::log(smallest) < clear_change) {
      break;
    }
    for (const auto& rise : hipscope::find_clear_rises(times, smallest)) {
      const bool is_known = std::any_of(ends.begin(), ends.end(), [&](double end) {
        constexpr double apart = 0.6;  // octaves
        return std::abs(std::log2(rise.last_flat_x / end)) < apart;
      });
      if (!is_known) {
        ends.push_back(rise.last_flat_x);
      }
    }
  }
  std::sort(ends.begin(), ends.end());
  return ends;
}

// The clear falls of a curve, from left to right. The best that a cache gives is the second highest
// rate since the fall before, as one may be high by chance.
std::vector<Fall> falls_of(const Curve& curve) {
  constexpr std::size_t fewest_points = 8;
  if (curve.size() < fewest_points) {
    return {};
  }
  constexpr double clearly = 7;
  const double clear_change = clearly * usual_change(curve);
  std::vector<Fall> falls;
  double from = 0;
  for (const double end : ends_of(curve, clear_change)) {
    constexpr double octaves_before = 8;  // as a ratio
    std::vector<hipscope::CurvePoint> level;
    for (const auto& point : curve) {
      if (point.x <= end && point.x >= std::max(from, end / octaves_before)) {
        level.push_back(point);
      }
    }
    constexpr double fallen = 4;  // what is clear falls mostly within an octave
    from = fallen * end;
    if (level.size() < 2) {
      continue;
    }
    std::sort(level.begin(), level.end(), [](auto& a, auto& b) { return a.y > b.y; });
    const auto count = static_cast<double>(level.size());
    falls.push_back({.last_x = end,
                     .best = level[1].y,
                     .best_x = level[1].x,
                     .lowest = level.back().y,
                     .confidence = level.back().y / level[1].y * count / (count + 1) *
                                   (1 - std::min(1.0, clear_change))});
  }
  return falls;
}

// A cache's bandwidth by the fall that ends it; empty: none does.
Inference bandwidth_by(const std::string& name, const std::optional<Fall>& fall,
                       const std::string& extent = "") {
  Inference inference{
      .name = name, .unit = gigabytes, .statement = "the curve shows no level that ends"};
  if (fall) {
    inference.value = fall->best;
    inference.confidence = fall->confidence;
    inference.statement = "all CUs together, the best up to " + footprint_label(fall->last_x) +
                          extent + ", from where on it falls";
    inference.evidence = {number(fall->best, 4) + " at " + footprint_label(fall->best_x) +
                          ", the second highest, and " + number(fall->lowest, 4) +
                          " at least in the three octaves before it falls"};
  }
  return inference;
}

// The first fall is level 1's, unless the CUs together have left L2 there, or a half of it.
void infer_l1(hipscope::Results& results, double l2_bytes) {
  const auto curve = results.curve("footprint-l1", "bandwidth");
  if (curve.empty()) {
    return;
  }
  const auto falls = falls_of(curve);
  constexpr double still_within = 0.75;
  constexpr double surely_within = 0.5;
  const double of_l2 = falls.empty() || l2_bytes == 0
                           ? 0
                           : falls[0].last_x * results.device().compute_units / l2_bytes;
  const bool is_l1 = !falls.empty() && of_l2 < still_within;
  Inference inference = bandwidth_by("cache level 1 read bandwidth",
                                     is_l1 ? std::optional(falls[0]) : std::nullopt, " on each");
  inference.confidence = hipscope::sure_if(of_l2 < surely_within, inference.confidence);
  results.infer(inference);
}

// Other ways to read a few MiB from L2 may be faster than the one of the sweep over footprints.
void weigh_other_ways(const hipscope::Results& results, double falls_from, Inference& inference) {
  std::vector<double> ways;
  for (const auto& point : results.curve("l2", "bandwidth")) {
    if (point.x <= ways_once) {
      ways.push_back(point.y);
    }
  }
  if (ways.size() < 2) {
    return;
  }
  std::sort(ways.rbegin(), ways.rend());
  inference.evidence.push_back("sweep l2, each line once per pass: " + number(ways[1], 4) +
                               " by the second best of " + std::to_string(ways.size()) +
                               " ways to read a few MiB");
  if (ways[1] > *inference.value) {
    inference.value = ways[1];
    inference.confidence = std::min(inference.confidence, ways[1] / ways[0]);
    inference.statement =
        "all CUs together, a few MiB in the second best of the ways to read them; over the "
        "footprint it falls from " +
        footprint_label(falls_from) + " on";
  }
}

// The last fall up to twice the driver's L2 is L2's. Faster levels before are no caches: up to 4
// MiB on an H200 several CUs ask for a line at about the same time, and one answer of L2 serves
// them. The last fall past it is that of a cache behind, if well before L2 has one of its own: else
// L2 may be of several parts, of which the driver tells the size of one.
void infer_l2(hipscope::Results& results, double l2_bytes) {
  const auto curve = results.curve("footprint-read", "bandwidth");
  if (curve.empty()) {
    return;
  }
  constexpr double still_l2 = 2;
  constexpr double well_before = 3;
  std::optional<Fall> l2;
  std::optional<Fall> behind;
  double before = 0;  // the footprint of the fall before
  for (const Fall& fall : falls_of(curve)) {
    if (l2_bytes == 0 || fall.last_x <= still_l2 * l2_bytes) {
      l2 = fall.last_x >= l2_bytes / 4 ? fall : l2;
    } else if (before >= l2_bytes / 4 && well_before * before <= fall.last_x) {
      behind = fall;
    }
    before = fall.last_x;
  }
  Inference within = bandwidth_by("cache level 2 read bandwidth", l2);
  if (l2) {
    weigh_other_ways(results, l2->last_x, within);
  }
  results.infer(within);
  if (l2_bytes > 0) {
    results.infer(bandwidth_by("bandwidth of a cache past L2", behind));
  }
}

// Writes need not fall where L2 ends: on an H200 they are hardly faster within L2 than beyond it.
// So what counts is what the driver calls L2.
void infer_l2_write(hipscope::Results& results, double l2_bytes) {
  std::vector<double> within;
  std::vector<double> beyond;
  for (const auto& point : results.curve("footprint-write", "bandwidth")) {
    constexpr double surely_within = 2;
    constexpr double surely_beyond = 8;
    constexpr double octaves = 8;  // as a ratio
    if (surely_within * point.x <= l2_bytes && surely_within * octaves * point.x >= l2_bytes) {
      within.push_back(point.y);
    } else if (point.x >= surely_beyond * l2_bytes) {
      beyond.push_back(point.y);
    }
  }
  constexpr std::size_t fewest_points = 4;
  if (l2_bytes == 0 || within.size() < fewest_points) {
    return;
  }
  const auto rates = hipscope::summarize(within);
  const auto count = static_cast<double>(rates.count);
  const double quartiles_apart = (rates.third_quartile - rates.first_quartile) / rates.median;
  Inference inference{
      .name = "cache level 2 write bandwidth",
      .value = rates.median,
      .unit = gigabytes,
      .confidence = std::max(0.0, 1 - quartiles_apart) * count / (count + 1),
      .statement = "all CUs together, the median from a sixteenth to a half of the driver's L2",
      .evidence = {number(rates.minimum, 4) + " to " + number(rates.maximum, 4) + " there"}};
  if (beyond.size() >= fewest_points) {
    const double memory = hipscope::summarize(beyond).median;
    constexpr double clearly = 1.2;
    const bool alike = rates.median < clearly * memory;
    inference.evidence.push_back(number(memory, 4) + " beyond" +
                                 (alike ? ": what limits both may lie before L2" : ""));
    // Then it is a rate that is reached within L2, and need not be L2's.
    constexpr double at_most_of_another = 0.5;
    inference.confidence = std::min(inference.confidence, alike ? at_most_of_another : 1);
  }
  results.infer(inference);
}

void infer_caches(hipscope::Results& results) {
  const auto l2_bytes = static_cast<double>(results.device().l2_bytes);
  infer_l1(results, l2_bytes);
  infer_l2(results, l2_bytes);
  infer_l2_write(results, l2_bytes);
}

// How many bytes in flight it takes, and the latency that Little's law then says.
void infer_in_flight(hipscope::Results& results) {
  std::vector<hipscope::CurvePoint> curve;
  for (const char* sweep : {"occupancy-1", "occupancy-2", "occupancy-4", "occupancy-8"}) {
    const auto in_flight = results.curve(sweep, "in flight per CU");
    const auto bandwidth = results.curve(sweep, "bandwidth");
    // A row that lacks one of the two is in neither pair.
    for (const auto& point : in_flight) {
      const auto same = std::ranges::find(bandwidth, point.x, &hipscope::CurvePoint::x);
      if (same != bandwidth.end()) {
        curve.push_back({.x = point.y, .y = same->y});
      }
    }
  }
  if (curve.empty()) {
    return;
  }
  Inference inference{.name = "bytes in flight per CU for 95 % of the read bandwidth",
                      .unit = "bytes",
                      .statement = "even the fewest threads reach half, or too few fit"};
  if (const auto saturation = hipscope::find_saturation(curve, 0.95)) {
    inference.value = saturation->x;
    inference.confidence = saturation->confidence;
    inference.statement = "from here on more threads or more loads per thread bring no more";
    const auto& lightest = saturation->lightest;
    inference.evidence = {
        "with " + number(lightest.x, 6) + " bytes in flight per CU they take " +
            number(lightest.x * results.device().compute_units / lightest.y) +
            " ns (Little's law), the latency of an idle memory",
        number(100 * saturation->confidence) +
            " % of the points with as many or more in flight reach 95 %, however they are split"};
  }
  results.infer(inference);
}

}  // namespace

double peak(const hipscope::DeviceDescription& device) {
  const double bytes = device.memory_mhz * 1e6 * 2 * device.memory_bus_bits / 8;
  return bytes > 0 ? bytes * 1e-9 : std::numeric_limits<double>::quiet_NaN();
}

std::string footprint_label(double bytes) {
  constexpr double kibibyte = 1024;
  return bytes < kibibyte * kibibyte ? number(bytes / kibibyte, 6) + " KiB"
                                     : number(bytes / (kibibyte * kibibyte), 6) + " MiB";
}

void conclude(hipscope::Results& results) {
  infer_caches(results);
  infer_memory(results);
  infer_in_flight(results);
}

}  // namespace memory_bandwidth
