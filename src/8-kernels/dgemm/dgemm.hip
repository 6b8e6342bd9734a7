// How does a matrix product in FP64 get from one block's operands in memory to the FP64 peak, and
// to that of matrix instructions?
//
// Part 1, sweep one-block: the six steps of the DCU programming textbook, section 3.5, as it
// wrote them and at its size: M = N = 64, K = 128, one block of 256 threads. Files 3.5.3 to 3.5.7,
// named after its sections (3.5.8 is a row of 3.5.7's kernel); what had to be corrected stands in
// each. Sweep bank-conflicts measures what the last of them saves.
//
// Part 2, sweep stages: ours, for any size and many blocks, all matrices row-major; files from 4.01
// on. Each file says what it changes against the one before, and why that should help.
// ../gemm/ladder.h checks and measures them. Sweep tiles checks each tile of the last stage alone;
// sweep operands asks what slows down FP64 FMAs that wait for no memory.
#include <hipscope/hipscope.h>

#include <string>

#include "8-kernels/gemm/ladder.h"
#include "8-kernels/gemm/tile_by_size.h"
#include "bank_conflicts.h"
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

}  // namespace

int main(int argc, char** argv) {
  if (const auto status = gemm::probe_if_asked<double>(argc, argv)) {
    return *status;
  }
  if (const auto status = gemm::print_stages_if_asked(argc, argv, dgemm::all_stages())) {
    return *status;
  }
  hipscope::Experiment experiment(
      "dgemm",
      {.question = "How does a matrix product in FP64 get from one block's operands in memory to "
                   "the FP64 peak, and to that of matrix instructions?",
       .sources = {"DCU programming textbook, section 3.5 (DGEMM)"}});
  experiment.sweep("one-block", "the DCU textbook's stages at its size", dgemm::measure_one_block);
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
#if !defined(HIPSCOPE_BACKEND_AMD)
  experiment.sweep("tiles", "every tile of the last stage, with its splits, checked",
                   [](hipscope::Sweep& sweep) {
                     gemm::check_tiles<double>(sweep, dgemm::tile_by_size_stage(),
                                               dgemm::tile_by_size::kernels(),
                                               dgemm::tile_by_size::costs());
                   });
  experiment.sweep(
      "choices", "the likely tiles and splits of one product", [&ladder](hipscope::Sweep& sweep) {
        gemm::measure_choices<double, dgemm::tile_by_size::kernels, dgemm::tile_by_size::costs>(
            sweep, ladder.size());
      });
#endif
#if !defined(HIPSCOPE_BACKEND_NVIDIA)
  experiment.sweep("mfma-tiles", "every tile of the last stage by MFMA, with its splits, checked",
                   [](hipscope::Sweep& sweep) {
                     gemm::check_tiles<double>(sweep, gemm::mfma::tile_by_size_stage<double>(),
                                               gemm::mfma::kernels<double>(),
                                               gemm::mfma::costs<double>());
                   });
#endif
  experiment.conclude([&](hipscope::Results& results) { ladder.conclude(results); });
  return experiment.run(argc, argv);
}
