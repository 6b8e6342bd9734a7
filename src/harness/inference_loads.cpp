// The capacities of caches from the latency of loads of any line of a footprint, and of a walk.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "capacity_laws.h"
#include "hipscope/inference.h"
#include "hipscope/statistics.h"
#include "inference_logarithmic.h"

namespace hipscope {

namespace {

constexpr double finest = 1.0 / 32;  // octaves: of capacities that are tried
constexpr double coarse = 1.0 / 8;
constexpr double fewest_apart = 0.75;  // octaves: what follows closer is a kink of the same step

// One cache: of each curve the share law(footprint / capacity) of the loads misses it, by a law of
// the curve's own.
struct Step {
  double octave = 0;  // of the capacity
  std::vector<std::size_t> laws{};
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
    for (const Column& each : basis) {
      take_off(product(each, column), each, column);
    }
    const double length = std::sqrt(product(column, column));
    constexpr double none = 1e-12;
    if (length > none) {
      std::for_each(column.begin(), column.end(), [=](double& each) { each /= length; });
      take_off(product(column, left), column, left);
      basis.push_back(std::move(column));
    }
  }

 private:
  static void take_off(double times, const Column& what, Column& from) {
    for (std::size_t i = 0; i < from.size(); ++i) {
      from[i] -= times * what[i];
    }
  }
};

// One curve: y = base + sum of heights * law(x / capacity), by squares of what is left, in units of
// the points' errors.
class Stairs {
 public:
  // `kinks` is the share of what a step explains that its law may miss.
  Stairs(const Logarithmic& curve, const std::vector<double>& errors,
         std::span<const CapacityLaw> laws, double kinks)
      : laws_(laws), kinks_(kinks), octaves_(curve.octaves), scratch_(curve.octaves.size()) {
    for (std::size_t i = 0; i < octaves_.size(); ++i) {
      target_.push_back(1 / errors[i]);
      weights_.push_back(std::exp(-curve.measured[i]) / errors[i]);
    }
  }

  [[nodiscard]] std::size_t points() const { return octaves_.size(); }
  [[nodiscard]] double first() const { return octaves_.front(); }
  [[nodiscard]] double last() const { return octaves_.back(); }
  [[nodiscard]] std::span<const CapacityLaw> laws() const { return laws_; }
  [[nodiscard]] double kinks() const { return kinks_; }

  // By how much smaller the squares get with one more step; 0 where it would be a step down.
  [[nodiscard]] double gain(const Rest& rest, double octave, std::size_t law) {
    const std::size_t first = fill(octave, law, scratch_);
    const double along = product(scratch_, rest.left, first);
    if (along <= 0) {
      return 0;
    }
    const double whole = product(scratch_, scratch_, first);
    double own = whole;
    for (const Column& each : rest.basis) {
      const double part = product(each, scratch_, first);
      own -= part * part;
    }
    constexpr double none = 1e-9;
    return own > none * whole ? along * along / own : 0;
  }

  // By the law by which it is largest.
  struct Best {
    double gain = 0;
    std::size_t law = 0;
  };
  [[nodiscard]] Best most_gain(const Rest& rest, double octave) {
    Best best;
    for (std::size_t law = 0; law < laws_.size(); ++law) {
      if (const double each = gain(rest, octave, law); each > best.gain) {
        best = {each, law};
      }
    }
    return best;
  }

  [[nodiscard]] Rest base() const {
    Rest rest{.left = target_};
    rest.add(weights_);
    return rest;
  }

  [[nodiscard]] Column column(double octave, std::size_t law) const {
    Column column(octaves_.size(), 0);
    fill(octave, law, column);
    return column;
  }

  // The base, then the heights of steps of such columns, by the normal equations (Gauss and
  // Jordan).
  [[nodiscard]] std::vector<double> heights(std::vector<Column> columns) const {
    columns.insert(columns.begin(), weights_);
    const std::size_t count = columns.size();
    std::vector<std::vector<double>> rows(count, std::vector<double>(count + 1));
    for (std::size_t i = 0; i < count; ++i) {
      for (std::size_t j = 0; j < count; ++j) {
        rows[i][j] = product(columns[i], columns[j]);
      }
      rows[i][count] = product(columns[i], target_);
    }
    for (std::size_t i = 0; i < count; ++i) {
      const double pivot = rows[i][i];
      std::for_each(rows[i].begin(), rows[i].end(), [=](double& each) { each /= pivot; });
      for (std::size_t j = 0; j < count; ++j) {
        const double times = j == i ? 0 : rows[j][i];
        for (std::size_t k = 0; k <= count; ++k) {
          rows[j][k] -= times * rows[i][k];
        }
      }
    }
    std::vector<double> solution(count);
    std::transform(rows.begin(), rows.end(), solution.begin(),
                   [](const auto& row) { return row.back(); });
    return solution;
  }

 private:
  // From the point on that it returns; before it no load misses.
  std::size_t fill(double octave, std::size_t law_number, Column& column) const {
    const CapacityLaw& law = laws_[law_number];
    const auto first =
        std::upper_bound(octaves_.begin(), octaves_.end(), octave + law.first_octave());
    const auto begin = static_cast<std::size_t>(first - octaves_.begin());
    for (std::size_t i = begin; i < column.size(); ++i) {
      column[i] = weights_[i] * law.miss_share_at(octaves_[i] - octave);
    }
    return begin;
  }

  std::span<const CapacityLaw> laws_;
  double kinks_;
  std::vector<double> octaves_;
  Column target_{};   // y, in units of its error
  Column weights_{};  // 1, in these
  Column scratch_;
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
class Staircase {
 public:
  explicit Staircase(std::vector<Stairs> curves) : curves_(std::move(curves)) {}

  [[nodiscard]] std::size_t size() const { return curves_.size(); }
  [[nodiscard]] Stairs& curve(std::size_t i) { return curves_[i]; }
  [[nodiscard]] std::size_t points() const {
    std::size_t sum = 0;
    for (const Stairs& each : curves_) {
      sum += each.points();
    }
    return sum;
  }
  [[nodiscard]] double first() const { return curves_.front().first(); }
  [[nodiscard]] double last() const { return curves_.front().last(); }

  [[nodiscard]] double gain(const Rests& rests, const Step& step) {
    double sum = 0;
    for (std::size_t i = 0; i < curves_.size(); ++i) {
      sum += curves_[i].gain(rests[i], step.octave, step.laws[i]);
    }
    return sum;
  }

  // Adds to the step the laws of the curves from `step.laws.size()` on by which its gain is
  // largest; returns that.
  double choose_laws(const Rests& rests, Step& step) {
    double sum = 0;
    for (std::size_t i = 0; i < curves_.size(); ++i) {
      if (i < step.laws.size()) {
        sum += curves_[i].gain(rests[i], step.octave, step.laws[i]);
      } else {
        const auto best = curves_[i].most_gain(rests[i], step.octave);
        step.laws.push_back(best.law);
        sum += best.gain;
      }
    }
    return sum;
  }

  // Without one of the steps, unless it is their number.
  [[nodiscard]] Rests rests(const std::vector<Step>& steps, std::size_t without) const {
    Rests all;
    for (std::size_t curve = 0; curve < curves_.size(); ++curve) {
      Rest rest = curves_[curve].base();
      for (std::size_t i = 0; i < steps.size(); ++i) {
        if (i != without) {
          rest.add(curves_[curve].column(steps[i].octave, steps[i].laws[curve]));
        }
      }
      all.push_back(std::move(rest));
    }
    return all;
  }

  [[nodiscard]] Rests rests(const std::vector<Step>& steps) const {
    return rests(steps, steps.size());
  }

  // What two steps may leave less of `neither` than one does, and still be kinks of that one.
  [[nodiscard]] double kinks(const Rests& neither, const Rests& both) const {
    double sum = 0;
    for (std::size_t i = 0; i < curves_.size(); ++i) {
      sum += curves_[i].kinks() * (squares(neither[i]) - squares(both[i]));
    }
    return sum;
  }

  // Of one curve the base, then the heights.
  [[nodiscard]] std::vector<double> heights(const std::vector<Step>& steps,
                                            std::size_t curve) const {
    std::vector<Column> columns;
    columns.reserve(steps.size());
    for (const Step& step : steps) {
      columns.push_back(curves_[curve].column(step.octave, step.laws[curve]));
    }
    return curves_[curve].heights(std::move(columns));
  }

 private:
  std::vector<Stairs> curves_;
};

// Of all steps but one, unless `without` is their number.
bool is_apart(const std::vector<Step>& steps, std::size_t without, double octave,
              double least = fewest_apart) {
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (i != without && std::abs(steps[i].octave - octave) < least) {
      return false;
    }
  }
  return true;
}

// Of steps near to `from`, the one that leaves least beside the others. Laws differ by where half
// of the loads miss: each of the first curve is tried with its half about there.
Step best_near(Staircase& staircase, const Rests& rests, const std::vector<Step>& steps,
               std::size_t without, const Step& from, double reach, double by) {
  Step best = from;
  double most = staircase.gain(rests, from);
  const auto laws = staircase.curve(0).laws();
  for (std::size_t law = 0; law < laws.size(); ++law) {
    const double middle = from.octave + std::log2(laws[from.laws[0]].half() / laws[law].half());
    for (const double octave : octaves_between(middle - reach, middle + reach, by)) {
      if (is_apart(steps, without, octave)) {
        Step step = {.octave = octave, .laws = {law}};
        if (const double gain = staircase.choose_laws(rests, step); gain > most) {
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
      steps[i] = best_near(staircase, staircase.rests(steps, i), steps, i, steps[i], reach, by);
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
  for (const Rest& rest : staircase.rests(steps)) {
    left += capped_squares(rest);
  }
  const double usual = std::max(1.0, left / static_cast<double>(staircase.points()));
  std::sort(steps.begin(), steps.end(), [](auto& a, auto& b) { return a.octave < b.octave; });
  for (std::size_t i = 0; i + 1 < steps.size();) {
    const Step& next = steps[i + 1];
    std::vector<Step> joined = steps;
    joined.erase(joined.begin() + static_cast<std::ptrdiff_t>(i) + 1);
    if (next.octave - steps[i].octave < farthest) {
      joined[i].octave = (steps[i].octave + next.octave) / 2;
      const auto neither = staircase.rests(joined, i);
      joined[i] = best_near(staircase, neither, joined, i, joined[i], 1, coarse);
      joined[i] = best_near(staircase, neither, joined, i, joined[i], 2 * finest, finest);
      const auto both = staircase.rests(steps);
      const double less = squares(staircase.rests(joined)) - squares(both);
      if (less < std::max(clearly_less * usual, staircase.kinks(neither, both))) {
        steps = std::move(joined);
        i = 0;
        continue;
      }
    }
    ++i;
  }
}

// The same with two steps in the place of one, where that leaves least; empty where there is no
// room.
std::vector<Step> with_two(Staircase& staircase, const std::vector<Step>& steps, std::size_t i) {
  std::vector<Step> best;
  for (const double apart : {0.5, 0.9}) {
    std::vector<Step> two = steps;
    two.erase(two.begin() + static_cast<std::ptrdiff_t>(i));
    const Step& step = steps[i];
    if (is_apart(two, two.size(), step.octave - apart) &&
        is_apart(two, two.size(), step.octave + apart)) {
      two.push_back({.octave = step.octave - apart, .laws = step.laws});
      two.push_back({.octave = step.octave + apart, .laws = step.laws});
      refine(staircase, two, two.size() - 2);
      if (best.empty() || squares(staircase.rests(two)) < squares(staircase.rests(best))) {
        best = two;
      }
    }
  }
  return best;
}

void split(Staircase& staircase, std::vector<Step>& steps) {
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const auto two = with_two(staircase, steps, i);
    if (!two.empty() &&
        squares(staircase.rests(steps)) - squares(staircase.rests(two)) > clearly_less) {
      steps = two;
    }
  }
}

// The steps that explain a curve, from left to right: one after the other, where it makes least of
// the squares that are left.
std::vector<Step> steps_of(Staircase& staircase) {
  constexpr std::size_t most = 9;
  std::vector<Step> steps;
  while (steps.size() < most) {
    const Rests rests = staircase.rests(steps);
    Step best;
    double gained = clearly_less;
    for (const double octave : octaves_between(staircase.first(), staircase.last(), coarse)) {
      if (is_apart(steps, steps.size(), octave)) {
        Step step = {.octave = octave, .laws = {0}};
        if (const double gain = staircase.choose_laws(rests, step); gain > gained) {
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
    if (staircase.gain(staircase.rests(steps, i), steps[i]) < clearly_less) {
      steps.erase(steps.begin() + static_cast<std::ptrdiff_t>(i));
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
  const std::array<double, 3> ys = {last[0].y, last[1].y, last[2].y};
  double least = summarize(ys).median;
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

// How far each point may be from a staircase, relative: by the noise of levels, and where the curve
// is steep by a part of what it rises there, since no law of misses is quite a cache's.
std::vector<double> errors_of(const Logarithmic& curve) {
  constexpr double beside = 0.25;  // octaves, or a point
  constexpr double share = 0.03;
  const std::size_t count = curve.octaves.size();
  std::vector<double> errors;
  for (std::size_t i = 0; i < count; ++i) {
    std::size_t first = i;
    while (first > 0 && (first == i || curve.octaves[i] - curve.octaves[first - 1] < beside)) {
      --first;
    }
    std::size_t last = i;
    while (last + 1 < count && (last == i || curve.octaves[last + 1] - curve.octaves[i] < beside)) {
      ++last;
    }
    const double rise = std::exp(curve.y[last]) - std::exp(curve.y[first]);
    errors.push_back(std::hypot(curve.noise_of_levels, share * rise / std::exp(curve.y[i])));
  }
  return errors;
}

// A straight line from 0 at `none` to 1 at `all`.
double ramp(double value, double none, double all) {
  return std::clamp((value - none) / (all - none), 0.0, 1.0);
}

// A staircase that was fitted to some curves, seen on one of these.
struct Fitted {
  std::span<const CapacityLaw> laws;
  std::size_t curve = 0;
  std::vector<Step> steps{};
  std::vector<double> heights{};  // the base, then the steps'
  double misfit = 0;              // squares of what is left, in units of the noise's
  double last = 0;                // octave

  [[nodiscard]] double share(std::size_t step, double octave) const {
    return laws[steps[step].laws[curve]].miss_share_at(octave - steps[step].octave);
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
    return steps[step].octave + std::log2(laws[steps[step].laws[curve]].inverse(share));
  }
};

// The capacity of one of the steps, and how sure it is.
CapacityByHits capacity_of(Staircase& staircase, const Logarithmic& curve,
                           const std::vector<Fitted>& all, std::size_t i) {
  const Fitted& fitted = all.front();
  const Step& step = fitted.steps[i];
  const auto rests = staircase.rests(fitted.steps, i);
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
    if (!is_apart(fitted.steps, i, octave)) {
      continue;
    }
    double others = 0;
    double logarithm = 0;
    for (std::size_t other = 1; other < staircase.size(); ++other) {
      const double gain = staircase.curve(other).most_gain(rests[other], octave).gain;
      others += gain;
      logarithm += gain / (per_misfit * all[other].misfit);
    }
    for (std::size_t law = 0; law < fitted.laws.size(); ++law) {
      const double gain = staircase.curve(0).gain(rests[0], octave, law);
      likely.push_back({octave, gain + others, logarithm + gain / (per_misfit * fitted.misfit)});
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
  const auto first = std::lower_bound(curve.octaves.begin(), curve.octaves.end(), middle);
  const double until =
      i + 1 < fitted.steps.size() ? fitted.steps[i + 1].octave : curve.octaves.back();
  const auto last =
      std::max(first + 1, std::lower_bound(curve.octaves.begin(), curve.octaves.end(), until));
  CapacityByHits found{.value = std::exp2(middle),
                       .low = std::exp2(low - gap),
                       .high = std::exp2(high + gap + used_by_others),
                       .first_x = std::exp2(*first),
                       .last_x = std::exp2(*(last - 1)),
                       .points = static_cast<std::size_t>(last - first)};
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
  const double complete = fitted.share(i, curve.octaves.back());
  constexpr double some_noise = 0.07;
  constexpr double too_much_noise = 0.1;
  found.confidence = within * (1 - ramp(curve.noise, some_noise, too_much_noise)) *
                     (1 - ramp(unevenness, 0.25, 0.65)) * ramp(complete, 0.7, 0.87) *
                     ramp(points / static_cast<double>(all.size()), 1.5, 5) *
                     (1 - 0.85 * ramp(misfit, 1.3, 1.9));
  // Two steps that are close may be one of a cache of a few sets, of which some are full first,
  // unless the other one explains next to nothing.
  constexpr double surely_another = 1.6;
  constexpr double next_to_nothing = 0.03;
  for (std::size_t other = 0; other < fitted.steps.size(); ++other) {
    const Step& beside = fitted.steps[other];
    if (other != i && std::abs(beside.octave - step.octave) < surely_another &&
        staircase.gain(staircase.rests(fitted.steps, other), beside) > next_to_nothing * most) {
      constexpr double doubt = 0.35;
      found.confidence *= doubt;
      break;
    }
  }
  return found;
}

// The fewer of the steps are clear, the more all of them are in doubt.
void doubt_slopes(std::vector<CapacityByHits>& all) {
  constexpr double hardly = 0.3;
  constexpr double enough = 1.5;  // times the share of clear ones: two thirds
  const auto clear = std::count_if(
      all.begin(), all.end(), [](const CapacityByHits& each) { return each.confidence > hardly; });
  const double share = static_cast<double>(clear) / static_cast<double>(std::ssize(all));
  const double doubt = std::pow(std::min(1.0, enough * share), 2);
  for (CapacityByHits& each : all) {
    each.confidence *= doubt;
  }
}

// A curve that may be a staircase.
struct Usable {
  Logarithmic curve{};
  std::vector<double> errors{};
};

std::optional<Usable> usable(std::span<const CurvePoint> measured) {
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
  Usable found{.curve = logarithmic(curve)};
  if (!never_falls(found.curve)) {
    return std::nullopt;
  }
  found.errors = errors_of(found.curve);
  return found;
}

}  // namespace

std::vector<CapacityByHits> fit_misses(std::span<const CurvePoint> loads,
                                       std::span<const CurvePoint> walk, double smallest_ratio) {
  std::vector<Usable> curves;
  std::vector<Stairs> stairs;
  for (const bool is_walk : {false, true}) {
    const auto measured = is_walk ? walk : loads;
    if (measured.empty()) {
      continue;
    }
    auto found = usable(measured);
    if (!found) {
      return {};
    }
    // Replacement has no part in where loads of any line miss.
    stairs.emplace_back(found->curve, found->errors, is_walk ? capacity_laws() : hit_laws(),
                        is_walk ? 0.02 : 0.0005);
    curves.push_back(std::move(*found));
  }
  if (curves.empty()) {
    return {};
  }
  const Logarithmic& smooth = curves.front().curve;
  Staircase staircase(std::move(stairs));
  const std::vector<Step> steps = steps_of(staircase);
  const Rests rests = staircase.rests(steps);
  std::vector<Fitted> all;
  double left = 0;
  double left_of_cubics = 0;
  for (std::size_t i = 0; i < curves.size(); ++i) {
    const double own = capped_squares(rests[i]);
    constexpr double free_of_step = 2;
    const double free = static_cast<double>(staircase.curve(i).points()) - 1 -
                        free_of_step * static_cast<double>(steps.size());
    all.push_back({.laws = staircase.curve(i).laws(),
                   .curve = i,
                   .steps = steps,
                   .heights = staircase.heights(steps, i),
                   .misfit = std::max(1.0, own / std::max(1.0, free)),
                   .last = curves[i].curve.octaves.back()});
    left += own;
    left_of_cubics += squares_of_cubic(curves[i].curve, curves[i].errors);
  }
  const Fitted& fitted = all.front();
  constexpr double clearly = 12;  // of each step
  if (left_of_cubics < left + clearly * static_cast<double>(steps.size())) {
    return {};
  }
  constexpr double least_base = 0.5;
  if (fitted.heights[0] < least_base * std::exp(smooth.measured.front())) {
    return {};
  }
  const double least_own = 2.0 / 3 * (smallest_ratio - 1);  // the rest of what it rises by others
  const double least_ratio = 1 + 0.8 * (smallest_ratio - 1);
  std::vector<CapacityByHits> found;
  double y = fitted.heights[0];
  double before = y;
  for (std::size_t i = 0; i < fitted.steps.size(); ++i) {
    y += fitted.heights[i + 1];
    constexpr double octaves_seen = 0.3;
    constexpr double clear_rise = 1.2;
    constexpr double enough = 0.7;
    const bool is_seen = fitted.octave_of(i, 0.1) >= smooth.octaves.front() + octaves_seen;
    if (y < (is_seen ? least_ratio : clear_rise) * before) {
      before = is_seen ? before : y;
      continue;
    }
    if (fitted.heights[i + 1] < least_own * fitted.y(fitted.steps[i].octave)) {
      continue;
    }
    before = y;
    if (is_seen && fitted.share(i, smooth.octaves.back()) < enough) {
      break;
    }
    if (is_seen) {
      found.push_back(capacity_of(staircase, smooth, all, i));
    }
  }
  doubt_slopes(found);
  return found;
}

}  // namespace hipscope
