// What a device's sensors and counters say, and which device it is: by NVIDIA's management library,
// which comes with the driver, by the files of AMD's driver and its library where it is, or
// nothing. Plain C++, no GPU headers.
//
// Sensors are slow: power is an average over up to a second, and is renewed every 100 ms or so. A
// reading asks the driver, which may hold locks that launches need too: none is taken while a
// sample is timed. Nothing here throws and nothing ends a run: what cannot be told is empty.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "hipscope/device.h"

namespace hipscope {

/// One look at the sensors and counters. What is not told is empty.
struct TelemetryReading {
  std::optional<double> power_w{};
  std::optional<double> energy_j{};  ///< counted from some moment in the past
  std::optional<double> temperature_c{};
  std::optional<double> memory_temperature_c{};
  std::optional<double> shader_mhz{};
  std::optional<double> memory_mhz{};
  std::optional<double> ecc_corrected{};    ///< errors since some moment in the past
  std::optional<double> ecc_uncorrected{};  ///< likewise
  std::optional<double> rows_remapped{};    ///< rows or pages of memory that spares stand for
  /// Why the clock is lower than it could be, by names that both vendors share: "power cap",
  /// "thermal", "memory thermal", "voltage regulator thermal", "current limit", "power brake",
  /// "hardware slowdown", "sync boost". That a device is idle, or that somebody has set its clocks,
  /// is no reason.
  std::vector<std::string> throttle_reasons{};

  /// True when nothing at all is told.
  [[nodiscard]] bool empty() const;
};

/// What a link to the host runs at, and could at most. 0: not told.
struct HostLink {
  int generation = 0;    ///< of PCI Express
  double speed_gts = 0;  ///< GT/s per lane
  int width = 0;         ///< lanes
  int maximum_generation = 0;
  double maximum_speed_gts = 0;
  int maximum_width = 0;
};

/// Which device it is. What is not told is empty.
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
  /// What could not be told so far, for a reason that somebody can mend; one line.
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

  /// All that is told, now. Takes some milliseconds.
  [[nodiscard]] TelemetryReading reading() const;

  /// The same without errors and remapped rows.
  [[nodiscard]] TelemetryReading sensors() const;

  /// What lowers the clock, now.
  [[nodiscard]] std::vector<std::string> throttle_reasons() const;

  /// Which device it is: of its description what there is, and what the driver says besides.
  [[nodiscard]] const DeviceIdentity& identity() const { return identity_; }

  [[nodiscard]] explicit operator bool() const { return source_ != nullptr; }

  /// "NVML 580.95.05" or "sysfs of amdgpu"; empty where there is no telemetry.
  [[nodiscard]] const std::string& source() const { return source_name_; }

  /// One line: why there is no telemetry, or what of it is missing ("no permission: ..."). Empty
  /// where all is told.
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
