#include "findings.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "hipscope/format.h"

namespace matrix_rate {

using hipscope::number;

namespace {

// A sweep's value by the number of the row.
class Column {
 public:
  Column(const hipscope::Results& results, const std::string& sweep, const std::string& value) {
    for (const hipscope::CurvePoint& point : results.curve(sweep, value)) {
      rows_.emplace(static_cast<std::size_t>(point.x), point);
    }
  }

  [[nodiscard]] std::optional<hipscope::CurvePoint> at(std::size_t row) const {
    const auto found = rows_.find(row);
    return found == rows_.end() || std::isnan(found->second.y) ? std::nullopt
                                                               : std::optional(found->second);
  }

 private:
  std::map<std::size_t, hipscope::CurvePoint> rows_;
};

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

// The fastest instruction of a format, beside the best of each family.
void infer_rate(hipscope::Results& results, const std::vector<RowName>& rows,
                const std::string& format) {
  const Column rates(results, "peak", "rate");
  const Column shares(results, "peak", "share of documented");
  std::map<std::string, std::size_t> best_of_family;
  std::optional<std::size_t> best;
  for (std::size_t row = 1; row <= rows.size(); ++row) {
    const auto rate = rates.at(row);
    if (rows[row - 1].format != format || !rate) {
      continue;
    }
    const auto [known, is_new] = best_of_family.emplace(rows[row - 1].family, row);
    if (!is_new && rate->y > rates.at(known->second)->y) {
      known->second = row;
    }
    if (!best || rate->y > rates.at(*best)->y) {
      best = row;
    }
  }
  if (!best) {
    return;
  }
  const auto rate = *rates.at(*best);
  std::vector<std::string> evidence;
  for (const auto& [family, row] : best_of_family) {
    evidence.push_back(rows[row - 1].name + ": " + number(rates.at(row)->y, 4) + ", " +
                       number(100 * rates.at(row)->y / rate.y, 3) + " % of the fastest");
  }
  if (const auto share = shares.at(*best)) {
    evidence.push_back(number(share->y, 3) + " % of what the vendor documents");
  }
  results.infer({.name = format + " matrix rate",
                 .value = rate.y,
                 .unit = "FMAs/cycle/CU",
                 .confidence = 1 - std::min(1.0, rate.relative_spread),
                 .statement = "with every CU full, by " + rows[*best - 1].name,
                 .evidence = evidence});
}

// The shortest chain of a format's instructions that one wave makes by itself.
void infer_latency(hipscope::Results& results, const std::vector<RowName>& rows,
                   const std::string& format) {
  const Column cycles(results, "chains", "1 chain");
  std::optional<std::size_t> shortest;
  for (std::size_t row = 1; row <= rows.size(); ++row) {
    if (rows[row - 1].format == format && rows[row - 1].family != "wgmma" && cycles.at(row) &&
        (!shortest || cycles.at(row)->y < cycles.at(*shortest)->y)) {
      shortest = row;
    }
  }
  if (!shortest) {
    return;
  }
  const auto latency = *cycles.at(*shortest);
  results.infer({.name = format + " matrix latency",
                 .value = latency.y,
                 .unit = "cycles",
                 .confidence = 1 - std::min(1.0, latency.relative_spread),
                 .statement = "until the next instruction can add to the sums of " +
                              rows[*shortest - 1].name});
}

// What random bits cost against zeros: the instruction that loses most.
void infer_cost_of_data(hipscope::Results& results, const std::vector<RowName>& leading) {
  const Column peaks(results, "data", "peak");
  const Column clocks(results, "data", "clock");
  double largest = 0;
  std::optional<std::string> slowest;
  std::vector<std::string> evidence;
  std::size_t first = 1;
  for (const RowName& row : leading) {
    if (row.family == vector_family) {
      continue;
    }
    const std::size_t last = first + kinds_of_operands - 1;
    const auto zeros = peaks.at(first);
    const auto random = peaks.at(last);
    if (zeros && random) {
      const double loss = 100 * (1 - random->y / zeros->y);
      if (!slowest || loss > largest) {
        largest = loss;
        slowest = row.format + " " + row.name;
        evidence = {number(zeros->y, 4) + " with zeros, " + number(random->y, 4) +
                    " with random bits (TFLOP/s or TOP/s)"};
        if (clocks.at(first) && clocks.at(last)) {
          evidence.push_back("clock " + number(clocks.at(first)->y, 4) + " and " +
                             number(clocks.at(last)->y, 4) + " MHz");
        }
      }
    }
    first += kinds_of_operands;
  }
  if (!slowest) {
    return;
  }
  constexpr double noticeable = 1;
  hipscope::Inference inference{.name = "cost of random operands",
                                .unit = "%",
                                .statement = "what the operands are makes no difference",
                                .evidence = evidence};
  if (largest >= noticeable) {
    inference.value = largest;
    inference.confidence = 1;
    inference.statement = *slowest + " loses most against operands of zeros";
  }
  results.infer(inference);
}

// Rounding from what three quarters, a half and a quarter of the last place come to.
std::string rounding(const Column& quarter, const Column& even, const Column& odd,
                     const Column& three, const Column& negative, std::size_t row) {
  const auto is_up = [&](const Column& column) { return column.at(row)->y > 0; };
  if (is_up(quarter)) {
    return is_up(negative) ? "away from zero" : "up";
  }
  if (!is_up(three)) {
    return is_up(negative) ? "down" : "toward zero";
  }
  return !is_up(even) && is_up(odd) ? "to nearest, ties to even" : "to nearest, ties otherwise";
}

void infer_sum(hipscope::Results& results, const RowName& name, std::size_t row) {
  const Column quarter(results, "adds", "1/4");
  const Column even(results, "adds", "2/4, even");
  const Column odd(results, "adds", "2/4, odd");
  const Column three(results, "adds", "3/4");
  const Column negative(results, "adds", "-3/4");
  const auto kept = Column(results, "adds", "bits kept").at(row);
  const auto at_once = Column(results, "adds", "added at once").at(row);
  const bool is_rounded =
      quarter.at(row) && even.at(row) && odd.at(row) && three.at(row) && negative.at(row);
  if (!is_rounded || name.family == vector_family) {
    return;  // integers are not rounded
  }
  hipscope::Inference inference{
      .name = "width of sums, " + name.format + " " + name.family,
      .unit = "bits",
      .confidence = 1,
      .statement = "rounded " + rounding(quarter, even, odd, three, negative, row)};
  if (kept) {
    inference.value = kept->y;
    inference.statement += "; products count up to so many bits under the largest";
  }
  if (at_once) {
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
  infer_cost_of_data(results, leading);
  for (std::size_t row = 1; row <= leading.size(); ++row) {
    infer_sum(results, leading[row - 1], row);
  }
}

}  // namespace matrix_rate
