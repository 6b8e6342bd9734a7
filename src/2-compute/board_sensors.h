// What a board's sensors say, with the moment at which they said it. Plain C++.
#pragma once

#include <chrono>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "hipscope/mean_power.h"
#include "hipscope/telemetry.h"

namespace board {

inline double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// The sensors, and what they have said since `forget`.
class Sensors {
 public:
  struct Reading {
    double seconds;
    hipscope::TelemetryReading all;
  };

  /// `telemetry` must last as long.
  explicit Sensors(const hipscope::Telemetry& telemetry)
      : telemetry_(telemetry), first_(telemetry.sensors()) {}

  [[nodiscard]] bool tell_power() const { return first_.power_w || count_energy(); }
  [[nodiscard]] bool count_energy() const { return first_.energy_j.has_value(); }

  /// Why they tell no power.
  [[nodiscard]] std::string why_not() const {
    return telemetry_.why_not().empty() ? "the device tells no power" : telemetry_.why_not();
  }

  void forget() { readings_.clear(); }

  /// Reads them if they tell anything and the last time was `interval` seconds ago. That takes some
  /// milliseconds: a reading's moment is the middle of them.
  void read_if_due(double interval) {
    const double before = seconds_now();
    if (!first_.empty() && (readings_.empty() || before - readings_.back().seconds >= interval)) {
      const hipscope::TelemetryReading all = telemetry_.sensors();
      readings_.push_back({(before + seconds_now()) / 2, all});
    }
  }

  [[nodiscard]] const std::vector<Reading>& readings() const { return readings_; }

  [[nodiscard]] std::optional<hipscope::MeanPower> power() const {
    std::vector<hipscope::PowerReading> power;
    for (const auto& [seconds, all] : readings_) {
      power.push_back({.seconds = seconds, .watts = all.power_w, .joules = all.energy_j});
    }
    return hipscope::mean_power(power);
  }

  /// The mean of `get`, from the readings that have it; NaN where none has.
  template <typename Get>
  [[nodiscard]] double mean(Get get) const {
    double sum = 0;
    double count = 0;
    for (const Reading& reading : readings_) {
      if (const std::optional<double> value = std::invoke(get, reading.all)) {
        sum += *value;
        ++count;
      }
    }
    return count > 0 ? sum / count : std::numeric_limits<double>::quiet_NaN();
  }

  /// The share of the readings that told why the clock was not higher.
  [[nodiscard]] double held_back() const {
    return mean([](const hipscope::TelemetryReading& all) {
      return std::optional<double>(all.throttle_reasons.empty() ? 0 : 1);
    });
  }

 private:
  const hipscope::Telemetry& telemetry_;
  hipscope::TelemetryReading first_;
  std::vector<Reading> readings_;
};

}  // namespace board
