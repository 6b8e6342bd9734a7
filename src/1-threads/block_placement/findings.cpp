#include "findings.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <map>
#include <set>

#include "hipscope/confidence.h"
#include "hipscope/format.h"

namespace block_placement {

using hipscope::Inference;
using hipscope::number;
using hipscope::Results;

namespace {

// The CUs of blocks 0, 1, 2 ...
std::vector<unsigned> units_of(const Results& results, const std::string& sweep) {
  std::vector<unsigned> units;
  for (const auto& point : results.curve(sweep, "CU")) {
    units.push_back(static_cast<unsigned>(point.y));
  }
  return units;
}

void infer_units(Results& results, const std::vector<unsigned>& units) {
  const std::set<unsigned> different(units.begin(), units.end());
  const auto count = static_cast<double>(different.size());
  const int driver = results.device().compute_units;
  results.infer({.name = "CUs that blocks ran on",
                 .value = count,
                 .unit = "CUs",
                 .confidence = hipscope::sure_if(count == driver, count / (count + 1)),
                 .statement = "twice as many blocks as the driver says there are CUs ran on these",
                 .evidence = {"numbered " + std::to_string(*different.begin()) + " to " +
                              std::to_string(*different.rbegin())},
                 .driver = driver});
}

// From each block of the first wave to the next one.
void infer_step(Results& results, const std::vector<unsigned>& units) {
  std::map<int, unsigned> times;
  const std::size_t wave = units.size() / 2;
  for (std::size_t block = 1; block < wave; ++block) {
    ++times[static_cast<int>(units[block]) - static_cast<int>(units[block - 1])];
  }
  if (times.empty()) {
    return;
  }
  const auto most = std::max_element(times.begin(), times.end(),
                                     [](auto& a, auto& b) { return a.second < b.second; });
  const double share = most->second / (static_cast<double>(wave) - 1);
  Inference inference{.name = "step from one block's CU to the next one's",
                      .unit = "CUs",
                      .statement = "no step from block to block is the usual one",
                      .evidence = {number(100 * share) + " % of the steps are " +
                                   std::to_string(most->first) + ", of those of the first wave"}};
  constexpr double usual = 0.5;
  if (share >= usual) {
    inference.value = most->first;
    inference.confidence = share;
    inference.statement = "consecutive blocks go to CUs whose numbers are so far apart";
  }
  results.infer(inference);
}

void infer_xcds(Results& results, const std::vector<unsigned>& units) {
  std::vector<unsigned> xcds;
  for (const unsigned unit : units) {
    if (const auto xcd = xcd_of(results.device().architecture, unit)) {
      xcds.push_back(*xcd);
    }
  }
  const std::size_t count = std::set<unsigned>(xcds.begin(), xcds.end()).size();
  if (count < 2) {
    return;
  }
  // As many in a row as there are XCDs are all different, wherever one begins.
  double right = 0;
  for (std::size_t first = 0; first + count <= xcds.size(); ++first) {
    const auto begin = xcds.begin() + static_cast<std::ptrdiff_t>(first);
    right += std::set<unsigned>(begin, begin + static_cast<std::ptrdiff_t>(count)).size() == count;
  }
  const double share = right / static_cast<double>(xcds.size() - count + 1);
  Inference inference{.name = "XCDs that take turns",
                      .unit = "XCDs",
                      .statement = "blocks do not go to XCDs in turn",
                      .evidence = {number(100 * share) + " % of " + std::to_string(count) +
                                   " blocks in a row are on as many XCDs"}};
  constexpr double nearly_all = 0.9;
  if (share >= nearly_all) {
    inference.value = static_cast<double>(count);
    inference.confidence = share;
    inference.statement = "block n and block n + " + std::to_string(count) + " share an XCD";
  }
  results.infer(inference);
}

void infer_spreading(Results& results) {
  const auto units = units_of(results, "small");
  if (units.empty()) {
    return;
  }
  std::set<unsigned> seen;
  std::size_t first = 0;
  while (first < units.size() && seen.insert(units[first]).second) {
    ++first;
  }
  const auto all = std::set<unsigned>(units.begin(), units.end()).size();
  const auto before = static_cast<double>(first);
  const auto count = static_cast<double>(units.size());
  results.infer({.name = "blocks placed before a CU gets a second one",
                 .value = before,
                 .unit = "blocks",
                 .confidence = count / (count + 1),
                 .statement = first == all ? "every CU gets one block first"
                                           : "some CUs get a second block before others have one",
                 .evidence = {std::to_string(units.size()) + " blocks ran on " +
                              std::to_string(all) + " CUs"}});
}

void infer_refill(Results& results) {
  constexpr double unequal = 4;
  const auto first_freed = results.at("refill", "first freed", unequal);
  const auto free = results.at("refill", "free", unequal);
  if (!first_freed || !free) {
    return;
  }
  constexpr double nearly_all = 90;
  constexpr double a_choice = 1.5;
  results.infer(
      {.name = "freed places that are taken in the order of being freed",
       .value = first_freed->y,
       .unit = "%",
       .confidence = hipscope::sure_if(free->y >= a_choice, 0.9),
       .statement = first_freed->y >= nearly_all
                        ? "the next block goes where one has ended first"
                        : "the next block does not wait for the place that was freed first",
       .evidence = {"on average " + number(free->y) + " places to choose from"}});
}

void infer_streams(Results& results) {
  const auto one = results.at("streams", "CUs", 1);
  const auto two = results.at("streams", "CUs", 2);
  if (!one || !two) {
    return;
  }
  constexpr double nearly_all = 0.9;
  results.infer({.name = "CUs that two kernels of half the size use",
                 .value = two->y,
                 .unit = "CUs",
                 .confidence = 0.9,
                 .statement = two->y >= nearly_all * one->y
                                  ? "the blocks of a second stream go to the CUs that are idle"
                                  : "the blocks of two streams share CUs while others are idle",
                 .evidence = {"one kernel of the whole size uses " + number(one->y, 5)}});
}

void infer_groups(Results& results) {
  std::map<double, double> sizes;
  for (const auto& point : results.curve("groups", "group")) {
    ++sizes[point.y];
  }
  if (sizes.empty()) {
    return;
  }
  Inference inference{.name = "groups of CUs",
                      .unit = "groups",
                      .statement = "neither clusters nor the CUs' numbers tell groups"};
  double count = 0;
  double least = std::numeric_limits<double>::max();
  double most = 0;
  double others = 0;
  std::string text;
  for (const auto& [first, size] : sizes) {
    constexpr double pair = 2;  // the least cluster, on any two neighbours
    if (size <= pair) {
      others += size;
      continue;
    }
    ++count;
    least = std::min(least, size);
    most = std::max(most, size);
    text += (text.empty() ? "" : ", ") + number(size, 4);
  }
  if (count > 0) {
    inference.value = count;
    // Groups are about alike: of a small one the rest was never seen beside it.
    inference.confidence = least / most;
    inference.statement = "CUs share so many parts of the chip (GPCs, shader engines)";
    inference.evidence = {"of " + text + " CUs"};
    if (others > 0) {
      inference.evidence.push_back(number(others, 4) +
                                   " CUs are in none: no cluster of more than "
                                   "two blocks ran there");
    }
  }
  results.infer(inference);
}

// How much faster CUs read if those near one part of L2 share what they read.
void infer_swizzle(Results& results) {
  const auto anywhere = results.curve("swizzle", "by number rate");
  const auto by_place = results.curve("swizzle", "by place rate");
  if (by_place.empty() || by_place.size() != anywhere.size()) {
    return;
  }
  double most = 0;
  double footprint = 0;
  for (std::size_t i = 0; i < by_place.size(); ++i) {
    if (by_place[i].y / anywhere[i].y > most) {
      most = by_place[i].y / anywhere[i].y;
      footprint = by_place[i].x;
    }
  }
  constexpr double clear = 1.05;
  constexpr double mebibyte = 1 << 20;
  results.infer({.name = "gain of reading by place",
                 .value = most,
                 .unit = "times",
                 .confidence = 0.8,
                 .statement = most >= clear
                                  ? "CUs that read what is near them read so much faster at best"
                                  : "it is worth nothing who reads what",
                 .evidence = {"at " + number(footprint / mebibyte, 4) + " MiB"}});
}

}  // namespace

Refills refills_of(const std::vector<Event>& events) {
  std::deque<unsigned> freed;
  double taken = 0;
  double first = 0;
  double next = 0;
  double places = 0;
  std::optional<unsigned> greatest;
  for (const Event& event : events) {
    if (!event.is_begin) {
      freed.push_back(event.unit);
      continue;
    }
    const auto place = std::find(freed.begin(), freed.end(), event.unit);
    if (place != freed.end()) {
      ++taken;
      first += place == freed.begin() ? 1 : 0;
      next += greatest && event.block == *greatest + 1 ? 1 : 0;
      places += static_cast<double>(freed.size());
      freed.erase(place);
    }
    greatest = std::max(greatest.value_or(0), event.block);
  }
  constexpr double percent = 100;
  const double none = std::numeric_limits<double>::quiet_NaN();
  return taken == 0 ? Refills{.first_freed = none, .in_order = none, .free = none}
                    : Refills{.first_freed = percent * first / taken,
                              .in_order = percent * next / taken,
                              .free = places / taken};
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
  const auto units = units_of(results, "large-lds");
  if (!units.empty()) {
    infer_units(results, units);
    infer_step(results, units);
    infer_xcds(results, units);
  }
  infer_spreading(results);
  infer_refill(results);
  infer_streams(results);
  infer_groups(results);
  infer_swizzle(results);
}

}  // namespace block_placement
