// The trial of what atomics concludes: what a word takes, what LDS takes, and whether it adds
// floats.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <vector>

#include "disturbance.h"
#include "findings.h"
#include "made_results.h"
#include "trial.h"

namespace hipscope::trial {
namespace {

// As the lesson asks them: 1, 2, 4 ... and all.
std::vector<double> some_units(Random& random) {
  const double all = one_of(random, std::vector<double>{20, 60, 104, 132, 228});
  std::vector<double> units;
  for (double count = 1; count < all; count *= 2) {
    units.push_back(count);
  }
  units.push_back(all);
  return units;
}

Inference word_by(const Curve& rates) {
  MadeResults made("atomics");
  made.curve("units", "one address", rates);
  atomics::conclude(made.results());
  return made.inference("additions at one word of L2");
}

// The part of a curve that a word's rate is told from.
Curve last_octaves(const Curve& curve) {
  constexpr double octaves = 8;
  Curve last;
  std::copy_if(curve.begin(), curve.end(), std::back_inserter(last),
               [&](const CurvePoint& point) { return octaves * point.x >= curve.back().x; });
  return last;
}

const Seeds word_seeds(70);
const Seeds no_meeting_seeds(71);

TEST(AtomicsTrial, AWordOfL2) {
  Tally& answers = tally("additions at one word of L2");
  for (unsigned i = 0; i < 500; ++i) {
    Random random(word_seeds(i));
    const std::vector<double> units = some_units(random);
    const double each = between_octaves(random, 0.2, 3);
    const double most = each * between_octaves(random, 0.8, units.back() / 12);
    const double corner = one_of(random, std::vector<double>{1, 4, 100});
    const auto rate = [&](double x) {
      return std::pow(std::pow(each * x, -corner) + std::pow(most, -corner), -1 / corner);
    };
    answers.add({.value = rate(units.back()), .tolerance = 0.1},
                word_by(sampled_rates(units, rate, one_of(random, all_disturbances()), random)));
  }
  for (unsigned i = 0; i < 500; ++i) {
    Random random(no_meeting_seeds(i));
    const std::vector<double> units = some_units(random);
    const Curve law = non_structure(units, 1, true, random).curve;
    const Curve last = last_octaves(law);
    const auto [low, high] = std::minmax_element(
        last.begin(), last.end(), [](const auto& a, const auto& b) { return a.y < b.y; });
    const Judged is = judged(high->y / low->y - 1);
    const auto rate = [&](double x) {
      return std::find_if(law.begin(), law.end(), [=](auto& point) { return point.x == x; })->y;
    };
    const Inference found =
        word_by(sampled_rates(units, rate, one_of(random, all_disturbances()), random));
    if (is != Judged::not_at_all) {
      answers.add(is == Judged::as_even
                      ? Truth{.value = std::sqrt(low->y * high->y), .tolerance = 0.15}
                      : Truth{},
                  found);
    }
  }
  expect_goals(answers, {.right = 0.5});
}

constexpr double add_int = 1;
constexpr double add_float = 4;
constexpr double add_int_returned = 21;

const Seeds lds_seeds(72);

TEST(AtomicsTrial, AdditionsInLds) {
  Tally& rates = tally("additions in LDS");
  Tally& floats = tally("FP32 addition in LDS over INT32's");
  for (unsigned i = 0; i < 1000; ++i) {
    Random random(lds_seeds(i));
    const Disturbance& disturbance = one_of(random, all_disturbances());
    const double rate = between_octaves(random, 4, 64);
    const double in_a_line = rate * (happens(random, 0.8) ? 1 : 0.5);
    const double returned = rate * (happens(random, 0.7) ? 1 : 0.5);
    // An addition of floats is a loop or an instruction, which may have half of the rate.
    const bool is_loop = happens(random, 0.5);
    const double cycles = between(random, 30, 120);
    const double longer = is_loop ? between(random, 2, 5) : between(random, 1, 1.15);
    const double slower = is_loop ? between(random, 2, 5) : happens(random, 0.2) ? 2 : 1;
    const std::vector<double> rows = {add_int, add_float, add_int_returned};
    const auto of_rows = [&](double all) {
      return [=](double row) {
        return row == add_float ? all / slower : row == add_int ? all : all * returned / rate;
      };
    };
    MadeResults made("atomics");
    made.curve("lds", "spread", sampled_rates(rows, of_rows(rate), disturbance, random));
    made.curve("lds", "one line", sampled_rates(rows, of_rows(in_a_line), disturbance, random));
    made.curve("lds", "one address", sampled_rates(rows, of_rows(1), disturbance, random));
    made.curve("latency", "LDS",
               sampled(
                   {add_int, add_float},
                   [&](double row) { return row == add_int ? cycles : cycles * longer; },
                   disturbance, random));
    atomics::conclude(made.results());
    rates.add({.value = rate, .tolerance = 0.1}, made.inference("additions in LDS"));
    floats.add({.value = longer, .tolerance = 0.15},
               made.inference("FP32 addition in LDS over INT32's"));
  }
  expect_goals(rates, {.right = 0.6});
  expect_goals(floats, {.right = 0.6});
}

}  // namespace
}  // namespace hipscope::trial
