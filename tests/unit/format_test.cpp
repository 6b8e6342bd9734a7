#include "hipscope/format.h"

#include <gtest/gtest.h>

#include "report_text.h"
#include "test_support.h"

namespace hipscope {
namespace {

TEST(Number, HasSignificantDigitsAndNoTrailingZeros) {
  EXPECT_EQ(number(0.83951), "0.84");
  EXPECT_EQ(number(0.83951, 4), "0.8395");
  EXPECT_EQ(number(64), "64");
  EXPECT_EQ(number(1.07e9), "1.07e+09");
}

TEST(FormatNumber, KeepsFourSignificantDigits) {
  EXPECT_EQ(detail::format_number(0.25047), "0.2505");
  EXPECT_EQ(detail::format_number(1.00214), "1.002");
  EXPECT_EQ(detail::format_number(64.083), "64.08");
  EXPECT_EQ(detail::format_number(1234.56), "1235");
  EXPECT_EQ(detail::format_number(-0.092591), "-0.09259");
}

TEST(FormatNumber, LeavesWholeNumbersWhole) {
  EXPECT_EQ(detail::format_number(0), "0");
  EXPECT_EQ(detail::format_number(-3), "-3");
  EXPECT_EQ(detail::format_number(1073741824), "1073741824");
}

TEST(FormatNumber, UsesAnExponentFromTenMillion) {
  EXPECT_EQ(detail::format_number(9999998.75), "9999999");
  EXPECT_EQ(detail::format_number(12345678.5), "1.235e+07");
  EXPECT_EQ(detail::format_number(2e15), "2.000e+15");
}

TEST(FormatNumber, ShowsWhatIsNoNumberAsAbsent) {
  EXPECT_EQ(detail::format_number(nan), "-");
  EXPECT_EQ(detail::format_number(1 / 0.0), "-");
}

TEST(FormatBytes, CountsInPowersOf1024) {
  EXPECT_EQ(detail::format_bytes(0), "0 B");
  EXPECT_EQ(detail::format_bytes(1023), "1023 B");
  EXPECT_EQ(detail::format_bytes(1024), "1 KiB");
  EXPECT_EQ(detail::format_bytes(1536), "1.500 KiB");
  EXPECT_EQ(detail::format_bytes(139.8 * (1 << 30)), "139.8 GiB");
  EXPECT_EQ(detail::format_bytes(0x1p52), "4096 TiB");
}

TEST(DeviceLine, HasIndexFolderNameAndDescription) {
  DeviceDescription device;
  device.name = "AMD Radeon (TM) RX--6600!";
  device.architecture = "gfx1032";
  device.index = 3;
  device.compute_units = 14;
  device.memory_bytes = std::uint64_t{8} << 30;
  EXPECT_EQ(detail::device_line(device),
            "3\tamd-radeon-tm-rx-6600\tAMD Radeon (TM) RX--6600! (gfx1032), 14 WGPs, 8 GiB\n");
}

TEST(DeviceLine, CallsAPairOfCusOfRdnaAWgp) {
  DeviceDescription device;
  device.compute_units = 32;
  for (const char* architecture : {"gfx1010", "gfx1100", "gfx1201"}) {
    device.architecture = architecture;
    EXPECT_NE(detail::device_line(device).find(", 32 WGPs, "), std::string::npos) << architecture;
  }
  for (const char* architecture : {"gfx90a:xnack-", "gfx942", "gfx1250", "sm_90", "host"}) {
    device.architecture = architecture;
    EXPECT_NE(detail::device_line(device).find(", 32 CUs, "), std::string::npos) << architecture;
  }
}

// As ROCm says of a GPU where libdrm's file of names is not installed.
TEST(DeviceLine, WithoutANameTakesTheArchitecture) {
  DeviceDescription device;
  device.architecture = "gfx90a:sramecc+:xnack-";
  EXPECT_EQ(detail::device_line(device).substr(0, 26), "0\tgfx90a-sramecc-xnack\t (g");
  device.name = "(R)";
  EXPECT_EQ(detail::device_line(device).substr(0, 4), "0\tr\t");
  device.name = "???";
  EXPECT_EQ(detail::device_line(device).substr(0, 10), "0\tgfx90a-s");
}

TEST(DeviceLine, CallsTheHostBackendHost) {
  DeviceDescription device;
  device.name = "host CPU: any";
  device.architecture = "host";
  EXPECT_EQ(detail::device_line(device).substr(0, 7), "0\thost\t");
}

}  // namespace
}  // namespace hipscope
