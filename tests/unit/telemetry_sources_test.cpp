// What the ways to ask for telemetry share.
#include "telemetry_sources.h"

#include <gtest/gtest.h>

#include <limits>

namespace hipscope::detail {
namespace {

class Source : public RefusableSource {
 public:
  using RefusableSource::refuse;

  [[nodiscard]] std::string name() const override { return "made"; }
  [[nodiscard]] DeviceIdentity identity() override { return {}; }
  void read_sensors(TelemetryReading& /*reading*/) override {}
  void read_counters(TelemetryReading& /*reading*/) override {}
  [[nodiscard]] std::vector<std::string> throttle_reasons() override { return {}; }
};

TEST(TelemetrySources, WhatWasRefusedIsOneLineWithEachNameOnce) {
  Source source;
  EXPECT_EQ(source.missing(), "");
  source.refuse("power");
  EXPECT_EQ(source.missing(), "no permission: power");
  source.refuse("ECC errors");
  source.refuse("power");
  EXPECT_EQ(source.missing(), "no permission: ECC errors, power");
}

TEST(TelemetrySources, WhatNoSensorCanSayIsNotTold) {
  EXPECT_EQ(within(watts, 512.25), 512.25);
  EXPECT_FALSE(within(watts, 0).has_value());
  EXPECT_FALSE(within(degrees, 65535).has_value());
  EXPECT_FALSE(within(counts, std::numeric_limits<double>::quiet_NaN()).has_value());
}

}  // namespace
}  // namespace hipscope::detail
