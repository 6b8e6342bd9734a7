#include "findings.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "hipscope/format.h"

namespace reduction {

using hipscope::CurvePoint;
using hipscope::Inference;
using hipscope::number;

namespace {

using Curve = std::vector<CurvePoint>;

const CurvePoint* find(const Curve& curve, double x) {
  const auto found =
      std::find_if(curve.begin(), curve.end(), [=](const auto& point) { return point.x == x; });
  return found == curve.end() ? nullptr : &*found;
}

double confidence_of(const CurvePoint& a, const CurvePoint& b) {
  return 1 - std::min(1.0, a.relative_spread + b.relative_spread);
}

// Less than this is no help worth its name, whatever the spread.
constexpr double least_gain = 0.02;

// "4 values per step are 1.7 times as fast as 2", of the source's (fsword73's) own kernels here and
// as published.
std::string source_evidence(const hipscope::Results& results) {
  std::string evidence;
  const Curve times = results.curve("published", "time");
  const CurvePoint* const two = find(times, -2);
  const CurvePoint* const four = find(times, -1);
  if (two != nullptr && four != nullptr) {
    evidence = "V's own kernels: 4 values per step are " + number(two->y / four->y) +
               " times as fast as 2";
  }
  const auto published_two = results.published("2 elements a step", "time");
  const auto published_four = results.published("4 elements a step", "time");
  if (!evidence.empty() && !published_two.empty() && !published_four.empty()) {
    evidence +=
        "; published for " + published_two.front().gpu + ": " +
        number(published_two.front().points[0].second / published_four.front().points[0].second);
  }
  return evidence;
}

// The source asks: are 8 values per step better still than 4?
void infer_steps(hipscope::Results& results, const Curve& times) {
  const CurvePoint* const two = find(times, 1);
  const CurvePoint* const four = find(times, 2);
  const CurvePoint* const eight = find(times, 3);
  if (two == nullptr || four == nullptr || eight == nullptr) {
    return;
  }
  const double speed_up = four->y / eight->y;
  const double noise = std::max(least_gain, four->relative_spread + eight->relative_spread);
  const std::string verdict = speed_up > 1 + noise   ? "help further"
                              : speed_up < 1 - noise ? "are slower"
                                                     : "make no difference";
  Inference inference{
      .name = "8 values per step over 4",
      .value = speed_up,
      .unit = "times as fast",
      .confidence = confidence_of(*four, *eight),
      .statement = "8 values per step of the tree in LDS " + verdict + ", which V leaves open"};
  inference.evidence = {"4 values per step are " + number(two->y / four->y) +
                        " times as fast as 2, with half the barriers and round trips"};
  if (const std::string source = source_evidence(results); !source.empty()) {
    inference.evidence.push_back(source);
  }
  for (const CurvePoint& point : results.curve("steps", "speed-up of 8 on 4")) {
    inference.evidence.push_back("blocks of " + number(point.x, 4) +
                                 " threads: " + number(point.y) + " times as fast");
  }
  results.infer(inference);
}

// What 4 barriers fewer save is measured twice, with 8 round trips through LDS and with 4. The mean
// is their part of the gain, and the rest is the round trips', so that the two parts are the whole;
// each is known no better than the two savings agree.
struct BarrierSavings {
  double with_eight_round_trips;
  double with_four_round_trips;

  [[nodiscard]] double mean() const { return (with_eight_round_trips + with_four_round_trips) / 2; }
  [[nodiscard]] double uncertainty() const {
    return std::abs(with_eight_round_trips - with_four_round_trips) / 2;
  }
};

// Beyond this share of the gain the two savings speak of different things: barriers that wait for
// what round trips wait for as well, for example.
constexpr double largest_uncertainty = 0.25;

void divide_gain(Inference& inference, double gain, double noise, const BarrierSavings& savings) {
  const double uncertainty = std::max(noise, savings.uncertainty());
  inference.evidence.push_back(
      "4 barriers fewer save " + number(savings.with_eight_round_trips * 1e6) +
      " us with 8 round trips and " + number(savings.with_four_round_trips * 1e6) + " us with 4");
  if (uncertainty > largest_uncertainty * gain) {
    inference.statement = "what 4 values per step gain on 2, " + number(gain * 1e6) +
                          " us, is not told apart into barriers and round trips through LDS";
    return;
  }
  inference.value = 100 * savings.mean() / gain;
  inference.confidence = 1 - uncertainty / gain;
  inference.statement = "of the " + number(gain * 1e6) + " us that 4 values per step gain on 2, " +
                        number(savings.mean() * 1e6) + " us are the barriers that are saved and " +
                        number((gain - savings.mean()) * 1e6) + " us the round trips through LDS";
}

// Fewer values per step mean more barriers and more round trips through LDS.
void infer_barriers(hipscope::Results& results) {
  const Curve times = results.curve("barriers", "time");
  const CurvePoint* const both = find(times, 1);
  const CurvePoint* const barriers = find(times, 2);
  const CurvePoint* const round_trips = find(times, 3);
  const CurvePoint* const neither = find(times, 4);
  if (both == nullptr || barriers == nullptr || round_trips == nullptr || neither == nullptr) {
    return;
  }
  Inference inference{
      .name = "barriers in the gain of 4 values per step",
      .unit = "% of the time gained",
      .statement = "4 values per step gain nothing on 2 that could be told apart",
      .evidence = {"8 barriers, 8 round trips: " + number(both->y * 1e6, 4) + " us",
                   "8 barriers, 4 round trips: " + number(barriers->y * 1e6, 4) + " us",
                   "4 barriers, 8 round trips: " + number(round_trips->y * 1e6, 4) + " us",
                   "4 barriers, 4 round trips: " + number(neither->y * 1e6, 4) + " us"}};
  const double gain = both->y - neither->y;
  const double noise = (both->relative_spread + neither->relative_spread) * both->y;
  if (gain > std::max(noise, least_gain * both->y)) {
    divide_gain(inference, gain, noise,
                {.with_eight_round_trips = both->y - round_trips->y,
                 .with_four_round_trips = barriers->y - neither->y});
  }
  results.infer(inference);
}

void infer_library(hipscope::Results& results, const CurvePoint& best, const std::string& name,
                   const CurvePoint* vendor, const std::string& library) {
  Inference inference{.name = "best reduction over vendor library",
                      .unit = "%",
                      .statement = "this build has no vendor library, or did not run it"};
  if (vendor != nullptr) {
    inference.value = 100 * vendor->y / best.y;
    inference.confidence = confidence_of(best, *vendor);
    inference.statement = name + " against " + library;
    inference.evidence = {number(best.y * 1e6, 4) + " us; the library " +
                          number(vendor->y * 1e6, 4) + " us"};
  }
  results.infer(inference);
}

void infer_best(hipscope::Results& results, const Curve& times,
                const std::vector<std::string>& stages, const std::string& library) {
  const auto vendor_x = static_cast<double>(stages.size()) + 1;
  const CurvePoint* best = nullptr;
  for (const CurvePoint& point : times) {
    if (point.x > 0 && point.x < vendor_x && (best == nullptr || point.y < best->y)) {
      best = &point;
    }
  }
  const Curve bandwidths = results.curve("stages", "bandwidth");
  const CurvePoint* const read = find(bandwidths, 0);
  if (best == nullptr || read == nullptr) {
    return;
  }
  const CurvePoint* const rate = find(bandwidths, best->x);
  const std::string& name = stages[static_cast<std::size_t>(best->x) - 1];
  results.infer({.name = "best reduction over read bandwidth",
                 .value = 100 * rate->y / read->y,
                 .unit = "%",
                 .confidence = confidence_of(*best, *read),
                 .statement = "fastest of our stages: " + name,
                 .evidence = {number(rate->y, 4) + " GB/s; a kernel that only reads the same: " +
                              number(read->y, 4) + " GB/s"}});
  infer_library(results, *best, name, find(times, vendor_x), library);
}

// The library at every size: a reduction that is ahead at one may be behind at another.
void infer_library_by_size(hipscope::Results& results, const std::string& library) {
  const Curve rates = results.curve("sizes", "rate over the vendor's");
  if (rates.empty()) {
    return;
  }
  const auto [least, most] =
      std::minmax_element(rates.begin(), rates.end(),
                          [](const CurvePoint& a, const CurvePoint& b) { return a.y < b.y; });
  const auto at = [](const CurvePoint& point) {
    return number(point.y, 4) + " times its rate with 2^" + number(std::log2(point.x), 4) +
           " values";
  };
  Inference inference{.name = "reduction over vendor library, worst of all sizes",
                      .value = 100 * least->y,
                      .unit = "%",
                      .confidence = confidence_of(*least, *least),
                      .statement = at(*least) + " against " + library + ", the least of " +
                                   std::to_string(rates.size()) + " sizes"};
  inference.evidence = {"at most " + at(*most)};
  for (const CurvePoint& point : rates) {
    if (point.y < 1) {
      inference.evidence.push_back("behind it: " + at(point));
    }
  }
  results.infer(inference);
}

}  // namespace

void conclude(hipscope::Results& results, const std::vector<std::string>& stages,
              const std::string& library) {
  const Curve times = results.curve("stages", "time");
  infer_steps(results, times);
  infer_barriers(results);
  infer_best(results, times, stages, library);
  infer_library_by_size(results, library);
}

}  // namespace reduction
