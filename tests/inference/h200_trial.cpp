// What is concluded of an H200 from the curves that were measured on one (results/nvidia-h200),
// beside what NVIDIA says of it: 256 KiB of L1 and shared memory in each SM, an L2 of 60 MiB in two
// partitions, lines of 128 bytes in sectors of 32; and the 10.3 TB/s that RRZE-HPC/gpu-benches
// reads from its L2.
#include <gtest/gtest.h>

#include <string>

#include "cache_line_findings.h"
#include "memory_bandwidth_findings.h"
#include "memory_latency_findings.h"
#include "result_file.h"

namespace hipscope::trial {
namespace {

constexpr double kib = 1024;
constexpr double mib = 1024 * kib;

MadeResults measured(const std::string& experiment) {
  return read_result_file(HIPSCOPE_RESULTS "/nvidia-h200/" + experiment + ".json");
}

void expect_capacity(const MadeResults& made, const std::string& name, double bytes) {
  SCOPED_TRACE(name);
  const Inference inference = made.inference(name);
  ASSERT_TRUE(inference.value);
  EXPECT_NEAR(*inference.value, bytes, bytes / 8);
  EXPECT_GT(inference.confidence, 0.3);
  ASSERT_TRUE(inference.interval);
  EXPECT_LE(inference.interval->low, bytes);
  EXPECT_GE(inference.interval->high, bytes);
}

TEST(H200Trial, Latency) {
  MadeResults made = measured("memory_latency");
  memory_latency::conclude(made.results());
  expect_capacity(made, "cache level 1 capacity", 256 * kib);
  expect_capacity(made, "near half of cache level 2 capacity", 30 * mib);
  expect_capacity(made, "cache level 2 capacity", 60 * mib);
  EXPECT_TRUE(made.inference("cache level 3 capacity").name.empty());
  EXPECT_TRUE(made.inference("memory latency").value);
}

TEST(H200Trial, Bandwidth) {
  MadeResults made = measured("memory_bandwidth");
  memory_bandwidth::conclude(made.results());
  // 10350 and 10890 GB/s of two cards; other suites have 10300 to 12000.
  EXPECT_NEAR(made.inference("cache level 2 read bandwidth").value.value_or(0), 10650, 650);
  EXPECT_TRUE(made.inference("cache level 1 read bandwidth").value);
}

TEST(H200Trial, Lines) {
  MadeResults made = measured("cache_line");
  cache_line::conclude(made.results());
  EXPECT_EQ(made.inference("cache level 1 sector").value, 32);
  EXPECT_EQ(made.inference("cache level 1 line").value, 128);
  EXPECT_EQ(made.inference("cache level 2 line").value, 128);
}

}  // namespace
}  // namespace hipscope::trial
