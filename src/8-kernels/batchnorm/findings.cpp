#include "findings.h"

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "hipscope/format.h"
#include "hipscope/inference.h"

namespace batchnorm {

using hipscope::number;

namespace {

constexpr const char* gigapixels = "Gpixel/s";

double confidence_of(const hipscope::CurvePoint& one, const hipscope::CurvePoint& other) {
  return 1 - std::min(1.0, 2 * std::max(one.relative_spread, other.relative_spread));
}

using Curve = std::vector<hipscope::CurvePoint>;

// The highest of the rows with x from `first` to `last`; none there: 0.
hipscope::CurvePoint best_of(const Curve& curve, double first, double last) {
  hipscope::CurvePoint best;
  for (const auto& point : curve) {
    if (point.x >= first && point.x <= last && point.y > best.y) {
      best = point;
    }
  }
  return best;
}

void infer_share_of_copy(hipscope::Results& results, const Curve& rates, const std::string& what) {
  const auto best = best_of(rates, own_x, vendor_x - 1);
  const auto copy = best_of(rates, copy_x, copy_x);
  hipscope::Inference inference{.name = "batchnorm " + what + " over copy bandwidth",
                                .unit = "%",
                                .statement = "no stage was measured beside the copy"};
  if (copy.y > 0 && best.y > 0) {
    inference.value = 100 * best.y / copy.y;
    inference.confidence = confidence_of(copy, best);
    inference.statement =
        "the fastest stage over a copy of the same arrays, one read and one write";
    inference.evidence = {number(best.y, 4) + " of " + number(copy.y, 4) + " " + gigapixels};
  }
  results.infer(inference);
}

void infer_share_of_library(hipscope::Results& results, const Curve& rates, const std::string& what,
                            const Library& library) {
  const auto best = best_of(rates, own_x, vendor_x - 1);
  const auto vendor = best_of(rates, vendor_x, std::numeric_limits<double>::max());
  hipscope::Inference inference{
      .name = "batchnorm " + what + " over the vendor's library",
      .unit = "times its rate",
      .statement = "no vendor's library was measured; looked for " + library.looked_for};
  if (vendor.y > 0 && best.y > 0) {
    inference.value = best.y / vendor.y;
    inference.confidence = confidence_of(vendor, best);
    inference.statement = "our fastest stage over the fastest of " + library.name;
    inference.evidence = {number(best.y, 4) + " and " + number(vendor.y, 4) + " " + gigapixels};
  }
  results.infer(inference);
}

// The fastest stage of a ladder over its copy and over the vendor's library.
void infer_shares(hipscope::Results& results, const std::string& sweep, const std::string& what,
                  const Library& library) {
  const auto rates = results.curve(sweep, "rate");
  if (!rates.empty()) {
    infer_share_of_copy(results, rates, what);
    infer_share_of_library(results, rates, what, library);
  }
}

// Where memory is the limit, passes cost what they move: 4, 3 and 2 times the tensor.
void infer_passes(hipscope::Results& results) {
  const auto rates = results.curve("stages", "rate");
  const auto three = best_of(rates, three_passes_x, three_passes_x);
  const auto two = best_of(rates, two_passes_x, two_passes_x);
  const auto one = best_of(rates, one_pass_x, vendor_x - 1);
  if (three.y <= 0 || two.y <= 0 || one.y <= 0) {
    return;
  }
  hipscope::Inference inference{
      .name = "what one pass gains on three",
      .value = one.y / three.y,
      .unit = "times the rate",
      .confidence = confidence_of(one, three),
      .statement = "4 transfers of the tensor against 2: twice, if only memory counts"};
  inference.evidence = {
      "two passes: " + number(two.y / three.y) + " times three passes, where the bytes say 4/3",
      "one pass: " + number(one.y / two.y) + " times two passes, where the bytes say 3/2"};
  results.infer(inference);
}

}  // namespace

void conclude(hipscope::Results& results, const Library& library) {
  infer_shares(results, "stages", "per activation", library);
  infer_shares(results, "spatial", "spatial", library);
  infer_passes(results);
}

}  // namespace batchnorm
