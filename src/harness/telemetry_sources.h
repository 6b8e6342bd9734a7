// The ways to ask for telemetry.
#pragma once

#include <limits>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "hipscope/telemetry.h"

namespace hipscope::detail {

/// A source, or why there is none.
struct OpenedSource {
  std::unique_ptr<TelemetrySource> source{};
  std::string why_not{};
};

/// NVIDIA's management library, loaded from `library_path`.
OpenedSource open_nvml(const DeviceDescription& device, const std::string& library_path);

/// The files of AMD's driver, and for what these do not tell its management library where it is.
OpenedSource open_amd_sysfs(const DeviceDescription& device, const TelemetryPlaces& places);

/// What sensors of a working device can say. A driver has other values for what it does not know:
/// zeros, all bits set, 65535.
struct SensorRange {
  double lowest;
  double highest;
};
inline constexpr SensorRange watts = {.lowest = 1e-3, .highest = 20e3};
inline constexpr SensorRange degrees = {.lowest = -60, .highest = 250};
inline constexpr SensorRange megahertz = {.lowest = 1, .highest = 20e3};
/// Of what is counted; 2^53 is a century of joules at 2 MW.
inline constexpr SensorRange counts = {.lowest = 0, .highest = 0x1p53};

/// The value, if a sensor can say that.
inline std::optional<double> within(const SensorRange& range, double value) {
  return value >= range.lowest && value <= range.highest ? std::optional(value) : std::nullopt;
}

/// A source that keeps by name what it was refused, and what else a reader must know, each once.
class RefusableSource : public TelemetrySource {
 public:
  [[nodiscard]] std::string missing() const final {
    std::string text;
    for (const std::string& name : refused_) {
      text += (text.empty() ? "no permission: " : ", ") + name;
    }
    for (const std::string& sentence : remarks_) {
      text += (text.empty() ? "" : "; ") + sentence;
    }
    return text;
  }

 protected:
  void refuse(const char* what) { refused_.insert(what); }
  void remark(const std::string& sentence) { remarks_.insert(sentence); }

 private:
  std::set<std::string> refused_;
  std::set<std::string> remarks_;
};

}  // namespace hipscope::detail
