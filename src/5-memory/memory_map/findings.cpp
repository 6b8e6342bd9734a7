#include "findings.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "hipscope/format.h"
#include "hipscope/statistics.h"
#include "likeness.h"

namespace memory_map {

using hipscope::Inference;
using hipscope::number;
using hipscope::Results;

namespace {

using Table = std::vector<std::vector<double>>;

// CUs by number, what each sees of the lines, and to which group it belongs.
struct Groups {
  std::vector<unsigned> units;
  std::vector<std::size_t> first_of{};
  std::map<std::size_t, std::vector<unsigned>> members{};
};

Groups groups_of(const Results& results, const std::string& sweep) {
  Groups groups;
  Table seen;
  for (const auto& point : results.curve(sweep, "latency")) {
    groups.units.push_back(static_cast<unsigned>(point.x));
  }
  seen.resize(groups.units.size());
  for (unsigned line = 0; line < map_lines; ++line) {
    const auto curve = results.curve(sweep, line_name(line));
    for (std::size_t i = 0; i < curve.size(); ++i) {
      seen[i].push_back(curve[i].y);
    }
  }
  groups.first_of = groups_by_likeness(seen);
  for (std::size_t i = 0; i < groups.first_of.size(); ++i) {
    if (groups.first_of[i] != no_group) {
      groups.members[groups.first_of[i]].push_back(groups.units[i]);
    }
  }
  return groups;
}

std::string text_of(const std::vector<unsigned>& units) {
  constexpr std::size_t most_told = 12;
  std::string text = std::to_string(units.size()) + " CUs:";
  for (std::size_t i = 0; i < std::min(units.size(), most_told); ++i) {
    text += " " + std::to_string(units[i]);
  }
  return text + (units.size() > most_told ? " ..." : "");
}

void infer_groups(Results& results, const std::string& what, const Groups& groups) {
  if (groups.units.empty()) {
    return;
  }
  Inference inference{.name = "groups of CUs by distance to " + what,
                      .unit = "groups",
                      .statement = "no groups of CUs show that see the lines differently"};
  if (!groups.members.empty()) {
    std::size_t least = groups.units.size();
    std::size_t most = 0;
    std::size_t grouped = 0;
    for (const auto& [first, members] : groups.members) {
      least = std::min(least, members.size());
      most = std::max(most, members.size());
      grouped += members.size();
      inference.evidence.push_back(text_of(members));
    }
    // Parts of a chip are about alike: where one group is much larger, several were not told apart.
    const double confidence = static_cast<double>(least * grouped) /
                              static_cast<double>(most * (groups.units.size() + 1));
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

// --- Which bits choose ------------------------------------------------------------------------

// The lines of sweep `lines` by number, and how far each is from some CUs.
struct Lines {
  std::vector<std::size_t> numbers{};
  std::vector<unsigned> units{};
  Table seen{};  // of each line
};

Lines lines_of(const Results& results, const std::vector<unsigned>& units) {
  Lines lines;
  for (const auto& point : results.curve("lines", "latency")) {
    lines.numbers.push_back(static_cast<std::size_t>(point.x));
  }
  lines.seen.resize(lines.numbers.size());
  for (const unsigned unit : units) {
    const auto curve = results.curve("lines", unit_name(unit));
    if (!curve.empty() && curve.size() == lines.numbers.size()) {
      lines.units.push_back(unit);
      for (std::size_t i = 0; i < curve.size(); ++i) {
        lines.seen[i].push_back(curve[i].y);
      }
    }
  }
  return lines;
}

// The exclusive ors of address bits that are the same for two lines of one group, nearly always; as
// masks over the numbers of lines. By differences: a mask is right for a pair of lines if it has an
// even number of bits in common with the exclusive or of their numbers. How often each of all masks
// is right says the transform of Walsh and Hadamard. None where there are few pairs: a wrong mask
// is right for half of them, and for nearly all of so many by no chance.
std::vector<std::size_t> masks_of(const Lines& lines, const std::vector<std::size_t>& group_of) {
  std::vector<double> sums(std::bit_ceil(lines.numbers.back() + 1), 0);
  double pairs = 0;
  for (std::size_t i = 0; i < lines.numbers.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (group_of[i] == group_of[j]) {
        sums[lines.numbers[i] ^ lines.numbers[j]] += 1;
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
  std::vector<std::size_t> masks;
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
std::vector<std::size_t> basis_of(const std::vector<std::size_t>& masks) {
  std::vector<std::size_t> basis;
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

// Lines that all CUs see alike, by the root of the mean square of the differences in cycles.
struct Slices {
  std::vector<std::size_t> slice_of{};  // of each line
  std::size_t count = 0;
  double within = 0;   // a line to the nearest one, the median
  double between = 0;  // slices, those two that are nearest
};

std::optional<Slices> slices_of(const Lines& lines) {
  const std::size_t count = lines.numbers.size();
  Table apart(count, std::vector<double>(count, 0));
  std::vector<double> nearest(count, 1e9);
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t j = 0; j < count; ++j) {
      double sum = 0;
      for (std::size_t unit = 0; unit < lines.units.size(); ++unit) {
        const double difference = lines.seen[i][unit] - lines.seen[j][unit];
        sum += difference * difference;
      }
      apart[i][j] = std::sqrt(sum / static_cast<double>(lines.units.size()));
      nearest[i] = i == j ? nearest[i] : std::min(nearest[i], apart[i][j]);
    }
  }
  // A slice is a line and what is as near to it as lines of one slice are.
  Slices slices;
  slices.within = hipscope::median_of(nearest);
  constexpr double alike = 3;
  constexpr double least_cycles = 0.1;  // so that lines without any noise are alike
  const double limit = alike * std::max(slices.within, least_cycles);
  std::vector<std::size_t> leaders;
  for (std::size_t i = 0; i < count; ++i) {
    const auto leader = std::find_if(leaders.begin(), leaders.end(),
                                     [&](std::size_t j) { return apart[i][j] <= limit; });
    slices.slice_of.push_back(static_cast<std::size_t>(leader - leaders.begin()));
    if (leader == leaders.end()) {
      leaders.push_back(i);
    }
  }
  slices.count = leaders.size();
  std::vector<double> to_others;
  for (std::size_t i = 0; i < count; ++i) {
    double least = 1e9;
    for (std::size_t j = 0; j < count; ++j) {
      least = slices.slice_of[i] == slices.slice_of[j] ? least : std::min(least, apart[i][j]);
    }
    to_others.push_back(least);
  }
  std::sort(to_others.begin(), to_others.end());
  constexpr double few = 0.05;
  slices.between = hipscope::quantile(to_others, few);
  // Every slice must be seen several times, and be clearly apart from the others.
  constexpr std::size_t least_lines = 3;
  constexpr double clear = 1.2;
  if (slices.count < 2 || slices.count * least_lines > count || slices.between < clear * limit) {
    return std::nullopt;
  }
  return slices;
}

void infer_slices(Results& results, const Lines& lines) {
  Inference count{.name = "slices of L2 told apart",
                  .unit = "slices",
                  .statement = "lines do not fall into groups that all CUs see alike"};
  Inference hash{
      .name = "address bits of the slice's hash",
      .unit = "masks",
      .statement = "no exclusive or of address bits is the same in all lines of a slice"};
  const auto slices = slices_of(lines);
  if (slices) {
    count.value = static_cast<double>(slices->count);
    const auto all = static_cast<double>(lines.numbers.size());
    count.confidence = 0.8 * (1 - *count.value / all);
    count.statement =
        "so many groups of lines differ for some CU; slices at places that are alike "
        "would count once";
    count.evidence = {"lines of a slice are " + number(slices->within) +
                      " cycles apart (root of the mean square over CUs), others " +
                      number(slices->between) + " or more"};
    const auto masks = masks_of(lines, slices->slice_of);
    if (!masks.empty()) {
      const auto basis = basis_of(masks);
      hash.value = static_cast<double>(basis.size());
      hash.confidence = 0.8;
      std::string text;
      for (const std::size_t mask : basis) {
        text += (text.empty() ? "" : ", ") + bits_of(mask);
      }
      hash.statement = "the same for all lines of a slice: " + text;
    }
  }
  results.infer(count);
  results.infer(hash);
}

// Lines nearer to one group of CUs than to the other.
void infer_half(Results& results, const Lines& lines, const Groups& groups) {
  if (groups.members.size() != 2) {
    return;
  }
  Inference inference{.name = "address bits that choose the half of L2",
                      .unit = "bits",
                      .statement = "no exclusive or of address bits tells the half"};
  const std::vector<unsigned>& ours = groups.members.begin()->second;
  std::vector<std::size_t> half_of;
  for (const std::vector<double>& seen : lines.seen) {
    std::vector<double> from_ours;
    std::vector<double> from_others;
    for (std::size_t i = 0; i < seen.size(); ++i) {
      const bool is_ours = std::binary_search(ours.begin(), ours.end(), lines.units[i]);
      (is_ours ? from_ours : from_others).push_back(seen[i]);
    }
    if (from_ours.empty() || from_others.empty()) {
      return;
    }
    half_of.push_back(hipscope::median_of(from_ours) < hipscope::median_of(from_others) ? 0 : 1);
  }
  const auto masks = masks_of(lines, half_of);
  if (masks.size() == 1) {
    inference.value = std::popcount(masks[0]);
    const auto count = static_cast<double>(lines.numbers.size());
    inference.confidence = count / (count + 1);
    inference.statement = "within a page the half is the exclusive or of bits " + bits_of(masks[0]);
    inference.evidence = {"of " + number(count, 5) + " lines"};
  }
  results.infer(inference);
}

}  // namespace

void conclude(Results& results) {
  const Groups near_l2 = groups_of(results, "map");
  infer_groups(results, "L2", near_l2);
  infer_groups(results, "memory", groups_of(results, "memory"));
  const Lines lines = lines_of(results, near_l2.units);
  if (!lines.units.empty()) {
    infer_slices(results, lines);
    infer_half(results, lines, near_l2);
  }
}

}  // namespace memory_map
