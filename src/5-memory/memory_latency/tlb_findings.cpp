#include "tlb_findings.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "findings.h"
#include "hipscope/confidence.h"
#include "hipscope/format.h"
#include "hipscope/inference.h"
#include "hipscope/statistics.h"
#include "text.h"

namespace memory_latency {

using hipscope::Inference;
using hipscope::number;
using hipscope::Results;

namespace {

// Pages cost a few per cent long before a TLB's reach, by a miss in a first TLB that hits in the
// second: a rise that is larger than that.
constexpr std::array tlb_rises = {1.05, 1.1, 1.15};

// The clear rises of a curve, the smallest that its noise does not hide. The middle one of three
// points counts: a single slow launch is no rise.
std::vector<hipscope::FirstStep> clear_rises(const Curve& curve) {
  Curve calm = curve;
  for (std::size_t i = 1; i + 1 < curve.size(); ++i) {
    const auto [low, high] = std::minmax(curve[i - 1].y, curve[i + 1].y);
    calm[i].y = std::clamp(curve[i].y, low, high);
  }
  std::vector<double> changes = {0};
  for (std::size_t i = 1; i < curve.size(); ++i) {
    changes.push_back(std::abs(std::log(curve[i].y / curve[i - 1].y)));
  }
  constexpr double clearly = 7;
  const double usual_change = hipscope::summarize(changes).median;
  for (const double smallest : tlb_rises) {
    if (std::log(smallest) < clearly * usual_change) {
      continue;
    }
    if (auto rises = hipscope::find_clear_rises(calm, smallest); !rises.empty()) {
      // What only a larger rise shows has begun before it shows.
      for (hipscope::FirstStep& rise : rises) {
        rise.confidence *= smallest > tlb_rises.front() ? 0.5 : 1;
      }
      return rises;
    }
  }
  return {};
}

// Why a rise may be a second TLB's: what a miss in the first costs is often too little to be a rise
// of its own, but lifts the plateau from its first third to its last. Empty where it does not.
std::string why_not_first(const Curve& curve, double last_flat) {
  std::vector<double> plateau;
  std::vector<double> changes;
  for (const hipscope::CurvePoint& point : curve) {
    if (point.x <= last_flat) {
      if (!plateau.empty()) {
        changes.push_back(std::abs(point.y / plateau.back() - 1));
      }
      plateau.push_back(point.y);
    }
  }
  constexpr std::size_t fewest_points = 9;
  if (plateau.size() < fewest_points) {
    return {};
  }
  const auto third = static_cast<std::ptrdiff_t>(plateau.size() / 3);
  const double first = hipscope::summarize({plateau.begin(), plateau.begin() + third}).median;
  const double last = hipscope::summarize({plateau.end() - third, plateau.end()}).median;
  constexpr double least = 0.01;
  constexpr double clearly = 3;
  const double usual_change = hipscope::summarize(changes).median;
  if (last / first - 1 < std::max(least, clearly * usual_change)) {
    return {};
  }
  return "a smaller one ends somewhere before the next: pages go from " + number(first, 4) +
         " to " + number(last, 4) + " times as long as dense lines, too little to tell where";
}

// What a miss in a TLB adds to a load, between its reach and `end`, where the next one's ends.
struct TlbPenalty {
  double cycles = 0;
  double confidence = 0;
};

// Past the reach either all loads miss, or those that do not fit; whichever explains the points.
std::optional<TlbPenalty> miss_penalty(const Results& results, const hipscope::FirstStep& rise,
                                       double end) {
  const Curve paged = results.curve("tlb-2m", "paged latency");
  const Curve dense = results.curve("tlb-2m", "dense latency");
  if (paged.empty() || paged.size() != dense.size()) {
    return std::nullopt;
  }
  constexpr double clearly_past = 1.3;
  constexpr double octaves_before = 4;  // a factor of so much: two octaves
  std::vector<double> before;
  std::vector<double> all_miss;
  std::vector<double> some_miss;
  for (std::size_t i = 0; i < paged.size(); ++i) {
    const double added = paged[i].y - dense[i].y;
    const double pages = paged[i].x;
    if (pages <= rise.last_flat_x && octaves_before * pages >= rise.last_flat_x) {
      before.push_back(added);
    } else if (pages >= clearly_past * rise.next_x && pages <= end) {
      all_miss.push_back(added);
      some_miss.push_back(1 - rise.last_flat_x / pages);
    }
  }
  constexpr std::size_t fewest_points = 4;
  if (before.empty() || all_miss.size() < fewest_points) {
    return std::nullopt;
  }
  const double usual = hipscope::summarize(before).median;
  for (std::size_t i = 0; i < all_miss.size(); ++i) {
    all_miss[i] -= usual;
    some_miss[i] = all_miss[i] / some_miss[i];
  }
  const auto spread = [](const std::vector<double>& all) {
    const hipscope::Summary summary = hipscope::summarize(all);
    return (summary.third_quartile - summary.first_quartile) / std::abs(summary.median);
  };
  const bool some = spread(some_miss) < spread(all_miss);
  const std::vector<double>& told = some ? some_miss : all_miss;
  constexpr double largest_spread = 0.25;
  const double share = spread(told) / largest_spread;
  return TlbPenalty{.cycles = hipscope::summarize(told).median,
                    .confidence = rise.confidence * std::max(0.0, 1 - share)};
}

}  // namespace

std::optional<std::vector<double>> tlb_reaches(const Results& results) {
  std::vector<double> all;
  bool is_measured = false;
  for (const auto& [sweep, page] : {std::pair{"tlb-2m", large_page}, {"tlb-64k", small_page}}) {
    const Curve curve = results.curve(sweep, "paged over dense");
    is_measured = is_measured || !curve.empty();
    for (const auto& rise : clear_rises(curve)) {
      all.push_back(rise.last_flat_x * static_cast<double>(page));
    }
  }
  return is_measured ? std::optional(all) : std::nullopt;
}

void infer_tlb(Results& results) {
  const Curve large = results.curve("tlb-2m", "paged over dense");
  if (large.empty()) {
    return;
  }
  const auto small_rises = clear_rises(results.curve("tlb-64k", "paged over dense"));
  const auto rises = clear_rises(large);
  const double last_flat = rises.empty() ? large.back().x : rises.front().last_flat_x;
  const auto beyond = std::find_if(large.begin(), large.end(),
                                   [&](const auto& point) { return point.x > last_flat; });
  const auto [low, high] = std::minmax_element(
      large.begin(), beyond, [](const auto& a, const auto& b) { return a.y < b.y; });
  const auto at = [](const hipscope::CurvePoint& point) {
    return number(point.y, 4) + " at " + number(point.x, 6);
  };
  const std::string range = "up to " + number(last_flat, 6) + " pages of 2 MiB " + at(*low) +
                            " to " + at(*high) + " times as long as dense lines";
  if (rises.empty()) {
    Inference reach{.name = "TLB level 1 reach",
                    .unit = "bytes",
                    .statement = "no clear rise up to " + in_bytes(last_flat * large_page),
                    .evidence = {range}};
    if (!small_rises.empty()) {
      reach.evidence.push_back("one page per 64 KiB: a rise at " +
                               in_bytes(small_rises.front().last_flat_x * small_page) +
                               ", which pages of 2 MiB do not show");
    }
    results.infer(reach);
  }
  const std::string why = why_not_first(large, last_flat);
  if (!rises.empty() && !why.empty()) {
    results.infer(
        {.name = "TLB level 1 reach", .unit = "bytes", .statement = why, .evidence = {range}});
  }
  // Which of the rises of pages of 64 KiB is whose is not known else.
  const bool is_first = why.empty();
  auto small = small_rises.begin();
  for (std::size_t i = 0; i < rises.size(); ++i) {
    hipscope::FirstStep rise = rises[i];
    rise.confidence = hipscope::sure_if(is_first, rise.confidence);
    const std::string level = "TLB level " + std::to_string(is_first ? i + 1 : i + 2);
    Inference reach{.name = level + " reach",
                    .unit = "bytes",
                    .confidence = rise.confidence,
                    .evidence = {range, "then " + number(rise.ratio, 4) +
                                            " times the plateau within an octave"}};
    const auto set_reach = [&](const hipscope::FirstStep& step, double page_bytes) {
      reach.value = step.last_flat_x * page_bytes;
      reach.interval = {.low = *reach.value, .high = step.next_x * page_bytes};
      reach.statement = "from " + in_bytes(*reach.value) + " to " +
                        in_bytes(step.next_x * page_bytes) +
                        " of pages a line begins to take clearly longer";
    };
    set_reach(rise, large_page);
    for (; is_first && small != small_rises.end(); ++small) {
      reach.evidence.push_back("one page per 64 KiB: a rise at " +
                               in_bytes(small->last_flat_x * small_page));
      // Pages of 64 KiB share an entry that covers more: more of them fit.
      const double per_entry = small->last_flat_x / rise.last_flat_x;
      constexpr double agreement = 1.5;
      constexpr double covered = large_page / static_cast<double>(small_page);
      if (per_entry < 1 / agreement) {
        continue;
      }
      if (per_entry < covered / agreement) {
        reach.evidence.push_back(per_entry < agreement
                                     ? "as many pages of 64 KiB: an entry covers no more than that"
                                     : "an entry covers " + in_bytes(per_entry * small_page));
        set_reach(*small, small_page);
      }
      // The next one is the next TLB's; one that is too far away, too.
      if (per_entry < covered * agreement) {
        ++small;
      }
      break;
    }
    infer_if_sure(results, reach);
    const double end = i + 1 < rises.size() ? rises[i + 1].last_flat_x : large.back().x;
    if (const auto penalty = miss_penalty(results, rise, end)) {
      infer_if_sure(results,
                    {.name = level + " miss penalty",
                     .value = penalty->cycles,
                     .unit = "cycles",
                     .confidence = penalty->confidence,
                     .statement = "added to a load that hits in L2, of pages past the reach"});
    }
  }
}

}  // namespace memory_latency
