#include "findings.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "5-memory/groups.h"
#include "hipscope/confidence.h"
#include "hipscope/format.h"
#include "hipscope/inference.h"
#include "hipscope/statistics.h"

namespace cache_sharing {

using hipscope::Inference;
using hipscope::median_of;
using hipscope::number;
using hipscope::Results;

namespace {

using Curve = std::vector<hipscope::CurvePoint>;

std::map<double, double> by_row(const Curve& curve) {
  std::map<double, double> rows;
  for (const auto& point : curve) {
    rows[point.x] = point.y;
  }
  return rows;
}

// --- Pairs of paths -----------------------------------------------------------------------------

// Of the lines that loads of one path keep, how many those of another evict.
struct Evicted {
  double share = 0;  // 0 ... 1
  std::string text{};
};

std::optional<Evicted> evicted(const std::map<double, double>& alone,
                               const std::map<double, double>& after, Path kept, Path evictor) {
  const auto hit = alone.find(pair_row(kept, evictor));
  const auto look = after.find(pair_row(kept, evictor));
  const auto miss = after.find(pair_row(kept, kept));
  if (hit == alone.end() || look == after.end() || miss == after.end() ||
      !(miss->second >= clear_miss * hit->second)) {
    return std::nullopt;
  }
  const double share = (look->second - hit->second) / (miss->second - hit->second);
  return Evicted{.share = std::clamp(share, 0.0, 1.0),
                 .text = std::string(name_of(kept)) + " loads: " + number(hit->second, 4) +
                         " cycles, " + number(look->second, 4) + " after " + name_of(evictor) +
                         " loads, " + number(miss->second, 4) + " after others of their own"};
}

void infer_pair(Results& results, const std::map<double, double>& alone,
                const std::map<double, double>& after, Path first, Path second) {
  const auto one = evicted(alone, after, first, second);
  const auto other = evicted(alone, after, second, first);
  if (!after.contains(pair_row(first, second)) || !after.contains(pair_row(second, first))) {
    return;  // the device has no such path
  }
  Inference inference{
      .name = std::string("cache shared by ") + name_of(first) + " and " + name_of(second),
      .unit = "% evicted",
      .statement = "the latencies do not tell hits from misses"};
  if (one && other) {
    inference.evidence = {one->text, other->text};
    // One may have too few addresses to evict what the other keeps: who evicts more decides.
    const double share = std::max(one->share, other->share);
    constexpr double at_most_apart = 0.25;
    constexpr double at_least_shared = 0.6;
    inference.statement = "a part only: neither one cache nor two";
    if (share <= at_most_apart || share >= at_least_shared) {
      inference.value = 100 * share;
      inference.confidence = std::abs(2 * share - 1);
      inference.statement = share >= at_least_shared
                                ? "they share a cache: loads of one evict what the other keeps"
                                : "each has a first cache of its own";
    }
  } else {
    for (const auto& found : {one, other}) {
      if (found) {
        inference.evidence.push_back(found->text);
      }
    }
  }
  results.infer(inference);
}

void infer_pairs(Results& results) {
  const auto alone = by_row(results.curve("pairs", "alone"));
  const auto after = by_row(results.curve("pairs", "after"));
  constexpr std::array all = {Path::vector, Path::read_only, Path::constant, Path::texture};
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (std::size_t j = i + 1; j < all.size(); ++j) {
      infer_pair(results, alone, after, all[i], all[j]);
    }
  }
}

// --- Fetch units and lines of constant caches ---------------------------------------------------

// What a miss of the first level fetches, where that is told.
std::optional<double> infer_constant_units(Results& results) {
  Curve curve = results.curve("constant-unit", "second load");
  std::optional<double> of_first;
  for (unsigned level = 1; level <= 2 && !curve.empty(); ++level) {
    Inference inference{.name = "constant cache level " + std::to_string(level) + " sector",
                        .unit = "bytes",
                        .statement = "the curve shows no further unit"};
    auto unit = hipscope::find_fetch_unit(curve);
    // Of so few points a slope that is disturbed looks like a step, though not like a clear one.
    constexpr double clear_step = 0.83;
    // One point between two steps is a disturbed hit or the only one of a unit twice as small.
    const auto is_between = [&](const auto& point) {
      return point.x <= unit->bytes && point.y > clear_miss * unit->hit;
    };
    if (unit &&
        (unit->confidence < clear_step || std::any_of(curve.begin(), curve.end(), is_between))) {
      unit.reset();
    }
    if (unit) {
      inference.value = unit->bytes;
      inference.confidence = unit->confidence;
      inference.statement =
          "a miss brings its aligned " + number(unit->bytes, 4) + " bytes and nothing beside them";
      inference.evidence = {"within them " + number(unit->hit, 4) + " cycles, beside them " +
                            number(unit->miss, 4)};
    }
    results.infer(inference);
    if (!unit) {
      return of_first;
    }
    of_first = of_first.value_or(unit->bytes);
    std::erase_if(curve, [&](const auto& point) { return point.x <= unit->bytes; });
  }
  return of_first;
}

// A line holds whole sectors: one that is smaller than what a miss fetches contradicts that.
void infer_constant_line(Results& results, const std::optional<double>& sector) {
  if (results.curve("constant-line", "miss").empty()) {
    return;
  }
  const Curve curve = results.curve("constant-line", "footprint");
  Inference inference{
      .name = "constant cache level 1 line",
      .unit = "bytes",
      .statement = "the footprints do not show from which distance on words take a line each"};
  const auto line = hipscope::fit_line_size(curve);
  // Of so few points even what is none fits some line a little better than the next.
  constexpr double smallest_confidence = 0.3;
  if (line && line->confidence >= smallest_confidence) {
    inference.value = line->bytes;
    inference.confidence = hipscope::sure_if(!sector || line->bytes >= *sector, line->confidence);
    inference.statement = "one word takes " + number(line->bytes, 4) + " bytes of the cache";
    inference.evidence = {
        "chunks of up to that many bytes evict by " + number(std::round(line->flat_reach), 6) +
            " bytes of them what was kept, larger ones by " + number(line->growth) +
            " octaves more per octave",
        "a miss fetches " +
            (sector ? number(*sector, 4) + " bytes" : std::string("it is not known how much"))};
    inference.interval = {.low = line->bytes, .high = line->bytes};
    for (const auto& point : curve) {
      // What a chunk beyond the line says of it alone.
      const double said = point.x * line->flat_reach / point.y;
      if (point.x > line->bytes) {
        inference.interval->low = std::min(inference.interval->low, said);
        inference.interval->high = std::max(inference.interval->high, said);
      }
    }
  }
  results.infer(inference);
}

// --- LDS ----------------------------------------------------------------------------------------

// Where a cache ends.
struct CacheEnd {
  double last_x = 0;  // the last footprint before the latency has risen half way, for good
  bool is_clear =
      true;  // not so where the next one alone is neither hit nor miss: a disturbed hit?
};

// The middle one of three points counts, so that a single launch that was slow, or fast, is none.
// Nearly all before must be hits and most beyond be misses: a slope has no end.
std::optional<CacheEnd> half_rise(const Curve& measured) {
  constexpr std::size_t fewest = 6;
  if (measured.size() < fewest) {
    return std::nullopt;
  }
  Curve curve = measured;
  for (std::size_t i = 1; i + 1 < curve.size(); ++i) {
    curve[i].y = median_of({measured[i - 1].y, measured[i].y, measured[i + 1].y});
  }
  const double hit = median_of({curve[0].y, curve[1].y, curve[2].y});
  const double miss = median_of({curve.end()[-1].y, curve.end()[-2].y, curve.end()[-3].y});
  constexpr double level_apart = 2;
  if (!(miss >= level_apart * hit)) {
    return std::nullopt;
  }
  const double half = std::sqrt(hit * miss);
  std::size_t first = curve.size();
  while (first > 0 && curve[first - 1].y > half) {
    --first;
  }
  if (first == 0 || first >= curve.size()) {
    return std::nullopt;
  }
  const auto is_near = [](double y, double level) {
    constexpr double near = 1.25;
    return y < near * level && level < near * y;
  };
  std::size_t hits = 0;
  std::size_t misses = 0;
  for (std::size_t i = 0; i < curve.size(); ++i) {
    hits += i < first && is_near(curve[i].y, hit) ? 1 : 0;
    misses += i >= first && is_near(curve[i].y, miss) ? 1 : 0;
  }
  constexpr double nearly_all = 0.8;
  if (static_cast<double>(hits) < nearly_all * static_cast<double>(first) ||
      2 * misses < curve.size() - first) {
    return std::nullopt;
  }
  const bool rises_at_once = first + 1 < curve.size() && is_near(measured[first + 1].y, miss);
  return CacheEnd{.last_x = curve[first - 1].x,
                  .is_clear = is_near(measured[first].y, miss) || !rises_at_once};
}

// What LDS takes of the vector cache.
void infer_lds(Results& results) {
  const Curve without = results.curve("lds", "without LDS");
  const Curve with = results.curve("lds", "with LDS");
  if (without.empty() || with.empty()) {
    return;
  }
  Inference inference{.name = "vector cache left beside the largest LDS",
                      .unit = "bytes",
                      .statement = "the curves show no end of the vector cache"};
  const auto all = half_rise(without);
  const auto left = half_rise(with);
  if (all && left) {
    constexpr double kibibyte = 1024;
    const double ratio = left->last_x / all->last_x;
    constexpr double same = 0.8;
    inference.value = left->last_x;
    const auto count = static_cast<double>(without.size());
    inference.confidence = left->is_clear ? count / (count + 1) : hipscope::unsure;
    inference.statement = ratio < same ? "LDS is a part of it: they share one memory"
                                       : "LDS takes nothing of it: they are apart";
    inference.evidence = {"without LDS it holds about " + number(all->last_x / kibibyte, 5) +
                          " KiB, beside the largest LDS of a block " +
                          number(left->last_x / kibibyte, 5) + " KiB"};
  }
  results.infer(inference);
}

// --- Groups of CUs ------------------------------------------------------------------------------

// "0 1 2 | 3 4 5 | ..." of the first groups.
std::string group_text(const std::map<double, std::vector<double>>& groups) {
  constexpr std::size_t most_groups = 8;
  constexpr std::size_t most_members = 12;
  std::string text;
  std::size_t shown = 0;
  for (const auto& [first, members] : groups) {
    if (shown++ == most_groups) {
      return text + " | ...";
    }
    text += text.empty() ? "" : " | ";
    for (std::size_t i = 0; i < std::min(members.size(), most_members); ++i) {
      text += (i > 0 ? " " : "") + number(members[i]);
    }
    text += members.size() > most_members ? " ..." : "";
  }
  return text;
}

std::map<std::size_t, std::size_t> count_sizes(
    const std::map<double, std::vector<double>>& groups) {
  std::map<std::size_t, std::size_t> things_by_size;
  for (const auto& [first, members] : groups) {
    things_by_size[members.size()] += members.size();
  }
  return things_by_size;
}

void infer_sharers(Results& results, const std::string& cache) {
  const std::string sweep = "units-" + cache;
  const Curve own = results.curve(sweep, "beside itself");
  const Curve quiet = results.curve(sweep, "quiet");
  if (own.empty() || quiet.empty()) {
    return;
  }
  Inference inference{.name = "CUs that share a cache of " + cache + " loads",
                      .unit = "CUs",
                      .statement = "a CU does not even disturb itself: nothing shows"};
  std::map<double, std::vector<double>> groups;
  for (const auto& point : results.curve(sweep, "first of its group")) {
    groups[point.y].push_back(point.x);
  }
  const auto y_of = [](const Curve& curve) {
    std::vector<double> values;
    for (const auto& point : curve) {
      values.push_back(point.y);
    }
    return values;
  };
  if (!groups.empty()) {
    const auto sizes = count_sizes(groups);
    const auto usual = std::max_element(sizes.begin(), sizes.end(),
                                        [](auto& a, auto& b) { return a.second < b.second; });
    const auto count = static_cast<double>(own.size());
    inference.value = static_cast<double>(usual->first);
    inference.confidence = static_cast<double>(usual->second) / count * count / (count + 1);
    inference.statement = usual->first == 1 ? "each CU has one of its own"
                                            : "what one of them loads evicts what the others keep";
    inference.evidence = {"undisturbed " + number(median_of(y_of(quiet)), 4) +
                              " cycles, beside a walk on the same CU " +
                              number(median_of(y_of(own)), 4),
                          std::to_string(groups.size()) + " groups: " + group_text(groups)};
  }
  results.infer(inference);
}

void infer_handover(Results& results) {
  const auto own = by_row(results.curve("l2-handover", "own"));
  const auto handed = by_row(results.curve("l2-handover", "handed over"));
  const auto cold = by_row(results.curve("l2-handover", "cold"));
  if (own.empty() || handed.empty() || cold.empty()) {
    return;
  }
  Inference inference{.name = "CUs that find in L2 what one CU has read",
                      .unit = "CUs",
                      .statement =
                          "lines that a CU has read itself are no faster than cold ones: "
                          "L2 does not last from one launch to the next"};
  std::vector<double> own_values;
  std::vector<double> cold_values;
  for (const auto& [unit, latency] : own) {
    own_values.push_back(latency);
  }
  for (const auto& [unit, latency] : cold) {
    cold_values.push_back(latency);
  }
  const double hit = median_of(own_values);
  const double miss = median_of(cold_values);
  if (miss >= clear_miss * hit) {
    std::vector<double> finders;
    std::vector<double> others;
    std::size_t unclear = 0;
    for (const auto& [unit, latency] : handed) {
      // Even from the far end of L2 a line comes sooner than from memory.
      constexpr double surely_cold = 0.1;
      constexpr double surely_found = 0.35;
      const double share = (miss - latency) / (miss - hit);
      unclear += share > surely_cold && share < surely_found ? 1 : 0;
      (share >= surely_found ? finders : others).push_back(latency);
    }
    const auto count = static_cast<double>(handed.size());
    // What is disturbed takes longer: where nearly all find it, all do.
    constexpr double nearly_all = 0.9;
    if (static_cast<double>(finders.size()) >= nearly_all * count) {
      finders.insert(finders.end(), others.begin(), others.end());
      others.clear();
    }
    inference.value = static_cast<double>(finders.size());
    inference.confidence = (1 - static_cast<double>(unclear) / count) * count / (count + 1);
    inference.statement = others.empty() ? "all CUs share one L2"
                                         : "the others load it from behind L2: L2s of their own";
    // L2s are alike: as many CUs belong to each, and else some were disturbed.
    const double caches = count / std::max(1.0, *inference.value);
    constexpr double whole = 0.1;
    if (finders.empty() || std::abs(caches - std::round(caches)) > whole) {
      inference.value.reset();
      inference.confidence = 0;
      inference.statement = "those that find it, " + std::to_string(finders.size()) +
                            " of them, are no whole part of all CUs";
    }
    inference.evidence = {"what a CU has read itself " + number(hit, 4) + " cycles, cold " +
                          number(miss, 4)};
    if (!finders.empty()) {
      const auto found = hipscope::summarize(finders);
      inference.evidence.push_back(
          "what CU " + number(handed.begin()->first) + " has read: " + number(found.minimum, 4) +
          " to " + number(found.maximum, 4) + " cycles, quartiles " +
          number(found.first_quartile, 4) + ", " + number(found.median, 4) + ", " +
          number(found.third_quartile, 4));
    }
  }
  results.infer(inference);
}

}  // namespace

const char* name_of(Path path) {
  constexpr std::array names = {"vector", "read-only", "constant", "texture"};
  return names[static_cast<std::size_t>(path)];
}

std::vector<std::size_t> groups_by_disturbance(const std::vector<double>& quiet,
                                               const std::vector<std::vector<double>>& disturbed) {
  const auto ratio = [&](std::size_t a, std::size_t b) { return disturbed[a][b] / quiet[b]; };
  std::vector<double> own;
  for (std::size_t a = 0; a < quiet.size(); ++a) {
    if (std::isfinite(ratio(a, a))) {
      own.push_back(ratio(a, a));
    }
  }
  if (own.empty() || hipscope::summarize(own).median < clear_miss) {
    return {};
  }
  const double half = std::sqrt(hipscope::summarize(own).median);
  memory::Groups groups(quiet.size());
  for (std::size_t a = 0; a < quiet.size(); ++a) {
    for (std::size_t b = a + 1; b < quiet.size(); ++b) {
      if (ratio(a, b) > half && ratio(b, a) > half) {
        groups.join(a, b);
      }
    }
  }
  std::vector<std::size_t> first;
  for (std::size_t i = 0; i < quiet.size(); ++i) {
    first.push_back(groups.first_of(i));
  }
  return first;
}

void conclude(hipscope::Results& results) {
  infer_pairs(results);
  infer_constant_line(results, infer_constant_units(results));
  infer_lds(results);
  infer_sharers(results, "constant");
  infer_sharers(results, "vector");
  infer_handover(results);
}

}  // namespace cache_sharing
