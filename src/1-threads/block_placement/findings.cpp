#include "findings.h"

#include <algorithm>
#include <deque>
#include <map>
#include <set>

#include "hipscope/format.h"

namespace block_placement {

using hipscope::Inference;
using hipscope::number;
using hipscope::Results;

namespace {

// As many blocks in a row as there are XCDs are on as many, wherever one begins.
void infer_xcds(Results& results) {
  std::vector<unsigned> xcds;
  for (const auto& point : results.curve("large-lds", "CU")) {
    if (const auto xcd = xcd_of(results.device().architecture, static_cast<unsigned>(point.y))) {
      xcds.push_back(*xcd);
    }
  }
  const auto count = std::ssize(std::set(xcds.begin(), xcds.end()));
  if (count < 2) {
    return;
  }
  double right = 0;
  double all = 0;
  for (auto end = xcds.begin() + count; end <= xcds.end(); ++end) {
    right += std::ssize(std::set(end - count, end)) == count ? 1 : 0;
    ++all;
  }
  const std::string text = std::to_string(count);
  Inference inference{.name = "XCDs that take turns",
                      .unit = "XCDs",
                      .statement = "blocks do not go to XCDs in turn",
                      .evidence = {number(100 * right / all) + " % of " + text +
                                   " blocks in a row are on as many XCDs"}};
  constexpr double nearly_all = 0.9;
  if (right >= nearly_all * all) {
    inference.value = static_cast<double>(count);
    inference.confidence = right / all;
    inference.statement = "block n and block n + " + text + " share an XCD";
  }
  results.infer(inference);
}

void infer_spreading(Results& results) {
  std::set<double> seen;
  double first = 0;
  double blocks = 0;
  for (const auto& point : results.curve("small", "CU")) {
    first += seen.insert(point.y).second && first == blocks ? 1 : 0;
    ++blocks;
  }
  if (blocks > 0) {
    const auto units = static_cast<double>(seen.size());
    results.infer({.name = "blocks placed before a CU gets a second one",
                   .value = first,
                   .unit = "blocks",
                   .confidence = blocks / (blocks + 1),
                   .statement = first == units
                                    ? "every CU gets one block first"
                                    : "some CUs get a second block before others have one"});
  }
}

void infer_groups(Results& results) {
  std::map<double, double> sizes;
  for (const auto& point : results.curve("groups", "group")) {
    ++sizes[point.y];
  }
  if (sizes.empty()) {
    return;
  }
  // The least cluster, on any two neighbours, makes no group.
  std::vector<double> groups;
  double others = 0;
  std::string text;
  for (const auto& [first, size] : sizes) {
    if (size > 2) {
      text += (groups.empty() ? "of " : ", ") + number(size, 4);
      groups.push_back(size);
    } else {
      others += size;
    }
  }
  Inference inference{.name = "groups of CUs",
                      .unit = "groups",
                      .statement = "neither clusters nor the CUs' numbers tell groups"};
  if (!groups.empty()) {
    const auto [least, most] = std::minmax_element(groups.begin(), groups.end());
    inference.value = static_cast<double>(groups.size());
    // Groups are about alike: of a small one the rest was never seen beside it.
    inference.confidence = *least / *most;
    inference.statement = "CUs share so many parts of the chip (GPCs, shader engines)";
    inference.evidence = {text + " CUs; in none: " + number(others, 4)};
  }
  results.infer(inference);
}

}  // namespace

Refills refills_of(const std::vector<Place>& places) {
  std::map<unsigned, const Place*> events;
  for (const Place& place : places) {
    events[place.begin] = events[place.end] = &place;
  }
  constexpr double percent = 100;
  std::deque<unsigned> freed;
  std::optional<unsigned> greatest;
  double taken = 0;
  Refills sums;
  for (const auto& [number, place] : events) {
    if (number != place->begin) {
      freed.push_back(place->unit);
      continue;
    }
    const auto free = std::ranges::find(freed, place->unit);
    if (free != freed.end()) {
      ++taken;
      sums.first_freed += free == freed.begin() ? percent : 0;
      sums.in_order += greatest && place->block == *greatest + 1 ? percent : 0;
      sums.free += static_cast<double>(freed.size());
      freed.erase(free);
    }
    greatest = std::max(greatest.value_or(0), place->block);
  }
  return {sums.first_freed / taken, sums.in_order / taken, sums.free / taken};
}

std::optional<unsigned> xcd_of(const std::string& architecture, unsigned unit) {
  constexpr unsigned bits_of_unit = 8;  // unit_of_gfx9
  const bool has_xcds = architecture.starts_with("gfx94") || architecture.starts_with("gfx95");
  return has_xcds ? std::optional(unit >> bits_of_unit) : std::nullopt;
}

std::optional<unsigned> group_of(const std::string& architecture, unsigned unit) {
  if (!architecture.starts_with("gfx")) {
    return std::nullopt;
  }
  // CU and shader array come first: 4 and 1 bits of HW_ID, or 6 and 2 of HW_ID1.
  constexpr unsigned bits_of_gfx9 = 5;
  constexpr unsigned bits_of_gfx10 = 8;
  return unit >> (architecture.starts_with("gfx9") ? bits_of_gfx9 : bits_of_gfx10);
}

void conclude(Results& results) {
  infer_xcds(results);
  infer_spreading(results);
  infer_groups(results);
}

}  // namespace block_placement
