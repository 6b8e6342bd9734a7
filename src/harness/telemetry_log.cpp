#include "telemetry_log.h"

#include <algorithm>
#include <utility>

namespace hipscope::detail {

void SensorSpan::add(double value) {
  minimum = readings == 0 ? value : std::min(minimum, value);
  maximum = readings == 0 ? value : std::max(maximum, value);
  sum += value;
  ++readings;
}

void add_reasons(std::vector<std::string>& names, const std::vector<std::string>& more) {
  for (const std::string& name : more) {
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      names.push_back(name);
    }
  }
}

void TelemetryDuring::add(const TelemetryReading& reading) {
  ++readings;
  const auto keep = [](SensorSpan& span, const std::optional<double>& value) {
    if (value) {
      span.add(*value);
    }
  };
  keep(power_w, reading.power_w);
  keep(temperature_c, reading.temperature_c);
  keep(memory_temperature_c, reading.memory_temperature_c);
  keep(shader_mhz, reading.shader_mhz);
  keep(memory_mhz, reading.memory_mhz);
  add_reasons(throttle_reasons, reading.throttle_reasons);
}

void TelemetryLog::begin(const Telemetry& telemetry) {
  sweep_.reset();
  if (telemetry) {
    sweep_ = {.source = telemetry.source(), .before = telemetry.reading()};
    next_ = Clock::now() + interval;
  }
}

void TelemetryLog::after_sample(const Telemetry& telemetry, Clock::time_point now) {
  if (sweep_ && now >= next_) {
    sweep_->during.add(telemetry.sensors());
    next_ = now + interval;
  }
}

void TelemetryLog::saw(const std::vector<std::string>& throttle_reasons) {
  if (sweep_) {
    add_reasons(sweep_->during.throttle_reasons, throttle_reasons);
  }
}

std::optional<SweepTelemetry> TelemetryLog::end(const Telemetry& telemetry) {
  if (sweep_) {
    sweep_->after = telemetry.reading();
  }
  return std::exchange(sweep_, std::nullopt);
}

}  // namespace hipscope::detail
