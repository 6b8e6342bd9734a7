#include "misses_findings.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "hipscope/capacity_laws.h"
#include "hipscope/confidence.h"
#include "hipscope/logarithmic.h"
#include "hipscope/statistics.h"
#include "text.h"

namespace memory_latency {

using hipscope::CapacityLaw;
using hipscope::CurvePoint;
using hipscope::Logarithmic;
using hipscope::ramp;

namespace {

// Each load may be of any line: what a full set of so many ways, with a Poisson number of lines,
// cannot hold.
double any_load(double ratio, int ways) {
  const double mean = ratio * ways;
  double term = std::exp(-mean);
  double held = ways;
  for (int lines = 0; lines < ways; ++lines) {
    held -= term * (ways - lines);
    term *= mean / (lines + 1);
  }
  return std::max(0.0, 1 - held / mean);
}

// The same of a cache that replaces any line, `laps` laps after it was full of other lines: of it
// the part `own` holds lines of the footprint by now.
double any_load_after(double ratio, int laps) {
  double own = 1 - std::exp(-ratio);
  constexpr int steps = 64;  // per lap
  for (int step = steps; step < laps * steps; ++step) {
    own += (1 - own / ratio) * (1 - own) * ratio / steps;
  }
  return std::max(0.0, 1 - own / ratio);
}

// The laws of misses where each load may be of any line, whichever came before: once a cache is
// full its part of the footprint hits, whatever it replaces; at about the capacity some sets have
// room left where lines are in them at random.
std::span<const CapacityLaw> hit_laws() {
  static const std::vector<CapacityLaw> laws = [] {
    std::vector<CapacityLaw> all;
    all.emplace_back([](double ratio) { return std::max(0.0, 1 - 1 / ratio); });
    for (const int ways : {4, 8, 16, 32}) {
      all.emplace_back([=](double ratio) { return any_load(ratio, ways); });
    }
    for (const int laps : {2, 4}) {
      all.emplace_back([=](double ratio) { return any_load_after(ratio, laps); });
    }
    return all;
  }();
  return laws;
}

constexpr double finest = 1.0 / 32;  // octaves: of capacities that are tried
constexpr double coarse = 1.0 / 8;
constexpr double fewest_apart = 0.75;  // octaves: what follows closer is a kink of the same step

// One cache: of each curve the share law(footprint / capacity) of the loads misses it, by a law of
// the curve's own.
struct Step {
  double octave = 0;  // of the capacity
  std::vector<const CapacityLaw*> laws{};
};

using Column = std::vector<double>;

// `first`, `first + apart` and so on, up to `last`.
std::vector<double> octaves_between(double first, double last, double apart) {
  constexpr double rounding = 1e-6;
  const double count = std::floor((last - first) / apart + rounding) + 1;
  std::vector<double> octaves(static_cast<std::size_t>(std::max(0.0, count)));
  for (std::size_t i = 0; i < octaves.size(); ++i) {
    octaves[i] = first + static_cast<double>(i) * apart;
  }
  return octaves;
}

double product(const Column& a, const Column& b, std::size_t first = 0) {
  std::array<double, 4> sums{};  // not one, so that an addition need not wait for the one before
  std::size_t i = first;
  for (; i + sums.size() <= a.size(); i += sums.size()) {
    for (std::size_t j = 0; j < sums.size(); ++j) {
      sums[j] += a[i + j] * b[i + j];
    }
  }
  for (; i < a.size(); ++i) {
    sums[0] += a[i] * b[i];
  }
  return sums[0] + sums[1] + sums[2] + sums[3];
}

// What some steps leave of a curve.
struct Rest {
  std::vector<Column> basis{};  // at right angles, of length 1
  Column left{};

  void add(Column column) {
    const double length = make_perpendicular(column);
    constexpr double none = 1e-12;
    if (length > none) {
      std::for_each(column.begin(), column.end(), [=](double& each) { each /= length; });
      take_off(product(column, left), column, left);
      basis.push_back(std::move(column));
    }
  }

  // To all of the basis; returns the length that remains.
  double make_perpendicular(Column& column) const {
    for (const Column& each : basis) {
      take_off(product(each, column), each, column);
    }
    return std::sqrt(product(column, column));
  }

 private:
  static void take_off(double times, const Column& what, Column& from) {
    for (std::size_t i = 0; i < from.size(); ++i) {
      from[i] -= times * what[i];
    }
  }
};

// How far each point may be from a staircase, relative: by the noise of levels, and where the curve
// is steep by a part of what it rises there, since no law of misses is quite a cache's.
std::vector<double> errors_of(const Logarithmic& curve) {
  constexpr double beside = 0.25;  // octaves, or a point
  constexpr double share = 0.03;
  const std::vector<double>& octaves = curve.octaves;
  const auto below = [&](double octave) {
    const auto end = std::lower_bound(octaves.begin(), octaves.end(), octave);
    return static_cast<std::size_t>(end - octaves.begin());
  };
  std::vector<double> errors;
  for (std::size_t i = 0; i < octaves.size(); ++i) {
    const std::size_t first = std::min(below(octaves[i] - beside), i > 0 ? i - 1 : i);
    const std::size_t last =
        std::max(below(octaves[i] + beside) - 1, std::min(i + 1, octaves.size() - 1));
    const double rise = std::exp(curve.y[last]) - std::exp(curve.y[first]);
    errors.push_back(std::hypot(curve.noise_of_levels, share * rise / std::exp(curve.y[i])));
  }
  return errors;
}

// One curve: y = base + sum of heights * law(x / capacity), by squares of what is left, in units of
// the points' errors.
struct Stairs {
  Logarithmic curve;
  std::vector<double> errors;
  std::span<const CapacityLaw> laws;
  double kinks;      // the share of what a step explains that its law may miss
  Column target{};   // y, in units of its error
  Column weights{};  // 1, in these
  Column scratch{};

  Stairs(const Logarithmic& measured, std::span<const CapacityLaw> all_laws, double share_of_kinks)
      : curve(measured),
        errors(errors_of(measured)),
        laws(all_laws),
        kinks(share_of_kinks),
        scratch(errors.size()) {
    for (std::size_t i = 0; i < errors.size(); ++i) {
      target.push_back(1 / errors[i]);
      weights.push_back(std::exp(-curve.measured[i]) / errors[i]);
    }
  }

  // By how much smaller the squares get with one more step; 0 where it would be a step down.
  [[nodiscard]] double gain(const Rest& rest, double octave, const CapacityLaw& law) {
    const std::size_t first = fill(octave, law, scratch);
    const double along = product(scratch, rest.left, first);
    if (along <= 0) {
      return 0;
    }
    const double whole = product(scratch, scratch, first);
    double own = whole;
    for (const Column& each : rest.basis) {
      const double part = product(each, scratch, first);
      own -= part * part;
    }
    constexpr double none = 1e-9;
    return own > none * whole ? along * along / own : 0;
  }

  // By the law by which it is largest.
  struct Best {
    double gain = 0;
    const CapacityLaw* law = nullptr;
  };
  [[nodiscard]] Best most_gain(const Rest& rest, double octave) {
    Best best{.law = &laws.front()};
    for (const CapacityLaw& law : laws) {
      if (const double each = gain(rest, octave, law); each > best.gain) {
        best = {each, &law};
      }
    }
    return best;
  }

  [[nodiscard]] Column column(double octave, const CapacityLaw& law) const {
    Column column(errors.size(), 0);
    fill(octave, law, column);
    return column;
  }

 private:
  // From the point on that it returns; before it no load misses.
  std::size_t fill(double octave, const CapacityLaw& law, Column& column) const {
    const std::vector<double>& octaves = curve.octaves;
    const auto first =
        std::upper_bound(octaves.begin(), octaves.end(), octave + law.first_octave());
    const auto begin = static_cast<std::size_t>(first - octaves.begin());
    for (std::size_t i = begin; i < column.size(); ++i) {
      column[i] = weights[i] * law.miss_share(octaves[i] - octave);
    }
    return begin;
  }
};

// Of each curve what some steps leave.
using Rests = std::vector<Rest>;

double squares(const Rest& rest) { return product(rest.left, rest.left); }

double squares(const Rests& rests) {
  double sum = 0;
  for (const Rest& rest : rests) {
    sum += squares(rest);
  }
  return sum;
}

// With outliers of three deviations at most.
double capped_squares(const Rest& rest) {
  constexpr double largest = 9;
  double sum = 0;
  for (const double each : rest.left) {
    sum += std::min(each * each, largest);
  }
  return sum;
}

// One or several curves of the same caches: each has heights of its own, the capacities are common.
struct Staircase {
  std::vector<Stairs> curves{};

  // Of a step, which gets the laws that it lacks: of each curve that by which its gain is largest.
  double gain(const Rests& rests, Step& step) {
    double sum = 0;
    for (std::size_t i = 0; i < curves.size(); ++i) {
      if (i < step.laws.size()) {
        sum += curves[i].gain(rests[i], step.octave, *step.laws[i]);
      } else {
        const auto best = curves[i].most_gain(rests[i], step.octave);
        step.laws.push_back(best.law);
        sum += best.gain;
      }
    }
    return sum;
  }

  // Of one curve, for the base, then the steps.
  [[nodiscard]] std::vector<Column> columns(const std::vector<Step>& steps, std::size_t i) const {
    std::vector<Column> all = {curves[i].weights};
    for (const Step& step : steps) {
      all.push_back(curves[i].column(step.octave, *step.laws[i]));
    }
    return all;
  }

  [[nodiscard]] Rests rests(const std::vector<Step>& steps) const {
    Rests all;
    for (std::size_t i = 0; i < curves.size(); ++i) {
      all.push_back({.left = curves[i].target});
      for (Column& column : columns(steps, i)) {
        all.back().add(std::move(column));
      }
    }
    return all;
  }

  // Of one curve the base, then the steps': what each of them explains beside the others.
  [[nodiscard]] std::vector<double> heights(const std::vector<Step>& steps, std::size_t i) const {
    const std::vector<Column> all = columns(steps, i);
    std::vector<double> heights;
    for (const Column& own : all) {
      Rest others{.left = curves[i].target};
      for (const Column& other : all) {
        if (&other != &own) {
          others.add(other);
        }
      }
      Column column = own;
      const double length = others.make_perpendicular(column);
      heights.push_back(product(column, others.left) / (length * length));
    }
    return heights;
  }
};

std::vector<Step> without(std::vector<Step> steps, std::size_t i) {
  steps.erase(steps.begin() + static_cast<std::ptrdiff_t>(i));
  return steps;
}

bool is_apart(const std::vector<Step>& others, double octave) {
  return std::all_of(others.begin(), others.end(), [&](const Step& other) {
    return std::abs(other.octave - octave) >= fewest_apart;
  });
}

// Of steps near to `from`, the one that leaves least beside the others. Laws differ by where half
// of the loads miss: each of the first curve is tried with its half about there.
Step best_near(Staircase& staircase, const std::vector<Step>& others, const Step& from,
               double reach, double by) {
  const Rests rests = staircase.rests(others);
  Step best = from;
  double most = staircase.gain(rests, best);
  for (const CapacityLaw& law : staircase.curves[0].laws) {
    const double middle = from.octave + std::log2(from.laws[0]->inverse(0.5) / law.inverse(0.5));
    for (const double octave : octaves_between(middle - reach, middle + reach, by)) {
      if (is_apart(others, octave)) {
        Step step = {.octave = octave, .laws = {&law}};
        if (const double gain = staircase.gain(rests, step); gain > most) {
          most = gain;
          best = step;
        }
      }
    }
  }
  return best;
}

// Moves each of the steps from `first` on to where least is left, given the others.
void refine(Staircase& staircase, std::vector<Step>& steps, std::size_t first = 0) {
  double reach = 2 * coarse;
  for (const double by : {coarse, 2 * finest, finest}) {
    for (std::size_t i = first; i < steps.size(); ++i) {
      steps[i] = best_near(staircase, without(steps, i), steps[i], reach, by);
    }
    reach = by;
  }
}

// In units of the noise's: what a step must make less of the squares, to be none by chance.
constexpr double clearly_less = 20;

// Two steps that one explains about as well are one, of a law that is not among these.
void join_kinks(Staircase& staircase, std::vector<Step>& steps) {
  constexpr double farthest = 1.6;
  double left = 0;
  double points = 0;
  for (const Rest& rest : staircase.rests(steps)) {
    left += capped_squares(rest);
    points += static_cast<double>(rest.left.size());
  }
  const double by_chance = clearly_less * std::max(1.0, left / points);
  std::sort(steps.begin(), steps.end(), [](auto& a, auto& b) { return a.octave < b.octave; });
  for (std::size_t i = 0; i + 1 < steps.size();) {
    if (steps[i + 1].octave - steps[i].octave >= farthest) {
      ++i;
      continue;
    }
    std::vector<Step> joined = without(without(steps, i + 1), i);
    const Rests neither = staircase.rests(joined);
    const Rests both = staircase.rests(steps);
    Step one = {.octave = (steps[i].octave + steps[i + 1].octave) / 2, .laws = steps[i].laws};
    one = best_near(staircase, joined, one, 1, coarse);
    one = best_near(staircase, joined, one, 2 * finest, finest);
    joined.insert(joined.begin() + static_cast<std::ptrdiff_t>(i), one);
    double kinks = 0;
    for (std::size_t curve = 0; curve < both.size(); ++curve) {
      kinks += staircase.curves[curve].kinks * (squares(neither[curve]) - squares(both[curve]));
    }
    if (squares(staircase.rests(joined)) - squares(both) < std::max(by_chance, kinks)) {
      steps = std::move(joined);
      i = 0;
    } else {
      ++i;
    }
  }
}

// Two steps in the place of one, where that leaves clearly less.
void split(Staircase& staircase, std::vector<Step>& steps) {
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const std::vector<Step> others = without(steps, i);
    std::vector<Step> best = steps;
    double least = squares(staircase.rests(steps)) - clearly_less;
    for (const double apart : {0.5, 0.9}) {
      std::vector<Step> two = others;
      for (const double octave : {steps[i].octave - apart, steps[i].octave + apart}) {
        if (is_apart(others, octave)) {
          two.push_back({.octave = octave, .laws = steps[i].laws});
        }
      }
      if (two.size() > steps.size()) {
        refine(staircase, two, two.size() - 2);
        if (const double left = squares(staircase.rests(two)); left < least) {
          least = left;
          best = two;
        }
      }
    }
    steps = best;
  }
}

// The steps that explain a curve, from left to right: one after the other, where it makes least of
// the squares that are left.
std::vector<Step> steps_of(Staircase& staircase) {
  constexpr std::size_t most = 9;
  const Stairs& first = staircase.curves.front();
  std::vector<Step> steps;
  while (steps.size() < most) {
    const Rests rests = staircase.rests(steps);
    Step best;
    double gained = clearly_less;
    for (const double octave :
         octaves_between(first.curve.octaves.front(), first.curve.octaves.back(), coarse)) {
      if (is_apart(steps, octave)) {
        Step step = {.octave = octave, .laws = {&first.laws.front()}};
        if (const double gain = staircase.gain(rests, step); gain > gained) {
          gained = gain;
          best = step;
        }
      }
    }
    if (gained <= clearly_less) {
      break;
    }
    steps.push_back(best);
    refine(staircase, steps, steps.size() - 1);
    refine(staircase, steps);
  }
  split(staircase, steps);
  refine(staircase, steps);
  join_kinks(staircase, steps);
  // What the later ones have made needless.
  for (std::size_t i = 0; i < steps.size();) {
    const std::vector<Step> others = without(steps, i);
    if (staircase.gain(staircase.rests(others), steps[i]) < clearly_less) {
      steps = others;
      i = 0;
    } else {
      ++i;
    }
  }
  return steps;
}

// Without the points that something has slowed down: a staircase does not fall, so what is clearly
// above a later point is not its own. Empty where that is so for long: then it is no staircase.
std::vector<CurvePoint> undisturbed(std::span<const CurvePoint> curve) {
  constexpr double clearly = 1.3;
  constexpr std::size_t for_long = 12;
  std::vector<CurvePoint> kept;
  // Of later points; at first the middle one of the last three, of which one may be too low.
  const auto last = curve.last(3);
  double least = hipscope::median_of({last[0].y, last[1].y, last[2].y});
  std::size_t left_out = 0;
  for (std::size_t i = curve.size(); i-- > 0;) {
    const double after = curve[i + 1 < curve.size() ? i + 1 : i - 1].y;
    const double before = curve[i > 0 ? i - 1 : i + 1].y;
    if (clearly * curve[i].y < std::min(before, after)) {
      continue;  // alone too low
    }
    least = std::min(least, curve[i].y);
    if (curve[i].y < clearly * least) {
      kept.push_back(curve[i]);
      left_out = 0;
    } else if (++left_out > for_long) {
      return {};
    }
  }
  std::reverse(kept.begin(), kept.end());
  return kept;
}

// A staircase that was fitted to some curves, seen on one of these.
struct Fitted {
  std::size_t curve = 0;
  std::vector<Step> steps{};
  std::vector<double> heights{};  // the base, then the steps'
  double misfit = 0;              // squares of what is left, in units of the noise's
  double last = 0;                // octave

  [[nodiscard]] double share(std::size_t step, double octave) const {
    return steps[step].laws[curve]->miss_share(octave - steps[step].octave);
  }

  [[nodiscard]] double y(double octave) const {
    double y = heights[0];
    for (std::size_t i = 0; i < steps.size(); ++i) {
      y += heights[i + 1] * share(i, octave);
    }
    return y;
  }

  // Of its logarithm over an octave.
  [[nodiscard]] double slope(double octave) const {
    constexpr double around = 0.125;
    return std::log(y(octave + around) / y(octave - around)) / (2 * around);
  }

  // How steep the curve is where it should be level, before and after a step, over the steepest of
  // the step: what rises everywhere has no steps.
  [[nodiscard]] double unevenness(std::size_t step) const {
    constexpr double apart = 0.125;
    const double knee = octave_of(step, 0.1);
    double steepest = 0;
    for (const double octave : octaves_between(knee, octave_of(step, 0.9), apart)) {
      steepest = std::max(steepest, slope(octave));
    }
    const double until = std::min(last, step + 1 < steps.size() ? octave_of(step + 1, 0.1) : last);
    double least = steepest;
    for (const double octave : octaves_between(octave_of(step, 0.5), until, apart)) {
      least = std::min(least, slope(octave));
    }
    // After another step close before, single loads still go on from that one.
    constexpr double close = 1.6;
    constexpr double before = 0.4;
    const bool is_tail = step > 0 && steps[step].octave - steps[step - 1].octave < close;
    const double rise = is_tail ? 0 : slope(knee - before);
    return steepest > 0 ? std::max(rise, least) / steepest : 1;
  }

  // The octave at which a share of the loads misses.
  [[nodiscard]] double octave_of(std::size_t step, double share) const {
    return steps[step].octave + std::log2(steps[step].laws[curve]->inverse(share));
  }
};

// The capacity of one of the steps, and how sure it is.
FoundCapacity capacity_of(Staircase& staircase, const std::vector<Fitted>& all, std::size_t i) {
  const Fitted& fitted = all.front();
  const Step& step = fitted.steps[i];
  const std::vector<Step> others = without(fitted.steps, i);
  const Rests rests = staircase.rests(others);
  const Logarithmic& curve = staircase.curves[0].curve;
  // How likely each capacity is, by a law of the first curve and the best ones of the others.
  constexpr double reach = 0.75;
  struct Likely {
    double octave;
    double gain;
    double logarithm;
  };
  std::vector<Likely> likely;
  double most = 0;
  double largest = 0;
  constexpr double per_misfit = 4;
  for (const double octave :
       octaves_between(step.octave - reach, step.octave + reach, 2 * finest)) {
    if (!is_apart(others, octave)) {
      continue;
    }
    double gain_of_others = 0;
    double logarithm = 0;
    for (std::size_t other = 1; other < all.size(); ++other) {
      const double gain = staircase.curves[other].most_gain(rests[other], octave).gain;
      gain_of_others += gain;
      logarithm += gain / (per_misfit * all[other].misfit);
    }
    for (const CapacityLaw& law : staircase.curves[0].laws) {
      const double gain = staircase.curves[0].gain(rests[0], octave, law);
      likely.push_back(
          {octave, gain + gain_of_others, logarithm + gain / (per_misfit * fitted.misfit)});
      most = std::max(most, likely.back().gain);
      largest = std::max(largest, likely.back().logarithm);
    }
  }
  const auto weight_of = [&](const Likely& one) { return std::exp(one.logarithm - largest); };
  double sum = 0;
  double middle = 0;
  for (const Likely& one : likely) {
    sum += weight_of(one);
    middle += weight_of(one) * one.octave;
  }
  middle /= sum;
  double within = 0;
  double low = middle;
  double high = middle;
  constexpr double an_eighth = 0.16;  // octaves
  constexpr double about_as_likely = 0.1;
  constexpr double as_well = 0.99;
  for (const Likely& one : likely) {
    const double weight = weight_of(one);
    within += std::abs(one.octave - middle) < an_eighth ? weight / sum : 0;
    if (weight > about_as_likely || one.gain > as_well * most) {
      low = std::min(low, one.octave);
      high = std::max(high, one.octave);
    }
  }
  // Between two footprints nothing is known, and a footprint never has a cache for itself alone.
  const auto beyond = std::upper_bound(curve.octaves.begin() + 1, curve.octaves.end() - 1,
                                       fitted.octave_of(i, 0.5));
  const double gap = (*beyond - *(beyond - 1)) / 2;
  constexpr double used_by_others = 0.07;
  FoundCapacity found{
      .value = std::exp2(middle),
      .low = std::exp2(low - gap),
      .high = std::exp2(high + gap + used_by_others),
      .evidence = "latency as a whole has a step at " + in_bytes(std::exp2(middle))};
  // What the step explains, in as many points as one of its height stands out of the noise by.
  const double height = fitted.heights[i + 1] / (fitted.y(step.octave) + fitted.heights[i + 1]);
  const double points = most * std::pow(curve.noise_of_levels / height, 2);
  // In so much noise the laws' own errors do not show: what is left then is no staircase.
  constexpr double hides_errors = 0.03;
  double misfit = fitted.misfit;
  double unevenness = 1;
  for (const Fitted& one : all) {
    misfit = curve.noise > hides_errors ? std::max(misfit, one.misfit) : misfit;
    unevenness = std::min(unevenness, one.unevenness(i));
  }
  // How often a capacity was right within an eighth in the trial (tests/inference, the seeds for
  // fitting).
  const double complete = fitted.share(i, fitted.last);
  constexpr double some_noise = 0.07;
  constexpr double too_much_noise = 0.1;
  found.confidence = within * ramp(curve.noise, too_much_noise, some_noise) *
                     ramp(unevenness, 0.65, 0.25) * ramp(complete, 0.7, 0.87) *
                     ramp(points / static_cast<double>(all.size()), 1.5, 5) *
                     (1 - 0.85 * ramp(misfit, 1.3, 1.9));
  // Two steps that are close may be one of a cache of a few sets, of which some are full first,
  // unless the other one explains next to nothing.
  constexpr double surely_another = 1.6;
  constexpr double next_to_nothing = 0.03;
  for (std::size_t other = 0; other < fitted.steps.size(); ++other) {
    Step beside = fitted.steps[other];
    if (other != i && std::abs(beside.octave - step.octave) < surely_another &&
        staircase.gain(staircase.rests(without(fitted.steps, other)), beside) >
            next_to_nothing * most) {
      constexpr double doubt = 0.35;
      found.confidence *= doubt;
      break;
    }
  }
  return found;
}

// The fewer of the steps are clear, the more all of them are in doubt.
void doubt_slopes(std::vector<FoundCapacity>& all) {
  constexpr double hardly = 0.3;
  constexpr double enough = 1.5;  // times the share of clear ones: two thirds
  const auto clear = std::count_if(
      all.begin(), all.end(), [](const FoundCapacity& each) { return each.confidence > hardly; });
  const double share = static_cast<double>(clear) / static_cast<double>(std::ssize(all));
  const double doubt = std::pow(std::min(1.0, enough * share), 2);
  for (FoundCapacity& each : all) {
    each.confidence *= doubt;
  }
}

// A curve that may be a staircase.
std::optional<Logarithmic> usable(std::span<const CurvePoint> measured) {
  constexpr std::size_t fewest_points = 5;  // a cubic goes through four
  const auto is_positive = [](const CurvePoint& point) { return point.x > 0 && point.y > 0; };
  const auto not_rising = [](const CurvePoint& a, const CurvePoint& b) { return a.x >= b.x; };
  if (measured.size() < fewest_points ||
      !std::all_of(measured.begin(), measured.end(), is_positive) ||
      std::adjacent_find(measured.begin(), measured.end(), not_rising) != measured.end()) {
    return std::nullopt;
  }
  const std::vector<CurvePoint> curve = undisturbed(measured);
  if (curve.size() < fewest_points) {
    return std::nullopt;
  }
  const Logarithmic found = hipscope::logarithmic(curve);
  return hipscope::never_falls(found) ? std::optional(found) : std::nullopt;
}

}  // namespace

std::vector<FoundCapacity> fit_misses(std::span<const CurvePoint> loads,
                                      std::span<const CurvePoint> walk, double smallest_ratio) {
  Staircase staircase;
  for (const bool is_walk : {false, true}) {
    if (const auto measured = is_walk ? walk : loads; !measured.empty()) {
      const auto curve = usable(measured);
      if (!curve) {
        return {};
      }
      // Replacement has no part in where loads of any line miss.
      staircase.curves.emplace_back(*curve, is_walk ? hipscope::capacity_laws() : hit_laws(),
                                    is_walk ? 0.02 : 0.0005);
    }
  }
  if (staircase.curves.empty()) {
    return {};
  }
  const std::vector<Step> steps = steps_of(staircase);
  const Rests rests = staircase.rests(steps);
  const auto count = static_cast<double>(steps.size());
  std::vector<Fitted> all;
  constexpr double clearly = 12;
  double explained = -clearly * count;  // beside what cubics leave
  for (std::size_t i = 0; i < rests.size(); ++i) {
    const Stairs& stairs = staircase.curves[i];
    const double left = capped_squares(rests[i]);
    explained += hipscope::squares_of_cubic(stairs.curve, stairs.errors) - left;
    constexpr double free_of_step = 2;
    const double free = static_cast<double>(stairs.errors.size()) - 1 - free_of_step * count;
    all.push_back({.curve = i,
                   .steps = steps,
                   .heights = staircase.heights(steps, i),
                   .misfit = std::max(1.0, left / std::max(1.0, free)),
                   .last = stairs.curve.octaves.back()});
  }
  const Fitted& fitted = all.front();
  const Logarithmic& curve = staircase.curves.front().curve;
  constexpr double least_base = 0.5;
  if (explained < 0 || fitted.heights[0] < least_base * std::exp(curve.measured.front())) {
    return {};
  }
  const double least_own = 2.0 / 3 * (smallest_ratio - 1);  // the rest of what it rises by others
  const double least_ratio = 1 + 0.8 * (smallest_ratio - 1);
  std::vector<FoundCapacity> found;
  double y = fitted.heights[0];
  double before = y;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    y += fitted.heights[i + 1];
    constexpr double octaves_seen = 0.3;
    constexpr double clear_rise = 1.2;
    constexpr double enough = 0.7;
    const bool is_seen = fitted.octave_of(i, 0.1) >= curve.octaves.front() + octaves_seen;
    if (y < (is_seen ? least_ratio : clear_rise) * before) {
      before = is_seen ? before : y;
      continue;
    }
    if (fitted.heights[i + 1] < least_own * fitted.y(steps[i].octave)) {
      continue;
    }
    before = y;
    if (is_seen && fitted.share(i, fitted.last) < enough) {
      break;
    }
    if (is_seen) {
      found.push_back(capacity_of(staircase, all, i));
    }
  }
  doubt_slopes(found);
  return found;
}

}  // namespace memory_latency
