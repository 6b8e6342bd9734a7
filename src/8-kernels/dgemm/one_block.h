// Sweep one-block: the DCU textbook's six steps at its size, with the corrections that each file
// names, and one of ours. M = N = 64, K = 128, one block of 256
// threads. (Values are random in [-1, 1), where the textbook has integers below 128.)
#pragma once

#include <hipscope/hipscope.h>

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "3.5.3-one-element-at-a-time.h"
#include "3.5.4-registers.h"
#include "3.5.5-prefetch.h"
#include "3.5.6-lds.h"
#include "3.5.7-two-lds-buffers.h"
#include "8-kernels/gemm/problem.h"
#include "bank_conflicts.h"
#include "one_block_step.h"

namespace dgemm {

struct OneBlockStep {
  std::string label;  ///< begins with the number of the textbook's section; ours with the technique
  std::string published;  ///< the series of the textbook's figure; empty: ours
  OneBlockKernel kernel;
  double loads_from_memory;    ///< per FMA, C's own not counted
  double loads_from_lds;       ///< per FMA
  unsigned bank_conflict = 0;  ///< how many lanes of 16 want one bank's; 0: no LDS
};

/// A tile of 64 x 64 in LDS is loaded from memory once, 1/64 + 1/64 loads per FMA; from there a
/// thread's 4 x 4 sums want 1/4 + 1/4.
inline std::vector<OneBlockStep> one_block_steps() {
  constexpr double both_reused = 2.0 / 4;
  constexpr double from_tile = 2.0 / one_block_side;
  constexpr unsigned together = conflict_degree<Spread::together>();
  return {
      {"3.5.3 one element at a time", "one thread per 4x4 tile, no reuse", one_element_kernel, 2,
       0},
      {"3.5.4 registers", "register reuse, depth 8", registers_kernel, both_reused, 0},
      {"3.5.5 register prefetch", "register prefetch", prefetch_kernel, both_reused, 0},
      {"3.5.6 LDS", "LDS staging", lds_kernel, from_tile, both_reused, together},
      {"3.5.7 two LDS buffers", "LDS double buffer", two_lds_buffers_kernel<Spread::together>,
       from_tile, both_reused, together},
      {"3.5.8 fewer bank conflicts", "fewer bank conflicts", two_lds_buffers_kernel<Spread::pairs>,
       from_tile, both_reused, conflict_degree<Spread::pairs>()},
      {"no bank conflicts", "", two_lds_buffers_kernel<Spread::apart>, from_tile, both_reused,
       conflict_degree<Spread::apart>()}};
}

/// The problem, and A transposed: with m along memory.
class OneBlock {
 public:
  explicit OneBlock(std::uint64_t seed)
      : problem_(one_block_side, one_block_side, one_block_k, gemm::Values::random, seed),
        a_(std::size_t{one_block_side} * one_block_k) {
    const auto product = problem_.product(1, 0);
    std::vector<double> rows(a_.size());
    hipscope::check(
        hipMemcpy(rows.data(), product.a, rows.size() * sizeof(double), hipMemcpyDeviceToHost));
    std::vector<double> transposed(rows.size());
    for (unsigned i = 0; i < one_block_side; ++i) {
      for (unsigned k = 0; k < one_block_k; ++k) {
        transposed[k * one_block_side + i] = rows[i * one_block_k + k];
      }
    }
    hipscope::check(hipMemcpy(a_.data(), transposed.data(), transposed.size() * sizeof(double),
                              hipMemcpyHostToDevice));
  }

  void enqueue(const OneBlockStep& step, double alpha, double beta) const {
    const auto product = problem_.product(alpha, beta);
    hipscope::launch(step.kernel, {.grid = dim3(1), .block = dim3(one_block_threads)}, a_.data(),
                     product.b, product.c, alpha, beta, static_cast<int>(one_block_side),
                     static_cast<int>(one_block_side), static_cast<int>(one_block_k));
  }

  gemm::Verdict judge(const OneBlockStep& step, double alpha, double beta) {
    problem_.reset(beta);
    enqueue(step, alpha, beta);
    return problem_.judge(alpha, beta);
  }

  void reset() { problem_.reset(1); }

 private:
  gemm::Problem<double> problem_;
  hipscope::DeviceBuffer<double> a_;
};

inline void measure_one_block(hipscope::Sweep& sweep) {
  constexpr double flops = 2.0 * one_block_side * one_block_side * one_block_k;
  sweep.axis({.name = "step"});
  sweep.headline("rate");
  sweep.note("M = N = 64, K = 128, one block of 256 threads; A with m, B with n along memory");
  sweep.note("alpha = 2, beta = 3; a row begins with the textbook's section");
  sweep.note(
      "rates by the host's clock, from before the launch to after the synchronization, C restored "
      "before each, as the textbook's; by the device's with beta = -1, with which C stays finite");
  OneBlock block(sweep.seed());
  double x = 0;
  double first_on_host = 0;
  double first_on_device = 0;
  for (const OneBlockStep& step : one_block_steps()) {
    auto point = sweep.point(step.label, ++x, step.published, "64x64x128");
    for (const auto& [alpha, beta] : {std::pair(2.0, 3.0), std::pair(1.5, -0.5)}) {
      const gemm::Verdict verdict = block.judge(step, alpha, beta);
      verify(point, "every element, beta = " + hipscope::number(beta), verdict);
    }
    block.reset();
    hipscope::check(hipDeviceSynchronize());
    const auto on_host = point.measure_on_host(
        "launch and wait",
        [&] {
          block.enqueue(step, 2, 3);
          hipscope::check(hipDeviceSynchronize());
        },
        [&] {
          block.reset();
          hipscope::check(hipDeviceSynchronize());
        });
    const auto on_device = point.measure([&] { block.enqueue(step, 2, -1); });
    const double host_seconds = on_host.seconds().median;
    const double device_seconds = on_device.seconds().median;
    first_on_host = x == 1 ? host_seconds : first_on_host;
    first_on_device = x == 1 ? device_seconds : first_on_device;
    point.value("rate", 1e-9 * flops / host_seconds, "GFLOP/s");
    point.value("device rate", 1e-9 * flops / device_seconds, "GFLOP/s");
    point.value("speed-up on the first stage", first_on_host / host_seconds, "");
    point.value("device speed-up on the first stage", first_on_device / device_seconds, "");
    point.value("memory operations", step.loads_from_memory, "per FMA");
    point.value("LDS loads", step.loads_from_lds, "per FMA");
    point.value("bank conflict", step.bank_conflict, "ways");
  }
}

}  // namespace dgemm
