// Telemetry by the files of AMD's driver, in a tree of a test's own.
#include <dlfcn.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>

#include "gpu_metrics.h"
#include "hipscope/telemetry.h"
#include "test_support.h"

namespace hipscope {
namespace {

namespace fs = std::filesystem;

using Names = std::vector<std::string>;

// A table of this version whose members are 0, or `filler`, but for what a test puts there.
class Table {
 public:
  Table(char format, char content, std::size_t size, char filler = 0) : bytes_(size, filler) {
    put(0, static_cast<std::uint16_t>(size));
    bytes_[2] = format;
    bytes_[3] = content;
  }
  template <typename Integer>
  Table& put(std::size_t offset, Integer value) {
    std::memcpy(bytes_.data() + offset, &value, sizeof value);
    return *this;
  }
  [[nodiscard]] const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

constexpr std::uint64_t joules_65536 = std::uint64_t{1} << 32;  // in 2^-16 J

Table table_1_3() { return {1, 3, 120}; }
Table table_1_7() { return {1, 7, 1000}; }

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
    put_metrics(table_1_7().put(24, joules_65536));
  }

  static void put(const fs::path& file, const std::string& text) {
    write_file(file.string(), text + "\n");
  }
  void put_metrics(const Table& table) {
    write_file((card_ / "gpu_metrics").string(), table.bytes());
  }
  [[nodiscard]] Telemetry open(const std::string& architecture = "gfx942") const {
    DeviceDescription device;
    device.architecture = architecture;
    device.pci_address = "0000:1b:00.0";
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
  EXPECT_NE(telemetry.why_not().find("no AMD GPU's"), std::string::npos) << telemetry.why_not();
  fs::remove(path("bus/pci/devices/0000:1b:00.0"));
  EXPECT_FALSE(open());
  EXPECT_EQ(open().identity().pci_address, "0000:1b:00.0");
}

TEST_F(SysfsTelemetry, WithoutAPciAddressThereIsNone) {
  DeviceDescription device;
  device.architecture = "gfx90a";
  EXPECT_EQ(Telemetry::open(device).why_not(), "the runtime tells no PCI address");
}

TEST_F(SysfsTelemetry, NewTablesTellWhatThrottledSinceTheLastLook) {
  const Telemetry telemetry = open();
  EXPECT_EQ(telemetry.throttle_reasons(), Names{});
  put_metrics(table_1_7().put(24, joules_65536).put(48, std::uint32_t{7}));
  EXPECT_EQ(telemetry.throttle_reasons(), Names{"power cap"});
  EXPECT_EQ(telemetry.throttle_reasons(), Names{}) << "nothing was added since";
}

TEST_F(SysfsTelemetry, OlderTablesTellWhatThrottlesNow) {
  put_metrics(table_1_3().put(112, std::uint64_t{1} << 36 | 1));
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
  put_metrics({1, 9, 1000});
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

TEST(GpuMetrics, EveryVersionHasItsEnergyInItsPlace) {
  const auto energy = [](char content, std::size_t offset) {
    return parse(Table(1, content, 1000).put(offset, joules_65536)).energy_j;
  };
  EXPECT_EQ(energy(3, 24), 65536);
  EXPECT_EQ(energy(4, 24), 65536);
  EXPECT_EQ(energy(5, 88), 65536);
  EXPECT_EQ(energy(6, 16), 65536);
  EXPECT_EQ(energy(7, 24), 65536);
  EXPECT_EQ(energy(8, 24), 65536);
  EXPECT_FALSE(parse(table_1_3().put(24, joules_65536), false).energy_j);
}

TEST(GpuMetrics, EveryResidencyHasItsName) {
  const auto reasons = [](char content, std::size_t offset) {
    const Table none(1, content, 1000);
    Table some = none;
    some.put(offset, std::uint32_t{1});
    return detail::throttled_between(*parse(none).residency, *parse(some).residency);
  };
  for (const auto& [content, first] : {std::pair<char, std::size_t>{6, 36}, {7, 44}, {8, 44}}) {
    EXPECT_EQ(reasons(content, first), Names{"hardware slowdown"});
    EXPECT_EQ(reasons(content, first + 4), Names{"power cap"});
    EXPECT_EQ(reasons(content, first + 8), Names{"thermal"});
    EXPECT_EQ(reasons(content, first + 12), Names{"voltage regulator thermal"});
    EXPECT_EQ(reasons(content, first + 16), Names{"memory thermal"});
    EXPECT_EQ(reasons(content, first + 20), Names{});
    EXPECT_EQ(reasons(content, first - 4), Names{});
  }
}

TEST(GpuMetrics, EveryBitOfAStatusHasItsName) {
  const auto reason = [](unsigned bit) {
    return parse(table_1_3().put(112, std::uint64_t{1} << bit)).throttle_reasons;
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

TEST(GpuMetrics, WhatAnOldDriverDoesNotKnowIsAllOnes) {
  const detail::GpuMetrics metrics = parse({1, 3, 120, '\xff'});
  EXPECT_FALSE(metrics.energy_j);
  EXPECT_EQ(metrics.throttle_reasons, Names{});
}

TEST(GpuMetrics, OtherTablesAndCutOnesSayNothing) {
  for (const Table& table : {Table(2, 3, 1000, 1), Table(1, 9, 1000, 1), Table(1, 0, 1000, 1)}) {
    const detail::GpuMetrics metrics = parse(table);
    EXPECT_FALSE(metrics.energy_j);
    EXPECT_FALSE(metrics.residency);
    EXPECT_TRUE(metrics.throttle_reasons.empty());
  }
  const Table whole = Table(1, 7, 1000, 1);
  for (std::size_t length = 0; length < 100; ++length) {
    EXPECT_FALSE(detail::parse_gpu_metrics(whole.bytes().substr(0, length), true).energy_j);
    EXPECT_FALSE(parse(Table(1, 7, std::max<std::size_t>(length, 4), 1)).residency && length < 64);
  }
}

}  // namespace
}  // namespace hipscope
