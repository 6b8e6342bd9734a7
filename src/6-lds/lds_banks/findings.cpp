#include "findings.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "hipscope/format.h"
#include "hipscope/statistics.h"

namespace lds_banks {

using hipscope::number;

namespace {

// --- Readers of curves ---------------------------------------------------------------------------

// What the cost of a stride says about the banks of an LDS.
struct BankFit {
  // Empty: more than one number of banks explains the curve.
  std::optional<unsigned> banks{};
  std::vector<unsigned> alike{};  // the numbers of banks that explain the curve about as well
  double base = 0;                // where no bank must serve more than one dword
  double cost_per_way = 0;        // for each dword more that a bank must serve, in the unit of y
  double explained = 0;           // share of the curve's variation, 0 ... 1
  double confidence = 0;          // 0 ... 1: that share, and how much less the next best explains
  std::size_t outliers = 0;       // points that were left out
};

// The most dwords that one of `banks` banks must serve when lane i of `lanes` asks for dword
// i * stride: the lanes go round banks / gcd(stride, banks) of them.
double dwords_of_busiest_bank(unsigned stride, unsigned lanes, unsigned banks) {
  const unsigned visited = banks / std::gcd(stride, banks);
  return std::ceil(static_cast<double>(lanes) / visited);
}

// y = base + cost_per_way * (ways - 1), for one number of banks and of lanes at a time.
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

Candidate fit_candidate(std::span<const hipscope::CurvePoint> curve, unsigned lanes,
                        unsigned banks) {
  std::vector<double> extra_ways;
  std::vector<double> y;
  for (const hipscope::CurvePoint& point : curve) {
    const auto stride = static_cast<unsigned>(point.x);
    extra_ways.push_back(dwords_of_busiest_bank(stride, lanes, banks) - 1);
    y.push_back(point.y);
  }
  Candidate candidate{.banks = banks};
  const auto [least, most] = std::minmax_element(extra_ways.begin(), extra_ways.end());
  if (*least == *most) {
    return candidate;
  }
  const hipscope::LineFit line = hipscope::fit_line(extra_ways, y);
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

// Strides that hold the same power of two meet every power of two of banks alike. What takes
// longer than the others of its kind is disturbed; of two the slower one is. Empty where it is
// another law: some are faster than others of their kind, or more than a tenth slower.
std::vector<hipscope::CurvePoint> without_outliers(std::span<const hipscope::CurvePoint> curve) {
  constexpr double different = 1.25;
  constexpr std::size_t most_outliers = 10;  // one of this many points
  std::map<unsigned, std::vector<double>> costs;
  const auto power_of = [](const hipscope::CurvePoint& point) {
    const auto stride = static_cast<unsigned>(point.x);
    return stride & (~stride + 1);
  };
  for (const hipscope::CurvePoint& point : curve) {
    costs[power_of(point)].push_back(point.y);
  }
  std::vector<hipscope::CurvePoint> kept;
  for (const hipscope::CurvePoint& point : curve) {
    const std::vector<double>& alike = costs[power_of(point)];
    const hipscope::Summary summary = hipscope::summarize(alike);
    const double usual = alike.size() > 2 ? summary.median : summary.minimum;
    if (point.y * different < usual) {
      return {};
    }
    if (point.y < different * usual) {
      kept.push_back(point);
    }
  }
  return most_outliers * (curve.size() - kept.size()) <= curve.size()
             ? kept
             : std::vector<hipscope::CurvePoint>{};
}

bool is_stride(double x) { return x >= 1 && x == std::floor(x); }

// Fits base + cost_per_way * (ways - 1) to `all`: x is a stride in dwords, y the cost of an
// access in which lane i of `lanes` asks for dword i * x. The ways are the most dwords that one of
// B banks must serve; B is the power of two from 4 to 128 that leaves the least unexplained. A
// wave may be served whole, in halves or in quarters: up to strides of 64 dwords 64 banks that
// serve halves and 128 that serve a wave of 64 are alike, and only a stride of 128 tells them
// apart. Strides with the same power of two in them must cost the same; points that do not, a
// tenth at most, are outliers. `cost_per_way` and `base` are for the best of several that are
// alike. Empty when even the best leaves more than a tenth of the variation unexplained, when the
// curve rises by less than a twentieth (flat), and with fewer than eight points or one that is no
// stride.
std::optional<BankFit> fit_banks(std::span<const hipscope::CurvePoint> all, unsigned lanes) {
  constexpr std::size_t fewest_points = 8;
  constexpr std::array<unsigned, 6> candidate_banks = {4, 8, 16, 32, 64, 128};
  if (all.size() < fewest_points || lanes == 0 ||
      !std::all_of(all.begin(), all.end(), [](const hipscope::CurvePoint& point) {
        return is_stride(point.x) && point.y > 0;
      })) {
    return std::nullopt;
  }
  const std::vector<hipscope::CurvePoint> curve = without_outliers(all);
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

// --- Findings -----------------------------------------------------------------------------------

std::string fit_text(const std::string& what, const std::optional<BankFit>& fit) {
  if (!fit) {
    return what + ": no number of banks explains the curve";
  }
  std::string banks;
  for (const unsigned each : fit->alike) {
    banks += (banks.empty() ? "" : " or ") + std::to_string(each);
  }
  const std::string text =
      what + ": " + banks + " banks explain " + number(100 * fit->explained, 4) + " % of the curve";
  const std::string left_out =
      fit->outliers > 0 ? "; " + std::to_string(fit->outliers) + " points left out as outliers"
                        : "";
  return fit->banks ? text + ", " + number(fit->base, 3) + " cycles and " +
                          number(fit->cost_per_way) + " for each dword more in one bank" + left_out
                    : text + ", which cannot tell them apart" + left_out;
}

// The number of banks, which latency and throughput must tell alike.
void infer_banks(hipscope::Results& results) {
  const auto lanes = static_cast<unsigned>(results.device().wave_size);
  const auto chase_curve = results.curve("chase-4", "latency");
  const auto loads_curve = results.curve("loads-4", throughput);
  if (chase_curve.empty() || loads_curve.empty()) {
    return;
  }
  const auto chase = fit_banks(chase_curve, lanes);
  const auto loads = fit_banks(loads_curve, lanes);
  hipscope::Inference banks{.name = "LDS banks",
                            .unit = "banks",
                            .statement = "latency and throughput do not tell one number of banks",
                            .evidence = {fit_text("latency of one wave", chase),
                                         fit_text("throughput of a full CU", loads)}};
  hipscope::Inference cost{.name = "cycles per extra conflict way",
                           .unit = "cycles",
                           .statement = "without the number of banks there is no telling"};
  if (chase && loads && chase->banks && chase->banks == loads->banks) {
    banks.value = *chase->banks;
    banks.confidence = std::min(chase->confidence, loads->confidence);
    banks.statement = "the costs of strides up to " + number(chase_curve.back().x, 4) +
                      " dwords repeat as with " + std::to_string(*chase->banks) + " banks";
    cost.value = chase->cost_per_way;
    cost.confidence = chase->explained;
    cost.statement = "so much longer takes a load for each dword more that one bank must serve";
    cost.evidence = {
        "extrapolated to one dword in each bank: " + number(chase->base, 4) + " cycles",
        "of a full CU's loads each dword more takes " + number(loads->cost_per_way) + " cycles"};
  }
  results.infer(banks);
  results.infer(cost);
}

// Where lanes conflict least the curve has its one lowest point: it falls to it and rises from it,
// and both neighbours are clearly higher.
void infer_width(hipscope::Results& results) {
  const auto curve = results.curve("width", throughput);
  if (curve.empty()) {
    return;
  }
  hipscope::Inference inference{.name = "LDS bank width",
                                .unit = "bytes",
                                .statement = "the curve has no single lowest point"};
  const auto lowest = std::ranges::min_element(curve, {}, &hipscope::CurvePoint::y);
  if (lowest != curve.begin() && lowest + 1 != curve.end() && lowest->y > 0) {
    const double ratio = std::min((lowest - 1)->y, (lowest + 1)->y) / lowest->y;
    const bool falls_and_rises =
        std::is_sorted(curve.begin(), lowest + 1, [](auto& a, auto& b) { return a.y > b.y; }) &&
        std::is_sorted(lowest, curve.end(), [](auto& a, auto& b) { return a.y < b.y; });
    constexpr double clear = 1.3;
    if (falls_and_rises && ratio >= clear) {
      inference.value = lowest->x;
      inference.confidence = std::min(1.0, ratio - 1);
      inference.statement = "lanes so many bytes more than all banks apart conflict least";
      inference.evidence = {"half and twice as many cost at least " + number(ratio) +
                            " times as much"};
    }
  }
  results.infer(inference);
}

void infer_bandwidth(hipscope::Results& results) {
  hipscope::Inference inference{.name = "LDS read bandwidth", .unit = "bytes/cycle/CU"};
  for (const std::string sweep : {"loads-4", "loads-8", "loads-16"}) {
    const auto best = results.highest(sweep, "rate");
    if (best && best->y > inference.value.value_or(0)) {
      inference.value = best->y;
      inference.confidence = 1 - std::min(1.0, best->relative_spread);
      inference.statement =
          "the most of all strides, in sweep " + sweep + " at stride " + number(best->x, 2);
    }
  }
  if (inference.value) {
    results.infer(inference);
  }
}

}  // namespace

void conclude(hipscope::Results& results) {
  infer_banks(results);
  infer_width(results);
  infer_bandwidth(results);
}

}  // namespace lds_banks
