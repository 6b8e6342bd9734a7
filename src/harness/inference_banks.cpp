// What the cost of a stride says about the banks of an LDS.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>

#include "hipscope/inference.h"
#include "hipscope/statistics.h"

namespace hipscope {

namespace {

// The most dwords that one of `banks` banks must serve when lane i of `lanes` asks for dword
// i * stride: the lanes go round banks / gcd(stride, banks) of them.
double dwords_of_busiest_bank(unsigned stride, unsigned lanes, unsigned banks) {
  const unsigned visited = banks / std::gcd(stride, banks);
  return std::ceil(static_cast<double>(lanes) / visited);
}

// y = base + cost_per_way * (ways - 1), for one number of banks and so many lanes at a time.
struct Candidate {
  unsigned banks = 0;
  double base = 0;
  double cost_per_way = 0;
  double rise = 0;         // from the least to the most ways
  double unexplained = 1;  // share of the curve's variation that the line leaves
};

double mean_of(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

Candidate fit_candidate(std::span<const CurvePoint> curve, unsigned lanes, unsigned banks) {
  std::vector<double> extra_ways;
  std::vector<double> y;
  for (const CurvePoint& point : curve) {
    const auto stride = static_cast<unsigned>(point.x);
    extra_ways.push_back(dwords_of_busiest_bank(stride, lanes, banks) - 1);
    y.push_back(point.y);
  }
  Candidate candidate{.banks = banks};
  const auto [least, most] = std::minmax_element(extra_ways.begin(), extra_ways.end());
  if (*least == *most) {
    return candidate;
  }
  const LineFit line = fit_line(extra_ways, y);
  const double mean = mean_of(y);
  double variation = 0;
  double residual = 0;
  for (std::size_t i = 0; i < y.size(); ++i) {
    variation += (y[i] - mean) * (y[i] - mean);
    const double error = y[i] - line.intercept - line.slope * extra_ways[i];
    residual += error * error;
  }
  candidate.base = line.intercept;
  candidate.cost_per_way = line.slope;
  candidate.rise = line.slope * (*most - *least);
  candidate.unexplained = variation > 0 ? residual / variation : 1;
  return candidate;
}

// Strides that hold the same power of two meet every power of two of banks alike. What takes longer
// than the others of its kind is disturbed; of two the slower one is. Empty where it is another
// law: some are faster than others of their kind, or more than a tenth slower.
std::vector<CurvePoint> without_outliers(std::span<const CurvePoint> curve) {
  constexpr double different = 1.25;
  constexpr std::size_t most_outliers = 10;  // one of so many points
  std::map<unsigned, std::vector<double>> costs;
  const auto power_of = [](const CurvePoint& point) {
    const auto stride = static_cast<unsigned>(point.x);
    return stride & (~stride + 1);
  };
  for (const CurvePoint& point : curve) {
    costs[power_of(point)].push_back(point.y);
  }
  std::vector<CurvePoint> kept;
  for (const CurvePoint& point : curve) {
    const std::vector<double>& alike = costs[power_of(point)];
    const Summary summary = summarize(alike);
    const double usual = alike.size() > 2 ? summary.median : summary.minimum;
    if (point.y * different < usual) {
      return {};
    }
    if (point.y < different * usual) {
      kept.push_back(point);
    }
  }
  return most_outliers * (curve.size() - kept.size()) <= curve.size() ? kept
                                                                      : std::vector<CurvePoint>{};
}

bool is_stride(double x) { return x >= 1 && x == std::floor(x); }

}  // namespace

std::optional<BankFit> fit_banks(std::span<const CurvePoint> all, unsigned lanes) {
  constexpr std::size_t fewest_points = 8;
  constexpr std::array<unsigned, 6> candidate_banks = {4, 8, 16, 32, 64, 128};
  if (all.size() < fewest_points || lanes == 0 ||
      !std::all_of(all.begin(), all.end(),
                   [](const CurvePoint& point) { return is_stride(point.x) && point.y > 0; })) {
    return std::nullopt;
  }
  const std::vector<CurvePoint> curve = without_outliers(all);
  if (curve.empty()) {
    return std::nullopt;
  }
  std::vector<Candidate> candidates;
  // A wave may be served in halves or in quarters, each with conflicts of its own.
  for (const unsigned parts : {1U, 2U, 4U}) {
    for (const unsigned banks : candidate_banks) {
      candidates.push_back(fit_candidate(curve, std::max(1U, lanes / parts), banks));
    }
  }
  const auto by_unexplained = [](const Candidate& a, const Candidate& b) {
    return a.unexplained < b.unexplained;
  };
  const Candidate best = *std::min_element(candidates.begin(), candidates.end(), by_unexplained);
  constexpr double most_unexplained = 0.1;
  constexpr double smallest_rise = 0.05;  // of the cost without conflicts
  if (best.unexplained > most_unexplained || best.base <= 0 ||
      best.rise < smallest_rise * best.base) {
    return std::nullopt;
  }
  // A tenth of a percent is less than what any other number of banks leaves of a curve over
  // strides 1 ... 64; the factor is for noise, which all candidates leave alike.
  constexpr double clear_factor = 2;
  constexpr double clear_share = 0.001;
  const double limit = clear_factor * best.unexplained + clear_share;
  // The cost of a dword is that of a wave served whole, if that explains the curve as well.
  const Candidate served_whole = fit_candidate(curve, lanes, best.banks);
  const Candidate& told = served_whole.unexplained <= limit ? served_whole : best;
  BankFit fit{
      .base = told.base, .cost_per_way = told.cost_per_way, .explained = 1 - best.unexplained};
  double second = 1;
  for (const Candidate& candidate : candidates) {
    const bool is_new =
        std::find(fit.alike.begin(), fit.alike.end(), candidate.banks) == fit.alike.end();
    if (candidate.unexplained <= limit && is_new) {
      fit.alike.push_back(candidate.banks);
    }
    if (candidate.banks != best.banks) {
      second = std::min(second, candidate.unexplained);
    }
  }
  std::sort(fit.alike.begin(), fit.alike.end());
  fit.outliers = all.size() - curve.size();
  if (fit.alike.size() == 1) {
    fit.banks = best.banks;
    fit.confidence = fit.explained * (1 - best.unexplained / second);
  }
  return fit;
}

std::optional<Valley> find_valley(std::span<const CurvePoint> curve, double smallest_ratio) {
  constexpr std::size_t fewest_points = 3;
  if (curve.size() < fewest_points) {
    return std::nullopt;
  }
  const auto by_y = [](const CurvePoint& a, const CurvePoint& b) { return a.y < b.y; };
  const auto lowest = std::min_element(curve.begin(), curve.end(), by_y);
  if (lowest == curve.begin() || lowest + 1 == curve.end() || lowest->y <= 0) {
    return std::nullopt;
  }
  const bool falls_and_rises =
      std::is_sorted(curve.begin(), lowest + 1, [&](auto& a, auto& b) { return by_y(b, a); }) &&
      std::is_sorted(lowest, curve.end(), by_y);
  const double ratio = std::min((lowest - 1)->y, (lowest + 1)->y) / lowest->y;
  if (!falls_and_rises || ratio < smallest_ratio) {
    return std::nullopt;
  }
  return Valley{.x = lowest->x, .ratio = ratio, .confidence = 1 - 1 / ratio};
}

}  // namespace hipscope
