// What memory_bandwidth concludes from made curves.
#include "findings.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "made_curve.h"
#include "made_results.h"

namespace hipscope {
namespace {

constexpr double mebibyte = 1024.0 * 1024;

std::vector<double> halves(double first, double last) {
  std::vector<double> all;
  for (double x = first; x <= last; x *= std::sqrt(2.0)) {
    all.push_back(x);
  }
  return all;
}

TEST(MemoryBandwidthTest, ThePeakIsTwoTransfersPerClock) {
  DeviceDescription device;
  EXPECT_TRUE(std::isnan(memory_bandwidth::peak(device)));
  device.memory_mhz = 1000;
  device.memory_bus_bits = 4096;
  EXPECT_EQ(memory_bandwidth::peak(device), 1024);
}

TEST(MemoryBandwidthTest, FunctionsAreNamedByTheirRows) {
  MadeResults made("memory_bandwidth");
  made.curve("stream", "bandwidth",
             std::vector<CurvePoint>{
                 {.x = static_cast<double>(memory_bandwidth::Function::read), .y = 900},
                 {.x = static_cast<double>(memory_bandwidth::Function::scale), .y = 700},
                 {.x = static_cast<double>(memory_bandwidth::Function::triad), .y = 800}});
  memory_bandwidth::conclude(made.results());
  EXPECT_EQ(made.inference("memory read bandwidth").value, 900);
  EXPECT_EQ(made.inference("memory triad bandwidth").value, 800);
  EXPECT_EQ(made.inferences().size(), 2U);
}

// What one curve tells of a device with so much L2.
MadeResults concluded(const std::string& sweep, const std::vector<CurvePoint>& curve,
                      double l2_bytes = 0) {
  MadeResults made("memory_bandwidth", fake::describe_with(&DeviceDescription::l2_bytes, l2_bytes));
  made.curve(sweep, "bandwidth", curve);
  memory_bandwidth::conclude(made.results());
  return made;
}

TEST(MemoryBandwidthTest, TheLastLevelThatEndsIsL2) {
  const auto read_at = [](double within_l2) {
    const auto curve = made_curve(halves(mebibyte / 4, 512 * mebibyte), [=](double bytes) {
      return bytes <= 8 * mebibyte ? within_l2 : 1000.0;
    });
    return concluded("footprint-read", curve, 8 * mebibyte)
        .inference("cache level 2 read bandwidth");
  };
  EXPECT_EQ(read_at(3000).value, 3000);
  EXPECT_FALSE(read_at(1000).value.has_value());
}

// An H200, GB/s over KiB, all SMs reading: up to 4 MiB one answer of L2 serves several of them.
const std::vector<CurvePoint> h200 = {
    {512, 14119},    {608, 14017},    {724, 14031},    {860, 14020},    {1024, 13533},
    {1216, 12901},   {1448, 13349},   {1720, 12970},   {2048, 12999},   {2432, 11766},
    {2896, 12016},   {3444, 11319},   {4096, 12290},   {4868, 10413},   {5792, 10247},
    {6888, 10650},   {8192, 9815},    {9740, 9108},    {11584, 9658},   {13776, 10225},
    {16384, 9142},   {19480, 8932},   {23168, 9702},   {27552, 10109},  {32768, 10039},
    {38964, 9774},   {46340, 10288},  {55108, 9793},   {65536, 9528},   {77932, 7721},
    {92680, 6278},   {110216, 5302},  {131072, 4800},  {155868, 4647},  {185360, 4530},
    {220432, 4505},  {262144, 4486},  {311740, 4480},  {370724, 4474},  {440868, 4458},
    {524288, 4479},  {623484, 4467},  {741452, 4460},  {881740, 4460},  {1048576, 4431},
    {1246972, 4449}, {1482908, 4448}, {1763484, 4471}, {2097152, 4459}, {2493948, 4456},
    {2965820, 4455}, {3526972, 4453}, {4194304, 4455}};

// Each SM reading its own part through L1, which is of 256 KiB.
const std::vector<CurvePoint> h200_l1 = {
    {16, 32242},  {20, 32236},  {24, 32222},  {32, 32191},  {36, 32200},  {44, 32158},
    {52, 32134},  {64, 32145},  {76, 32110},  {88, 32065},  {104, 31998}, {128, 31980},
    {152, 31945}, {180, 31847}, {212, 31450}, {256, 30373}, {304, 26153}, {360, 20306},
    {428, 16116}, {512, 4652},  {608, 7380},  {724, 7184},  {860, 5298},  {1024, 4586}};

std::vector<CurvePoint> in_bytes(std::vector<CurvePoint> curve) {
  for (CurvePoint& point : curve) {
    point.x *= 1024;
  }
  return curve;
}

// The best of a level that drifts, from where the sharing of answers has ended to where it falls.
TEST(MemoryBandwidthTest, ReadsAnH200) {
  MadeResults made("memory_bandwidth",
                   fake::describe_with(&DeviceDescription::l2_bytes, 60 * mebibyte));
  made.curve("footprint-read", "bandwidth", in_bytes(h200));
  made.curve("footprint-l1", "bandwidth", in_bytes(h200_l1));
  memory_bandwidth::conclude(made.results());
  EXPECT_NEAR(*made.inference("cache level 2 read bandwidth").value, 10200, 100);
  EXPECT_NEAR(*made.inference("cache level 1 read bandwidth").value, 32200, 100);
}

// The same for writes, which L2 hardly makes faster.
const std::vector<CurvePoint> h200_write = {
    {512, 3655},     {724, 3841},    {1024, 4321},    {1448, 4524},    {2048, 4735},
    {2896, 4727},    {4096, 4731},   {5792, 4759},    {8192, 4776},    {11584, 4788},
    {16384, 4767},   {23168, 4787},  {32768, 4694},   {46340, 4826},   {65536, 4766},
    {92680, 4745},   {131072, 4630}, {185360, 4508},  {262144, 4508},  {370724, 4455},
    {524288, 4435},  {741452, 4435}, {1048576, 4439}, {1482908, 4419}, {2097152, 4432},
    {2965820, 4422}, {4194304, 4413}};

TEST(MemoryBandwidthTest, WritesWithinL2) {
  const auto written = [](const std::vector<CurvePoint>& curve) {
    return concluded("footprint-write", curve, 60 * mebibyte)
        .inference("cache level 2 write bandwidth");
  };
  const Inference alike = written(in_bytes(h200_write));
  EXPECT_NEAR(*alike.value, 4776, 20);
  EXPECT_TRUE(alike.evidence.back().ends_with("may lie before L2")) << alike.evidence.back();
  EXPECT_LE(alike.confidence, 0.5);
  // Noise, one slow launch, and a level that ends.
  auto curve = made_curve(
      halves(mebibyte / 4, 2048 * mebibyte),
      [](double bytes) { return bytes < 60 * mebibyte ? 9e3 : 4e3; }, 0.05);
  curve[10].y /= 5;
  const Inference found = written(curve);
  EXPECT_NEAR(*found.value, 9000, 450);
  EXPECT_TRUE(found.evidence.back().ends_with(" beyond")) << found.evidence.back();
  EXPECT_GT(found.confidence, 0.7);
}

TEST(MemoryBandwidthTest, WithoutTheDriversL2NoWritesWithinIt) {
  EXPECT_TRUE(concluded("footprint-write", in_bytes(h200_write)).inferences().empty());
}

TEST(MemoryBandwidthTest, ACacheBehindL2HasARate) {
  for (const double noise : {0.0, 0.01}) {
    const MadeResults made = concluded(
        "footprint-read",
        made_curve(
            halves(mebibyte / 2, 4096 * mebibyte),
            [](double bytes) {
              return bytes <= 4 * mebibyte ? 20000.0 : bytes <= 256 * mebibyte ? 11000.0 : 4000.0;
            },
            noise),
        4 * mebibyte);
    const auto behind = made.inference("bandwidth of a cache past L2");
    ASSERT_TRUE(behind.value) << noise;
    EXPECT_NEAR(*behind.value, 11000, 300) << noise;
    EXPECT_NEAR(*made.inference("cache level 2 read bandwidth").value, 20000, 500) << noise;
  }
}

TEST(MemoryBandwidthTest, NoCacheBehindL2OnAnH200) {
  EXPECT_FALSE(concluded("footprint-read", in_bytes(h200), 60 * mebibyte)
                   .inference("bandwidth of a cache past L2")
                   .value);
}

TEST(MemoryBandwidthTest, AnotherWayToReadL2MayBeFaster) {
  MadeResults made("memory_bandwidth",
                   fake::describe_with(&DeviceDescription::l2_bytes, 60 * mebibyte));
  made.curve("footprint-read", "bandwidth", in_bytes(h200));
  // Rows past the 15th share answers.
  made.curve("l2", "bandwidth",
             std::vector<CurvePoint>{{1, 9000}, {2, 10634}, {3, 10522}, {16, 14748}});
  memory_bandwidth::conclude(made.results());
  EXPECT_EQ(made.inference("cache level 2 read bandwidth").value, 10522);
}

Inference level_1_rate(const std::function<double(double)>& bandwidth) {
  return concluded("footprint-l1", made_curve(halves(4096, mebibyte), bandwidth))
      .inference("cache level 1 read bandwidth");
}

TEST(MemoryBandwidthTest, ACacheOf16KibibytesHasARate) {
  EXPECT_EQ(level_1_rate([](double bytes) { return bytes <= 16384 ? 9000.0 : 2500.0; }).value,
            9000);
}

TEST(MemoryBandwidthTest, ASlopeIsNoFall) {
  for (const double power : {-0.05, -0.2, -0.5, -1.0}) {
    EXPECT_FALSE(level_1_rate([=](double bytes) { return 1e4 * std::pow(bytes, power); }).value)
        << power;
  }
}

TEST(MemoryBandwidthTest, BytesInFlightThatAreEnough) {
  const auto threads = doubling(64, 4096);
  MadeResults made("memory_bandwidth");
  made.curve("occupancy-1", "in flight per CU",
             made_curve(threads, [](double x) { return 16 * x; }));
  made.curve("occupancy-1", "bandwidth",
             made_curve(threads, [](double x) { return std::min(1000.0, x); }));
  memory_bandwidth::conclude(made.results());
  EXPECT_EQ(made.inference("bytes in flight per CU for 95 % of the read bandwidth").value,
            16 * 1024);
}

TEST(MemoryBandwidthTest, NothingIsConcludedFromNothing) {
  expect_nothing_from_nothing("memory_bandwidth", memory_bandwidth::conclude);
}

}  // namespace
}  // namespace hipscope
