#include "findings.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include "5-memory/groups.h"
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

struct Edge {
  double length = std::numeric_limits<double>::max();
  std::size_t a = 0;
  std::size_t b = 0;
};

// The shortest pairs that hold all `members` together, the shortest first (Prim's tree);
// distances[i] are those of i to each of the numbers below.
std::vector<Edge> tree_of(const Table& distances, const Numbers& members) {
  std::vector<Edge> nearest;
  for (const std::size_t member : members) {
    nearest.push_back({.b = member});
  }
  std::vector<Edge> tree;
  while (!nearest.empty()) {
    const auto next = std::ranges::min_element(nearest, {}, &Edge::length);
    tree.push_back(*next);
    nearest.erase(next);
    const std::size_t added = tree.back().b;
    for (Edge& edge : nearest) {
      const double length = distances[std::max(added, edge.b)][std::min(added, edge.b)];
      edge = length < edge.length ? Edge{.length = length, .a = added, .b = edge.b} : edge;
    }
  }
  tree.erase(tree.begin());  // the first one has no other end
  std::ranges::sort(tree, {}, &Edge::length);
  return tree;
}

// Groups of things that are alike.
struct Groups {
  std::map<std::size_t, Numbers> members{};  // by the first one
  double within = 0;                         // what holds a group together, at most
  double between = 0;                        // the least that keeps two apart
};

// Which jump of the distances is between groups: the first, or the widest.
enum class Jump { first, widest };

// Groups that are at least `least` apart. None where nothing jumps. What is like no other is left
// out.
Groups groups_of(const Table& things, Jump jump, double least) {
  constexpr std::size_t fewest = 8;
  Groups groups;
  Numbers members(things.size());
  std::iota(members.begin(), members.end(), std::size_t{0});
  Table distances(things.size());
  std::vector<double> nearest(things.size(), std::numeric_limits<double>::max());
  for (const std::size_t i : members) {
    for (std::size_t j = 0; j < i; ++j) {
      const double length = distances[i].emplace_back(distance(things[i], things[j]));
      nearest[i] = std::min(nearest[i], length);
      nearest[j] = std::min(nearest[j], length);
    }
  }
  constexpr double far = 3;
  const double most = things.empty() ? 0 : far * hipscope::median_of(nearest);
  std::erase_if(members, [&](std::size_t i) { return nearest[i] > most; });
  if (members.size() < fewest) {
    return groups;
  }
  const auto tree = tree_of(distances, members);
  constexpr double clear = 1.6;
  double widest = clear;
  std::size_t cut = 0;
  for (std::size_t i = tree.size() / 2; i < tree.size(); ++i) {
    const double ratio = tree[i].length / tree[i - 1].length;
    if (ratio > widest && tree[i].length > least && (jump == Jump::widest || cut == 0)) {
      widest = ratio;
      cut = i;
    }
  }
  if (cut != 0) {
    memory::Groups joined(things.size());
    for (std::size_t i = 0; i < cut; ++i) {
      joined.join(tree[i].a, tree[i].b);
    }
    for (const std::size_t member : members) {
      groups.members[joined.first_of(member)].push_back(member);
    }
    groups.within = tree[cut - 1].length;
    groups.between = tree[cut].length;
  }
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

// "66 CUs: 0 1 8 9 10 11 12 13 16 17 24 25 ..."
std::string text_of(const Numbers& members, const Curve& units) {
  constexpr std::size_t most_told = 12;
  std::string text = std::to_string(members.size()) + " CUs:";
  for (std::size_t i = 0; i < std::min(members.size(), most_told); ++i) {
    text += " " + number(units[members[i]].x, 5);
  }
  return text + (members.size() > most_told ? " ..." : "");
}

void infer_groups(Results& results, const std::string& sweep, const std::string& what) {
  const Curve units = results.curve(sweep, "latency");
  if (units.empty()) {
    return;
  }
  std::vector<std::string> lines(map_lines);
  std::ranges::generate(lines, [line = 0U]() mutable { return line_name(line++); });
  std::vector<double> latencies;
  std::ranges::transform(units, std::back_inserter(latencies), &hipscope::CurvePoint::y);
  constexpr double least_apart = 0.015;
  const Groups groups = groups_of(rows_of(results, sweep, lines), Jump::widest,
                                  least_apart * hipscope::median_of(latencies));
  Inference inference{.name = "groups of CUs by distance to " + what,
                      .unit = "groups",
                      .statement = "no groups of CUs show that see the lines differently"};
  if (!groups.members.empty()) {
    std::vector<double> sizes;
    for (const auto& [first, members] : groups.members) {
      sizes.push_back(static_cast<double>(members.size()));
      inference.evidence.push_back(text_of(members, units));
    }
    // Parts of a chip are about alike: where one group is much larger, several were not told apart.
    const auto [least, most] = std::ranges::minmax(sizes);
    const double grouped = std::accumulate(sizes.begin(), sizes.end(), 0.0);
    const double confidence = least / most * grouped / (static_cast<double>(units.size()) + 1);
    constexpr double least_confidence = 0.5;
    inference.statement = "the groups of CUs that show are too unlike to be parts of the chip";
    if (confidence >= least_confidence) {
      inference.value = static_cast<double>(groups.members.size());
      inference.confidence = confidence;
      inference.statement = "the CUs of a group find the same lines near and the same far";
    }
  }
  results.infer(inference);
}

// --- Slices, and which bits choose them -------------------------------------------------------

// The exclusive ors of address bits that are the same for two lines of one group, nearly always; as
// masks over the numbers of lines. By differences: a mask is right for a pair of lines if it has an
// even number of bits in common with the exclusive or of their numbers. How often each of all masks
// is right says the transform of Walsh and Hadamard. None where there are few pairs: a wrong mask
// is right for half of them, and for nearly all of so many by no chance.
Numbers masks_of(const Curve& lines, const Groups& groups) {
  const auto number_of = [&](std::size_t line) { return static_cast<std::size_t>(lines[line].x); };
  std::vector<double> sums(std::bit_ceil(number_of(lines.size() - 1) + 1), 0);
  double pairs = 0;
  for (const auto& [first, members] : groups.members) {
    for (std::size_t i = 0; i < members.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        sums[number_of(members[i]) ^ number_of(members[j])] += 1;
        ++pairs;
      }
    }
  }
  for (std::size_t half = 1; half < sums.size(); half *= 2) {
    for (std::size_t i = 0; i < sums.size(); ++i) {
      if ((i & half) == 0) {
        const double even = sums[i];
        sums[i] += sums[i + half];
        sums[i + half] = even - sums[i + half];
      }
    }
  }
  constexpr double fewest_pairs = 100;
  constexpr double nearly_all = 0.95;
  Numbers masks;
  for (std::size_t mask = 1; mask < sums.size() && pairs >= fewest_pairs; ++mask) {
    if (sums[mask] >= (2 * nearly_all - 1) * pairs) {
      masks.push_back(mask);
    }
  }
  return masks;
}

// "7^9^12", of a mask over the numbers of lines, as bits of an address.
std::string bits_of(std::size_t mask) {
  constexpr int first = std::countr_zero(line_bytes);
  std::string text;
  for (int bit = 0; mask >> bit != 0; ++bit) {
    if ((mask >> bit & 1) != 0) {
      text += (text.empty() ? "" : "^") + std::to_string(first + bit);
    }
  }
  return text;
}

// Masks that are no sums of one another, whose sums all of `masks` are: Gauss and Jordan's
// elimination over GF(2).
Numbers basis_of(const Numbers& masks) {
  Numbers basis;
  for (std::size_t mask : masks) {
    for (const std::size_t one : basis) {
      mask = std::min(mask, mask ^ one);
    }
    if (mask != 0) {
      for (std::size_t& one : basis) {
        one = std::min(one, one ^ mask);
      }
      basis.push_back(mask);
      std::sort(basis.rbegin(), basis.rend());
    }
  }
  return basis;
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
  // Every slice must be seen several times.
  constexpr double least_lines = 3;
  if (count > 0 && count * least_lines <= static_cast<double>(lines.size())) {
    slices.value = count;
    slices.confidence = 0.8 * (1 - count / static_cast<double>(lines.size()));
    slices.statement =
        "so many groups of lines differ for some CU; slices at places that are alike "
        "would count once";
    slices.evidence = {"lines of a slice are at most " + number(groups.within) +
                       " cycles from the next (root of the mean square over CUs), slices " +
                       number(groups.between) + " or more"};
    const Numbers masks = basis_of(masks_of(lines, groups));
    if (!masks.empty()) {
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
