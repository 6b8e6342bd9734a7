#include "findings.h"

#include <algorithm>
#include <bit>
#include <cmath>
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

// --- What is alike ----------------------------------------------------------------------------

// How far two things are apart by what they show: the root of the mean square of the differences.
// Without the largest ones: one slow value makes no two things unlike.
double distance(const std::vector<double>& a, const std::vector<double>& b,
                std::vector<double>& squares) {
  squares.resize(std::min(a.size(), b.size()));
  for (std::size_t i = 0; i < squares.size(); ++i) {
    squares[i] = (a[i] - b[i]) * (a[i] - b[i]);
  }
  constexpr double without_slow_ones = 0.8;
  const auto kept = std::ceil(without_slow_ones * static_cast<double>(squares.size()));
  const auto end = squares.begin() + static_cast<std::ptrdiff_t>(kept);
  if (end != squares.end()) {
    std::nth_element(squares.begin(), end, squares.end());
  }
  return std::sqrt(std::accumulate(squares.begin(), end, 0.0) / kept);
}

// How far each thing is from each other one.
class Distances {
 public:
  explicit Distances(const Table& things) {
    std::vector<double> squares;
    for (std::size_t i = 0; i < things.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        lengths_.push_back(distance(things[i], things[j], squares));
      }
    }
  }

  [[nodiscard]] double between(std::size_t a, std::size_t b) const {
    const auto [less, more] = std::minmax(a, b);
    return lengths_[more * (more - 1) / 2 + less];
  }

 private:
  std::vector<double> lengths_;
};

struct Edge {
  double length = std::numeric_limits<double>::max();
  std::size_t a = 0;
  std::size_t b = 0;
};
bool is_shorter(const Edge& one, const Edge& other) { return one.length < other.length; }

// The shortest pairs that hold all `members` together, the shortest first (Prim's tree).
std::vector<Edge> tree_of(const Distances& distances, const Numbers& members) {
  std::vector<Edge> nearest;
  for (const std::size_t member : members) {
    nearest.push_back({.b = member});
  }
  std::vector<Edge> tree;
  while (!nearest.empty()) {
    const auto next = std::min_element(nearest.begin(), nearest.end(), is_shorter);
    tree.push_back(*next);
    nearest.erase(next);
    const std::size_t added = tree.back().b;
    for (Edge& edge : nearest) {
      edge = std::min(edge, {.length = distances.between(added, edge.b), .a = added, .b = edge.b},
                      is_shorter);
    }
  }
  tree.erase(tree.begin());  // the first one has no other end
  std::sort(tree.begin(), tree.end(), is_shorter);
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
  const Distances distances(things);
  if (members.size() >= fewest) {
    std::vector<double> nearest(things.size(), std::numeric_limits<double>::max());
    for (const Edge& edge : tree_of(distances, members)) {
      nearest[edge.a] = std::min(nearest[edge.a], edge.length);
      nearest[edge.b] = std::min(nearest[edge.b], edge.length);
    }
    constexpr double far = 3;
    const double usual = hipscope::median_of(nearest);
    std::erase_if(members, [&](std::size_t i) { return nearest[i] > far * usual; });
  }
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

std::vector<double> column_of(const Results& results, const std::string& sweep,
                              const std::string& value, bool of_x = false) {
  std::vector<double> column;
  for (const auto& point : results.curve(sweep, value)) {
    column.push_back(of_x ? point.x : point.y);
  }
  return column;
}

// Row i has element i of each of these columns that is as long as the first.
Table rows_of(const Table& columns) {
  Table rows(columns.empty() ? 0 : columns[0].size());
  for (const auto& column : columns) {
    for (std::size_t i = 0; i < rows.size() && column.size() == rows.size(); ++i) {
      rows[i].push_back(column[i]);
    }
  }
  return rows;
}

// "66 CUs: 0 1 8 9 10 11 12 13 16 17 24 25 ..."
std::string text_of(const Numbers& members, const std::vector<double>& units) {
  constexpr std::size_t most_told = 12;
  std::string text = std::to_string(members.size()) + " CUs:";
  for (std::size_t i = 0; i < std::min(members.size(), most_told); ++i) {
    text += " " + number(units[members[i]], 5);
  }
  return text + (members.size() > most_told ? " ..." : "");
}

void infer_groups(Results& results, const std::string& sweep, const std::string& what) {
  const std::vector<double> units = column_of(results, sweep, "latency", true);
  if (units.empty()) {
    return;
  }
  Table lines;
  for (unsigned line = 0; line < map_lines; ++line) {
    lines.push_back(column_of(results, sweep, line_name(line)));
  }
  std::erase_if(lines, [](const auto& line) { return line.empty(); });
  constexpr double least_apart = 0.015;
  const double usual = hipscope::median_of(column_of(results, sweep, "latency"));
  const Groups groups = groups_of(rows_of(lines), Jump::widest, least_apart * usual);
  Inference inference{.name = "groups of CUs by distance to " + what,
                      .unit = "groups",
                      .statement = "no groups of CUs show that see the lines differently"};
  if (!groups.members.empty()) {
    double least = std::numeric_limits<double>::max();
    double most = 0;
    double grouped = 0;
    for (const auto& [first, members] : groups.members) {
      const auto size = static_cast<double>(members.size());
      least = std::min(least, size);
      most = std::max(most, size);
      grouped += size;
      inference.evidence.push_back(text_of(members, units));
    }
    // Parts of a chip are about alike: where one group is much larger, several were not told apart.
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
Numbers masks_of(const std::vector<double>& numbers, const Groups& groups) {
  const auto number_of = [&](std::size_t line) { return static_cast<std::size_t>(numbers[line]); };
  std::vector<double> sums(std::bit_ceil(number_of(numbers.size() - 1) + 1), 0);
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
  const std::vector<double> numbers = column_of(results, "lines", "latency", true);
  Table units;
  for (const double unit : column_of(results, "map", "latency", true)) {
    units.push_back(column_of(results, "lines", unit_name(static_cast<unsigned>(unit))));
  }
  std::erase_if(units, [&](const auto& unit) { return unit.size() != numbers.size(); });
  if (numbers.empty() || units.empty()) {
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
  const Groups groups = groups_of(rows_of(units), Jump::first, least_cycles);
  const auto count = static_cast<double>(groups.members.size());
  // Every slice must be seen several times.
  constexpr double least_lines = 3;
  if (count > 0 && count * least_lines <= static_cast<double>(numbers.size())) {
    slices.value = count;
    slices.confidence = 0.8 * (1 - count / static_cast<double>(numbers.size()));
    slices.statement =
        "so many groups of lines differ for some CU; slices at places that are alike "
        "would count once";
    slices.evidence = {"lines of a slice are at most " + number(groups.within) +
                       " cycles from the next (root of the mean square over CUs), slices " +
                       number(groups.between) + " or more"};
    const Numbers masks = basis_of(masks_of(numbers, groups));
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
