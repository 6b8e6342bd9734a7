// What is concluded of an H200 from the curves that were measured on one (results/nvidia-h200),
// beside what NVIDIA says of it: 256 KiB of L1 and shared memory in each SM, an L2 of 60 MiB in two
// partitions, lines of 128 bytes in sectors of 32; 132 SMs, warps of 32, 32 banks of 4 bytes, 65536
// registers and 2048 threads on an SM; and the 10.3 TB/s that RRZE-HPC/gpu-benches
// reads from its L2.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "2-compute/cu_staircase/findings.h"
#include "2-compute/fma_loop/findings.h"
#include "3-registers/vgpr_limit/findings.h"
#include "4-divergence/wave_divergence/findings.h"
#include "5-memory/cache_line/findings.h"
#include "5-memory/memory_bandwidth/findings.h"
#include "5-memory/memory_latency/findings.h"
#include "5-memory/memory_map/findings.h"
#include "5-memory/store_divergence/findings.h"
#include "6-lds/lds_banks/findings.h"
#include "result_file.h"

namespace hipscope::trial {
namespace {

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

// As found on two of them.
TEST(H200Trial, MemoryMap) {
  MadeResults made = measured("memory_map");
  memory_map::conclude(made.results());
  EXPECT_EQ(made.inference("groups of CUs by distance to L2").value, 2);
  EXPECT_EQ(made.inference("groups of CUs by distance to memory").value, 2);
  // 90, 90 and 91 of three runs.
  EXPECT_NEAR(made.inference("slices of L2 told apart").value.value_or(0), 90, 2);
  EXPECT_EQ(made.inference("address bits of the slice's hash").statement,
            "the same for all lines of a slice: 12^13^15^17^19");
}

TEST(H200Trial, Bandwidth) {
  MadeResults made = measured("memory_bandwidth");
  memory_bandwidth::conclude(made.results());
  // 10350 and 10890 GB/s of two cards; other suites have 10300 to 12000.
  EXPECT_NEAR(made.inference("cache level 2 read bandwidth").value.value_or(0), 10650, 650);
  EXPECT_NEAR(made.inference("cache level 1 read bandwidth").value.value_or(0), 32500, 1000);
  EXPECT_FALSE(made.inference("bandwidth of a cache past L2").value);
}

TEST(H200Trial, Lines) {
  MadeResults made = measured("cache_line");
  cache_line::conclude(made.results());
  EXPECT_EQ(made.inference("cache level 1 sector").value, 32);
  EXPECT_EQ(made.inference("cache level 1 line").value, 128);
  EXPECT_EQ(made.inference("cache level 2 line").value, 128);
}

void expect(const MadeResults& made, const std::string& name, double value,
            double least_confidence = 0.9) {
  const Inference inference = made.inference(name);
  EXPECT_EQ(inference.value, value) << name;
  EXPECT_GE(inference.confidence, least_confidence) << name;
}

TEST(H200Trial, CountsAreWhatNvidiaSays) {
  MadeResults staircase = measured("cu_staircase");
  const auto places_of = [](unsigned threads) {
    return static_cast<int>(std::min(32U, 2048 / threads));
  };
  cu_staircase::conclude(staircase.results(), places_of);
  expect(staircase, "compute units", 132);
  for (const unsigned threads : cu_staircase::residency_blocks) {
    expect(staircase, "resident blocks of " + std::to_string(threads) + " threads",
           places_of(threads), 0.5);
  }
  MadeResults banks = measured("lds_banks");
  lds_banks::conclude(banks.results());
  expect(banks, "LDS banks", 32);
  expect(banks, "LDS bank width", 4);
  MadeResults divergence = measured("wave_divergence");
  wave_divergence::conclude(divergence.results());
  expect(divergence, "wave size", 32);
  MadeResults registers = measured("vgpr_limit");
  vgpr_limit::conclude(registers.results());
  expect(registers, "registers of a CU", 65536);
  expect(registers, "register budget per thread, blocks of 1024", 64);
  MadeResults accesses = measured("store_divergence");
  store_divergence::conclude(accesses.results());
  expect(accesses, "access granularity of loads within L2", 32);
}

TEST(H200Trial, TheInstructionCacheIsTheSameForTwoBlocks) {
  MadeResults loops = measured("fma_loop");
  fma_loop::conclude(loops.results());
  for (const std::string threads : {"64", "256"}) {
    const Inference longest =
        loops.inference("largest loop at full speed, " + threads + " threads");
    // Of 128 KiB, by chunks of 1 KiB and the line of the way back.
    EXPECT_NEAR(longest.value.value_or(0), 128 * 1024, 3 * 1024) << threads;
    EXPECT_GE(longest.confidence, 0.9) << threads;
  }
  const Inference capacity = loops.inference("instruction cache capacity");
  ASSERT_TRUE(capacity.interval);
  EXPECT_LE(capacity.interval->low, 128 * 1024);
  EXPECT_GE(capacity.interval->high, 128 * 1024);
}

}  // namespace
}  // namespace hipscope::trial
