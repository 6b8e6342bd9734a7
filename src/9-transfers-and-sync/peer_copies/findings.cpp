#include "findings.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "hipscope/format.h"
#include "hipscope/statistics.h"

namespace peer_copies {

using hipscope::CurvePoint;
using hipscope::number;

namespace {

// The devices of a matrix of all pairs, row by row; 0 for what is none.
std::size_t devices_of(const std::vector<CurvePoint>& pairs) {
  const auto devices = static_cast<std::size_t>(std::lround(std::sqrt(pairs.size())));
  return devices * devices == pairs.size() ? devices : 0;
}

struct Link {
  std::size_t from;
  std::size_t to;
  CurvePoint point;
};

std::vector<Link> links_of(const std::vector<CurvePoint>& pairs) {
  std::vector<Link> links;
  const std::size_t devices = devices_of(pairs);
  for (const CurvePoint& point : pairs) {
    const auto number = static_cast<std::size_t>(point.x);
    if (devices > 0 && number / devices != number % devices) {
      links.push_back({number / devices, number % devices, point});
    }
  }
  return links;
}

std::string name_of(const Link& link) {
  return std::to_string(link.from) + " -> " + std::to_string(link.to);
}

double median_of(const std::vector<Link>& links) {
  std::vector<double> values;
  for (const Link& link : links) {
    values.push_back(link.point.y);
  }
  return hipscope::summarize(values).median;
}

double largest_spread(const std::vector<Link>& links) {
  double spread = 0;
  for (const Link& link : links) {
    spread = std::max(spread, link.point.relative_spread);
  }
  return spread;
}

void infer_median(hipscope::Results& results, const std::string& sweep, const std::string& value,
                  const std::string& name, const std::string& unit, const std::string& statement) {
  const auto links = links_of(results.curve(sweep, value));
  if (links.empty()) {
    return;
  }
  const auto [least, most] =
      std::minmax_element(links.begin(), links.end(),
                          [](const Link& a, const Link& b) { return a.point.y < b.point.y; });
  results.infer({.name = name,
                 .value = median_of(links),
                 .unit = unit,
                 .confidence = 1 - std::min(1.0, largest_spread(links)),
                 .statement = statement,
                 .evidence = {std::to_string(links.size()) + " pairs, from " +
                              number(least->point.y) + " (" + name_of(*least) + ") to " +
                              number(most->point.y) + " (" + name_of(*most) + ") " + unit}});
}

// A slow link is one of few; where many differ, the node has links of several kinds.
void infer_slow_links(hipscope::Results& results) {
  const auto links = links_of(results.curve("engine", "bandwidth"));
  constexpr std::size_t fewest_links = 2;
  if (links.size() < fewest_links) {
    return;
  }
  constexpr double as_good = 0.9;
  const double median = median_of(links);
  std::vector<std::string> slow;
  for (const Link& link : links) {
    if (link.point.y < as_good * median) {
      slow.push_back(name_of(link) + ": " + number(link.point.y) + " GB/s of " + number(median));
    }
  }
  // With two devices there are two links, and nothing to say which of them is right.
  const bool are_kinds = 4 * slow.size() > links.size() && links.size() > fewest_links;
  results.infer(
      {.name = "slow links",
       .value = are_kinds ? std::nullopt : std::optional<double>(slow.size()),
       .unit = "links",
       .confidence = are_kinds ? 0 : 1 - std::min(1.0, 2 * largest_spread(links)),
       .statement = are_kinds      ? "the links are of several kinds: not told apart"
                    : slow.empty() ? "no link is more than 10 % slower than the median of all"
                                   : "these are more than 10 % slower than the median of all",
       .evidence =
           slow.empty() ? std::vector<std::string>{"median " + number(median) + " GB/s"} : slow});
}

}  // namespace

void conclude(hipscope::Results& results) {
  infer_median(results, "engine", "bandwidth", "link bandwidth", "GB/s",
               "what a copy engine moves over a link, one way: the median of all pairs");
  infer_median(results, "read", "bandwidth", "link bandwidth, reads by a kernel", "GB/s",
               "what a kernel loads over a link: the median of all pairs");
  infer_median(results, "write", "bandwidth", "link bandwidth, stores by a kernel", "GB/s",
               "what a kernel stores over a link: the median of all pairs");
  infer_median(results, "latency", "load", "load of another device's memory", "ns",
               "from a load to the next one that needs its value: the median of all pairs");
  infer_slow_links(results);
}

}  // namespace peer_copies
