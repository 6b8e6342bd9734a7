// Telemetry by the files of AMD's driver, in a tree of a test's own.
#include <dlfcn.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <map>
#include <set>

#include "gpu_metrics.h"
#include "gpu_metrics_layouts.h"
#include "hipscope/telemetry.h"
#include "test_support.h"

namespace hipscope {
namespace {

namespace fs = std::filesystem;

using Names = std::vector<std::string>;

// A table of this version, whose members are as in the kernel's header.
class Table {
 public:
  explicit Table(const char* version, char filler = 0)
      : layout_(gpu_metrics_layouts.at(version)), bytes_(layout_.size, filler) {
    const auto size = static_cast<std::uint16_t>(layout_.size);
    std::memcpy(bytes_.data(), &size, sizeof size);
    bytes_[2] = static_cast<char>(version[0] - '0');
    bytes_[3] = static_cast<char>(version[2] - '0');
  }
  template <typename Integer>
  Table& put(const std::string& member, Integer value) {
    const Place& place = layout_.members.at(member);
    EXPECT_EQ(place.bytes, sizeof value) << member;
    std::memcpy(bytes_.data() + place.offset, &value, sizeof value);
    return *this;
  }
  [[nodiscard]] const std::string& bytes() const { return bytes_; }
  [[nodiscard]] bool has(const std::string& member) const {
    return layout_.members.count(member) > 0;
  }

 private:
  const Layout& layout_;
  std::string bytes_;
};

constexpr std::uint64_t joules_65536 = std::uint64_t{1} << 32;  // in 2^-16 J

// A version from after these were published.
std::string unknown_table() { return {"\x08\x00\x01\x09\x01\x01\x01\x01", 8}; }

class SysfsTelemetry : public HarnessTest {
 protected:
  SysfsTelemetry() {
    const fs::path bridge = fs::path(path("devices")) / "0000:16:00.0";
    card_ = bridge / "0000:17:00.0" / "0000:1b:00.0";
    hwmon_ = card_ / "hwmon" / "hwmon5";
    fs::create_directories(hwmon_);
    fs::create_directories(card_ / "ras");
    fs::create_directories(path("bus/pci/devices"));
    fs::create_directory_symlink(card_, path("bus/pci/devices/0000:1b:00.0"));
    for (const auto& [folder, vendor, speed, width] :
         {std::tuple{card_, "0x1002", "32.0 GT/s PCIe", "16"},
          std::tuple{card_.parent_path(), "0x1002", "16.0 GT/s PCIe", "8"},
          std::tuple{bridge, "0x8086", "2.5 GT/s PCIe", "1"}}) {
      put(folder / "vendor", vendor);
      put(folder / "current_link_speed", speed);
      put(folder / "current_link_width", width);
      put(folder / "max_link_speed", "16.0 GT/s PCIe");
      put(folder / "max_link_width", "16");
    }
    put(card_ / "unique_id", "1a2b3c4d5e6f7081");
    put(card_ / "serial_number", "PCB012345");
    put(card_ / "vbios_version", "113-D67301-063");
    put(card_ / "current_compute_partition", "SPX");
    put(card_ / "current_memory_partition", "NPS1");
    put(hwmon_ / "name", "amdgpu");
    put(hwmon_ / "power1_average", "412000000");
    put(hwmon_ / "power1_cap", "560000000");
    put(hwmon_ / "temp1_label", "edge");
    put(hwmon_ / "temp1_input", "41000");
    put(hwmon_ / "temp2_label", "junction");
    put(hwmon_ / "temp2_input", "55500");
    put(hwmon_ / "temp3_label", "mem");
    put(hwmon_ / "temp3_input", "62000");
    put(hwmon_ / "freq1_input", "1700000000");
    put(hwmon_ / "freq2_input", "1600000000");
    put(card_ / "ras" / "features", "feature mask: 0x5");
    put(card_ / "ras" / "umc_err_count", "ue: 1\nce: 12");
    put(card_ / "ras" / "gpu_vram_bad_pages",
        "0x00000001 : 0x00001000 : R\n0x00000002 : 0x00001000 : P\n0x00000003 : 0x00001000 : R");
    put_metrics(Table("1.7").put("energy_accumulator", joules_65536));
  }

  static void put(const fs::path& file, const std::string& text) {
    write_file(file.string(), text + "\n");
  }
  void put_metrics(const std::string& bytes) {
    write_file((card_ / "gpu_metrics").string(), bytes);
  }
  void put_metrics(const Table& table) { put_metrics(table.bytes()); }
  [[nodiscard]] Telemetry open(const std::string& architecture = "gfx942",
                               std::uint64_t memory_bytes = std::uint64_t{1} << 29,
                               const std::string& pci_address = "0000:1b:00.0") const {
    DeviceDescription device;
    device.architecture = architecture;
    device.memory_bytes = memory_bytes;
    device.pci_address = pci_address;
    return Telemetry::open(device, {.sysfs = path(""), .amd_smi_library = amd_smi_});
  }

  fs::path card_;
  fs::path hwmon_;
  std::string amd_smi_ = path("libamd_smi.so");  // which is not there
};

TEST_F(SysfsTelemetry, ReadsEverySensorInItsUnit) {
  const Telemetry telemetry = open();
  ASSERT_TRUE(telemetry) << telemetry.why_not();
  EXPECT_EQ(telemetry.source(), "sysfs of amdgpu");
  EXPECT_EQ(telemetry.why_not(), "");
  const TelemetryReading reading = telemetry.reading();
  EXPECT_DOUBLE_EQ(reading.power_w.value(), 412);
  EXPECT_DOUBLE_EQ(reading.energy_j.value(), 65536);
  EXPECT_DOUBLE_EQ(reading.temperature_c.value(), 55.5) << "of the junction, not the edge";
  EXPECT_DOUBLE_EQ(reading.memory_temperature_c.value(), 62);
  EXPECT_DOUBLE_EQ(reading.shader_mhz.value(), 1700);
  EXPECT_DOUBLE_EQ(reading.memory_mhz.value(), 1600);
  EXPECT_EQ(reading.ecc_corrected, 12);
  EXPECT_EQ(reading.ecc_uncorrected, 1);
  EXPECT_EQ(reading.rows_remapped, 2);
  EXPECT_EQ(reading.throttle_reasons, Names{});
}

TEST_F(SysfsTelemetry, SaysWhichDeviceItIs) {
  const DeviceIdentity identity = open().identity();
  EXPECT_EQ(identity.uuid, "GPU-1a2b3c4d5e6f7081");
  EXPECT_EQ(identity.pci_address, "0000:1b:00.0");
  EXPECT_EQ(identity.serial, "PCB012345");
  EXPECT_EQ(identity.vbios, "113-D67301-063");
  EXPECT_EQ(identity.partition, "SPX, NPS1");
  EXPECT_DOUBLE_EQ(identity.power_cap_w.value(), 560);
  EXPECT_EQ(identity.ecc, true);
}

TEST_F(SysfsTelemetry, TheLinkIsThatOfTheCardsOuterSwitch) {
  const HostLink link = open().identity().link;
  EXPECT_EQ(link.speed_gts, 16);
  EXPECT_EQ(link.width, 8);
  EXPECT_EQ(link.generation, 4);
  EXPECT_EQ(link.maximum_generation, 4);
  EXPECT_EQ(link.maximum_width, 16);
}

TEST_F(SysfsTelemetry, NewerCardsCallTheirPowerInput) {
  fs::rename(hwmon_ / "power1_average", hwmon_ / "power1_input");
  EXPECT_DOUBLE_EQ(open().reading().power_w.value(), 412);
}

TEST_F(SysfsTelemetry, TheEdgeStandsForAJunctionThatIsNotTold) {
  put(hwmon_ / "temp2_label", "somewhere");
  EXPECT_DOUBLE_EQ(open().reading().temperature_c.value(), 41);
}

TEST_F(SysfsTelemetry, WhatIsNotThereIsLeftOut) {
  fs::remove_all(card_ / "hwmon");
  fs::remove_all(card_ / "ras");
  for (const char* name : {"gpu_metrics", "unique_id", "serial_number", "vbios_version",
                           "current_compute_partition", "current_memory_partition"}) {
    fs::remove(card_ / name);
  }
  const Telemetry telemetry = open();
  ASSERT_TRUE(telemetry);
  EXPECT_EQ(telemetry.why_not(), "");
  EXPECT_TRUE(telemetry.reading().empty());
  EXPECT_EQ(telemetry.identity().uuid, "");
  EXPECT_EQ(telemetry.identity().partition, "");
  EXPECT_FALSE(telemetry.identity().ecc);
  EXPECT_FALSE(telemetry.identity().power_cap_w);
}

TEST_F(SysfsTelemetry, AnotherDriversSensorsAreNotTaken) {
  put(hwmon_ / "name", "nvme");
  EXPECT_FALSE(open().reading().power_w);
}

TEST_F(SysfsTelemetry, ValuesThatNoSensorHasAreLeftOut) {
  put(hwmon_ / "power1_average", "0");
  put(hwmon_ / "temp2_input", "65535000");
  put(hwmon_ / "temp3_input", "N/A");
  put(hwmon_ / "freq1_input", "");
  put(hwmon_ / "freq2_input", "99999999999999");
  put(hwmon_ / "power1_cap", "-1");
  put(card_ / "ras" / "umc_err_count", "ue: many\nce: 12");
  write_file((card_ / "ras" / "gpu_vram_bad_pages").string(), "");
  const Telemetry telemetry = open();
  const TelemetryReading reading = telemetry.reading();
  EXPECT_FALSE(reading.power_w);
  EXPECT_FALSE(reading.temperature_c);
  EXPECT_FALSE(reading.memory_temperature_c);
  EXPECT_FALSE(reading.shader_mhz);
  EXPECT_FALSE(reading.memory_mhz);
  EXPECT_FALSE(telemetry.identity().power_cap_w);
  EXPECT_FALSE(reading.ecc_uncorrected);
  EXPECT_EQ(reading.rows_remapped, 0) << "an empty list has none";
}

TEST_F(SysfsTelemetry, AMissingPermissionIsOneLine) {
  if (geteuid() == 0) {
    GTEST_SKIP() << "root may read everything";
  }
  ::chmod((hwmon_ / "power1_average").c_str(), 0);
  ::chmod((card_ / "gpu_metrics").c_str(), 0);
  const Telemetry telemetry = open();
  ASSERT_TRUE(telemetry);
  EXPECT_EQ(telemetry.why_not(), "no permission: gpu_metrics, power");
  EXPECT_TRUE(telemetry.reading().temperature_c);
}

TEST_F(SysfsTelemetry, ADeviceThatIsNotAmdsHasNone) {
  put(card_ / "vendor", "0x10de");
  const Telemetry telemetry = open();
  EXPECT_FALSE(telemetry);
  EXPECT_EQ(telemetry.why_not(), path("bus/pci/devices/0000:1b:00.0") + " is no AMD GPU's");
}

TEST_F(SysfsTelemetry, AContainerMayShowNoDevices) {
  fs::remove(path("bus/pci/devices/0000:1b:00.0"));
  const Telemetry telemetry = open();
  EXPECT_FALSE(telemetry);
  EXPECT_EQ(telemetry.why_not(),
            path("bus/pci/devices/0000:1b:00.0") + " is not there: a container may not show it");
  EXPECT_EQ(telemetry.identity().pci_address, "0000:1b:00.0");
}

TEST_F(SysfsTelemetry, APartitionHasTheSensorsOfTheWholeCard) {
  put(card_ / "current_compute_partition", "CPX");
  put(card_ / "current_memory_partition", "NPS4");
  const Telemetry telemetry = open();
  EXPECT_EQ(telemetry.identity().partition, "CPX, NPS4");
  EXPECT_EQ(telemetry.why_not(),
            "the sensors, and the name, are the whole card's, of which this is a part (CPX)");
}

TEST_F(SysfsTelemetry, PartitionsAreFunctionsThatPciDoesNotKnow) {
  const auto opened_at = [&](const std::string& pci_address) {
    return open("gfx942", std::uint64_t{1} << 29, pci_address);
  };
  EXPECT_FALSE(opened_at("0000:1c:00.3")) << "another card's";
  put(card_ / "current_compute_partition", "CPX");
  std::set<std::string> ids;
  for (const std::string pci_address : {"0000:1b:00.0", "0000:1b:00.3", "0000:1b:00.7"}) {
    const Telemetry telemetry = opened_at(pci_address);
    ASSERT_TRUE(telemetry) << telemetry.why_not();
    EXPECT_EQ(telemetry.identity().pci_address, pci_address);
    EXPECT_EQ(telemetry.identity().serial, "PCB012345");
    ids.insert(telemetry.identity().uuid);
  }
  EXPECT_EQ(ids, (std::set<std::string>{"GPU-1a2b3c4d5e6f7081-0", "GPU-1a2b3c4d5e6f7081-3",
                                        "GPU-1a2b3c4d5e6f7081-7"}));
}

TEST_F(SysfsTelemetry, AProcessorsGpuHasTheHostsMemory) {
  put(card_ / "mem_info_vram_total", "536870912");
  EXPECT_EQ(open("gfx1151").why_not(), "") << "the runtime has the memory that is set apart";
  EXPECT_EQ(open("gfx1151", 63ULL << 30).why_not(),
            "its memory is the host's: of 67645734912 bytes 536870912 are set apart for it");
}

TEST_F(SysfsTelemetry, AnArchitectureThatTheEnvironmentSetsIsTold) {
  ::setenv("HSA_OVERRIDE_GFX_VERSION", "11.0.0", 1);
  const Telemetry telemetry = open("gfx1100");
  ::unsetenv("HSA_OVERRIDE_GFX_VERSION");
  EXPECT_EQ(telemetry.why_not(),
            "HSA_OVERRIDE_GFX_VERSION is '11.0.0': the GPU may be of another architecture than it "
            "says");
}

TEST_F(SysfsTelemetry, ATableOfAnUnknownVersionIsNamed) {
  put_metrics(unknown_table());
  const Telemetry telemetry = open();
  EXPECT_EQ(telemetry.why_not(), "gpu_metrics is of version 1.9, which is not known here");
  EXPECT_FALSE(telemetry.reading().energy_j);
  EXPECT_EQ(telemetry.throttle_reasons(), Names{});
}

TEST_F(SysfsTelemetry, WithoutAPciAddressThereIsNone) {
  DeviceDescription device;
  device.architecture = "gfx90a";
  EXPECT_EQ(Telemetry::open(device).why_not(), "the runtime tells no PCI address");
}

TEST_F(SysfsTelemetry, NewTablesTellWhatThrottledSinceTheLastLook) {
  const Telemetry telemetry = open();
  EXPECT_EQ(telemetry.throttle_reasons(), Names{});
  put_metrics(Table("1.7")
                  .put("energy_accumulator", joules_65536)
                  .put("ppt_residency_acc", std::uint32_t{7}));
  EXPECT_EQ(telemetry.throttle_reasons(), Names{"power cap"});
  EXPECT_EQ(telemetry.throttle_reasons(), Names{}) << "nothing was added since";
}

TEST_F(SysfsTelemetry, OlderTablesTellWhatThrottlesNow) {
  put_metrics(Table("1.3").put("indep_throttle_status", std::uint64_t{1} << 36 | 1));
  const Telemetry telemetry = open("gfx90a");
  EXPECT_EQ(telemetry.throttle_reasons(), (Names{"power cap", "thermal"}));
  EXPECT_EQ(telemetry.throttle_reasons(), (Names{"power cap", "thermal"}));
}

TEST_F(SysfsTelemetry, TheLibraryTellsWhatTheFilesDoNot) {
  amd_smi_ = HIPSCOPE_FAKE_AMD_SMI;
  void* const library = dlopen(amd_smi_.c_str(), RTLD_NOW);
  ASSERT_NE(library, nullptr);
  const auto started = reinterpret_cast<int (*)()>(dlsym(library, "fake_amd_smi_started"));
  EXPECT_EQ(open().source(), "sysfs of amdgpu") << "the files tell all";
  EXPECT_EQ(open().reading().ecc_corrected, 12);
  fs::remove_all(card_ / "ras");
  put_metrics(unknown_table());
  {
    const Telemetry telemetry = open();
    EXPECT_EQ(telemetry.source(), "sysfs of amdgpu, AMD SMI");
    const TelemetryReading reading = telemetry.reading();
    EXPECT_NEAR(reading.energy_j.value(), 30.5, 1e-6);
    EXPECT_EQ(reading.ecc_corrected, 7);
    EXPECT_EQ(reading.ecc_uncorrected, 8);
    EXPECT_EQ(started(), 1);
  }
  EXPECT_EQ(started(), 0);
  dlclose(library);
}

detail::GpuMetrics parse(const Table& table, bool is_energy_known = true) {
  return detail::parse_gpu_metrics(table.bytes(), is_energy_known);
}

TEST(GpuMetrics, EnergyIsReadWhereItHasAUnit) {
  std::set<std::string> read;
  std::set<std::string> of_gfx90a;
  for (const auto& [version, layout] : gpu_metrics_layouts) {
    Table table(version.c_str());
    if (table.has("energy_accumulator") && version != "1.0") {
      table.put("energy_accumulator", joules_65536);
      (parse(table, false).energy_j ? read : of_gfx90a).insert(version);
      EXPECT_EQ(parse(table).energy_j, 65536) << version;
    } else {
      EXPECT_FALSE(parse(Table(version.c_str(), 1)).energy_j) << version;
    }
  }
  EXPECT_EQ(read, (std::set<std::string>{"1.4", "1.5", "1.6", "1.7", "1.8"}));
  EXPECT_EQ(of_gfx90a, (std::set<std::string>{"1.1", "1.2", "1.3"}));
}

TEST(GpuMetrics, EveryResidencyHasItsName) {
  const std::map<std::string, const char*> names = {
      {"prochot_residency_acc", "hardware slowdown"},
      {"ppt_residency_acc", "power cap"},
      {"socket_thm_residency_acc", "thermal"},
      {"vr_thm_residency_acc", "voltage regulator thermal"},
      {"hbm_thm_residency_acc", "memory thermal"},
      {"throttle_residency_prochot", "hardware slowdown"},
      {"throttle_residency_spl", "power cap"},
      {"throttle_residency_fppt", "power cap"},
      {"throttle_residency_sppt", "power cap"},
      {"throttle_residency_thm_core", "thermal"},
      {"throttle_residency_thm_gfx", "thermal"},
      {"throttle_residency_thm_soc", "thermal"},
  };
  std::size_t found = 0;
  for (const auto& [version, layout] : gpu_metrics_layouts) {
    const Table none(version.c_str());
    for (const auto& [member, place] : layout.members) {
      Table some = none;
      const auto name = names.find(member);
      if (place.bytes == sizeof(std::uint32_t)) {
        some.put(member, std::uint32_t{1});
        EXPECT_EQ(detail::throttled_between(parse(none).residency, parse(some).residency),
                  name == names.end() ? Names{} : Names{name->second})
            << version << " " << member;
      }
      found += name != names.end() ? 1 : 0;
    }
  }
  EXPECT_EQ(found, 3 * 5 + 7);
}

TEST(GpuMetrics, EveryBitOfAStatusHasItsName) {
  for (const char* version : {"1.3", "2.2", "2.3", "2.4"}) {
    const auto reason = [&](unsigned bit) {
      return parse(Table(version).put("indep_throttle_status", std::uint64_t{1} << bit))
          .throttle_reasons;
    };
    EXPECT_EQ(reason(0), Names{"power cap"});
    EXPECT_EQ(reason(7), Names{"power cap"});
    EXPECT_EQ(reason(16), Names{"current limit"});
    EXPECT_EQ(reason(23), Names{"current limit"});
    EXPECT_EQ(reason(32), Names{"thermal"});
    EXPECT_EQ(reason(34), Names{"memory thermal"});
    EXPECT_EQ(reason(37), Names{"thermal"});
    EXPECT_EQ(reason(40), Names{"voltage regulator thermal"});
    EXPECT_EQ(reason(47), Names{"hardware slowdown"});
    EXPECT_EQ(reason(56), Names{"power cap"});
    EXPECT_EQ(reason(63), Names{});
  }
}

TEST(GpuMetrics, WhatAnOldDriverDoesNotKnowIsAllOnes) {
  for (const auto& [version, layout] : gpu_metrics_layouts) {
    const detail::GpuMetrics metrics = parse(Table(version.c_str(), '\xff'));
    EXPECT_FALSE(metrics.energy_j) << version;
    EXPECT_EQ(metrics.throttle_reasons, Names{}) << version;
  }
}

TEST(GpuMetrics, TablesThatAreCutSayNothing) {
  for (const auto& [version, layout] : gpu_metrics_layouts) {
    const Table whole(version.c_str(), 1);
    for (std::size_t length = 0; length < layout.size; ++length) {
      const detail::GpuMetrics metrics =
          detail::parse_gpu_metrics(whole.bytes().substr(0, length), true);
      EXPECT_FALSE(metrics.energy_j) << version;
      EXPECT_TRUE(metrics.residency.empty()) << version;
      EXPECT_TRUE(metrics.throttle_reasons.empty()) << version;
      EXPECT_EQ(metrics.unread, "");
    }
  }
}

}  // namespace
}  // namespace hipscope
