#include "trial.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>

namespace hipscope::trial {

namespace {

std::vector<std::unique_ptr<Tally>>& tallies() {
  static std::vector<std::unique_ptr<Tally>> all;
  return all;
}

unsigned& chosen_lot() {
  static unsigned chosen = lot::test;
  return chosen;
}

std::set<unsigned>& trial_numbers() {
  static std::set<unsigned> all;
  return all;
}

bool is_right(const Truth& truth, double value) {
  return truth.value && std::abs(value - *truth.value) <= truth.tolerance * std::abs(*truth.value);
}

std::size_t decile_of(double confidence) {
  return std::min<std::size_t>(9, static_cast<std::size_t>(10 * std::max(0.0, confidence)));
}

// The chance of `right` or fewer of `answers` if each is right with chance `confidence`.
double chance_of_so_few(std::size_t right, std::size_t answers, double confidence) {
  if (confidence >= 1) {
    return right >= answers ? 1 : 0;
  }
  const auto n = static_cast<double>(answers);
  double sum = 0;
  for (std::size_t i = 0; i <= right; ++i) {
    const auto k = static_cast<double>(i);
    sum += std::exp(std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1) +
                    k * std::log(confidence) + (n - k) * std::log1p(-confidence));
  }
  return std::min(1.0, sum);
}

std::string percent(std::size_t part, std::size_t whole) {
  if (whole == 0) {
    return "-";
  }
  const double share = 1000.0 * static_cast<double>(part) / static_cast<double>(whole);
  std::ostringstream text;
  text << std::round(share) / 10 << " %";
  return text.str();
}

}  // namespace

Tally::Tally(std::string name) : inference(std::move(name)) {}

void Tally::add(const Truth& truth, const Inference& answer) {
  if (!answer.value) {
    ++(truth.value ? not_found : left_out);
    return;
  }
  const bool right_now = is_right(truth, *answer.value);
  Decile& decile = deciles.at(decile_of(answer.confidence));
  ++decile.answers;
  decile.right += right_now ? 1 : 0;
  decile.confidence += answer.confidence;
  if (truth.value && answer.interval) {
    ++intervals;
    held += answer.interval->low <= *truth.value && *truth.value <= answer.interval->high ? 1 : 0;
  }
  if (!truth.value) {
    ++invented;
  } else if (right_now) {
    ++right;
  } else {
    ++(answer.confidence > 0.5 ? wrong : unsure);
  }
}

void Tally::add_not_found() { ++not_found; }

std::size_t Tally::cases() const {
  return right + wrong + unsure + not_found + invented + left_out;
}

Tally& tally(const std::string& inference) {
  auto& all = tallies();
  const auto found = std::find_if(all.begin(), all.end(),
                                  [&](const auto& each) { return each->inference == inference; });
  if (found != all.end()) {
    return **found;
  }
  all.push_back(std::make_unique<Tally>(inference));
  return *all.back();
}

void expect_goals(const Tally& tally, const Goals& goals) {
  SCOPED_TRACE(tally.inference);
  ASSERT_GT(tally.cases(), 0U);
  EXPECT_EQ(tally.invented, 0U);
  EXPECT_LT(static_cast<double>(tally.wrong), goals.wrong * static_cast<double>(tally.cases()));
  const std::size_t there = tally.right + tally.wrong + tally.unsure + tally.not_found;
  EXPECT_GE(static_cast<double>(tally.right), goals.right * static_cast<double>(there));
  constexpr double smallest_chance = 0.01;
  for (const Decile& decile : tally.deciles) {
    if (decile.answers > 0) {
      const double confidence = decile.confidence / static_cast<double>(decile.answers);
      EXPECT_GE(chance_of_so_few(decile.right, decile.answers, confidence), smallest_chance)
          << decile.right << " of " << decile.answers << " right at a confidence of " << confidence;
    }
  }
}

void set_lot(unsigned lot) { chosen_lot() = lot; }

Seeds::Seeds(unsigned trial) : trial_(trial) {
  if (!trial_numbers().insert(trial).second) {
    throw std::logic_error("two trials have the number " + std::to_string(trial));
  }
}

std::uint64_t Seeds::operator()(unsigned index) const {
  constexpr std::uint64_t curves_per_trial = 1U << 20U;
  constexpr std::uint64_t seeds_of_lot = std::uint64_t{1} << 40U;
  return chosen_lot() * seeds_of_lot + trial_ * curves_per_trial + index;
}

std::string tables() {
  std::ostringstream text;
  text << "| inference | cases | right | wrong, confident | wrong, unsure | not found | invented | "
          "rightly left out | interval holds |\n|---|---|---|---|---|---|---|---|---|\n";
  for (const auto& each : tallies()) {
    text << "| " << each->inference << " | " << each->cases() << " | " << each->right << " | "
         << each->wrong << " | " << each->unsure << " | " << each->not_found << " | "
         << each->invented << " | " << each->left_out << " | "
         << percent(each->held, each->intervals) << " |\n";
  }
  text << "\n| right of answers, by confidence |";
  for (int tenth = 0; tenth < 10; ++tenth) {
    text << " " << tenth / 10.0 << (tenth == 0 ? ".0" : "") << " |";
  }
  text << "\n|---|---|---|---|---|---|---|---|---|---|---|\n";
  for (const auto& each : tallies()) {
    text << "| " << each->inference << " |";
    for (const Decile& decile : each->deciles) {
      text << " "
           << (decile.answers == 0
                   ? ""
                   : std::to_string(decile.right) + " of " + std::to_string(decile.answers))
           << " |";
    }
    text << "\n";
  }
  return text.str();
}

}  // namespace hipscope::trial
