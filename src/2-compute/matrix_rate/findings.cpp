#include "findings.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "hipscope/format.h"

namespace matrix_rate {

using hipscope::number;

namespace {

const RowName& row_of(const std::vector<RowName>& rows, const hipscope::CurvePoint& point) {
  return rows[static_cast<std::size_t>(point.x) - 1];
}

std::vector<std::string> formats_of(const std::vector<RowName>& rows) {
  std::vector<std::string> formats;
  for (const RowName& row : rows) {
    if (row.family != vector_family &&
        std::find(formats.begin(), formats.end(), row.format) == formats.end()) {
      formats.push_back(row.format);
    }
  }
  return formats;
}

// Of the points whose row has that format and may be asked, the one with the least `cost`; empty
// where there is none.
template <typename Cost, typename Filter>
std::optional<hipscope::CurvePoint> best_row(const std::vector<hipscope::CurvePoint>& curve,
                                             const std::vector<RowName>& rows, Filter is_asked,
                                             Cost cost) {
  std::optional<hipscope::CurvePoint> best;
  for (const hipscope::CurvePoint& point : curve) {
    if (is_asked(row_of(rows, point)) && (!best || cost(point.y) < cost(best->y))) {
      best = point;
    }
  }
  return best;
}

// The fastest instruction of a format.
void infer_rate(hipscope::Results& results, const std::vector<RowName>& rows,
                const std::string& format) {
  const auto rate = best_row(
      results.curve("peak", "rate"), rows, [&](const RowName& row) { return row.format == format; },
      std::negate<>());
  if (!rate) {
    return;
  }
  hipscope::Inference inference{.name = format + " matrix rate",
                                .value = rate->y,
                                .unit = "FMAs/cycle/CU",
                                .confidence = 1 - std::min(1.0, rate->relative_spread),
                                .statement = "with every CU full, by " + row_of(rows, *rate).name};
  if (const auto share = results.at("peak", "share of documented", rate->x)) {
    inference.evidence = {number(share->y, 3) + " % of what the vendor documents"};
  }
  results.infer(inference);
}

// The shortest chain of a format's instructions that one wave makes by itself.
void infer_latency(hipscope::Results& results, const std::vector<RowName>& rows,
                   const std::string& format) {
  const auto latency = best_row(
      results.curve("chains", "1 chain"), rows,
      [&](const RowName& row) { return row.format == format && row.family != "wgmma"; },
      std::identity());
  if (latency) {
    results.infer({.name = format + " matrix latency",
                   .value = latency->y,
                   .unit = "cycles",
                   .confidence = 1 - std::min(1.0, latency->relative_spread),
                   .statement = "until the next instruction can add to the sums of " +
                                row_of(rows, *latency).name});
  }
}

// Rounding from what a quarter, a half (of an even and of an odd number), three quarters and minus
// three quarters of the last place come to. Empty where they were not all asked: integers are not
// rounded.
std::optional<std::string> rounding(const hipscope::Results& results, double row) {
  std::array<bool, 5> is_up{};
  constexpr std::array parts = {"1/4", "2/4, even", "2/4, odd", "3/4", "-3/4"};
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto sum = results.at("adds", parts[i], row);
    if (!sum) {
      return std::nullopt;
    }
    is_up[i] = sum->y > 0;
  }
  const auto [quarter, even, odd, three, negative] = is_up;
  if (quarter) {
    return negative ? "away from zero" : "up";
  }
  if (!three) {
    return negative ? "down" : "toward zero";
  }
  return !even && odd ? "to nearest, ties to even" : "to nearest, ties otherwise";
}

void infer_sum(hipscope::Results& results, const RowName& name, double row) {
  const auto rounded = rounding(results, row);
  if (!rounded || name.family == vector_family) {
    return;
  }
  hipscope::Inference inference{.name = "width of sums, " + name.format + " " + name.family,
                                .unit = "bits",
                                .confidence = 1,
                                .statement = "rounded " + *rounded};
  if (const auto kept = results.at("adds", "bits kept", row)) {
    inference.value = kept->y;
    inference.statement += "; products count up to so many bits under the largest";
  }
  if (const auto at_once = results.at("adds", "added at once", row)) {
    inference.statement +=
        "; added at once: " + number(at_once->y) + (at_once->y == 1 ? " product" : " products");
  }
  inference.evidence = {"sweep adds, " + name.format + " " + name.name};
  results.infer(inference);
}

}  // namespace

void conclude(hipscope::Results& results, const std::vector<RowName>& all,
              const std::vector<RowName>& leading) {
  for (const std::string& format : formats_of(all)) {
    infer_rate(results, all, format);
    infer_latency(results, all, format);
  }
  for (std::size_t i = 0; i < leading.size(); ++i) {
    infer_sum(results, leading[i], static_cast<double>(i) + 1);
  }
}

}  // namespace matrix_rate
