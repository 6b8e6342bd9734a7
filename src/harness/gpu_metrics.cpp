// The places of the members are those of struct gpu_metrics_v1_3 to v1_8 in Linux,
// drivers/gpu/drm/amd/include/kgd_pp_interface.h, the bits of a throttle status those of
// drivers/gpu/drm/amd/pm/swsmu/inc/amdgpu_smu.h.
#include "gpu_metrics.h"

#include <algorithm>
#include <cstring>
#include <limits>

namespace hipscope::detail {

namespace {

constexpr double joules_per_count = 0x1p-16;

template <typename Integer>
std::optional<Integer> integer_at(std::string_view bytes, std::size_t offset) {
  Integer value = 0;
  if (offset + sizeof value > bytes.size()) {
    return std::nullopt;
  }
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

std::optional<double> energy_at(std::string_view bytes, std::size_t offset) {
  const auto count = integer_at<std::uint64_t>(bytes, offset);
  const bool is_told = count && *count != 0 && *count != std::numeric_limits<std::uint64_t>::max();
  return is_told ? std::optional(joules_per_count * static_cast<double>(*count)) : std::nullopt;
}

std::optional<ThrottleResidency> residency_at(std::string_view bytes, std::size_t offset) {
  ThrottleResidency residency = {};
  for (std::uint32_t& one : residency) {
    const auto value = integer_at<std::uint32_t>(bytes, offset);
    if (!value) {
      return std::nullopt;
    }
    one = *value;
    offset += sizeof one;
  }
  return residency;
}

// The bits that do not depend on the GPU: from `first` on, up to and without `end`.
struct Bits {
  unsigned first;
  unsigned end;
  const char* name;
};
constexpr std::array<Bits, 8> status_bits = {{{0, 16, "power cap"},
                                              {16, 32, "current limit"},
                                              {32, 34, "thermal"},  // GPU, core
                                              {34, 35, "memory thermal"},
                                              {35, 38, "thermal"},  // edge, hotspot, SoC
                                              {38, 46, "voltage regulator thermal"},
                                              {46, 48, "hardware slowdown"},  // PROCHOT
                                              {56, 57, "power cap"}}};        // PPM

std::vector<std::string> reasons_of(std::uint64_t status) {
  std::vector<std::string> names;
  for (const Bits& bits : status_bits) {
    const std::uint64_t mask = ((std::uint64_t{1} << (bits.end - bits.first)) - 1) << bits.first;
    if ((status & mask) != 0 && std::find(names.begin(), names.end(), bits.name) == names.end()) {
      names.emplace_back(bits.name);
    }
  }
  return names;
}

}  // namespace

GpuMetrics parse_gpu_metrics(std::string_view bytes, bool is_energy_known) {
  const auto size = integer_at<std::uint16_t>(bytes, 0);
  if (!size || *size > bytes.size() || bytes[2] != 1) {
    return {};
  }
  bytes = bytes.substr(0, *size);
  GpuMetrics metrics;
  switch (bytes[3]) {
    case 3: {
      metrics.energy_j = is_energy_known ? energy_at(bytes, 24) : std::nullopt;
      const std::uint64_t status = integer_at<std::uint64_t>(bytes, 112).value_or(0);
      const bool is_told = status != std::numeric_limits<std::uint64_t>::max();
      metrics.throttle_reasons = reasons_of(is_told ? status : 0);
      break;
    }
    case 4:
      metrics.energy_j = energy_at(bytes, 24);
      break;
    case 5:
      metrics.energy_j = energy_at(bytes, 88);
      break;
    case 6:
      metrics.energy_j = energy_at(bytes, 16);
      metrics.residency = residency_at(bytes, 36);
      break;
    case 7:
    case 8:
      metrics.energy_j = energy_at(bytes, 24);
      metrics.residency = residency_at(bytes, 44);
      break;
    default:
      break;
  }
  return metrics;
}

std::vector<std::string> throttled_between(const ThrottleResidency& before,
                                           const ThrottleResidency& after) {
  constexpr std::array<const char*, 5> names = {"hardware slowdown", "power cap", "thermal",
                                                "voltage regulator thermal", "memory thermal"};
  std::vector<std::string> found;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (before[i] != after[i]) {
      found.emplace_back(names[i]);
    }
  }
  return found;
}

}  // namespace hipscope::detail
