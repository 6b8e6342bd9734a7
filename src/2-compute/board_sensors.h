// What a board's sensors say, with the moment at which they said it. Plain C++.
#pragma once

#include <chrono>
#include <string>

#include "hipscope/mean_power.h"
#include "hipscope/telemetry.h"

namespace board {

inline double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

struct Reading {
  hipscope::PowerReading power{};
  hipscope::TelemetryReading all{};
};

class Sensors {
 public:
  /// `telemetry` must last as long.
  explicit Sensors(const hipscope::Telemetry& telemetry) : telemetry_(telemetry), first_(read()) {}

  /// A reading takes some milliseconds: its moment is the middle of them.
  [[nodiscard]] Reading read() const {
    const double before = seconds_now();
    Reading reading{.all = telemetry_.sensors()};
    reading.power = {.seconds = (before + seconds_now()) / 2,
                     .watts = reading.all.power_w,
                     .joules = reading.all.energy_j};
    return reading;
  }

  [[nodiscard]] bool tell_anything() const { return !first_.all.empty(); }
  [[nodiscard]] bool tell_power() const { return first_.power.watts || count_energy(); }
  [[nodiscard]] bool count_energy() const { return first_.power.joules.has_value(); }

  /// Why they tell no power.
  [[nodiscard]] std::string why_not() const {
    return telemetry_.why_not().empty() ? "the device tells no power" : telemetry_.why_not();
  }

 private:
  const hipscope::Telemetry& telemetry_;
  Reading first_;
};

}  // namespace board
