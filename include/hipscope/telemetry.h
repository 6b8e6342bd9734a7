// A device's sensors and counters, and its identity: by NVIDIA's management library, which comes
// with the driver, by the files of AMD's driver and by AMD's library if it is there, or nothing.
// Plain C++, no GPU headers.
//
// Sensors are slow: power is an average over up to a second, and is renewed every 100 ms or so. A
// reading asks the driver, which may hold locks that launches need too, so nothing is read while a
// sample is timed. Nothing here throws and nothing ends a run: unknown values are empty.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "hipscope/device.h"

namespace hipscope {

/// One reading of the sensors and counters. Unknown values are empty.
struct TelemetryReading {
  std::optional<double> power_w{};
  std::optional<double> energy_j{};  ///< counted from some moment in the past
  std::optional<double> temperature_c{};
  std::optional<double> memory_temperature_c{};
  std::optional<double> shader_mhz{};
  std::optional<double> memory_mhz{};
  std::optional<double> ecc_corrected{};    ///< errors since some moment in the past
  std::optional<double> ecc_uncorrected{};  ///< likewise
  std::optional<double> rows_remapped{};    ///< rows or pages of memory replaced by spares
  /// Why the clock is lower than it could be, by names that both vendors share: "power cap",
  /// "thermal", "memory thermal", "voltage regulator thermal", "current limit", "power brake",
  /// "hardware slowdown", "sync boost". That a device is idle, or that somebody has set its clocks,
  /// is no reason.
  std::vector<std::string> throttle_reasons{};

  /// True when nothing at all is known.
  [[nodiscard]] bool empty() const;
};

/// A link to the host: what it runs at, and its maximum. 0: unknown.
struct HostLink {
  int generation = 0;    ///< of PCI Express
  double speed_gts = 0;  ///< GT/s per lane
  int width = 0;         ///< lanes
  int maximum_generation = 0;
  double maximum_speed_gts = 0;
  int maximum_width = 0;
};

/// Which device it is. Unknown values are empty.
struct DeviceIdentity {
  std::string uuid{};         ///< "GPU-..." or, of a part of a GPU, "MIG-..."
  std::string pci_address{};  ///< "0000:1b:00.0"
  std::string serial{};
  std::string vbios{};
  std::string partition{};  ///< "MIG" (NVIDIA); "SPX, NPS1" and the like (AMD)
  std::optional<double> power_cap_w{};
  std::optional<bool> ecc{};
  HostLink link{};
};

namespace detail {

/// One way to ask.
class TelemetrySource {
 public:
  virtual ~TelemetrySource() = default;
  [[nodiscard]] virtual std::string name() const = 0;
  [[nodiscard]] virtual DeviceIdentity identity() = 0;
  /// Sensors, and what lowers the clock.
  virtual void read_sensors(TelemetryReading& reading) = 0;
  /// Errors and remapped rows, which take longer to ask for.
  virtual void read_counters(TelemetryReading& reading) = 0;
  [[nodiscard]] virtual std::vector<std::string> throttle_reasons() = 0;
  /// What is missing so far, for a reason that the user can fix; one line.
  [[nodiscard]] virtual std::string missing() const = 0;
};

}  // namespace detail

/// Where telemetry is looked for.
struct TelemetryPlaces {
  std::string nvml_library = "libnvidia-ml.so.1";
  std::string sysfs = "/sys";
  std::string amd_smi_library = "libamd_smi.so";
};

/// The sensors of one device. May be asked from several threads.
class Telemetry {
 public:
  /// Looks for the device's sensors, by its UUID or its PCI address. Where there are none,
  /// `why_not` tells the reason, and all readings are empty.
  static Telemetry open(const DeviceDescription& device, const TelemetryPlaces& places = {});
  static Telemetry open(const Device& device, const TelemetryPlaces& places = {}) {
    return open(device.description(), places);
  }

  /// No telemetry, for that reason.
  explicit Telemetry(std::string why_not);

  /// All readings, now. Takes some milliseconds.
  [[nodiscard]] TelemetryReading reading() const;

  /// The same without errors and remapped rows.
  [[nodiscard]] TelemetryReading sensors() const;

  /// What lowers the clock, now.
  [[nodiscard]] std::vector<std::string> throttle_reasons() const;

  /// Which device it is: from its description, and from the driver.
  [[nodiscard]] const DeviceIdentity& identity() const { return identity_; }

  [[nodiscard]] explicit operator bool() const { return source_ != nullptr; }

  /// "NVML 580.95.05" or "sysfs of amdgpu"; empty where there is no telemetry.
  [[nodiscard]] const std::string& source() const { return source_name_; }

  /// One line: why there is no telemetry, or what is missing ("no permission: ..."). Empty if
  /// nothing is.
  [[nodiscard]] const std::string& why_not() const { return why_not_; }

 private:
  Telemetry() = default;

  std::unique_ptr<detail::TelemetrySource> source_;
  std::unique_ptr<std::mutex> asking_ = std::make_unique<std::mutex>();
  std::string source_name_{};
  std::string why_not_{};
  DeviceIdentity identity_{};
};

}  // namespace hipscope
