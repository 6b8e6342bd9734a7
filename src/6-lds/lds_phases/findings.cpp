#include "findings.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <string>

#include "hipscope/format.h"
#include "hipscope/statistics.h"

namespace lds_phases {

using hipscope::CurvePoint;
using hipscope::number;

std::array<LaneValue, 5> phase_of(unsigned lane, const std::vector<double>& cycles) {
  constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
  std::vector<double> sorted = cycles;
  std::vector<double> gaps(cycles.size());
  std::ranges::sort(sorted);
  std::adjacent_difference(sorted.begin(), sorted.end(), gaps.begin());
  const auto widest = std::max_element(gaps.begin() + 1, gaps.end());
  const auto upper = sorted.begin() + (widest - gaps.begin());
  const double apart = hipscope::median_of({sorted.begin(), upper});
  const double conflict = hipscope::median_of({upper, sorted.end()});
  const auto first = std::ranges::find_if(cycles, [=](double y) { return y >= *upper; });
  constexpr double smallest_conflict = 0.03;  // of an access: a pass in 32 that it takes anyway
  const bool has_phase = *widest > smallest_conflict * apart && cycles[lane] < *upper;
  return {
      {{"phase",
        has_phase ? std::min(1.0 * lane, static_cast<double>(first - cycles.begin())) : unknown,
        ""},
       {"lanes", has_phase ? 1.0 + static_cast<double>(sorted.end() - upper) : unknown, "lanes"},
       {"apart", apart, "cycles"},
       {"conflict", has_phase ? conflict : unknown, "cycles"},
       {"separation", 100 * *widest / (conflict - apart), "%"}}};
}

std::vector<unsigned> operand_offsets(unsigned lanes, unsigned layout) {
  constexpr unsigned rows = 16;
  constexpr unsigned row_pieces = 8;
  const bool is_swizzled = layout + 1 == tile_layouts;
  const unsigned pitch = row_pieces + (is_swizzled ? 0 : layout);
  std::vector<unsigned> offsets(lanes);
  for (unsigned lane = 0; lane < lanes; ++lane) {
    const unsigned row = lane % rows;
    const unsigned piece = (lane / rows) ^ (is_swizzled ? row % row_pieces : 0);
    offsets[lane] = (row * pitch + piece) * piece_bytes;
  }
  return offsets;
}

namespace {

// "0-3, 20-23 | 4-7, 16-19"
std::string groups_text(const std::vector<unsigned>& phases) {
  std::map<unsigned, std::string> groups;
  for (auto begin = phases.begin(); begin != phases.end();) {
    const auto end = std::find_if(begin, phases.end(), [=](unsigned of) { return of != *begin; });
    std::string& group = groups[*begin];
    group += (group.empty() ? "" : ", ") + std::to_string(begin - phases.begin());
    group += end - begin == 1 ? "" : "-" + std::to_string(end - phases.begin() - 1);
    begin = end;
  }
  std::string text;
  for (const auto& [first, group] : groups) {
    text += (text.empty() ? "" : " | ") + group;
  }
  return text;
}

// The phase of each lane; empty where a lane has none, or says another number of lanes than say
// that they are of its phase.
std::vector<unsigned> phases_of(const hipscope::Results& results, const AccessName& access) {
  std::vector<unsigned> phases;
  for (const CurvePoint& point : results.curve(access.sweep, "phase")) {
    phases.push_back(static_cast<unsigned>(point.y));
  }
  const std::vector<CurvePoint> lanes = results.curve(access.sweep, "lanes");
  const bool agree = std::equal(
      phases.begin(), phases.end(), lanes.begin(), lanes.end(), [&](auto phase, auto& said) {
        return static_cast<double>(std::ranges::count(phases, phase)) == said.y;
      });
  const bool is_whole = phases.size() == static_cast<std::size_t>(results.device().wave_size);
  return agree && is_whole ? phases : std::vector<unsigned>();
}

void infer_phases(hipscope::Results& results, const AccessName& access) {
  const std::vector<CurvePoint> separation = results.curve(access.sweep, "separation");
  if (separation.empty()) {
    return;
  }
  hipscope::Inference inference = {.name = std::string("phases of ") + access.title,
                                   .unit = "phases",
                                   .statement = "the lanes do not fall into groups"};
  const std::vector<unsigned> phases = phases_of(results, access);
  if (!phases.empty()) {
    inference.value = static_cast<double>(std::set(phases.begin(), phases.end()).size());
    inference.confidence = std::ranges::min(separation, {}, &CurvePoint::y).y / 100;
    inference.statement = "lanes that are served together: " + groups_text(phases);
  }
  results.infer(inference);
}

}  // namespace

void conclude(hipscope::Results& results) {
  for (const AccessName& access : access_names) {
    infer_phases(results, access);
  }
}

}  // namespace lds_phases
