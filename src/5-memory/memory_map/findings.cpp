#include "findings.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "5-memory/groups.h"
#include "hipscope/confidence.h"
#include "hipscope/format.h"
#include "hipscope/statistics.h"

namespace memory_map {

using hipscope::Inference;
using hipscope::number;
using hipscope::Results;

namespace {

using Table = std::vector<std::vector<double>>;
using Numbers = std::vector<std::size_t>;
using Curve = std::vector<hipscope::CurvePoint>;

// --- What is alike ----------------------------------------------------------------------------

// How far two things are apart by what they show: the root of the mean square of the differences.
// Without the largest ones: one slow value makes no two things unlike.
double distance(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<double> squares(std::min(a.size(), b.size()));
  for (std::size_t i = 0; i < squares.size(); ++i) {
    squares[i] = (a[i] - b[i]) * (a[i] - b[i]);
  }
  constexpr double without_slow_ones = 0.8;
  const auto kept = std::ceil(without_slow_ones * static_cast<double>(squares.size()));
  const auto end = squares.begin() + static_cast<std::ptrdiff_t>(kept);
  std::nth_element(squares.begin(), end, squares.end());
  return std::sqrt(std::accumulate(squares.begin(), end, 0.0) / kept);
}

struct Link {
  double length;
  unsigned a;
  unsigned b;
};

// The shortest links that hold all things together, the shortest first (Kruskal's tree). Without
// what is like no other.
std::vector<Link> tree_of(const Table& things) {
  std::vector<Link> links;
  std::vector<double> nearest(things.size(), std::numeric_limits<double>::max());
  for (unsigned a = 0; a < things.size(); ++a) {
    for (unsigned b = 0; b < a; ++b) {
      const double length = distance(things[a], things[b]);
      links.push_back({.length = length, .a = a, .b = b});
      nearest[a] = std::min(nearest[a], length);
      nearest[b] = std::min(nearest[b], length);
    }
  }
  constexpr double far = 3;
  const double most = far * hipscope::median_of(nearest);
  std::erase_if(links,
                [&](const Link& link) { return nearest[link.a] > most || nearest[link.b] > most; });
  std::ranges::sort(links, {}, &Link::length);
  std::vector<Link> tree;
  memory::Groups joined(things.size());
  for (const Link& link : links) {
    if (joined.first_of(link.a) != joined.first_of(link.b)) {
      joined.join(link.a, link.b);
      tree.push_back(link);
    }
  }
  return tree;
}

// Groups of things that are alike.
struct Groups {
  std::map<std::size_t, Numbers> members{};  // by the first one
  double within = 0;                         // what holds a group together, at most
  double between = 0;                        // the least that keeps two apart
};

// Which jump of the links' lengths is between groups: the first, or the widest.
enum class Jump { first, widest };

// Groups that are at least `least` apart. None where nothing jumps.
Groups groups_of(const Table& things, Jump jump, double least) {
  constexpr std::size_t fewest_links = 7;
  constexpr double clear = 1.6;
  const std::vector<Link> tree = tree_of(things);
  double widest = clear;
  std::size_t cut = 0;
  for (std::size_t i = std::max(fewest_links, tree.size() / 2); i < tree.size(); ++i) {
    const double ratio = tree[i].length / tree[i - 1].length;
    if (ratio > widest && tree[i].length > least && (jump == Jump::widest || cut == 0)) {
      widest = ratio;
      cut = i;
    }
  }
  if (cut == 0) {
    return {};
  }
  memory::Groups joined(things.size());
  for (std::size_t i = 0; i < cut; ++i) {
    joined.join(tree[i].a, tree[i].b);
  }
  Groups groups{.within = tree[cut - 1].length, .between = tree[cut].length};
  for (std::size_t i = 0; i < things.size(); ++i) {
    groups.members[joined.first_of(i)].push_back(i);
  }
  std::erase_if(groups.members, [](const auto& group) { return group.second.size() == 1; });
  return groups;
}

// --- CUs --------------------------------------------------------------------------------------

// What each point of a sweep has of these values, without those that not every point has.
Table rows_of(const Results& results, const std::string& sweep,
              const std::vector<std::string>& values) {
  Table rows(results.curve(sweep, "latency").size());
  for (const std::string& value : values) {
    const Curve column = results.curve(sweep, value);
    for (std::size_t i = 0; i < rows.size() && column.size() == rows.size(); ++i) {
      rows[i].push_back(column[i].y);
    }
  }
  return rows;
}

void infer_groups(Results& results, const std::string& sweep, const std::string& what) {
  const Curve units = results.curve(sweep, "latency");
  if (units.empty()) {
    return;
  }
  std::vector<std::string> lines(map_lines);
  std::ranges::generate(lines, [line = 0U]() mutable { return line_name(line++); });
  constexpr double least_apart = 0.015;
  const Groups groups =
      groups_of(rows_of(results, sweep, lines), Jump::widest, least_apart * units.front().y);
  Inference inference{.name = "groups of CUs by distance to " + what,
                      .unit = "groups",
                      .statement = "no groups of CUs show that see the lines differently"};
  if (!groups.members.empty()) {
    std::vector<double> sizes;
    for (const auto& [first, members] : groups.members) {
      sizes.push_back(static_cast<double>(members.size()));
      inference.evidence.push_back("CU " + number(units[first].x, 5) + " and " +
                                   number(sizes.back() - 1, 4) + " others");
    }
    // Parts of a chip are about alike: where one group is much larger, several were not told apart.
    const auto [least, most] = std::ranges::minmax(sizes);
    const double grouped = std::accumulate(sizes.begin(), sizes.end(), 0.0);
    const double confidence = least / most * grouped / (static_cast<double>(units.size()) + 1);
    inference.statement = "the groups of CUs that show are too unlike to be parts of the chip";
    if (confidence >= hipscope::unsure) {
      inference.value = static_cast<double>(sizes.size());
      inference.confidence = confidence;
      inference.statement = "the CUs of a group find the same lines near and the same far";
    }
  }
  results.infer(inference);
}

// --- Slices, and which bits choose them -------------------------------------------------------

// The exclusive ors of address bits that are the same for nearly all lines of a group, without
// those that follow from others; as masks over the numbers of lines. By differences: a mask is
// right for two lines if it has an even number of bits in common with the exclusive or of their
// numbers. None where there are few: a wrong mask is right for half of them, and for nearly all by
// no chance.
Numbers masks_of(const Curve& lines, const Groups& groups) {
  const auto number_of = [&](std::size_t line) { return static_cast<std::size_t>(lines[line].x); };
  Numbers differences;
  for (const auto& [first, members] : groups.members) {
    for (std::size_t i = 1; i < members.size(); ++i) {
      differences.push_back(number_of(members[i]) ^ number_of(first));
    }
  }
  constexpr std::size_t fewest = 100;
  constexpr double nearly_all = 0.95;
  Numbers masks;
  if (differences.size() < fewest) {
    return masks;
  }
  std::set<std::size_t> known = {0};  // what the masks so far make of each other
  for (std::size_t mask = 1; mask < std::bit_ceil(number_of(lines.size() - 1) + 1); ++mask) {
    const auto right = std::ranges::count_if(
        differences, [=](std::size_t bits) { return std::popcount(bits & mask) % 2 == 0; });
    if (!known.contains(mask) &&
        static_cast<double>(right) >= nearly_all * static_cast<double>(differences.size())) {
      masks.push_back(mask);
      for (const std::size_t other : std::set(known)) {
        known.insert(other ^ mask);
      }
    }
  }
  return masks;
}

// "7^9^12", of a mask over the numbers of lines, as bits of an address.
std::string bits_of(std::size_t mask) {
  std::string text;
  for (std::size_t bits = mask * line_bytes; bits != 0; bits &= bits - 1) {
    text += (text.empty() ? "" : "^") + std::to_string(std::countr_zero(bits));
  }
  return text;
}

void infer_slices(Results& results) {
  const Curve lines = results.curve("lines", "latency");
  std::vector<std::string> units;
  for (const auto& unit : results.curve("map", "latency")) {
    units.push_back(unit_name(static_cast<unsigned>(unit.x)));
  }
  const Table rows = rows_of(results, "lines", units);
  if (rows.empty() || rows[0].empty()) {
    return;
  }
  Inference slices{.name = "slices of L2 told apart",
                   .unit = "slices",
                   .statement = "lines do not fall into groups that all CUs see alike"};
  Inference hash{
      .name = "address bits of the slice's hash",
      .unit = "masks",
      .statement = "no exclusive or of address bits is the same in all lines of a slice"};
  constexpr double least_cycles = 0.2;
  const Groups groups = groups_of(rows, Jump::first, least_cycles);
  const auto count = static_cast<double>(groups.members.size());
  const double share = count / static_cast<double>(lines.size());
  constexpr double most_share = 1.0 / 3;  // every slice must be seen several times
  if (count > 0 && share <= most_share) {
    slices.value = count;
    slices.confidence = 0.8 * (1 - share);
    slices.statement =
        "so many groups of lines differ for some CU; slices at places that are alike "
        "would count once";
    slices.evidence = {"lines of a slice are at most " + number(groups.within) +
                       " cycles from the next (root of the mean square over CUs), slices " +
                       number(groups.between) + " or more"};
    if (const Numbers masks = masks_of(lines, groups); !masks.empty()) {
      hash.value = static_cast<double>(masks.size());
      hash.confidence = 0.8;
      hash.statement = "the same for all lines of a slice:";
      for (const std::size_t mask : masks) {
        hash.statement += (mask == masks[0] ? " " : ", ") + bits_of(mask);
      }
    }
  }
  results.infer(slices);
  results.infer(hash);
}

}  // namespace

void conclude(Results& results) {
  infer_groups(results, "map", "L2");
  infer_groups(results, "memory", "memory");
  infer_slices(results);
}

}  // namespace memory_map
