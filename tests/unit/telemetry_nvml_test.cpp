// Telemetry by a library that stands in NVML's place.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <limits>
#include <stdexcept>

#include "fake_nvml.h"
#include "hipscope/telemetry.h"

namespace hipscope {
namespace {

constexpr int not_supported = 3;
constexpr int no_permission = 4;
constexpr int driver_not_loaded = 9;

using Names = std::vector<std::string>;

DeviceDescription gpu() {
  DeviceDescription device;
  device.architecture = "sm_90";
  device.uuid = "GPU-00010203-0405-0607-0809-0a0b0c0d0e0f";
  device.pci_address = "0000:1b:00.0";
  return device;
}

class NvmlTelemetry : public ::testing::Test {
 protected:
  explicit NvmlTelemetry(const char* path = HIPSCOPE_FAKE_NVML)
      : path_(path), library_(dlopen(path, RTLD_NOW)) {
    if (library_ == nullptr) {
      throw std::runtime_error(dlerror());
    }
    nvml() = {};
  }
  ~NvmlTelemetry() override {
    EXPECT_EQ(nvml().started, 0) << "it was not ended as often as started";
    dlclose(library_);
  }

  fake::Nvml& nvml() {
    return *reinterpret_cast<decltype(&fake_nvml)>(dlsym(library_, "fake_nvml"))();
  }
  Telemetry open(const DeviceDescription& device = gpu()) {
    return Telemetry::open(device, {.nvml_library = path_});
  }

 private:
  std::string path_;
  void* library_;
};

class OldNvmlTelemetry : public NvmlTelemetry {
 protected:
  OldNvmlTelemetry() : NvmlTelemetry(HIPSCOPE_FAKE_OLD_NVML) {}
};

TEST_F(NvmlTelemetry, ReadsEverySensorInItsUnit) {
  const Telemetry telemetry = open();
  ASSERT_TRUE(telemetry) << telemetry.why_not();
  EXPECT_EQ(telemetry.source(), "NVML 13.580.1");
  EXPECT_EQ(telemetry.why_not(), "");
  const TelemetryReading reading = telemetry.reading();
  EXPECT_DOUBLE_EQ(reading.power_w.value(), 512.25);
  EXPECT_DOUBLE_EQ(reading.energy_j.value(), 12345678.901);
  EXPECT_EQ(reading.temperature_c, 61);
  EXPECT_EQ(reading.memory_temperature_c, 74);
  EXPECT_EQ(reading.shader_mhz, 1755);
  EXPECT_EQ(reading.memory_mhz, 3201);
  EXPECT_EQ(reading.ecc_corrected, 3);
  EXPECT_EQ(reading.ecc_uncorrected, 0);
  EXPECT_EQ(reading.rows_remapped, 2);
  EXPECT_TRUE(reading.throttle_reasons.empty());
}

TEST_F(NvmlTelemetry, SensorsAloneAskForNoCounters) {
  const Telemetry telemetry = open();
  const unsigned asked = nvml().counter_reads;
  const TelemetryReading reading = telemetry.sensors();
  EXPECT_TRUE(reading.power_w);
  EXPECT_FALSE(reading.ecc_corrected);
  EXPECT_FALSE(reading.rows_remapped);
  EXPECT_EQ(nvml().counter_reads, asked);
}

TEST_F(NvmlTelemetry, SaysWhichDeviceItIs) {
  nvml().generation = 4;
  nvml().width = 8;
  const DeviceIdentity identity = open().identity();
  EXPECT_EQ(identity.uuid, "GPU-00010203-0405-0607-0809-0a0b0c0d0e0f");
  EXPECT_EQ(identity.pci_address, "0000:1b:00.0");
  EXPECT_EQ(identity.serial, "1652023000001");
  EXPECT_EQ(identity.vbios, "96.00.89.00.01");
  EXPECT_EQ(identity.partition, "");
  EXPECT_EQ(identity.power_cap_w, 700);
  EXPECT_EQ(identity.ecc, true);
  EXPECT_EQ(identity.link.generation, 4);
  EXPECT_EQ(identity.link.speed_gts, 16);
  EXPECT_EQ(identity.link.width, 8);
  EXPECT_EQ(identity.link.maximum_generation, 5);
  EXPECT_EQ(identity.link.maximum_speed_gts, 32);
  EXPECT_EQ(identity.link.maximum_width, 16);
}

TEST_F(NvmlTelemetry, NamesWhatLowersTheClock) {
  const Telemetry telemetry = open();
  nvml().reasons = 0x1 | 0x2 | 0x100;  // idle, clocks that were set, a display: no reasons
  EXPECT_EQ(telemetry.throttle_reasons(), Names{});
  nvml().reasons = 0x4;
  EXPECT_EQ(telemetry.throttle_reasons(), Names{"power cap"});
  nvml().reasons = 0x8 | 0x10 | 0x20 | 0x40 | 0x80;
  EXPECT_EQ(telemetry.reading().throttle_reasons,
            (Names{"hardware slowdown", "sync boost", "thermal", "power brake"}));
}

TEST_F(NvmlTelemetry, IsFoundByItsPciAddressWhereTheUuidIsNotKnown) {
  DeviceDescription device = gpu();
  device.uuid.clear();
  EXPECT_TRUE(open(device));
  device.uuid = "GPU-ffffffff-0405-0607-0809-0a0b0c0d0e0f";
  const Telemetry telemetry = open(device);
  EXPECT_TRUE(telemetry);
  EXPECT_EQ(telemetry.identity().uuid, nvml().uuid) << "NVML's own";
}

TEST_F(NvmlTelemetry, APartOfAGpuHasItsOwnUuid) {
  nvml().uuid = "GPU-11111111-0000-0000-0000-000000000000";  // the whole GPU's
  nvml().mig_uuid = "MIG-00010203-0405-0607-0809-0a0b0c0d0e0f";
  const Telemetry telemetry = open();
  ASSERT_TRUE(telemetry);
  EXPECT_EQ(telemetry.identity().uuid, "MIG-00010203-0405-0607-0809-0a0b0c0d0e0f");
  EXPECT_EQ(telemetry.identity().partition, "MIG");
}

TEST_F(NvmlTelemetry, AnUnknownDeviceHasNoTelemetry) {
  DeviceDescription device = gpu();
  device.uuid = "GPU-ffffffff-0405-0607-0809-0a0b0c0d0e0f";
  device.pci_address = "0000:ff:00.0";
  const Telemetry telemetry = open(device);
  EXPECT_FALSE(telemetry);
  EXPECT_EQ(telemetry.why_not(), "NVML does not know this device: Not Found");
  EXPECT_TRUE(telemetry.reading().empty());
  EXPECT_EQ(telemetry.identity().uuid, device.uuid) << "what the runtime says stays";
}

TEST_F(NvmlTelemetry, WhatIsNotSupportedIsLeftOut) {
  for (const char* name :
       {"nvmlDeviceGetPowerUsage", "nvmlDeviceGetTotalEnergyConsumption",
        "nvmlDeviceGetTemperature", "nvmlDeviceGetClockInfo", "nvmlDeviceGetTotalEccErrors",
        "nvmlDeviceGetRemappedRows", "nvmlDeviceGetCurrentClocksEventReasons",
        "nvmlDeviceGetSerial", "nvmlDeviceGetEccMode", "nvmlDeviceGetEnforcedPowerLimit",
        "nvmlDeviceGetMigMode", "nvmlDeviceGetCurrPcieLinkGeneration"}) {
    nvml().status[name] = not_supported;
  }
  nvml().memory_status = not_supported;
  const Telemetry telemetry = open();
  ASSERT_TRUE(telemetry);
  EXPECT_TRUE(telemetry.reading().empty());
  EXPECT_EQ(telemetry.why_not(), "") << "nobody can mend that";
  EXPECT_EQ(telemetry.identity().serial, "");
  EXPECT_FALSE(telemetry.identity().ecc);
  EXPECT_FALSE(telemetry.identity().power_cap_w);
  EXPECT_EQ(telemetry.identity().link.generation, 0);
}

TEST_F(NvmlTelemetry, AMissingPermissionIsOneLine) {
  for (const char* name : {"nvmlDeviceGetTotalEccErrors", "nvmlDeviceGetPowerUsage"}) {
    nvml().status[name] = no_permission;
  }
  const Telemetry telemetry = open();
  ASSERT_TRUE(telemetry);
  EXPECT_EQ(telemetry.why_not(), "no permission: ECC errors, power");
  EXPECT_FALSE(telemetry.reading().power_w);
  EXPECT_TRUE(telemetry.reading().temperature_c);
}

TEST_F(NvmlTelemetry, NoPermissionForTheDeviceIsOneLine) {
  nvml().status["nvmlDeviceGetHandleByUUID"] = no_permission;
  nvml().status["nvmlDeviceGetHandleByPciBusId_v2"] = no_permission;
  EXPECT_EQ(open().why_not(), "no permission: NVML's device");
}

TEST_F(NvmlTelemetry, ValuesThatNoSensorHasAreLeftOut) {
  constexpr unsigned not_available = std::numeric_limits<unsigned>::max();
  nvml().power = not_available;
  nvml().energy = std::numeric_limits<unsigned long long>::max();
  nvml().temperature = not_available;
  nvml().memory_temperature = 0;
  nvml().shader_clock = 0;
  nvml().memory_clock = not_available;
  nvml().corrected = std::numeric_limits<unsigned long long>::max();
  nvml().power_cap = 0;
  nvml().generation = not_available;
  const Telemetry telemetry = open();
  const TelemetryReading reading = telemetry.reading();
  EXPECT_FALSE(reading.power_w);
  EXPECT_FALSE(reading.energy_j);
  EXPECT_FALSE(reading.temperature_c);
  EXPECT_FALSE(reading.memory_temperature_c);
  EXPECT_FALSE(reading.shader_mhz);
  EXPECT_FALSE(reading.memory_mhz);
  EXPECT_FALSE(reading.ecc_corrected);
  EXPECT_EQ(reading.ecc_uncorrected, 0);
  EXPECT_FALSE(telemetry.identity().power_cap_w);
  EXPECT_EQ(telemetry.identity().link.generation, 0);
  nvml().power = 700'000'000;  // 700 kW
  EXPECT_FALSE(telemetry.reading().power_w);
}

TEST_F(NvmlTelemetry, ALibraryThatDoesNotStartIsNoTelemetry) {
  nvml().start = driver_not_loaded;
  EXPECT_EQ(open().why_not(), "NVML finds no driver");
  nvml().start = 999;
  const Telemetry telemetry = open();
  EXPECT_FALSE(telemetry);
  EXPECT_EQ(telemetry.why_not(), "NVML does not start: Trouble");
}

TEST_F(OldNvmlTelemetry, AnOldDriverLacksWhatItDoesNotHave) {
  nvml().reasons = 0x4;
  const Telemetry telemetry = open();
  ASSERT_TRUE(telemetry);
  EXPECT_EQ(telemetry.why_not(), "");
  const TelemetryReading reading = telemetry.reading();
  EXPECT_TRUE(reading.power_w);
  EXPECT_FALSE(reading.energy_j);
  EXPECT_FALSE(reading.rows_remapped);
  EXPECT_FALSE(reading.memory_temperature_c);
  EXPECT_FALSE(telemetry.identity().power_cap_w);
  EXPECT_EQ(reading.throttle_reasons, Names{"power cap"}) << "by the call's older name";
}

TEST(NoNvml, IsNoTelemetry) {
  const Telemetry telemetry =
      Telemetry::open(gpu(), {.nvml_library = "/nowhere/libnvidia-ml.so.1"});
  EXPECT_FALSE(telemetry);
  EXPECT_EQ(telemetry.why_not(), "there is no /nowhere/libnvidia-ml.so.1");
  EXPECT_EQ(telemetry.source(), "");
  EXPECT_TRUE(telemetry.reading().empty());
  EXPECT_TRUE(telemetry.throttle_reasons().empty());
  EXPECT_EQ(telemetry.identity().pci_address, "0000:1b:00.0");
}

TEST(NoNvml, ALibraryWithNoneOfTheFunctionsIsNoTelemetry) {
  const Telemetry telemetry = Telemetry::open(gpu(), {.nvml_library = "libm.so.6"});
  EXPECT_FALSE(telemetry);
  EXPECT_EQ(telemetry.why_not(), "NVML does not start: error 13");
}

TEST(NoNvml, IsNotLookedForWhereTheDeviceIsNoGpu) {
  DeviceDescription device;
  device.architecture = "host";
  EXPECT_EQ(Telemetry::open(device).why_not(), "this device has no sensors");
}

}  // namespace
}  // namespace hipscope
