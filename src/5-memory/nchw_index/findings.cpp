#include "findings.h"

#include <algorithm>
#include <string>
#include <vector>

#include "hipscope/format.h"

namespace nchw_index {
namespace {

using hipscope::number;

struct Row {
  std::string stage;
  double bandwidth;  // GB/s
  double relative_spread;
};

std::vector<Row> rows_of(const hipscope::Results& results, const std::vector<std::string>& stages) {
  std::vector<Row> rows;
  for (const auto& point : results.curve("large", "bandwidth")) {
    rows.push_back({.stage = stages.at(static_cast<std::size_t>(point.x) - 1),
                    .bandwidth = point.y,
                    .relative_spread = point.relative_spread});
  }
  return rows;
}

std::vector<Row>::const_iterator find(const std::vector<Row>& rows, const std::string& stage) {
  return std::find_if(rows.begin(), rows.end(), [&](const Row& row) { return row.stage == stage; });
}

}  // namespace

void conclude(hipscope::Results& results, const std::vector<std::string>& stages) {
  const std::vector<Row> rows = rows_of(results, stages);
  const auto fill = find(rows, "fill");
  const auto naive = find(rows, "naive");
  if (fill == rows.end() || naive == rows.end()) {
    return;
  }
  hipscope::Inference inference{
      .name = "cost of the index",
      .value = fill->bandwidth / naive->bandwidth,
      .unit = "times the time of a fill",
      .confidence = 1 - std::min(1.0, std::max(fill->relative_spread, naive->relative_spread)),
      .statement = "the naive kernel's time over that of the same stores without index arithmetic"};
  const Row* best = nullptr;
  for (const Row& row : rows) {
    if (row.stage == "fill") {
      continue;
    }
    inference.evidence.push_back(row.stage + ": " + number(row.bandwidth, 4) + " GB/s, " +
                                 number(100 * row.bandwidth / fill->bandwidth) + " % of the fill");
    best = best == nullptr || row.bandwidth > best->bandwidth ? &row : best;
  }
  inference.evidence.push_back("fastest: " + best->stage);
  results.infer(inference);
}

}  // namespace nchw_index
