// How does a matrix product in FP64 get from one block's operands in memory to the FP64 peak, and
// to that of matrix instructions?
//
// Part 1, sweep one-block: the source's six stages at its size, M = N = 64, K = 128, one block of
// 256 threads, A and B with k along memory. Its two mistakes are mended and explained in
// lds_tiles.h. Sweep bank-conflicts measures what the last of them saves.
//
// Part 2: the same stages for any size and many blocks, with all matrices row by row, then stages
// of our own: for the vector unit, and by matrix instructions. Each header of this folder holds one
// group of them and says what changed and why that should help; read them in the order of stages.h.
// How they are checked and measured: ../gemm/ladder.h. Sweep operands asks what holds FP64 FMAs
// back that wait for nothing.
#include <hipscope/hipscope.h>

#include <algorithm>
#include <string>
#include <vector>

#include "../gemm/ladder.h"
#include "one_block.h"
#include "operands.h"
#include "stages.h"

namespace {

// FP64 FMAs of one CU per cycle, by the vendors' manuals; NaN for what is not listed. By matrix
// instructions where there are any for FP64: CDNA2 and later, NVIDIA's sm_80, sm_90 and sm_100. HIP
// counts RDNA's WGPs, of two CUs.
double fmas_per_cycle(const std::string& architecture, gemm::Unit unit) {
  const auto begins = [&](const std::string& start) { return architecture.rfind(start, 0) == 0; };
  const double matrix_gain = unit == gemm::Unit::matrix ? 2 : 1;
  if (begins("gfx90a") || begins("gfx94") || begins("sm_90") || begins("sm_100")) {
    return begins("sm_100") ? 64 : 64 * matrix_gain;
  }
  if (begins("sm_80")) {
    return 32 * matrix_gain;
  }
  if (begins("gfx906") || begins("gfx908") || begins("sm_60") || begins("sm_70")) {
    return 32;
  }
  if (begins("gfx900") || begins("gfx803")) {
    return 4;
  }
  return begins("gfx10") ? 8 : gemm::unknown;
}

double rate_at(const std::vector<hipscope::CurvePoint>& curve, double x) {
  for (const hipscope::CurvePoint& point : curve) {
    if (point.x == x) {
      return point.y;
    }
  }
  return gemm::unknown;
}

void infer_one_block(hipscope::Results& results) {
  const auto by_host = results.curve("one-block", "speed-up on the first stage");
  const auto by_device = results.curve("one-block", "device speed-up on the first stage");
  if (by_host.empty()) {
    return;
  }
  const auto stages = dgemm::source_stages<dgemm::LayoutOfB::columns>();
  const auto last = std::find_if(stages.begin(), stages.end(), [](const auto& source) {
    return source.stage.source_kernel == "6";
  });
  const auto x = static_cast<double>(last - stages.begin() + 1);
  results.infer(
      {.name = "DGEMM of one block, from the source's first stage to its last",
       .value = rate_at(by_host, x),
       .unit = "times the rate",
       .confidence = 1 - std::min(1.0, by_host.back().relative_spread),
       .statement = "by the host's clock, launch and wait included",
       .evidence = {"by the device's: " + hipscope::number(rate_at(by_device, x)) + " times",
                    "published: 6.5 times"}});
}

void infer_bank_conflicts(hipscope::Results& results) {
  const auto cycles = results.curve("bank-conflicts", "time of the block's load");
  if (cycles.size() < 2) {
    return;
  }
  const hipscope::CurvePoint& none = cycles.front();
  const hipscope::CurvePoint& most = cycles.back();
  results.infer({.name = "a block's load from LDS for each lane more at a bank",
                 .value = (most.y - none.y) / (most.x - none.x),
                 .unit = "cycles",
                 .confidence = 1 - std::min(1.0, most.relative_spread),
                 .statement = "256 threads, 8 bytes each",
                 .evidence = {hipscope::number(none.y) + " cycles with none in the way, " +
                              hipscope::number(most.y) + " with " + hipscope::number(most.x) +
                              " lanes at each bank"}});
}

void infer_operands(hipscope::Results& results) {
  const auto rates = results.curve("operands", "FMA rate");
  if (rates.size() < 3) {
    return;
  }
  results.infer({.name = "FP64 FMAs whose operands are all new",
                 .value = rates[0].y / rates[1].y,
                 .unit = "times the rate",
                 .confidence = 1 - std::min(1.0, rates[0].relative_spread),
                 .statement = "against FMAs that share a factor with the one before",
                 .evidence = {hipscope::number(rates[0].y) + " and " +
                              hipscope::number(rates[1].y) + " FMAs per cycle and CU; " +
                              hipscope::number(rates[2].y) + " with a load from LDS for every 8"}});
}

}  // namespace

int main(int argc, char** argv) {
  hipscope::Experiment experiment(
      "dgemm",
      {.question = "How does a matrix product in FP64 get from one block's operands in memory to "
                   "the FP64 peak, and to that of matrix instructions?",
       .sources = {"DCU programming textbook, section 3.5 (DGEMM)"}});
  experiment.sweep("one-block", "the source's stages at its size", dgemm::measure_one_block);
  experiment.sweep("bank-conflicts", "what a thread's columns mean for LDS",
                   dgemm::measure_bank_conflicts);
  experiment.sweep("operands", "FMAs whose operands are in registers", [](hipscope::Sweep& sweep) {
    dgemm::measure_operands(sweep, fmas_per_cycle(sweep.device().architecture, gemm::Unit::vector));
  });
  gemm::Ladder<double> ladder(experiment, {.name = "DGEMM",
                                           .arithmetic = "FP64",
                                           .stages = dgemm::all_stages(),
                                           .fmas_per_cycle = fmas_per_cycle,
                                           .odd_sizes = 8});
  experiment.conclude([&](hipscope::Results& results) {
    infer_one_block(results);
    infer_bank_conflicts(results);
    infer_operands(results);
    ladder.conclude(results);
  });
  return experiment.run(argc, argv);
}
