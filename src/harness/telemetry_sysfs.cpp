// What AMD's driver, amdgpu, has in sysfs: hwmon's sensors, the table gpu_metrics, the counters of
// RAS, and which card it is. docs.kernel.org/gpu/amdgpu describes the files.
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <utility>

#include "amd_smi.h"
#include "gpu_metrics.h"
#include "telemetry_sources.h"

namespace hipscope::detail {

namespace {

namespace fs = std::filesystem;

// Text, or why there is none.
struct FileText {
  std::optional<std::string> text{};
  bool is_refused = false;
};

FileText read_file(const fs::path& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  std::array<char, 4096> part{};
  std::string text;
  ssize_t bytes = descriptor < 0 ? -1 : 0;
  while (descriptor >= 0 && (bytes = ::read(descriptor, part.data(), part.size())) > 0) {
    text.append(part.data(), static_cast<std::size_t>(bytes));
  }
  const bool is_refused = bytes < 0 && (errno == EACCES || errno == EPERM);
  if (descriptor >= 0) {
    ::close(descriptor);
  }
  return {.text = bytes < 0 ? std::nullopt : std::optional(std::move(text)),
          .is_refused = is_refused};
}

std::string one_line(const std::string& text) {
  const std::size_t end = text.find('\n');
  return text.substr(0, end);
}

// The number that a text begins with.
std::optional<double> number_in(const std::string& text) {
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  return end != text.c_str() ? std::optional(number) : std::nullopt;
}

bool is_amd(const fs::path& pci_device) {
  return one_line(read_file(pci_device / "vendor").text.value_or("")) == "0x1002";
}

int generation_of(double speed_gts) {
  constexpr double slack = 0.1;
  int generation = 0;
  for (const double speed : {2.5, 5.0, 8.0, 16.0, 32.0, 64.0}) {
    generation += speed_gts > speed - slack ? 1 : 0;
  }
  return generation;
}

class AmdSysfs final : public RefusableSource {
 public:
  AmdSysfs(fs::path folder, const DeviceDescription& device, const std::string& amd_smi)
      : folder_(std::move(folder)),
        pci_address_(device.pci_address),
        is_energy_known_(device.architecture.starts_with("gfx90a")) {
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(folder_ / "hwmon", ignored)) {
      if (one_line(read_file(entry.path() / "name").text.value_or("")) == "amdgpu") {
        sensors_ = entry.path();
      }
    }
    for (int i = 1; i <= most_sensors && !sensors_.empty(); ++i) {
      const std::string name = "temp" + std::to_string(i);
      const std::string label = line("temperature", sensors_ / (name + "_label"));
      if (label == "junction" || (label == "edge" && temperature_.empty())) {
        temperature_ = sensors_ / (name + "_input");
      } else if (label == "mem") {
        memory_temperature_ = sensors_ / (name + "_input");
      }
    }
    TelemetryReading reading;
    read_sensors(reading);
    read_counters(reading);
    if (!reading.energy_j || !(reading.ecc_corrected || reading.ecc_uncorrected)) {
      amd_smi_ = AmdSmi::open(amd_smi, folder_.filename().string());
    }
    add_remarks(device);
  }

  [[nodiscard]] std::string name() const override {
    return amd_smi_ ? "sysfs of amdgpu, AMD SMI" : "sysfs of amdgpu";
  }

  [[nodiscard]] DeviceIdentity identity() override {
    std::string id = line("UUID", folder_ / "unique_id");
    if (!id.empty() && is_partition()) {
      // The card's, which its partitions share.
      id += std::string("-") + pci_address_.back();
    }
    return {.uuid = id.empty() ? "" : "GPU-" + id,
            .pci_address = pci_address_,
            .serial = line("serial number", folder_ / "serial_number"),
            .vbios = line("VBIOS", folder_ / "vbios_version"),
            .partition = partition(),
            .power_cap_w = sensor("power cap", watts, 1e-6, "power1_cap"),
            .ecc = ecc(),
            .link = link()};
  }

  void read_sensors(TelemetryReading& reading) override {
    reading.power_w = sensor("power", watts, 1e-6, "power1_average");
    if (!reading.power_w) {
      reading.power_w = sensor("power", watts, 1e-6, "power1_input");
    }
    reading.temperature_c = value("temperature", degrees, 1e-3, temperature_);
    reading.memory_temperature_c = value("temperature", degrees, 1e-3, memory_temperature_);
    reading.shader_mhz = sensor("clocks", megahertz, 1e-6, "freq1_input");
    reading.memory_mhz = sensor("clocks", megahertz, 1e-6, "freq2_input");
    GpuMetrics metrics = read_metrics();
    reading.energy_j = metrics.energy_j;
    reading.throttle_reasons = reasons(std::move(metrics));
    if (amd_smi_) {
      amd_smi_->add_sensors(reading);
    }
  }

  void read_counters(TelemetryReading& reading) override {
    std::istringstream errors(text("ECC errors", folder_ / "ras" / "umc_err_count"));
    std::string which;
    double count = 0;
    while (errors >> which >> count) {
      if (which == "ue:") {
        reading.ecc_uncorrected = within(counts, count);
      } else if (which == "ce:") {
        reading.ecc_corrected = within(counts, count);
      }
    }
    const FileText pages = read_file(folder_ / "ras" / "gpu_vram_bad_pages");
    note("bad pages", pages);
    if (pages.text) {
      reading.rows_remapped = retired_pages(*pages.text);
    }
    if (amd_smi_) {
      amd_smi_->add_counters(reading);
    }
  }

  [[nodiscard]] std::vector<std::string> throttle_reasons() override {
    return reasons(read_metrics());
  }

 private:
  static constexpr int most_sensors = 8;

  void note(const char* what, const FileText& file) {
    if (file.is_refused) {
      refuse(what);
    }
  }

  std::string text(const char* what, const fs::path& path) {
    FileText file = read_file(path);
    note(what, file);
    return file.text.value_or("");
  }

  std::string line(const char* what, const fs::path& path) { return one_line(text(what, path)); }

  std::optional<double> value(const char* what, const SensorRange& range, double unit,
                              const fs::path& path) {
    if (path.empty()) {
      return std::nullopt;
    }
    const std::optional<double> number = number_in(text(what, path));
    return number ? within(range, unit * *number) : std::nullopt;
  }

  std::optional<double> sensor(const char* what, const SensorRange& range, double unit,
                               const char* name) {
    return sensors_.empty() ? std::nullopt : value(what, range, unit, sensors_ / name);
  }

  // What makes a device less, or another one, than it seems.
  void add_remarks(const DeviceDescription& device) {
    if (is_partition()) {
      remark("the sensors, and the name, are the whole card's, of which this is a part (" +
             partition_mode() + ")");
    }
    // Of a GPU in a processor the BIOS sets some memory apart; the driver lends the rest (GTT).
    const std::string vram = line("memory", folder_ / "mem_info_vram_total");
    if (static_cast<double>(device.memory_bytes) > number_in(vram).value_or(HUGE_VAL)) {
      remark("its memory is the host's: of " + std::to_string(device.memory_bytes) + " bytes " +
             vram + " are set apart for it");
    }
    if (const char* const version = std::getenv("HSA_OVERRIDE_GFX_VERSION")) {
      remark("HSA_OVERRIDE_GFX_VERSION is '" + std::string(version) +
             "': the GPU may be of another architecture than it says");
    }
  }

  GpuMetrics read_metrics() {
    GpuMetrics metrics =
        parse_gpu_metrics(text("gpu_metrics", folder_ / "gpu_metrics"), is_energy_known_);
    if (!metrics.unread.empty()) {
      remark("gpu_metrics is of version " + metrics.unread + ", which is not known here");
    }
    return metrics;
  }

  // A table that tells no moment tells for how long: so it is since the last look.
  std::vector<std::string> reasons(GpuMetrics metrics) {
    if (metrics.residency.empty()) {
      return std::move(metrics.throttle_reasons);
    }
    const ThrottleResidency before = std::exchange(residency_, metrics.residency);
    return throttled_between(before, metrics.residency);
  }

  std::string partition_mode() { return line("partition", folder_ / "current_compute_partition"); }

  bool is_partition() {
    const std::string mode = partition_mode();
    return !mode.empty() && mode != "SPX";
  }

  std::string partition() {
    std::string text = partition_mode();
    const std::string memory = line("partition", folder_ / "current_memory_partition");
    text += text.empty() || memory.empty() ? "" : ", ";
    return text + memory;
  }

  // "feature mask: 0x..." has a bit for each part that RAS looks after; the first is the memory's.
  std::optional<bool> ecc() {
    const std::string features = line("ECC", folder_ / "ras" / "features");
    const std::size_t number = features.find("0x");
    if (number == std::string::npos) {
      return std::nullopt;
    }
    return (std::strtoul(features.c_str() + number, nullptr, 16) & 1) != 0;
  }

  // "pfn : size : flag" a line; R: reserved, out of use.
  static double retired_pages(const std::string& pages) {
    std::istringstream lines(pages);
    std::string line;
    double retired = 0;
    while (std::getline(lines, line)) {
      retired += line.ends_with(": R") ? 1 : 0;
    }
    return retired;
  }

  // Many cards have a switch of their own, whose upper end is the link to the host.
  HostLink link() {
    std::error_code ignored;
    fs::path end = fs::canonical(folder_, ignored);
    while (!end.empty() && is_amd(end.parent_path()) &&
           fs::exists(end.parent_path() / "max_link_width")) {
      end = end.parent_path();
    }
    constexpr SensorRange gigatransfers = {.lowest = 1, .highest = 1000};
    constexpr SensorRange lanes = {.lowest = 1, .highest = 32};
    const auto read = [&](const char* name, const SensorRange& range) {
      return value("link", range, 1, end / name).value_or(0);
    };
    HostLink link = {.speed_gts = read("current_link_speed", gigatransfers),
                     .width = static_cast<int>(read("current_link_width", lanes)),
                     .maximum_speed_gts = read("max_link_speed", gigatransfers),
                     .maximum_width = static_cast<int>(read("max_link_width", lanes))};
    link.generation = generation_of(link.speed_gts);
    link.maximum_generation = generation_of(link.maximum_speed_gts);
    return link;
  }

  fs::path folder_;          // of the PCI device
  std::string pci_address_;  // as the runtime tells it
  fs::path sensors_;         // hwmon's
  fs::path temperature_;
  fs::path memory_temperature_;
  bool is_energy_known_;
  ThrottleResidency residency_;
  std::unique_ptr<AmdSmi> amd_smi_;
};

// Of the PCI device, that need not be there. The runtime gives the partitions of a card the
// functions 0, 1, 2 ... of its PCI address, of which PCI knows the first alone
// (https://github.com/ROCm/rocm_smi_lib/issues/208).
fs::path folder_of(const std::string& pci_address, const std::string& sysfs) {
  const fs::path devices = fs::path(sysfs) / "bus" / "pci" / "devices";
  fs::path card = devices / (pci_address.substr(0, pci_address.rfind('.')) + ".0");
  const bool is_of_card =
      !fs::exists(devices / pci_address) && fs::exists(card / "current_compute_partition");
  return is_of_card ? card : devices / pci_address;
}

}  // namespace

OpenedSource open_amd_sysfs(const DeviceDescription& device, const TelemetryPlaces& places) {
  if (device.pci_address.empty()) {
    return {.source = nullptr, .why_not = "the runtime tells no PCI address"};
  }
  const fs::path folder = folder_of(device.pci_address, places.sysfs);
  if (!fs::exists(folder)) {
    return {.source = nullptr,
            .why_not = folder.string() + " is not there: a container may not show it"};
  }
  if (!is_amd(folder)) {
    return {.source = nullptr, .why_not = folder.string() + " is no AMD GPU's"};
  }
  return {.source = std::make_unique<AmdSysfs>(folder, device, places.amd_smi_library),
          .why_not = ""};
}

}  // namespace hipscope::detail
