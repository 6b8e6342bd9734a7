// The places of the members are those of struct gpu_metrics_v1_0 to v3_0 in Linux,
// drivers/gpu/drm/amd/include/kgd_pp_interface.h, the bits of a throttle status those of
// drivers/gpu/drm/amd/pm/swsmu/inc/amdgpu_smu.h.
#include "gpu_metrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <span>

namespace hipscope::detail {

namespace {

constexpr double joules_per_count = 0x1p-16;

// Neighbouring counters of 32 bits, by what they are called here.
constexpr std::array residencies_of_cards = {"hardware slowdown", "power cap", "thermal",
                                             "voltage regulator thermal", "memory thermal"};
constexpr std::array residencies_of_processors = {
    "hardware slowdown", "power cap", "power cap", "power cap", "thermal", "thermal", "thermal"};

// Where a version has what is read here; 0: nowhere. What it has in units or bits that depend on
// the GPU is not read: the energy of 1.0, a throttle status of 32 bits.
struct Layout {
  char format;
  char content;
  std::size_t energy = 0;  // 64 bits
  bool has_its_unit = false;
  std::size_t status = 0;  // 64 bits, whose meaning does not depend on the GPU
  std::size_t residency = 0;
  std::span<const char* const> residency_names{};
};
constexpr std::array<Layout, 15> layouts = {{
    {.format = 1, .content = 0},
    {.format = 1, .content = 1, .energy = 24},
    {.format = 1, .content = 2, .energy = 24},
    {.format = 1, .content = 3, .energy = 24, .status = 112},
    {.format = 1, .content = 4, .energy = 24, .has_its_unit = true},
    {.format = 1, .content = 5, .energy = 88, .has_its_unit = true},
    {.format = 1,
     .content = 6,
     .energy = 16,
     .has_its_unit = true,
     .residency = 36,
     .residency_names = residencies_of_cards},
    {.format = 1,
     .content = 7,
     .energy = 24,
     .has_its_unit = true,
     .residency = 44,
     .residency_names = residencies_of_cards},
    {.format = 1,
     .content = 8,
     .energy = 24,
     .has_its_unit = true,
     .residency = 44,
     .residency_names = residencies_of_cards},
    {.format = 2, .content = 0},
    {.format = 2, .content = 1},
    {.format = 2, .content = 2, .status = 120},
    {.format = 2, .content = 3, .status = 120},
    {.format = 2, .content = 4, .status = 120},
    {.format = 3, .content = 0, .residency = 228, .residency_names = residencies_of_processors},
}};

template <typename Integer>
std::optional<Integer> integer_at(std::string_view bytes, std::size_t offset) {
  Integer value = 0;
  if (offset + sizeof value > bytes.size()) {
    return std::nullopt;
  }
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

// A driver writes all ones for what its firmware does not tell.
std::optional<std::uint64_t> told_at(std::string_view bytes, std::size_t offset) {
  const auto value = integer_at<std::uint64_t>(bytes, offset);
  return value == std::numeric_limits<std::uint64_t>::max() ? std::nullopt : value;
}

ThrottleResidency residency_of(std::string_view bytes, const Layout& layout) {
  ThrottleResidency residency;
  std::size_t offset = layout.residency;
  for (const char* const name : layout.residency_names) {
    const auto value = integer_at<std::uint32_t>(bytes, offset);
    if (!value) {
      return {};
    }
    residency.emplace_back(name, *value);
    offset += sizeof *value;
  }
  return residency;
}

void add_once(std::vector<std::string>& names, const char* name) {
  if (std::find(names.begin(), names.end(), name) == names.end()) {
    names.emplace_back(name);
  }
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
    if ((status & mask) != 0) {
      add_once(names, bits.name);
    }
  }
  return names;
}

}  // namespace

GpuMetrics parse_gpu_metrics(std::string_view bytes, bool is_energy_known) {
  const auto size = integer_at<std::uint16_t>(bytes, 0);
  if (!size || *size > bytes.size() || *size < 4) {
    return {};
  }
  const auto* const layout = std::find_if(layouts.begin(), layouts.end(), [&](const Layout& one) {
    return one.format == bytes[2] && one.content == bytes[3];
  });
  if (layout == layouts.end()) {
    return {.unread = fmt::format("{}.{}", int{bytes[2]}, int{bytes[3]})};
  }
  bytes = bytes.substr(0, *size);
  GpuMetrics metrics;
  if (layout->energy > 0 && (layout->has_its_unit || is_energy_known)) {
    const std::uint64_t count = told_at(bytes, layout->energy).value_or(0);
    metrics.energy_j =
        count > 0 ? std::optional(joules_per_count * static_cast<double>(count)) : std::nullopt;
  }
  if (layout->status > 0) {
    metrics.throttle_reasons = reasons_of(told_at(bytes, layout->status).value_or(0));
  }
  metrics.residency = residency_of(bytes, *layout);
  return metrics;
}

std::vector<std::string> throttled_between(const ThrottleResidency& before,
                                           const ThrottleResidency& after) {
  std::vector<std::string> found;
  for (std::size_t i = 0; i < std::min(before.size(), after.size()); ++i) {
    if (before[i].second != after[i].second) {
      add_once(found, after[i].first);
    }
  }
  return found;
}

}  // namespace hipscope::detail
