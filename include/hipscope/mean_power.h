// The mean power of a board from its sensors' readings, and the error. Plain C++, no GPU headers.
//
// Sensors of boards are slow: they change some ten times per second, some are an average over the
// last second, and readings between two changes repeat the first. So power is taken between changes
// that were seen. The error includes when the first and the last change happened, the sensor's
// resolution, and the difference between the halves of the window. It does not include a sensor's
// systematic offset, which nothing on the board shows.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace hipscope {

/// A board's sensors at one moment.
struct PowerReading {
  double seconds = 0;              ///< by the host's clock
  std::optional<double> watts{};   ///< now, or over some time before
  std::optional<double> joules{};  ///< taken since some moment in the past
};

/// Power, and how far it may be off to either side.
struct MeanPower {
  double watts = 0;
  double error = 0;
  bool by_counter = false;  ///< by a counter of energy; else by samples of power
};

namespace detail {

/// A change of the counter, and when: wrong by at most half of the time between two readings.
struct CounterChange {
  double seconds;
  double error;
  double joules;
};

inline std::vector<CounterChange> counter_changes(std::span<const PowerReading> readings) {
  std::vector<CounterChange> changes;
  for (std::size_t i = 1; i < readings.size(); ++i) {
    const PowerReading& before = readings[i - 1];
    const PowerReading& after = readings[i];
    if (before.joules && after.joules && *after.joules > *before.joules) {
      changes.push_back({.seconds = (before.seconds + after.seconds) / 2,
                         .error = (after.seconds - before.seconds) / 2,
                         .joules = *after.joules});
    }
  }
  return changes;
}

inline double watts_between(const CounterChange& first, const CounterChange& last) {
  return (last.joules - first.joules) / (last.seconds - first.seconds);
}

inline std::optional<MeanPower> power_by_counter(std::span<const PowerReading> readings) {
  const std::vector<CounterChange> changes = counter_changes(readings);
  constexpr std::size_t fewest = 3;  // two halves
  if (changes.size() < fewest) {
    return std::nullopt;
  }
  const CounterChange& first = changes.front();
  const CounterChange& middle = changes[changes.size() / 2];
  const CounterChange& last = changes.back();
  const double watts = watts_between(first, last);
  const double of_time =
      watts * std::hypot(first.error, last.error) / (last.seconds - first.seconds);
  const double of_halves = std::abs(watts_between(middle, last) - watts_between(first, middle)) / 2;
  return MeanPower{.watts = watts, .error = std::hypot(of_time, of_halves), .by_counter = true};
}

inline std::optional<MeanPower> power_by_samples(std::span<const PowerReading> readings) {
  std::vector<double> watts;
  double finest = 0;  // the smallest step from one sample to the next
  std::size_t updates = 0;
  for (const PowerReading& reading : readings) {
    if (!reading.watts) {
      continue;
    }
    const double step = watts.empty() ? 0 : std::abs(*reading.watts - watts.back());
    finest = step > 0 && (finest == 0 || step < finest) ? step : finest;
    updates += step > 0 ? 1 : 0;
    watts.push_back(*reading.watts);
  }
  constexpr std::size_t fewest = 4;
  if (watts.size() < fewest) {
    return std::nullopt;
  }
  const auto mean = [](std::span<const double> part) {
    double sum = 0;
    for (const double value : part) {
      sum += value;
    }
    return sum / static_cast<double>(part.size());
  };
  const double all = mean(watts);
  const std::size_t half = watts.size() / 2;
  const std::span<const double> whole(watts);
  const double of_halves = std::abs(mean(whole.subspan(half)) - mean(whole.first(half))) / 2;
  double squares = 0;
  for (const double value : watts) {
    squares += (value - all) * (value - all);
  }
  // Readings between two updates are one sample.
  const double of_noise = std::sqrt(squares / static_cast<double>(watts.size()) /
                                    static_cast<double>(std::max<std::size_t>(1, updates)));
  // A sensor that said the same throughout may be as coarse as a watt.
  constexpr double coarsest_watts = 1;
  const double of_steps = (finest > 0 ? std::min(finest, coarsest_watts) : coarsest_watts) / 2;
  return MeanPower{
      .watts = all, .error = std::hypot(of_halves, of_noise, of_steps), .by_counter = false};
}

}  // namespace detail

/// By the counter of energy if it changed at least three times, else by samples of power, at least
/// four. Readings are in the order of their times.
inline std::optional<MeanPower> mean_power(std::span<const PowerReading> readings) {
  const auto counted = detail::power_by_counter(readings);
  return counted ? counted : detail::power_by_samples(readings);
}

/// The mean of two measurements, before something and after it; its error includes half of the
/// difference. If there is only one, that.
inline std::optional<MeanPower> mean_of(const std::optional<MeanPower>& before,
                                        const std::optional<MeanPower>& after) {
  if (!before || !after) {
    return before ? before : after;
  }
  return MeanPower{
      .watts = (before->watts + after->watts) / 2,
      .error = std::hypot(before->error / 2, after->error / 2, (after->watts - before->watts) / 2),
      .by_counter = before->by_counter && after->by_counter};
}

/// The power of several boards together, whose errors are independent.
inline MeanPower sum_of(std::span<const MeanPower> boards) {
  MeanPower sum = {.watts = 0, .error = 0, .by_counter = true};
  for (const MeanPower& board : boards) {
    sum.watts += board.watts;
    sum.error = std::hypot(sum.error, board.error);
    sum.by_counter = sum.by_counter && board.by_counter;
  }
  return sum;
}

/// The mean power of each of several loads that were measured in turns: turns[turn][load], each
/// turn with all of them. The error is the scatter between turns, less a turn's common effect on
/// all loads: one share of the power for all of them, so that a few turns are enough. For a single
/// turn or a single load the error follows from those of the measurements.
inline std::vector<MeanPower> mean_of_turns(const std::vector<std::vector<MeanPower>>& turns) {
  const std::size_t loads = turns.empty() ? 0 : turns.front().size();
  const auto count = static_cast<double>(turns.size());
  std::vector<MeanPower> means(loads, {.watts = 0, .error = 0, .by_counter = true});
  for (const auto& turn : turns) {
    for (std::size_t i = 0; i < loads; ++i) {
      means[i].watts += turn[i].watts / count;
      means[i].error = std::hypot(means[i].error, turn[i].error / count);
      means[i].by_counter = means[i].by_counter && turn[i].by_counter;
    }
  }
  if (turns.size() < 2 || loads < 2) {
    return means;
  }
  double squares = 0;
  for (const auto& turn : turns) {
    double of_turn = 0;
    for (std::size_t i = 0; i < loads; ++i) {
      of_turn += turn[i].watts / means[i].watts / static_cast<double>(loads);
    }
    for (std::size_t i = 0; i < loads; ++i) {
      squares += std::pow(turn[i].watts / means[i].watts - of_turn, 2);
    }
  }
  const double freedom = (count - 1) * static_cast<double>(loads - 1);
  for (MeanPower& mean : means) {
    mean.error = mean.watts * std::sqrt(squares / freedom / count);
  }
  return means;
}

/// Energy for one of something, and how far it may be off to either side.
struct NetEnergy {
  double joules = 0;
  double error = 0;

  /// Whether it is more than twice its error.
  [[nodiscard]] bool is_resolved() const { return joules > 2 * error; }
};

/// The energy that one of `load`'s takes more than one of `other`'s. Their rates per second may
/// differ a little: their common part, `base`, counts per second.
inline NetEnergy difference(const MeanPower& load, double per_second, const MeanPower& other,
                            double other_per_second, const MeanPower& base) {
  const double of_base = 1 / other_per_second - 1 / per_second;
  return {.joules = load.watts / per_second - other.watts / other_per_second + of_base * base.watts,
          .error = std::hypot(load.error / per_second, other.error / other_per_second,
                              of_base * base.error)};
}

/// The energy of one of `per_second`: `load` less `base`.
inline NetEnergy net_energy(const MeanPower& load, const MeanPower& base, double per_second) {
  return {.joules = (load.watts - base.watts) / per_second,
          .error = std::hypot(load.error, base.error) / per_second};
}

}  // namespace hipscope
