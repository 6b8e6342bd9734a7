// The table gpu_metrics that AMD's driver has in sysfs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hipscope::detail {

/// For how long the firmware has held the clock down, by reason, in units of its own.
using ThrottleResidency = std::vector<std::pair<const char*, std::uint32_t>>;

/// What is read of the table.
struct GpuMetrics {
  std::string unread{};  ///< the table's version, where that is unknown here
  std::optional<double> energy_j{};
  std::vector<std::string> throttle_reasons{};  ///< at this moment, where the table tells that
  ThrottleResidency residency{};                ///< else, where it tells that
};

/// Reads a table of version 1.0 to 1.8, 2.0 to 2.4 or 3.0. `is_energy_known` says whether the older
/// ones of a graphics card, up to 1.3, count energy in 2^-16 J, as the later ones do. Of a table
/// that is cut nothing.
GpuMetrics parse_gpu_metrics(std::string_view bytes, bool is_energy_known);

/// The reasons for which time has been added from `before` to `after`, which are of one version.
std::vector<std::string> throttled_between(const ThrottleResidency& before,
                                           const ThrottleResidency& after);

}  // namespace hipscope::detail
