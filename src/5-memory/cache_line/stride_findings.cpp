#include "stride_findings.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "hipscope/statistics.h"

namespace cache_line {

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

}  // namespace cache_line
