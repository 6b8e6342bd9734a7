// What a run asks of the sensors, keeps and says of it.
#include <dlfcn.h>

#include <chrono>
#include <nlohmann/json.hpp>

#include "fake_nvml.h"
#include "telemetry_log.h"
#include "test_support.h"

namespace hipscope {
namespace {

using Json = nlohmann::json;
using namespace std::chrono_literals;

constexpr int gpu_is_lost = 15;

class TelemetryRunTest : public HarnessTest {
 protected:
  // The harness then finds this library by the name of NVIDIA's own.
  TelemetryRunTest() : library_(dlopen(HIPSCOPE_FAKE_NVML, RTLD_NOW)) {
    nvml() = {};
    DeviceDescription& device = fake::script().description;
    device.architecture = "sm_90";
    device.uuid = nvml().uuid;
    device.pci_address = nvml().pci_address;
  }
  ~TelemetryRunTest() override { dlclose(library_); }

  fake::Nvml& nvml() {
    return *reinterpret_cast<decltype(&fake_nvml)>(dlsym(library_, "fake_nvml"))();
  }

  void add_sweep(const std::function<void()>& body = [] {}) {
    hipscope::add_sweep(experiment_, "only", body);
  }
  Json json_of_run(std::vector<std::string> arguments = {}) {
    arguments.insert(arguments.end(), {"--json", path("result.json")});
    outcome_ = run(experiment_, arguments);
    EXPECT_EQ(outcome_.status, 0) << outcome_.errors;
    return Json::parse(read_file(path("result.json")));
  }
  // The clocks of the samples that a run with this option keeps, of what the device measures.
  std::vector<double> clocks_kept(const std::vector<double>& megahertz,
                                  const std::string& retries) {
    fake::script().samples.clear();
    for (const double one : megahertz) {
      fake::script().samples.push_back({.seconds = 1e-3, .shader_mhz = one});
    }
    std::vector<double> kept;
    experiment_.sweep("only", "", [&kept](Sweep& sweep) {
      sweep.axis({.name = "blocks"});
      fake::forget_calls();
      auto point = sweep.point("1", 1);
      for (const Sample& sample : point.measure([] {}, {.batch = 1}).samples) {
        kept.push_back(sample.shader_mhz);
      }
      point.verify("nothing", 0, 1);
    });
    json_ = json_of_run({"--quick", "--retry-throttled", retries});
    return kept;
  }

  Experiment experiment_{"probe", {.question = "What is it?", .sources = {}}};
  Outcome outcome_;
  Json json_;

 private:
  void* library_;
};

TEST_F(TelemetryRunTest, AResultSaysWhichDeviceItIs) {
  add_sweep();
  nvml().mig = 1;
  const Json device = json_of_run({"--identity"})["device"];
  EXPECT_EQ(device["uuid"], nvml().uuid);
  EXPECT_EQ(device["pci_address"], "0000:1b:00.0");
  EXPECT_EQ(device["serial"], "1652023000001");
  EXPECT_EQ(device["vbios"], "96.00.89.00.01");
  EXPECT_EQ(device["partition"], "MIG");
  EXPECT_EQ(device["power_cap_w"], 700);
  EXPECT_EQ(device["ecc"], "on");
  EXPECT_EQ(device["link"], Json({{"generation", 5},
                                  {"speed_gts", 32},
                                  {"width", 16},
                                  {"maximum_generation", 5},
                                  {"maximum_speed_gts", 32},
                                  {"maximum_width", 16}}));
  EXPECT_TRUE(device["host"].is_string());
}

TEST_F(TelemetryRunTest, WhoseDeviceItIsIsLeftOutUnlessAskedFor) {
  add_sweep();
  const Json device = json_of_run()["device"];
  for (const std::string name : {"host", "serial", "uuid"}) {
    EXPECT_FALSE(device.contains(name)) << name;
  }
}

TEST_F(TelemetryRunTest, ASweepHasReadingsBeforeAndAfterItAndWhatWasCounted) {
  bool has_run = false;
  add_sweep([&] {
    if (!has_run) {
      has_run = true;
      nvml().corrected += 5;
      nvml().power = 300'000;
    }
  });
  const Json result = json_of_run();
  EXPECT_EQ(result["telemetry"], Json({{"source", "NVML 13.580.1"}, {"why_not", nullptr}}));
  const Json telemetry = result["sweeps"][0]["telemetry"];
  EXPECT_EQ(telemetry["source"], "NVML 13.580.1");
  EXPECT_EQ(telemetry["before"]["power_w"], 512.25);
  EXPECT_EQ(telemetry["before"]["energy_j"], 12345678.901) << "with all its digits";
  EXPECT_EQ(telemetry["after"]["power_w"], 300);
  EXPECT_EQ(telemetry["delta"],
            Json({{"ecc_corrected", 5}, {"ecc_uncorrected", 0}, {"rows_remapped", 0}}));
  EXPECT_FALSE(telemetry.contains("during")) << "it was over before a reading was due";
  EXPECT_NE(outcome_.output.find("telemetry: NVML 13.580.1, 300 to 512 W, 61 C, 1755 MHz, not "
                                 "throttled; ECC ERRORS: 5 corrected, 0 uncorrected"),
            std::string::npos)
      << outcome_.output;
}

TEST_F(TelemetryRunTest, NothingIsAskedWithNoTelemetry) {
  add_sweep();
  const Json result = json_of_run({"--no-telemetry", "--identity"});
  EXPECT_EQ(nvml().sensor_reads, 0U);
  EXPECT_FALSE(result.contains("telemetry"));
  EXPECT_FALSE(result["sweeps"][0].contains("telemetry"));
  EXPECT_EQ(result["device"]["uuid"], nvml().uuid) << "the runtime tells that";
  EXPECT_FALSE(result["device"].contains("serial"));
  EXPECT_EQ(outcome_.output.find("telemetry"), std::string::npos);
}

TEST_F(TelemetryRunTest, NothingIsAskedOnTheHostBackend) {
  add_sweep();
  fake::script().is_hardware = false;
  fake::script().description.architecture = "host";
  const Json result = json_of_run();
  EXPECT_EQ(nvml().sensor_reads, 0U);
  EXPECT_FALSE(result.contains("telemetry"));
  EXPECT_EQ(outcome_.output.find("telemetry"), std::string::npos);
}

TEST_F(TelemetryRunTest, TelemetryThatFailsFailsNoRun) {
  add_sweep([&] {
    for (const char* name : {"nvmlDeviceGetPowerUsage", "nvmlDeviceGetTemperature",
                             "nvmlDeviceGetCurrentClocksEventReasons",
                             "nvmlDeviceGetTotalEccErrors", "nvmlDeviceGetRemappedRows"}) {
      nvml().status[name] = gpu_is_lost;
    }
  });
  const Json telemetry = json_of_run()["sweeps"][0]["telemetry"];
  EXPECT_TRUE(telemetry["before"].contains("power_w"));
  EXPECT_FALSE(telemetry["after"].contains("power_w"));
  EXPECT_FALSE(telemetry.contains("delta"));
}

TEST_F(TelemetryRunTest, WithoutALibraryThatIsOneLine) {
  add_sweep();
  nvml().start = gpu_is_lost;
  const Json result = json_of_run();
  EXPECT_EQ(result["telemetry"],
            Json({{"source", nullptr}, {"why_not", "NVML does not start: Trouble"}}));
  EXPECT_NE(outcome_.output.find("telemetry: none (NVML does not start: Trouble)\n"),
            std::string::npos)
      << outcome_.output;
}

TEST_F(TelemetryRunTest, ASampleWhoseClockFellIsTakenAgain) {
  // The first execution, which is no sample, and then three of which the second is taken again.
  EXPECT_EQ(clocks_kept({1000, 1000, 970, 1000, 985}, "3"), (std::vector<double>{1000, 1000, 985}));
  EXPECT_EQ(json_["clock"]["retaken_samples"], 1);
  EXPECT_EQ(json_["options"]["retry_throttled"], 3);
  EXPECT_EQ(json_["clock"]["throttled_samples"], 0);
}

TEST_F(TelemetryRunTest, ASampleIsTakenAgainSoOftenAndThenKept) {
  EXPECT_EQ(clocks_kept({1000, 1000, 900, 910, 920, 1000}, "2"),
            (std::vector<double>{1000, 920, 1000}));
  EXPECT_EQ(json_["clock"]["retaken_samples"], 2);
  EXPECT_EQ(json_["clock"]["throttled_samples"], 1);
}

TEST_F(TelemetryRunTest, ASampleForWhichAReasonIsToldIsTakenAgain) {
  nvml().reasons = 0x4;
  EXPECT_EQ(clocks_kept({1000, 1000, 1000}, "1"), (std::vector<double>{1000, 1000, 1000}));
  EXPECT_EQ(json_["clock"]["retaken_samples"], 3) << "each of the three samples";
  EXPECT_NE(outcome_.output.find("throttled: power cap, 3 samples taken again"), std::string::npos)
      << outcome_.output;
}

TEST_F(TelemetryRunTest, NoSampleIsTakenAgainUnlessThatIsAskedFor) {
  nvml().reasons = 0x4;
  clocks_kept({1000, 1000, 900}, "0");
  EXPECT_FALSE(json_["clock"].contains("retaken_samples"));
  EXPECT_FALSE(json_["options"].contains("retry_throttled"));
  EXPECT_EQ(json_["clock"]["throttled_samples"], 2);
}

TEST_F(TelemetryRunTest, ASweepIsReadTenTimesASecondAtMost) {
  const Telemetry telemetry = Telemetry::open(fake::script().description);
  detail::TelemetryLog log;
  log.begin(telemetry);
  const auto start = detail::TelemetryLog::Clock::now();
  const unsigned before = nvml().sensor_reads;
  for (int i = 0; i <= 100; ++i) {
    nvml().power = 100'000 + 1000 * static_cast<unsigned>(i);
    nvml().reasons = i > 50 ? 0x20 : 0;
    log.after_sample(telemetry, start + 10ms * i);
  }
  EXPECT_GE(nvml().sensor_reads - before, 9U);
  EXPECT_LE(nvml().sensor_reads - before, 10U);
  const detail::SweepTelemetry sweep = log.end(telemetry).value();
  EXPECT_EQ(sweep.during.readings, nvml().sensor_reads - before - 1) << "and once after the sweep";
  EXPECT_NEAR(sweep.during.power_w.minimum, 110, 1);
  EXPECT_GE(sweep.during.power_w.maximum, 189);
  EXPECT_NEAR(sweep.during.power_w.mean(), 152, 5);
  EXPECT_EQ(sweep.during.throttle_reasons, std::vector<std::string>{"thermal"});
  EXPECT_FALSE(log.end(telemetry)) << "it was given away";
}

TEST_F(TelemetryRunTest, NothingIsKeptWithoutTelemetry) {
  const Telemetry none("for no reason");
  detail::TelemetryLog log;
  log.begin(none);
  log.after_sample(none, detail::TelemetryLog::Clock::now() + 1h);
  EXPECT_FALSE(log.end(none));
}

TEST_F(TelemetryRunTest, ASweepMayAskByItself) {
  std::optional<double> power;
  experiment_.sweep("only", "", [&](Sweep& sweep) {
    sweep.axis({.name = "blocks"});
    power = sweep.telemetry().reading().power_w;
    sweep.point("1", 1).verify("nothing", 0, 1);
  });
  json_of_run();
  EXPECT_EQ(power, 512.25);
  json_of_run({"--no-telemetry"});
  EXPECT_FALSE(power);
}

}  // namespace
}  // namespace hipscope
