#include "findings.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "hipscope/format.h"
#include "hipscope/inference.h"
#include "hipscope/statistics.h"

namespace cache_line {

using hipscope::number;

namespace {

std::string sector_name(unsigned level) { return "sector-l" + std::to_string(level); }
std::string line_name(unsigned level) { return "line-l" + std::to_string(level); }

// The unit in which misses fetch: x is the stride of an ascending walk through cold memory, y the
// latency of a load, on average: y = hit + (miss - hit) * min(1, x / unit), for the unit among the
// strides that fits best. Empty when none fits within 10 %, when fewer than three points rise or
// fewer than two are flat after them, and when the rise is under a fifth.
std::optional<hipscope::FetchUnit> fit_fetch_unit(std::span<const hipscope::CurvePoint> strides) {
  constexpr std::size_t fewest_rising = 3;
  constexpr std::size_t fewest_flat = 2;
  constexpr double largest_residual = 0.1;
  constexpr double largest_start = 0.8;  // of a miss, at the smallest stride
  if (strides.size() < fewest_rising + fewest_flat ||
      std::any_of(strides.begin(), strides.end(),
                  [](const auto& point) { return !(point.x > 0 && point.y > 0); })) {
    return std::nullopt;
  }
  std::vector<double> latencies;
  for (const auto& point : strides) {
    latencies.push_back(point.y);
  }
  std::vector<hipscope::LineFit> fits;
  std::vector<double> residuals;
  for (const auto& unit : strides.subspan(1)) {
    std::vector<double> shares;  // of loads that miss
    for (const auto& point : strides) {
      shares.push_back(std::min(1.0, point.x / unit.x));
    }
    fits.push_back(hipscope::fit_line(shares, latencies));
    double squares = 0;
    for (std::size_t i = 0; i < shares.size(); ++i) {
      const double modelled = fits.back().intercept + fits.back().slope * shares[i];
      squares += std::pow((latencies[i] - modelled) / latencies[i], 2);
    }
    residuals.push_back(std::sqrt(squares / static_cast<double>(shares.size())));
  }
  const auto best = hipscope::best_fit(residuals);
  if (!best || best->residual > largest_residual || best->index + 2 < fewest_rising ||
      best->index + 2 + fewest_flat > strides.size()) {
    return std::nullopt;
  }
  const double unit = strides[best->index + 1].x;
  const hipscope::LineFit& fit = fits[best->index];
  const double miss = fit.intercept + fit.slope;
  if (fit.intercept + fit.slope * strides.front().x / unit > largest_start * miss) {
    return std::nullopt;
  }
  return hipscope::FetchUnit{
      .bytes = unit, .hit = fit.intercept, .miss = miss, .confidence = best->confidence};
}

// Takes half of the confidence for what another experiment says otherwise.
void weigh(hipscope::Inference& inference, const std::optional<hipscope::FetchUnit>& other,
           const std::string& experiment) {
  if (!other) {
    inference.evidence.push_back(experiment + ": no clear unit");
    return;
  }
  inference.evidence.push_back(experiment + ": " + number(other->bytes, 4) + " bytes, hits " +
                               number(other->hit) + " and misses " + number(other->miss) +
                               " cycles");
  if (inference.value && *inference.value != other->bytes) {
    inference.confidence /= 2;
  }
}

void infer_sector(hipscope::Results& results, unsigned level) {
  const auto curve = results.curve(sector_name(level), "second load");
  if (curve.empty()) {
    return;
  }
  // What an L2 miss brings may be more than one of L2's sectors.
  hipscope::Inference inference{
      .name = level == 1 ? "cache level 1 sector" : "fetched by a cache level 2 miss",
      .unit = "bytes",
      .statement = "the curves do not show in which unit misses fetch"};
  const auto halves = hipscope::find_fetch_unit(curve);
  const auto across = results.curve(sector_name(level), "across the middle");
  const auto middle = hipscope::find_fetch_unit(across);
  // Both must show a unit. Where they differ a slow launch has made a step of its own in one of
  // them: the clearer one.
  const bool middle_is_clearer = middle && halves && middle->confidence > halves->confidence;
  const auto& sector = middle_is_clearer ? middle : halves;
  const bool is_confirmed = middle.has_value() || across.empty();
  if (halves && is_confirmed) {
    inference.value = sector->bytes;
    inference.confidence = sector->confidence;
    inference.statement =
        "a miss brings its aligned " + number(sector->bytes, 4) + " bytes and nothing beside them";
  }
  weigh(inference, halves, "neighbours in the halves of an aligned block");
  weigh(inference, middle, "neighbours 4 bytes apart across a block's middle");
  if (level == 2) {
    weigh(inference, fit_fetch_unit(results.curve("stride", "past level 1")),
          "strides through cold memory");
  }
  results.infer(inference);
}

void infer_line(hipscope::Results& results, unsigned level) {
  const auto curve = results.curve(line_name(level), "footprint");
  if (curve.empty()) {
    return;
  }
  hipscope::Inference inference{
      .name = "cache level " + std::to_string(level) + " line",
      .unit = "bytes",
      .statement = "the footprints do not show from which distance on nodes take a line each"};
  inference.evidence.push_back("footprint with one node per " + number(curve.front().x, 4) +
                               " bytes: " + number(std::round(curve.front().y), 7) + " KiB, per " +
                               number(curve.back().x, 4) + ": " +
                               number(std::round(curve.back().y), 7) + " KiB");
  if (const auto line = hipscope::fit_line_size(curve)) {
    inference.value = line->bytes;
    inference.confidence = line->confidence;
    inference.statement = "one node takes " + number(line->bytes, 4) + " bytes of the cache";
    inference.evidence.push_back("constant up to that, then growing by " + number(line->growth) +
                                 " octaves per octave");
  }
  results.infer(inference);
}

}  // namespace

void conclude(hipscope::Results& results) {
  for (const unsigned level : {1U, 2U}) {
    infer_sector(results, level);
    infer_line(results, level);
  }
}

}  // namespace cache_line
