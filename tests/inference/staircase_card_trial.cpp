// What the findings say of the curves that were measured on an H200, whose truth NVIDIA documents:
// 132 SMs, warps of 32, 32 banks of 4 bytes, 65536 registers and 2048 threads on an SM.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cu_staircase_findings.h"
#include "fma_loop_findings.h"
#include "lds_banks_findings.h"
#include "made_results.h"
#include "store_divergence_findings.h"
#include "vgpr_limit_findings.h"
#include "wave_divergence_findings.h"

namespace hipscope::trial {
namespace {

using Json = nlohmann::ordered_json;  // values stand in the order of units

DeviceDescription h200() {
  DeviceDescription description = fake::describe();
  description.architecture = "sm_90";
  description.compute_units = 132;
  description.wave_size = 32;
  description.registers_per_block = 65536;
  return description;
}

// A row's values by name. Where all rows have all of them, only the sweep has the names.
std::map<std::string, double> values_of(const Json& sweep, const Json& row) {
  std::map<std::string, double> values;
  const Json& given = row.at("values");
  if (given.is_object()) {
    for (const auto& [name, value] : given.items()) {
      values[name] = value;
    }
    return values;
  }
  std::size_t i = 0;
  for (const auto& [name, unit] : sweep.at("units").items()) {
    values[name] = given.at(i++);
  }
  return values;
}

// The curves of all values of an experiment.
MadeResults measured_by(const std::string& experiment) {
  std::ifstream file(std::string(HIPSCOPE_RESULTS) + "/nvidia-h200/" + experiment + ".json");
  const Json results = Json::parse(file);
  MadeResults made(experiment, h200());
  for (const Json& sweep : results.at("sweeps")) {
    std::map<std::string, std::vector<CurvePoint>> curves;
    for (const Json& row : sweep.at("rows")) {
      if (row.contains("x") && row.contains("values")) {
        for (const auto& [name, value] : values_of(sweep, row)) {
          curves[name].push_back({.x = row.at("x"), .y = value});
        }
      }
    }
    for (const auto& [name, curve] : curves) {
      made.curve(sweep.at("name"), name, curve);
    }
  }
  return made;
}

void expect(const MadeResults& made, const std::string& name, double value,
            double least_confidence = 0.9) {
  const Inference inference = made.inference(name);
  EXPECT_EQ(inference.value, value) << name;
  EXPECT_GE(inference.confidence, least_confidence) << name;
}

TEST(StaircaseTrial, TheH200HasWhatNvidiaSays) {
  MadeResults staircase = measured_by("cu_staircase");
  const auto places_of = [](unsigned threads) {
    return static_cast<int>(std::min(32U, 2048 / threads));
  };
  cu_staircase::conclude(staircase.results(), places_of);
  expect(staircase, "compute units", 132);
  for (const unsigned threads : cu_staircase::residency_blocks) {
    expect(staircase, "resident blocks of " + std::to_string(threads) + " threads",
           places_of(threads), 0.5);
  }
  MadeResults banks = measured_by("lds_banks");
  lds_banks::conclude(banks.results());
  expect(banks, "LDS banks", 32);
  expect(banks, "LDS bank width", 4);
  MadeResults divergence = measured_by("wave_divergence");
  wave_divergence::conclude(divergence.results());
  expect(divergence, "wave size", 32);
  MadeResults registers = measured_by("vgpr_limit");
  vgpr_limit::conclude(registers.results());
  expect(registers, "registers of a CU", 65536);
  expect(registers, "register budget per thread, blocks of 1024", 64);
  MadeResults accesses = measured_by("store_divergence");
  store_divergence::conclude(accesses.results());
  expect(accesses, "access granularity of loads within L2", 32);
}

TEST(StaircaseTrial, TheH200sInstructionCacheIsTheSameForTwoBlocks) {
  MadeResults loops = measured_by("fma_loop");
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
