#include "findings.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "5-memory/memory_bandwidth/findings.h"
#include "hipscope/format.h"
#include "hipscope/statistics.h"

namespace memory_channels {
namespace {

using hipscope::CurvePoint;
using hipscope::number;

// Memory channels that take turns at a fixed interval of bytes.
struct ChannelInterleave {
  double bytes = 0;          // until the next channel's turn
  std::size_t halvings = 0;  // strides in a row that each halve the rate
  double confidence = 0;     // 0 ... 1: how exactly the rate halves
};

// The interleave of channels that take turns in plain order. `ratios` is the rate of accesses at
// strides that double from point to point, over that at a stride next to each, which meets as many
// pages but other channels. Up to the interleave both are the same; each doubling beyond it leaves
// half of the channels, until one is left. Empty when the ratio does not fall so: hashed addresses,
// another law, or fewer than two halvings.
std::optional<ChannelInterleave> find_channel_interleave(const std::vector<CurvePoint>& ratios) {
  constexpr double clear_fall = 0.8;
  constexpr double nearly_equal = 0.1;
  constexpr std::ptrdiff_t fewest_equal = 2;
  constexpr std::size_t fewest_halvings = 2;
  const auto does_not_double = [](const CurvePoint& a, const CurvePoint& b) {
    return b.x != 2 * a.x;
  };
  if (std::adjacent_find(ratios.begin(), ratios.end(), does_not_double) != ratios.end()) {
    return std::nullopt;
  }
  const auto is_fallen = [](const CurvePoint& ratio) { return ratio.y < clear_fall; };
  const auto fall = std::find_if(ratios.begin(), ratios.end(), is_fallen);
  const bool equal_before = std::all_of(ratios.begin(), fall, [](const CurvePoint& ratio) {
    return std::abs(ratio.y - 1) <= nearly_equal;
  });
  // With one channel left a longer stride changes nothing.
  const bool stays_fallen = std::all_of(fall, ratios.end(), is_fallen);
  if (fall - ratios.begin() < fewest_equal || !equal_before || !stays_fallen) {
    return std::nullopt;
  }
  ChannelInterleave found{.bytes = (fall - 1)->x};
  double expected = 1;
  double errors = 0;
  for (auto ratio = fall; ratio != ratios.end(); ++ratio, ++found.halvings) {
    constexpr double largest_error = 0.25;
    expected /= 2;
    const double error = std::abs(ratio->y / expected - 1);
    if (error > largest_error) {
      break;
    }
    errors += error;
  }
  if (found.halvings < fewest_halvings) {
    return std::nullopt;
  }
  const double mean_error = errors / static_cast<double>(found.halvings);
  found.confidence = 1 - mean_error / (1 - 0.5);
  return found;
}

// Below this a power of two is clearly slower than its neighbour.
constexpr double clearly_slower = 0.8;

// Whether the neighbours' rate up to a stride keeps clearly more of the memory busy than half of
// its channels can give. What one access moves is a sector, of 32 bytes at least on all GPUs so
// far.
bool keeps_memory_busy(const hipscope::Results& results, double stride) {
  constexpr double sector_bytes = 32;
  constexpr double busy = 0.55;
  std::vector<double> rates;  // billions a second
  for (const auto& point : results.curve("stride", "neighbour rate")) {
    if (point.x <= stride) {
      rates.push_back(point.y);
    }
  }
  const double peak = memory_bandwidth::peak(results.device());  // GB/s, or NaN
  return !rates.empty() && hipscope::median_of(rates) * sector_bytes > busy * peak;
}

void infer_interleave(hipscope::Results& results) {
  const auto ratios = results.curve("stride", "of neighbour");
  if (ratios.empty()) {
    return;
  }
  const auto worst = std::ranges::min_element(ratios, {}, &CurvePoint::y);
  hipscope::Inference inference{.name = "channel interleave", .unit = "bytes"};
  inference.evidence = {"the slowest power of two, " + number(worst->x, 7) + " bytes, runs at " +
                        number(worst->y) + " times the rate of its neighbour"};
  if (const auto found = find_channel_interleave(ratios)) {
    inference.value = found->bytes;
    inference.confidence = found->confidence;
    inference.statement =
        "channels take turns every so many bytes: each doubling of the stride "
        "beyond it halves the channels that are met";
    inference.evidence.push_back(std::to_string(found->halvings) + " halvings in a row");
    if (!keeps_memory_busy(results, found->bytes)) {
      constexpr double hardly_sure = 0.4;
      inference.confidence = std::min(inference.confidence, hardly_sure);
      inference.evidence.emplace_back(
          "by its clock the memory could do more: if half or a quarter of the channels is enough "
          "for this rate, they take turns at half or a quarter of these bytes");
    }
  } else if (worst->y > clearly_slower) {
    inference.statement =
        "addresses look hashed over the channels: no stride was found that makes them collide";
  } else {
    inference.statement =
        "some strides are slower than their neighbours, but not by channels that "
        "take turns in plain order";
  }
  results.infer(inference);
}

}  // namespace

void conclude(hipscope::Results& results) { infer_interleave(results); }

}  // namespace memory_channels
