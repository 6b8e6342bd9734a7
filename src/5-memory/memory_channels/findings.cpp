#include "findings.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "5-memory/memory_bandwidth/findings.h"
#include "hipscope/format.h"
#include "hipscope/statistics.h"

namespace memory_channels {
namespace {

using hipscope::number;

// Memory channels that take turns at a fixed interval of bytes.
struct ChannelInterleave {
  double bytes = 0;          // until the next channel's turn
  std::size_t halvings = 0;  // strides in a row that each halve the rate
  double lowest_ratio = 0;
  double confidence = 0;  // 0 ... 1: how exactly the rate halves
};

// The ratios of the two rates; empty when the strides do not double or are not the same.
std::vector<double> ratios_of(std::span<const hipscope::CurvePoint> power,
                              std::span<const hipscope::CurvePoint> neighbour) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < power.size(); ++i) {
    const bool is_pair = i < neighbour.size() && neighbour[i].x == power[i].x;
    const bool doubles = i == 0 || power[i].x == 2 * power[i - 1].x;
    if (!is_pair || !doubles || !(neighbour[i].y > 0)) {
      return {};
    }
    ratios.push_back(power[i].y / neighbour[i].y);
  }
  return ratios;
}

// Strides in a row from `first` on whose ratio halves each time; their mean distance from it.
struct Halvings {
  std::size_t count = 0;
  double mean_error = 0;
};

Halvings count_halvings(std::span<const double> ratios, std::size_t first) {
  constexpr double largest_error = 0.25;
  Halvings halvings;
  double expected = 1;
  double errors = 0;
  for (std::size_t i = first; i < ratios.size(); ++i) {
    expected /= 2;
    const double error = std::abs(ratios[i] / expected - 1);
    if (error > largest_error) {
      break;
    }
    errors += error;
    ++halvings.count;
  }
  halvings.mean_error = halvings.count > 0 ? errors / static_cast<double>(halvings.count) : 0;
  return halvings;
}

// The interleave of channels that take turns in plain order. `power` is the rate of accesses at
// strides that double from point to point, `neighbour` the rate at a stride next to each, which
// meets as many pages but other channels. Up to the interleave both are the same; each doubling
// beyond it leaves half of the channels, until one is left. Empty when the ratio of the two does
// not fall so: hashed addresses, another law, or fewer than two halvings.
std::optional<ChannelInterleave> find_channel_interleave(
    std::span<const hipscope::CurvePoint> power, std::span<const hipscope::CurvePoint> neighbour) {
  constexpr double clear_fall = 0.8;
  constexpr double nearly_equal = 0.1;
  constexpr std::size_t fewest_equal = 2;
  constexpr std::size_t fewest_halvings = 2;
  const std::vector<double> ratios = ratios_of(power, neighbour);
  const auto is_fallen = [](double ratio) { return ratio < clear_fall; };
  const auto fall = std::find_if(ratios.begin(), ratios.end(), is_fallen);
  const auto first = static_cast<std::size_t>(fall - ratios.begin());
  const bool equal_before = std::all_of(
      ratios.begin(), fall, [](double ratio) { return std::abs(ratio - 1) <= nearly_equal; });
  // With one channel left a longer stride changes nothing.
  const bool stays_fallen = std::all_of(fall, ratios.end(), is_fallen);
  if (first < fewest_equal || !equal_before || !stays_fallen) {
    return std::nullopt;
  }
  const Halvings halvings = count_halvings(ratios, first);
  if (halvings.count < fewest_halvings) {
    return std::nullopt;
  }
  return ChannelInterleave{.bytes = power[first - 1].x,
                           .halvings = halvings.count,
                           .lowest_ratio = *std::min_element(ratios.begin(), ratios.end()),
                           .confidence = 1 - halvings.mean_error / (1 - 0.5)};
}

// Below this a power of two is clearly slower than its neighbour.
constexpr double clearly_slower = 0.8;

std::vector<hipscope::CurvePoint>::const_iterator lowest(
    const std::vector<hipscope::CurvePoint>& curve) {
  return std::min_element(curve.begin(), curve.end(),
                          [](const auto& a, const auto& b) { return a.y < b.y; });
}

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
  const auto worst = lowest(ratios);
  hipscope::Inference inference{.name = "channel interleave", .unit = "bytes"};
  inference.evidence = {"the slowest power of two, " + number(worst->x, 7) + " bytes, runs at " +
                        number(worst->y) + " times the rate of its neighbour"};
  const auto found = find_channel_interleave(results.curve("stride", "power-of-two rate"),
                                             results.curve("stride", "neighbour rate"));
  if (found) {
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
