// The trial: what the experiments conclude from curves whose truth is known.
//
// A trial makes curves from the fixed seeds of `seeds`, lets the experiment's own findings
// conclude, and enters each answer in a tally. An answer is right, wrong, not found where there is
// something, or invented where there is nothing. A confidence of c promises that at least the share
// c of such answers is right: that, and how few wrong ones are given with confidence, is what
// `expect_goals` asks for. The tables of all tallies are printed at the end.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "hipscope/experiment.h"

namespace hipscope::trial {

inline constexpr double kib = 1024;
inline constexpr double mib = 1024 * kib;

/// What an inference should say.
struct Truth {
  std::optional<double> value{};  ///< empty: there is nothing to find
  double tolerance = 0;           ///< relative: how far off an answer is still right
};

/// Answers of about the same confidence.
struct Decile {
  std::size_t answers = 0;
  std::size_t right = 0;
  double confidence = 0;  ///< the sum over the answers
};

/// The answers of one inference. It is kept until the program ends.
class Tally {
 public:
  explicit Tally(std::string inference);

  /// Enters an answer. One with a value counts in its decile, whatever the truth is.
  void add(const Truth& truth, const Inference& answer);

  /// Enters that the thing was there and not found.
  void add_not_found();

  std::string inference;
  std::size_t right = 0;
  std::size_t wrong = 0;      ///< with confidence over one half
  std::size_t unsure = 0;     ///< wrong, with less
  std::size_t not_found = 0;  ///< though it is there
  std::size_t invented = 0;   ///< though nothing is there
  std::size_t left_out = 0;   ///< rightly: nothing is there
  std::size_t intervals = 0;  ///< answers that came with an interval
  std::size_t held = 0;       ///< of these, such as hold the truth
  std::array<Decile, 10> deciles{};

  /// All cases.
  [[nodiscard]] std::size_t cases() const;
};

/// The tally of that name, which is made when it is asked for first.
Tally& tally(const std::string& inference);

/// What a tally must reach. Of what is invented there may be nothing at all.
struct Goals {
  double wrong = 0.01;  ///< the largest share of wrong answers with confidence, of all cases
  double right = 0.5;   ///< the smallest share of right ones, of the cases with something to find
};

/// Asks for the goals and for the promise of the confidence, decile by decile: so few right answers
/// as there are must have a chance of 1 % at least if each is right with its confidence.
void expect_goals(const Tally& tally, const Goals& goals = {});

/// Which curves are made; those of two lots differ in every number. The confidence is calibrated on
/// the lot for fitting and tested on another one. Limits have been moved after these had been seen:
/// what docs/inference.md reports is of a further lot, which nobody had looked at before, and
/// nothing may be moved for it. A lot is held out once: 2 to 30 were.
namespace lot {
inline constexpr unsigned test = 0;
inline constexpr unsigned fit = 1;
inline constexpr unsigned held_out = 31;
}  // namespace lot
void set_lot(unsigned lot);

/// The seeds of a trial's curves, by the trial's own number: two trials of the same number would
/// make their curves of the same draws. It stands outside of any function, so that every process of
/// the tests, even the one that lists them, knows all numbers; a second one of the same is refused
/// by std::logic_error, which ends it.
class Seeds {
 public:
  explicit Seeds(unsigned trial);

  /// Of the `index`-th curve.
  std::uint64_t operator()(unsigned index) const;

 private:
  unsigned trial_;
};

/// All tallies as two tables, in Markdown: what became of the cases, and how confidence and truth
/// agree.
std::string tables();

}  // namespace hipscope::trial
