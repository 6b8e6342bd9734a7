// What sensors say around a sweep and between its samples.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "hipscope/telemetry.h"

namespace hipscope::detail {

/// The least, the mean and the most of what a sensor said.
struct SensorSpan {
  double minimum = 0;
  double maximum = 0;
  double sum = 0;
  unsigned readings = 0;

  void add(double value);
  [[nodiscard]] double mean() const { return sum / readings; }
};

/// What was read between the samples of a sweep.
struct TelemetryDuring {
  unsigned readings = 0;
  SensorSpan power_w{};
  SensorSpan temperature_c{};
  SensorSpan memory_temperature_c{};
  SensorSpan shader_mhz{};
  SensorSpan memory_mhz{};
  std::vector<std::string> throttle_reasons{};  ///< of all readings, each once

  void add(const TelemetryReading& reading);
};

/// The telemetry of one sweep.
struct SweepTelemetry {
  std::string source{};
  TelemetryReading before{};
  TelemetryDuring during{};
  TelemetryReading after{};
};

/// Adds the names that are not in `names` yet.
void add_reasons(std::vector<std::string>& names, const std::vector<std::string>& more);

/// Keeps the telemetry of the sweep that is being measured. Everything is read by the thread that
/// measures, between two samples, when the device has just been at work: a thread beside it would
/// ask the driver in the midst of a sample, and would see an idle device while the host verifies.
class TelemetryLog {
 public:
  using Clock = std::chrono::steady_clock;

  /// At most ten readings a second: sensors are renewed no more often.
  static constexpr std::chrono::milliseconds interval{100};

  /// Reads before the sweep. Nothing is kept where there is no telemetry.
  void begin(const Telemetry& telemetry);

  /// Called after each sample: reads when that is due. `now` is when it is.
  void after_sample(const Telemetry& telemetry, Clock::time_point now = Clock::now());

  /// Keeps reasons that were seen besides.
  void saw(const std::vector<std::string>& throttle_reasons);

  /// Reads after the sweep and gives all away.
  std::optional<SweepTelemetry> end(const Telemetry& telemetry);

 private:
  std::optional<SweepTelemetry> sweep_{};
  Clock::time_point next_{};
};

}  // namespace hipscope::detail
