// AMD's management library, where it is: what the driver's files do not tell in a form that is
// known here.
#pragma once

#include <memory>
#include <string>

#include "hipscope/telemetry.h"

namespace hipscope::detail {

/// The library, loaded and started, with one device of it.
class AmdSmi {
 public:
  /// Nothing where there is no such library, or it does not know the device.
  static std::unique_ptr<AmdSmi> open(const std::string& library, const std::string& pci_address);
  ~AmdSmi();
  AmdSmi(const AmdSmi&) = delete;
  AmdSmi& operator=(const AmdSmi&) = delete;

  /// Adds energy, where that is not told yet.
  void add_sensors(TelemetryReading& reading) const;
  /// Adds errors, where those are not told yet.
  void add_counters(TelemetryReading& reading) const;

 private:
  AmdSmi(void* library, void* device) : library_(library), device_(device) {}

  void* library_;
  void* device_;
};

}  // namespace hipscope::detail
