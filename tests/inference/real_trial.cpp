// Curves that others measured on GPUs of which the vendor tells the caches. Nothing is fitted to
// them: what is said of a capacity with confidence must be right; what is not found is not wrong.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "5-memory/memory_latency/findings.h"
#include "made_results.h"
#include "trial.h"

namespace hipscope::trial {
namespace {

// Lines of kibibytes and cycles, after comments and a header.
std::vector<CurvePoint> read_curve(const std::string& name) {
  std::ifstream file(std::string(HIPSCOPE_INFERENCE_DATA) + "/" + name + ".csv");
  std::vector<CurvePoint> curve;
  for (std::string line; std::getline(file, line);) {
    std::istringstream text(line);
    CurvePoint point;
    char comma = 0;
    if (text >> point.x >> comma >> point.y) {
      point.x *= kib;
      curve.push_back(point);
    }
  }
  return curve;
}

struct RealGpu {
  std::string name{};
  double l2_bytes = 0;
  std::vector<double> capacities{};
};

TEST(RealTrial, CapacitiesAreRightOrNotFound) {
  Tally& answers = tally("cache capacity, curves of real GPUs");
  for (const RealGpu& gpu : {
           RealGpu{.name = "mi210", .l2_bytes = 8 * mib, .capacities = {16 * kib, 8 * mib}},
           RealGpu{
               .name = "mi300x", .l2_bytes = 4 * mib, .capacities = {32 * kib, 4 * mib, 256 * mib}},
           RealGpu{.name = "rx6900xt",
           .l2_bytes = 4 * mib,
           .capacities = {16 * kib, 128 * kib, 4 * mib, 128 * mib}},
           // Of an L2 in two halves each keeps copies of the other's lines.
           RealGpu{.name = "h100_pcie",
           .l2_bytes = 50 * mib,
           .capacities = {256 * kib, 25 * mib, 50 * mib}},
           RealGpu{
               .name = "a100", .l2_bytes = 40 * mib, .capacities = {192 * kib, 20 * mib, 40 * mib}},
       }) {
    SCOPED_TRACE(gpu.name);
    const auto curve = read_curve(gpu.name);
    ASSERT_GT(curve.size(), 80U);
    MadeResults made("memory_latency",
                     fake::describe_with(&DeviceDescription::l2_bytes, gpu.l2_bytes));
    made.curve("footprint", "latency", curve);
    memory_latency::conclude(made.results());
    std::vector<double> truths = gpu.capacities;
    for (const Inference& answer : made.inferences()) {
      if (!answer.name.ends_with("capacity") || !answer.value || truths.empty()) {
        continue;
      }
      const auto nearest = std::min_element(truths.begin(), truths.end(), [&](double a, double b) {
        return std::abs(std::log(a / *answer.value)) < std::abs(std::log(b / *answer.value));
      });
      constexpr double tolerance = 0.125;
      answers.add({.value = *nearest, .tolerance = tolerance}, answer);
      std::cout << gpu.name << ", " << answer.name << ": " << *answer.value / *nearest << " of "
                << *nearest / kib << " KiB, confidence " << answer.confidence << "\n";
      truths.erase(nearest);
    }
    for (std::size_t i = 0; i < truths.size(); ++i) {
      answers.add_not_found();
    }
  }
  EXPECT_EQ(answers.wrong, 0U);
  EXPECT_GE(answers.right, 12U);  // all of the MI300X and of the RX 6900 XT
}

}  // namespace
}  // namespace hipscope::trial
