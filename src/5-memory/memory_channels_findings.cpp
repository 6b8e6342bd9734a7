#include "memory_channels_findings.h"

#include <algorithm>
#include <string>
#include <vector>

#include "hipscope/format.h"
#include "hipscope/inference.h"
#include "memory_bandwidth_findings.h"

namespace memory_channels {
namespace {

using hipscope::number;

// Below this a power of two is clearly slower than its neighbour.
constexpr double clearly_slower = 0.8;

std::vector<hipscope::CurvePoint>::const_iterator lowest(
    const std::vector<hipscope::CurvePoint>& curve) {
  return std::min_element(curve.begin(), curve.end(),
                          [](const auto& a, const auto& b) { return a.y < b.y; });
}

// Whether the neighbours' rate at a stride keeps the whole memory busy, so that half of its
// channels are too few for it. What one access moves is a sector, of 64 bytes at most on all GPUs
// so far.
bool keeps_memory_busy(const hipscope::Results& results, double stride) {
  constexpr double sector_bytes = 64;
  constexpr double busy = 0.5;
  const double peak = memory_bandwidth::peak(results.device());       // GB/s, or NaN
  const auto neighbours = results.curve("stride", "neighbour rate");  // billions a second
  return std::any_of(neighbours.begin(), neighbours.end(), [&](const auto& point) {
    return point.x == stride && point.y * sector_bytes > busy * peak;
  });
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
  const auto found = hipscope::find_channel_interleave(results.curve("stride", "power-of-two rate"),
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

void infer_worst_stride(hipscope::Results& results, const std::string& sweep,
                        const std::string& name) {
  const auto ratios = results.curve(sweep, "of neighbour");
  if (ratios.empty()) {
    return;
  }
  const auto worst = lowest(ratios);
  const auto best = std::max_element(ratios.begin(), ratios.end(),
                                     [](const auto& a, const auto& b) { return a.y < b.y; });
  const double loss = std::max(1 - worst->y, 1 - clearly_slower);
  results.infer(
      {.name = name,
       .value = worst->y,
       .unit = "of the neighbour's rate",
       .confidence = std::clamp(1 - worst->relative_spread / loss, 0.0, 1.0),
       .statement = worst->y < clearly_slower
                        ? "accesses " + number(worst->x, 7) + " bytes apart collide"
                        : "the lowest of all powers of two, at " + number(worst->x, 7) +
                              " bytes, and no collision",
       .evidence = {
           number(static_cast<double>(ratios.size())) + " strides, " + number(ratios.front().x, 7) +
               " ... " + number(ratios.back().x, 7) + " bytes, each against 32 bytes more",
           "the highest is " + number(best->y) + ", at " + number(best->x, 7) + " bytes"}});
}

// How much a matrix gains by padding, at its worst pitch.
void infer_padding(hipscope::Results& results, const std::string& sweep, const std::string& what) {
  const auto ratios = results.curve(sweep, "of padded");
  if (ratios.empty()) {
    return;
  }
  const auto worst = lowest(ratios);
  const double gain = 1 / worst->y;
  results.infer({.name = "gain by padding, column " + what,
                 .value = gain,
                 .unit = "times as fast",
                 .confidence = std::clamp(
                     1 - worst->relative_spread / std::max(gain - 1, 1 - clearly_slower), 0.0, 1.0),
                 .statement = "the most that 64 bytes more per row gain, with rows of " +
                              number(worst->x, 7) + " bytes"});
}

}  // namespace

void conclude(hipscope::Results& results) {
  infer_interleave(results);
  infer_worst_stride(results, "stride", "worst stride factor");
  infer_worst_stride(results, "stride-l2", "worst stride factor within L2");
  infer_padding(results, "column-loads", "loads");
  infer_padding(results, "column-stores", "stores");
}

}  // namespace memory_channels
