#include "hipscope/telemetry.h"

#include <utility>

#include "telemetry_sources.h"

namespace hipscope {

bool TelemetryReading::empty() const {
  for (const auto& value : {power_w, energy_j, temperature_c, memory_temperature_c, shader_mhz,
                            memory_mhz, ecc_corrected, ecc_uncorrected, rows_remapped}) {
    if (value) {
      return false;
    }
  }
  return throttle_reasons.empty();
}

Telemetry::Telemetry(std::string why_not) : why_not_(std::move(why_not)) {}

Telemetry Telemetry::open(const DeviceDescription& device, const TelemetryPlaces& places) {
  detail::OpenedSource opened;
  if (device.architecture.starts_with("sm_")) {
    opened = detail::open_nvml(device, places.nvml_library);
  } else if (device.architecture.starts_with("gfx")) {
    opened = detail::open_amd_sysfs(device, places);
  } else {
    opened.why_not = "this device has no sensors";
  }
  Telemetry telemetry(opened.why_not);
  if (opened.source) {
    telemetry.identity_ = opened.source->identity();
    telemetry.source_name_ = opened.source->name();
    telemetry.source_ = std::move(opened.source);
    static_cast<void>(telemetry.reading());  // which tells what may not be read
    telemetry.why_not_ = telemetry.source_->missing();
  }
  if (telemetry.identity_.uuid.empty()) {
    telemetry.identity_.uuid = device.uuid;
  }
  if (telemetry.identity_.pci_address.empty()) {
    telemetry.identity_.pci_address = device.pci_address;
  }
  return telemetry;
}

TelemetryReading Telemetry::reading() const {
  TelemetryReading reading = sensors();
  if (source_) {
    const std::lock_guard lock(*asking_);
    source_->read_counters(reading);
  }
  return reading;
}

TelemetryReading Telemetry::sensors() const {
  TelemetryReading reading;
  if (source_) {
    const std::lock_guard lock(*asking_);
    source_->read_sensors(reading);
  }
  return reading;
}

std::vector<std::string> Telemetry::throttle_reasons() const {
  if (!source_) {
    return {};
  }
  const std::lock_guard lock(*asking_);
  return source_->throttle_reasons();
}

}  // namespace hipscope
