#include "findings.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "hipscope/format.h"
#include "hipscope/inference.h"
#include "hipscope/statistics.h"

namespace store_divergence {
namespace {

using hipscope::number;

// An access costs max(least_cost, cost_per_segment * segments of `bytes`).
struct AccessGranularity {
  double bytes = 0;
  double cost_per_segment = 0;           // in the unit of the costs
  double least_cost = 0;                 // what the access with the fewest segments costs
  double largest_relative_residual = 0;  // over all accesses
  double confidence = 0;                 // 0 ... 1: how much better than the next candidate
};

constexpr unsigned dword_bytes = 4;

// The segments of `bytes` that a wave touches whose lane i accesses dword i * stride.
double segments_touched(double stride, unsigned lanes, double bytes) {
  std::set<std::uint64_t> touched;
  for (unsigned lane = 0; lane < lanes; ++lane) {
    touched.insert(static_cast<std::uint64_t>(lane * stride * dword_bytes / bytes));
  }
  return static_cast<double>(touched.size());
}

// Whether costs follow the segments of `bytes`: in proportion up to the stride at which each lane
// has one of its own, and flat over the next octave, in which larger segments still become more.
std::optional<AccessGranularity> fit_candidate(std::span<const hipscope::CurvePoint> costs,
                                               unsigned lanes, double bytes) {
  std::vector<hipscope::CurvePoint> by_segments;
  for (const hipscope::CurvePoint& cost : costs) {
    if (cost.x * dword_bytes <= 2 * bytes) {
      by_segments.push_back({.x = segments_touched(cost.x, lanes, bytes), .y = cost.y});
    }
  }
  std::stable_sort(
      by_segments.begin(), by_segments.end(),
      [](const hipscope::CurvePoint& a, const hipscope::CurvePoint& b) { return a.x < b.x; });
  const auto fit = hipscope::fit_issue(by_segments);
  constexpr double largest_residual = 0.15;
  if (!fit || !fit->slope || 2 * fit->level_points > by_segments.size() ||
      fit->largest_relative_residual > largest_residual) {
    return std::nullopt;
  }
  // A slope that bends is not taken for the one: the cost at least doubles and then stays.
  constexpr double smallest_rise = 2;
  constexpr double flat = 1.2;
  const auto first_flat =
      std::find_if(costs.begin(), costs.end(),
                   [=](const hipscope::CurvePoint& cost) { return cost.x * dword_bytes >= bytes; });
  const auto last_flat = std::find_if(
      first_flat, costs.end(),
      [=](const hipscope::CurvePoint& cost) { return cost.x * dword_bytes >= 2 * bytes; });
  if (last_flat == costs.end() || last_flat->y > flat * first_flat->y ||
      first_flat->y < smallest_rise * fit->level) {
    return std::nullopt;
  }
  return AccessGranularity{.bytes = bytes,
                           .cost_per_segment = *fit->slope,
                           .least_cost = fit->level,
                           .largest_relative_residual = fit->largest_relative_residual};
}

// The segment size, a power of two from 16 to 256 bytes, in proportion to whose count the cost of
// a wave's access grows. `costs` is the cost over the stride x, rising: lane i of `lanes` accesses
// dword i * x. A size is judged by the strides of up to twice itself: beyond the size its count
// stays while those of larger ones still grow, and further on other costs come on top (lines,
// pages). Empty when none explains every cost there within 15 %, when its segments decide fewer
// than half of them, when the cost does not double up to the size or goes on rising from there to
// twice of it, and when two sizes explain them as well.
std::optional<AccessGranularity> find_access_granularity(
    std::span<const hipscope::CurvePoint> costs, unsigned lanes) {
  std::optional<AccessGranularity> best;
  double second = std::numeric_limits<double>::infinity();
  for (const double bytes : {16.0, 32.0, 64.0, 128.0, 256.0}) {
    const auto fit = costs.empty() || costs.back().x * dword_bytes < 2 * bytes
                         ? std::nullopt
                         : fit_candidate(costs, lanes, bytes);
    if (!fit) {
      continue;
    }
    if (!best || fit->largest_relative_residual < best->largest_relative_residual) {
      second = best ? best->largest_relative_residual : second;
      best = fit;
    } else {
      second = std::min(second, fit->largest_relative_residual);
    }
  }
  constexpr double clearly_better = 0.5;
  if (!best || best->largest_relative_residual > clearly_better * second) {
    return std::nullopt;
  }
  best->confidence = 1 - best->largest_relative_residual / std::min(second, 1.0);
  return best;
}

void infer_granularity(hipscope::Results& results, const std::string& sweep,
                       const std::string& what) {
  const auto costs = results.curve(sweep, "cycles per access");
  if (costs.empty()) {
    return;
  }
  hipscope::Inference inference{
      .name = "access granularity of " + what,
      .unit = "bytes",
      .statement = "the cost does not follow the number of segments of any one size"};
  const auto lanes = static_cast<unsigned>(results.device().wave_size);
  if (const auto found = find_access_granularity(costs, lanes)) {
    inference.value = found->bytes;
    inference.confidence = found->confidence;
    inference.statement =
        "a wave's access costs in proportion to the segments of this size that "
        "it touches";
    inference.evidence = {"by strides of up to " + number(2 * found->bytes) + " bytes: " +
                          number(found->cost_per_segment) + " cycles x CUs per segment, at least " +
                          number(found->least_cost) + " per access; largest error " +
                          number(100 * found->largest_relative_residual, 2) + " %"};
  }
  results.infer(inference);
}

// What each lane adds that goes to a place of its own.
void infer_scattered_lane(hipscope::Results& results, const std::string& sweep,
                          const std::string& where) {
  std::vector<double> lanes;
  std::vector<double> cycles;
  for (const auto& point : results.curve(sweep, "cycles per access")) {
    lanes.push_back(point.x);
    cycles.push_back(point.y);
  }
  if (lanes.empty()) {
    return;
  }
  const hipscope::LineFit fit = hipscope::fit_line(lanes, cycles);
  constexpr double largest_residual = 0.25;
  hipscope::Inference inference{.name = "cost of a scattered lane, " + where,
                                .unit = "cycles x CUs",
                                .statement = "the lanes do not cost alike"};
  inference.evidence = {
      "a store with none takes " + number(cycles.front()) +
          " cycles x CUs, with all lanes scattered " + number(cycles.back()),
      "straight line, largest error " + number(100 * fit.largest_relative_residual, 2) + " %"};
  if (fit.largest_relative_residual <= largest_residual && fit.slope > 0) {
    inference.value = fit.slope;
    inference.confidence = 1 - fit.largest_relative_residual;
    inference.statement = "each lane of a wave's store that goes to a place of its own adds this";
  }
  results.infer(inference);
}

}  // namespace

void conclude(hipscope::Results& results) {
  infer_granularity(results, "stride-loads", "loads from memory");
  infer_granularity(results, "stride-stores", "stores to memory");
  infer_granularity(results, "stride-loads-l2", "loads within L2");
  infer_granularity(results, "stride-stores-l2", "stores within L2");
  infer_scattered_lane(results, "scattered-stores", "memory");
  infer_scattered_lane(results, "scattered-stores-l2", "within L2");
}

}  // namespace store_divergence
