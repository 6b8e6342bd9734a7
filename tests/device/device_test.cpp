// The measuring core against work whose time is known.
#include "hipscope/device.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "hipscope/statistics.h"
#include "work.h"

namespace {

using hipscope::Device;
using hipscope::DeviceError;
using hipscope::Sample;

class DeviceTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string why_none;
    if (hipscope::device_count(why_none) == 0) {
      GTEST_SKIP() << "no device: " << why_none;
    }
    device_ = hipscope::open_device(0);
  }

  std::unique_ptr<Device> device_;
};

TEST_F(DeviceTest, DescribesItself) {
  const hipscope::DeviceDescription& description = device_->description();
  EXPECT_FALSE(description.name.empty());
  EXPECT_FALSE(description.architecture.empty());
  EXPECT_GT(description.compute_units, 0);
  EXPECT_TRUE(description.wave_size == 32 || description.wave_size == 64);
  EXPECT_EQ(description.maximum_threads_per_block, 1024);
  EXPECT_GT(description.memory_bytes, 0U);
  EXPECT_LE(description.free_memory_bytes, description.memory_bytes);
}

TEST_F(DeviceTest, RunsTheBodyOncePerExecution) {
  int executions = 0;
  device_->time([&] { ++executions; }, 5, {});
  EXPECT_EQ(executions, 5);
}

TEST_F(DeviceTest, TimesWorkOfKnownLengthByItsOwnClock) {
  constexpr long long cycles = 4'000'000;  // 2 ms at 2 GHz
  const auto body = [] { enqueue_hold(cycles); };
  device_->time(body, 1, {});
  const Sample sample = device_->time(body, 1, {});
  // The host's counter ticks in nanoseconds.
  const double megahertz = device_->is_hardware() ? sample.shader_mhz : 1000.0;
  ASSERT_GT(megahertz, 0);
  const double ratio = sample.seconds * megahertz * 1e6 / cycles;
  EXPECT_GT(ratio, 0.99);
  if (device_->is_hardware()) {
    EXPECT_LT(ratio, 1.02);  // a CPU may be taken away for any time
  }
}

double host_seconds(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// A CPU may be taken away for any time, so of the host only what holds on a loaded one is asked:
// all executions together took no longer than the call, and each as long as it holds the device.
TEST_F(DeviceTest, ABatchGivesTheTimeOfOneExecution) {
  constexpr long long cycles = 1'000'000;
  constexpr unsigned batch = 4;
  const auto body = [] { enqueue_hold(cycles); };
  device_->time(body, 1, {});
  double of_four = 0;
  const double elapsed = host_seconds([&] { of_four = device_->time(body, batch, {}).seconds; });
  EXPECT_LE(batch * of_four, elapsed);
  if (device_->is_hardware()) {
    EXPECT_NEAR(of_four / device_->time(body, 1, {}).seconds, 1, 0.05);
  } else {
    constexpr double host_hz = 1e9;  // the host's counter ticks in nanoseconds
    EXPECT_GE(of_four, 0.99 * cycles / host_hz);
  }
}

// A CPU may be taken away for any time.
TEST_F(DeviceTest, AGraphReplaysWhatWasRecorded) {
  constexpr long long cycles = 4'000'000;
  constexpr unsigned times = 3;
  int executions = 0;
  const auto body = [&] {
    ++executions;
    enqueue_hold(cycles);
  };
  device_->time(body, 1, {});
  const double one = device_->is_hardware() ? device_->time(body, 1, {}).seconds : 1e-9 * cycles;
  executions = 0;
  const auto replay = device_->record(body, times);
  device_->time(replay, 1, {});
  for (const unsigned replays : {1U, 2U}) {
    const double ratio = device_->time(replay, replays, {}).seconds / one;
    EXPECT_GT(ratio, 0.99 * times);
    if (device_->is_hardware()) {
      EXPECT_LT(ratio, 1.1 * times);
    }
  }
  EXPECT_EQ(executions, 3);
}

TEST_F(DeviceTest, MeasuresTheShaderClockOnHardwareOnly) {
  const Sample sample = device_->time([] { enqueue_hold(2'000'000); }, 1, {});
  if (device_->is_hardware()) {
    EXPECT_GT(sample.shader_mhz, 0.1 * device_->description().maximum_shader_mhz);
    EXPECT_LT(sample.shader_mhz, 1.05 * device_->description().maximum_shader_mhz);
  } else {
    EXPECT_EQ(sample.shader_mhz, 0);
  }
}

TEST_F(DeviceTest, ASynchronousBodyIsNotGated) {
  const auto body = [] {
    enqueue_hold(1000);
    wait_for_device();
  };
  // The host backend runs a launch at once and has no gate, which is as good.
  EXPECT_EQ(device_->time(body, 1, {.synchronous = true}).gated, !device_->is_hardware());
}

// A body that waits where it should not, or a profiler that runs kernels one by one, keeps the gate
// shut until its time limit; the sample is then taken again without it.
TEST_F(DeviceTest, AShutGateDelaysButDoesNotHangNorFalsify) {
  constexpr long long cycles = 2'000'000;
  const auto body = [] {
    enqueue_hold(cycles);
    wait_for_device();
  };
  const Sample sample = device_->time(body, 1, {});  // a hang is the test runner's to end
  EXPECT_EQ(sample.gated, !device_->is_hardware());
  if (device_->is_hardware()) {
    constexpr double longest_seconds = 0.1;  // far less than the gate's time limit
    EXPECT_LT(sample.seconds, longest_seconds);
  }
}

TEST_F(DeviceTest, ColdReadsAreSlowerThanWarmOnes) {
  if (!device_->is_hardware()) {
    GTEST_SKIP() << "a CPU's caches are not this backend's subject";
  }
  constexpr std::size_t bytes = 8 << 20;  // fits the last-level cache of every current GPU
  const ReadWork work(bytes);
  const auto body = [&] { work.enqueue(); };
  std::vector<double> cold;
  std::vector<double> warm;
  for (int i = 0; i < 20; ++i) {
    cold.push_back(device_->time(body, 1, {.cold = true}).seconds);
    warm.push_back(device_->time(body, 1, {}).seconds);
  }
  EXPECT_GT(hipscope::summarize(cold).median, 1.1 * hipscope::summarize(warm).median);
}

TEST_F(DeviceTest, ColdSamplesWorkEverywhere) {
  int executions = 0;
  device_->time([&] { ++executions; }, 1, {.cold = true});
  EXPECT_EQ(executions, 1);
}

TEST_F(DeviceTest, FreeMemoryShrinksByABuffer) {
  const std::uint64_t before = device_->free_memory();
  constexpr std::size_t bytes = 64 << 20;
  const ReadWork work(bytes);
  EXPECT_LE(device_->free_memory() + bytes / 2, before);
}

TEST_F(DeviceTest, WarmingUpKeepsNoMemory) {
  const std::uint64_t before = device_->free_memory();
  device_->warm_up(0.01);
  EXPECT_EQ(device_->free_memory(), before);
}

TEST_F(DeviceTest, FreshBuffersArePoisoned) {
  const std::vector<std::uint32_t> values = fresh_buffer(1000);
  EXPECT_EQ(values.size(), 1000U);
  EXPECT_TRUE(std::all_of(values.begin(), values.end(),
                          [](std::uint32_t value) { return value == 0xFFFFFFFFU; }));
}

TEST_F(DeviceTest, ABufferHoldsWhatItWasMadeFrom) {
  const std::vector<int> values = {3, 1, 4, 1, 5};
  EXPECT_EQ(through_buffer(values), values);
}

TEST_F(DeviceTest, ABufferBeyondAllMemoryIsRefused) {
  EXPECT_THROW(allocate_doubles(std::size_t{1} << 62), DeviceError);
  EXPECT_THROW(allocate_doubles(std::size_t{1} << 50), DeviceError);
}

TEST_F(DeviceTest, ARefusedLaunchThrowsAndNamesItsPlace) {
  try {
    launch_refused();
    FAIL() << "a block of 4096 threads was launched";
  } catch (const DeviceError& error) {
    EXPECT_NE(std::string(error.what()).find("work.hip"), std::string::npos) << error.what();
  }
}

TEST(DeviceCount, SaysWhyThereIsNone) {
  std::string why_none;
  if (hipscope::device_count(why_none) == 0) {
    EXPECT_FALSE(why_none.empty());
  } else {
    EXPECT_TRUE(why_none.empty());
  }
}

}  // namespace
