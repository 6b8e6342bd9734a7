// Which CUs see the same lines near and far: groups of things that are alike. Plain C++, no GPU
// headers.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "5-memory/groups.h"
#include "hipscope/statistics.h"

namespace memory_map {

/// Of a thing that is like no other.
inline constexpr std::size_t no_group = ~std::size_t{0};

// Distances between all pairs of things.
using Distances = std::vector<std::vector<double>>;

// Of two things by the logarithms of what they show.
inline double distance(const std::vector<double>& a, const std::vector<double>& b,
                       std::vector<double>& differences) {
  // The middle of the differences: one slow value makes no two things unlike.
  differences.clear();
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    differences.push_back(std::abs(a[i] - b[i]));
  }
  std::sort(differences.begin(), differences.end());
  constexpr double without_slow_ones = 0.8;
  double sum = 0;
  const auto counted = static_cast<std::size_t>(
      std::ceil(without_slow_ones * static_cast<double>(differences.size())));
  for (std::size_t i = 0; i < counted; ++i) {
    sum += differences[i] * differences[i];
  }
  return std::sqrt(sum);
}

inline Distances all_distances(std::vector<std::vector<double>> things) {
  for (auto& thing : things) {
    for (double& value : thing) {
      value = std::log(value);
    }
  }
  Distances distances(things.size(), std::vector<double>(things.size(), 0));
  std::vector<double> differences;
  for (std::size_t i = 0; i < things.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      distances[i][j] = distances[j][i] = distance(things[i], things[j], differences);
    }
  }
  return distances;
}

struct Edge {
  double length = 0;
  std::size_t a = 0;
  std::size_t b = 0;
};

// The shortest pairs that hold all `members` together, the shortest first (Prim's tree).
inline std::vector<Edge> spanning_tree(const Distances& distances,
                                       const std::vector<std::size_t>& members) {
  std::vector<Edge> nearest;
  for (std::size_t i = 1; i < members.size(); ++i) {
    nearest.push_back(
        {.length = distances[members[0]][members[i]], .a = members[0], .b = members[i]});
  }
  std::vector<Edge> tree;
  while (!nearest.empty()) {
    const auto next = std::min_element(nearest.begin(), nearest.end(),
                                       [](auto& a, auto& b) { return a.length < b.length; });
    tree.push_back(*next);
    const std::size_t added = next->b;
    nearest.erase(next);
    for (Edge& edge : nearest) {
      const double length = distances[added][edge.b];
      if (length < edge.length) {
        edge = {.length = length, .a = added, .b = edge.b};
      }
    }
  }
  std::sort(tree.begin(), tree.end(), [](auto& a, auto& b) { return a.length < b.length; });
  return tree;
}

/// Groups of things that are alike in many values each: for each thing the first of its group, or
/// `no_group`. Empty where there is no gap between what is alike and what is not.
inline std::vector<std::size_t> groups_by_likeness(const std::vector<std::vector<double>>& things) {
  constexpr std::size_t fewest = 8;
  if (things.size() < fewest) {
    return {};
  }
  const Distances distances = all_distances(things);
  // Without those that are like no other: they would be a group each.
  std::vector<double> to_nearest(things.size(), 1e9);
  for (std::size_t i = 0; i < things.size(); ++i) {
    for (std::size_t j = 0; j < things.size(); ++j) {
      if (i != j) {
        to_nearest[i] = std::min(to_nearest[i], distances[i][j]);
      }
    }
  }
  constexpr double far = 3;
  const double usual = hipscope::summarize(to_nearest).median;
  std::vector<std::size_t> members;
  for (std::size_t i = 0; i < things.size(); ++i) {
    if (to_nearest[i] <= far * usual) {
      members.push_back(i);
    }
  }
  if (members.size() < fewest) {
    return {};
  }
  const auto tree = spanning_tree(distances, members);
  // Groups are farther apart than what belongs together: the widest gap between the lengths of the
  // tree's second half, if it is clear, and if some line is seen differently by a tenth.
  constexpr double clear_gap = 1.6;
  constexpr double least_apart = 0.1;
  std::size_t cut = 0;
  double widest = clear_gap;
  for (std::size_t i = std::max<std::size_t>(1, tree.size() / 2); i < tree.size(); ++i) {
    const double gap = tree[i].length / tree[i - 1].length;
    if (gap > widest && tree[i].length > least_apart) {
      widest = gap;
      cut = i;
    }
  }
  if (cut == 0) {
    return {};
  }
  memory::Groups groups(things.size());
  for (std::size_t i = 0; i < cut; ++i) {
    groups.join(tree[i].a, tree[i].b);
  }
  std::vector<std::size_t> first(things.size(), no_group);
  for (const std::size_t i : members) {
    first[i] = groups.first_of(i);
  }
  return first;
}

}  // namespace memory_map
