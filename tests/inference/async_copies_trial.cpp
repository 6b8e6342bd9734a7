// The trial of what async_copies concludes: from which size on copies past the registers are
// faster, by how much, and how much of them must be under way.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "async_copies_findings.h"
#include "made_results.h"
#include "samples.h"
#include "staircase_curves.h"
#include "trial.h"

namespace hipscope::trial {
namespace {

using async_copies::value_name;

const std::vector<double>& sizes() {
  static const std::vector<double> all = {64, 256, 1024, 4096, 16384};
  return all;
}

const std::array<std::string, 5> some_ways = {"load and store 16", "load and store 4", "cp.async 8",
                                              "cp.async 16", "bulk"};
constexpr std::size_t past = 2;  // the first of them that goes past the registers

// The cycles of one copy of so many bytes.
struct Copy {
  double start = 0;
  double per_byte = 0;

  [[nodiscard]] double cycles(double bytes) const { return start + per_byte * bytes; }
};

double fastest(const std::vector<Copy>& copies, double bytes, std::size_t begin, std::size_t end) {
  double least = copies[begin].cycles(bytes);
  for (std::size_t i = begin; i < end; ++i) {
    least = std::min(least, copies[i].cycles(bytes));
  }
  return least;
}

// From which size on all are clearly faster.
std::optional<double> first_faster(const std::vector<Copy>& copies) {
  constexpr double clearly = 1.03;
  std::optional<double> first;
  for (const double bytes : sizes()) {
    const double gain =
        fastest(copies, bytes, 0, past) / fastest(copies, bytes, past, some_ways.size());
    first = gain < clearly ? std::nullopt : first ? first : bytes;
  }
  return first;
}

const Seeds copy_seeds(75);

TEST(AsyncCopiesTrial, TheSizeOfOneCopy) {
  Tally& answers = tally("bytes from which a copy past the registers is faster");
  for (unsigned i = 0; i < 1000; ++i) {
    Random random(copy_seeds(i));
    const Disturbance& disturbance = one_of(random, all_disturbances());
    const double latency = between_octaves(random, 200, 900);
    const bool are_slower = i % 2 == 0;  // throughout
    std::vector<Copy> copies;
    MadeResults made("async_copies");
    for (std::size_t way = 0; way < some_ways.size(); ++way) {
      const bool is_past = way >= past;
      copies.push_back(
          {.start = latency * (is_past ? between(random, 1.02, 1.2) : between(random, 0.97, 1.03)),
           .per_byte = between(random, 0.04, 0.1) * (is_past ? (are_slower ? 2 : 0.4) : 1)});
      made.curve("latency-l2", value_name(some_ways[way], "latency"),
                 sampled(
                     sizes(), [&](double bytes) { return copies.back().cycles(bytes); },
                     disturbance, random));
    }
    async_copies::conclude(made.results());
    const std::string name = answers.inference + ", L2";
    const auto truth = first_faster(copies);
    answers.add(truth ? Truth{.value = *truth} : Truth{}, made.inference(name));
  }
  expect_goals(answers, {.right = 0.25});
}

// The lesson's points: some bytes in flight more than once, by several copies or a larger one.
const std::vector<double>& flights() {
  static const std::vector<double> all = {4096, 8192, 16384, 32768, 65536, 131072};
  return all;
}

void add_rates(MadeResults& made, const std::string& way, const std::function<double(double)>& rate,
               const Disturbance& disturbance, Random& random) {
  made.curve("device-memory", value_name(way, "bandwidth"),
             sampled_rates(flights(), rate, disturbance, random));
}

const Seeds copies_seeds(76);
const Seeds nothing_seeds(77);

TEST(AsyncCopiesTrial, ManyCopies) {
  Tally& gains = tally("rate to LDS past the registers over through them");
  Tally& in_flight = tally("bytes in flight per CU to LDS");
  for (unsigned i = 0; i < 500; ++i) {
    Random random(copies_seeds(i));
    const Disturbance& disturbance = one_of(random, all_disturbances());
    MadeResults made("async_copies");
    double best_loaded = 0;
    double best_copied = 0;
    double enough = 0;
    for (std::size_t way = 0; way < some_ways.size(); ++way) {
      const double highest = 4000 * between(random, 0.8, 1.2);
      const double corner = between_octaves(random, 9000, 100000);
      add_rates(
          made, some_ways[way],
          [=](double bytes) { return highest * std::min(1.0, bytes / corner); }, disturbance,
          random);
      double& best = way < past ? best_loaded : best_copied;
      if (highest > best && way >= past) {
        constexpr double nearly_all = 0.95;
        enough = *std::lower_bound(flights().begin(), flights().end(), nearly_all * corner);
      }
      best = std::max(best, highest);
    }
    async_copies::conclude(made.results());
    gains.add({.value = best_copied / best_loaded, .tolerance = 0.1},
              made.inference(gains.inference + ", memory"));
    in_flight.add({.value = enough}, made.inference(in_flight.inference + ", memory"));
  }
  for (unsigned i = 0; i < 500; ++i) {
    Random random(nothing_seeds(i));
    const Curve law = non_structure(flights(), 4000, true, random).curve;
    MadeResults made("async_copies");
    add_rates(
        made, some_ways.back(),
        [&](double bytes) {
          return std::find_if(law.begin(), law.end(), [=](auto& p) { return p.x == bytes; })->y;
        },
        one_of(random, all_disturbances()), random);
    async_copies::conclude(made.results());
    in_flight.add({}, made.inference(in_flight.inference + ", memory"));
  }
  expect_goals(gains, {.right = 0.8});
  expect_goals(in_flight, {.right = 0.15});
}

}  // namespace
}  // namespace hipscope::trial
