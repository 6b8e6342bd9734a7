#include "findings.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <set>
#include <string>

#include "hipscope/format.h"
#include "hipscope/statistics.h"

namespace lds_phases {

using hipscope::CurvePoint;
using hipscope::number;

Phase phase_of(unsigned lane, const std::vector<double>& cycles) {
  constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
  if (std::isnan(cycles[lane])) {
    return {unknown, unknown, unknown, unknown, unknown};
  }
  std::vector<double> sorted = cycles;
  std::sort(sorted.begin(), sorted.end());
  std::size_t levels = 1;  // where the upper level begins
  for (std::size_t i = 1; i < sorted.size(); ++i) {
    if (sorted[i] - sorted[i - 1] > sorted[levels] - sorted[levels - 1]) {
      levels = i;
    }
  }
  const double gap = sorted[levels] - sorted[levels - 1];
  const auto upper = std::next(sorted.begin(), static_cast<std::ptrdiff_t>(levels));
  const double apart = hipscope::median_of({sorted.begin(), upper});
  const double conflict = hipscope::median_of({upper, sorted.end()});
  const double separation = gap / (conflict - apart);
  constexpr double smallest_conflict = 0.03;  // of an access: a pass in 32 that it takes anyway
  if (!(gap > smallest_conflict * apart && cycles[lane] < sorted[levels])) {
    return {unknown, unknown, apart, unknown, 100 * separation};
  }
  Phase phase = {.first = static_cast<double>(lane),
                 .lanes = 1.0 + static_cast<double>(sorted.size() - levels),
                 .apart = apart,
                 .conflict = conflict,
                 .separation = 100 * separation};
  for (unsigned other = lane; other-- > 0;) {
    phase.first = cycles[other] >= sorted[levels] ? other : phase.first;
  }
  return phase;
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

double passes_of(const std::vector<unsigned>& phases, unsigned layout) {
  const auto lanes = static_cast<unsigned>(phases.size());
  const std::vector<unsigned> offsets = operand_offsets(lanes, layout);
  // A piece takes a group of four banks.
  std::map<unsigned, std::map<unsigned, unsigned>> pieces_of_banks;
  const auto phase_lanes =
      static_cast<unsigned>(std::count(phases.begin(), phases.end(), phases.front()));
  for (unsigned lane = 0; lane < lanes; ++lane) {
    ++pieces_of_banks[phases[lane]][offsets[lane] / piece_bytes % phase_lanes];
  }
  double passes = 0;
  for (const auto& [phase, banks] : pieces_of_banks) {
    const auto fewer = [](const auto& a, const auto& b) { return a.second < b.second; };
    passes += std::max_element(banks.begin(), banks.end(), fewer)->second;
  }
  return passes;
}

namespace {

// "0-3, 20-23 | 4-7, 16-19"
std::string groups_text(const std::vector<unsigned>& phases) {
  std::string text;
  for (const unsigned phase : std::set<unsigned>(phases.begin(), phases.end())) {
    text += text.empty() ? "" : " | ";
    std::string separator;
    for (unsigned lane = 0; lane < phases.size(); ++lane) {
      if (phases[lane] != phase) {
        continue;
      }
      const unsigned begin = lane;
      while (lane + 1 < phases.size() && phases[lane + 1] == phase) {
        ++lane;
      }
      text += separator + std::to_string(begin);
      text += begin == lane ? "" : "-" + std::to_string(lane);
      separator = ", ";
    }
  }
  return text;
}

// The phase of each lane; empty where a lane has none, or says another number of lanes than say
// that they are of its phase.
std::vector<unsigned> phases_of(const hipscope::Results& results, const AccessName& access) {
  const std::vector<CurvePoint> first = results.curve(access.sweep, "phase");
  const std::vector<CurvePoint> lanes = results.curve(access.sweep, "lanes");
  std::vector<unsigned> phases;
  for (const CurvePoint& point : first) {
    phases.push_back(static_cast<unsigned>(point.y));
  }
  if (phases.size() != static_cast<std::size_t>(results.device().wave_size)) {
    return {};
  }
  for (std::size_t lane = 0; lane < phases.size(); ++lane) {
    if (static_cast<double>(std::count(phases.begin(), phases.end(), phases[lane])) !=
        lanes[lane].y) {
      return {};
    }
  }
  return phases;
}

void infer_phases(hipscope::Results& results, const AccessName& access) {
  const std::vector<CurvePoint> separation = results.curve(access.sweep, "separation");
  const std::vector<CurvePoint> apart = results.curve(access.sweep, "apart");
  if (separation.empty()) {
    return;
  }
  hipscope::Inference inference = {.name = std::string("phases of ") + access.title,
                                   .unit = "phases",
                                   .statement = "the lanes do not fall into groups"};
  const std::vector<unsigned> phases = phases_of(results, access);
  if (!phases.empty()) {
    const auto by_y = [](const CurvePoint& a, const CurvePoint& b) { return a.y < b.y; };
    inference.value = static_cast<double>(std::set(phases.begin(), phases.end()).size());
    inference.confidence = std::min_element(separation.begin(), separation.end(), by_y)->y / 100;
    inference.statement = "lanes that are served together: " + groups_text(phases);
    inference.evidence = {"an access takes " + number(apart[0].y, 3) + " cycles, and " +
                          number(results.curve(access.sweep, "conflict")[0].y, 3) +
                          " where two lanes of a phase meet in a bank"};
  }
  results.infer(inference);
}

// The least padding with which the operand is loaded as fast as with any. Believed as far as the
// phases foretell the cycles of every layout.
void infer_padding(hipscope::Results& results) {
  const std::vector<CurvePoint> cycles = results.curve("tile", "cycles");
  const std::vector<unsigned> phases = phases_of(results, access_names[2]);
  if (cycles.size() != tile_layouts || phases.empty()) {
    return;
  }
  constexpr double alike = 1.1;
  double least = cycles[0].y;
  double slowest_pass = 0;
  double fastest_pass = std::numeric_limits<double>::infinity();
  for (unsigned layout = 0; layout < tile_layouts; ++layout) {
    const double pass = cycles[layout].y / passes_of(phases, layout);
    slowest_pass = std::max(slowest_pass, pass);
    fastest_pass = std::min(fastest_pass, pass);
    least = std::min(least, cycles[layout].y);
  }
  const auto best = std::find_if(cycles.begin(), cycles.end(),
                                 [=](const CurvePoint& point) { return point.y < alike * least; });
  const auto layout = static_cast<unsigned>(best - cycles.begin());
  hipscope::Inference inference = {
      .name = "padding of a row of 128 bytes",
      .unit = "bytes",
      .confidence = fastest_pass / slowest_pass,
      .statement = "the least with which 16 rows are loaded by 16 bytes a lane as fast as with any",
      .evidence = {"unpadded " + number(cycles[0].y, 3) + " cycles, so padded " +
                       number(best->y, 3) + ", swizzled " + number(cycles.back().y, 3),
                   "the passes that the phases foretell take " + number(fastest_pass, 3) + " to " +
                       number(slowest_pass, 3) + " cycles each"}};
  if (layout + 1 < tile_layouts) {
    inference.value = layout * piece_bytes;
  }
  results.infer(inference);
}

}  // namespace

void conclude(hipscope::Results& results) {
  for (const AccessName& access : access_names) {
    infer_phases(results, access);
  }
  infer_padding(results);
}

}  // namespace lds_phases
