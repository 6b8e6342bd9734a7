// The table gpu_metrics that AMD's driver has in sysfs.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hipscope::detail {

/// For how long the firmware has held the clock down, by reason, in units of its own.
using ThrottleResidency = std::array<std::uint32_t, 5>;

/// What is read of the table.
struct GpuMetrics {
  std::optional<double> energy_j{};
  std::vector<std::string> throttle_reasons{};   ///< at this moment, where the table tells that
  std::optional<ThrottleResidency> residency{};  ///< else, in newer tables
};

/// Reads a table of version 1.3 to 1.8, of which `is_energy_known` says whether the first of these
/// counts in 2^-16 J, as the later ones do. Of another version, or a table that is cut, nothing.
GpuMetrics parse_gpu_metrics(std::string_view bytes, bool is_energy_known);

/// The reasons for which time has been added from `before` to `after`.
std::vector<std::string> throttled_between(const ThrottleResidency& before,
                                           const ThrottleResidency& after);

}  // namespace hipscope::detail
