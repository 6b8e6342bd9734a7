// What launch_latency concludes from made curves.
#include "findings.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "made_curve.h"
#include "made_results.h"

namespace hipscope {
namespace {

constexpr double microsecond = 1e-6;

// A stream in which the host takes `host` and the device `device` microseconds per kernel, after 5
// for the first.
void add_stream(MadeResults& made, double host, double device) {
  const std::vector<double> kernels = doubling(1, 256);
  const auto line = [](double each) {
    return [=](double count) { return (5 + each * count) * microsecond; };
  };
  made.curve("stream", "enqueue", made_curve(kernels, line(host)));
  made.curve("stream", "device", made_curve(kernels, line(device)));
  made.curve("stream", "completion", made_curve(kernels, line(std::max(host, device))));
}

TEST(LaunchLatencyTest, TheLatencyIsTheCompletionsTime) {
  MadeResults made("launch_latency");
  made.curve("single", "completion", std::vector<CurvePoint>{{.x = 1, .y = 9 * microsecond}});
  made.curve("single", "enqueue", std::vector<CurvePoint>{{.x = 1, .y = 2 * microsecond}});
  made.curve("single", "device", std::vector<CurvePoint>{{.x = 1, .y = 3 * microsecond}});
  launch_latency::conclude(made.results());
  EXPECT_NEAR(*made.inference("launch latency").value, 9, 1e-9);
  EXPECT_EQ(made.inferences().size(), 1U);
}

TEST(LaunchLatencyTest, TheSlowerOfHostAndDeviceLimitsAStream) {
  MadeResults slow_host("launch_latency");
  add_stream(slow_host, 2, 1);
  launch_latency::conclude(slow_host.results());
  EXPECT_NEAR(*slow_host.inference("interval in a stream").value, 2, 1e-6);
  EXPECT_NE(slow_host.inference("interval in a stream").statement.find("the limit is the host"),
            std::string::npos);
  MadeResults slow_device("launch_latency");
  add_stream(slow_device, 1, 2);
  launch_latency::conclude(slow_device.results());
  EXPECT_NE(slow_device.inference("interval in a stream").statement.find("the limit is the device"),
            std::string::npos);
}

TEST(LaunchLatencyTest, NothingIsConcludedFromNothing) {
  expect_nothing_from_nothing("launch_latency", launch_latency::conclude);
}

}  // namespace
}  // namespace hipscope
