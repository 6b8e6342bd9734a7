#include "lds_findings.h"

#include <cmath>
#include <optional>
#include <vector>

#include "hipscope/confidence.h"
#include "hipscope/format.h"
#include "hipscope/statistics.h"

namespace cache_sharing {

using hipscope::Inference;
using hipscope::median_of;
using hipscope::number;
using hipscope::Results;

namespace {

using Curve = std::vector<hipscope::CurvePoint>;

// Where a cache ends.
struct CacheEnd {
  double last_x = 0;  // the last footprint before the latency has risen half way, for good
  bool is_clear =
      true;  // not so where the next one alone is neither hit nor miss: a disturbed hit?
};

// The middle one of three points counts, so that a single launch that was slow, or fast, is none.
// Nearly all before must be hits and most beyond be misses: a slope has no end.
std::optional<CacheEnd> half_rise(const Curve& measured) {
  constexpr std::size_t fewest = 6;
  if (measured.size() < fewest) {
    return std::nullopt;
  }
  Curve curve = measured;
  for (std::size_t i = 1; i + 1 < curve.size(); ++i) {
    curve[i].y = median_of({measured[i - 1].y, measured[i].y, measured[i + 1].y});
  }
  const double hit = median_of({curve[0].y, curve[1].y, curve[2].y});
  const double miss = median_of({curve.end()[-1].y, curve.end()[-2].y, curve.end()[-3].y});
  constexpr double level_apart = 2;
  if (!(miss >= level_apart * hit)) {
    return std::nullopt;
  }
  const double half = std::sqrt(hit * miss);
  std::size_t first = curve.size();
  while (first > 0 && curve[first - 1].y > half) {
    --first;
  }
  if (first == 0 || first >= curve.size()) {
    return std::nullopt;
  }
  const auto is_near = [](double y, double level) {
    constexpr double near = 1.25;
    return y < near * level && level < near * y;
  };
  std::size_t hits = 0;
  std::size_t misses = 0;
  for (std::size_t i = 0; i < curve.size(); ++i) {
    hits += i < first && is_near(curve[i].y, hit) ? 1 : 0;
    misses += i >= first && is_near(curve[i].y, miss) ? 1 : 0;
  }
  constexpr double nearly_all = 0.8;
  if (static_cast<double>(hits) < nearly_all * static_cast<double>(first) ||
      2 * misses < curve.size() - first) {
    return std::nullopt;
  }
  const bool rises_at_once = first + 1 < curve.size() && is_near(measured[first + 1].y, miss);
  return CacheEnd{.last_x = curve[first - 1].x,
                  .is_clear = is_near(measured[first].y, miss) || !rises_at_once};
}

}  // namespace

void infer_lds(Results& results) {
  const Curve without = results.curve("lds", "without LDS");
  const Curve with = results.curve("lds", "with LDS");
  if (without.empty() || with.empty()) {
    return;
  }
  Inference inference{.name = "vector cache left beside the largest LDS",
                      .unit = "bytes",
                      .statement = "the curves show no end of the vector cache"};
  const auto all = half_rise(without);
  const auto left = half_rise(with);
  if (all && left) {
    constexpr double kibibyte = 1024;
    const double ratio = left->last_x / all->last_x;
    constexpr double same = 0.8;
    inference.value = left->last_x;
    const auto count = static_cast<double>(without.size());
    inference.confidence = left->is_clear ? count / (count + 1) : hipscope::unsure;
    inference.statement = ratio < same ? "LDS is a part of it: they share one memory"
                                       : "LDS takes nothing of it: they are apart";
    inference.evidence = {"without LDS it holds about " + number(all->last_x / kibibyte, 5) +
                          " KiB, beside the largest LDS of a block " +
                          number(left->last_x / kibibyte, 5) + " KiB"};
  }
  results.infer(inference);
}

}  // namespace cache_sharing
