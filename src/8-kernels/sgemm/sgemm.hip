// How does a matrix product in FP32 get from one thread per element to the vendor library's speed?
//
// C = alpha A B + beta C, all matrices row-major, no reduced precision. First every stage of
// fileaccent's ladder (sgemm-exercise), in its order and corrected, then stages of our own. Each
// idea is a file, which says what it changes against which other and why that should help (diff
// the two; the other is not always the one before).
// Read them in the order of their numbers, 01 to 22; stages.h lists them all. ../gemm/ladder.h
// checks and measures them, and has the sweeps. Sweep tiles checks each tile of the last stage
// alone; sweep limit asks what limits the fastest: limit.h.
#include <hipscope/hipscope.h>

#include <string>

#include "8-kernels/gemm/ladder.h"
#include "8-kernels/gemm/tile_by_size.h"
#include "limit.h"
#include "stages.h"

namespace {

// FP32 FMAs of one CU per cycle, by the vendors' manuals; NaN for what is not listed. gfx90a and
// later CDNA have 64 lanes that take two by packed FMAs; HIP counts RDNA's WGPs, of 2 x 64 lanes.
// Matrix instructions have no peak of their own here: the share of such a stage may pass 100 %.
double fmas_per_cycle(const std::string& architecture, gemm::Unit) {
  const auto begins = [&](const std::string& start) { return architecture.rfind(start, 0) == 0; };
  if (begins("gfx90a") || begins("gfx94") || begins("gfx95") || begins("gfx1")) {
    return 128;
  }
  if (begins("gfx9") || begins("gfx8")) {
    return 64;
  }
  if (begins("sm_60") || begins("sm_70") || begins("sm_75") || begins("sm_80")) {
    return 64;
  }
  return begins("sm_") ? 128 : gemm::unknown;
}

}  // namespace

int main(int argc, char** argv) {
  // Two ways to call this that measure nothing: a child tries the vendor's library, which may end
  // its process; scripts/stages.py asks what each stage needs.
  if (const auto status = gemm::probe_if_asked<float>(argc, argv)) {
    return *status;
  }
  if (const auto status = gemm::print_stages_if_asked(argc, argv, sgemm::all_stages())) {
    return *status;
  }
  hipscope::Experiment experiment(
      "sgemm",
      {.question =
           "How does a matrix product in FP32 get from one thread per element to the speed of "
           "the vendor's library?",
       .sources = {"fileaccent/sgemm-exercise (kernels 1 to 10)"}});
  gemm::Ladder<float> ladder(
      experiment,
      {.name = "SGEMM",
       .arithmetic = "FP32 without TF32",
       .stages = sgemm::all_stages(),
       .fmas_per_cycle = fmas_per_cycle,
       .odd_sizes = 20,
       .notes = {"128-row tiles stand twice: compiled for blocks of 1024 threads, which clang "
                 "assumes of a kernel that states no launch bounds, and for their own 256; 8 x 8 "
                 "per thread a third time with none, but on AMD, where that is the first"}});
  const auto limit_k = experiment.size("--limit-k", "k of the sums of sweep limit, 16 at a time",
                                       {.gpu = 8192,
                                        .quick = 2048,
                                        .host = 64,
                                        .minimum = sgemm::limit::least_k,
                                        .maximum = 1U << 16});
  experiment.sweep("limit", "FMAs as the fastest stages have them, and what comes beside them",
                   [=](hipscope::Sweep& sweep) {
                     sgemm::limit::measure_limit(
                         sweep, fmas_per_cycle(sweep.device().architecture, gemm::Unit::vector),
                         static_cast<unsigned>(limit_k));
                   });
#if !defined(HIPSCOPE_BACKEND_AMD)
  experiment.sweep("tiles", "every tile of the last stage, with its splits, checked",
                   [](hipscope::Sweep& sweep) {
                     gemm::check_tiles<float>(sweep, sgemm::tile_by_size_stage(),
                                              sgemm::tile_by_size::kernels(),
                                              sgemm::tile_by_size::costs());
                   });
  experiment.sweep(
      "choices", "the likely tiles and splits of one product", [&ladder](hipscope::Sweep& sweep) {
        gemm::measure_choices<float, sgemm::tile_by_size::kernels, sgemm::tile_by_size::costs>(
            sweep, ladder.size());
      });
#endif
#if !defined(HIPSCOPE_BACKEND_NVIDIA)
  experiment.sweep("register-tiles",
                   "every tile of the last stage through registers, with its splits, checked",
                   [](hipscope::Sweep& sweep) {
                     gemm::check_tiles<float>(sweep, sgemm::through_registers::tile_by_size_stage(),
                                              sgemm::through_registers::kernels(),
                                              sgemm::through_registers::costs());
                   });
  experiment.sweep("mfma-tiles", "every tile of the last stage by MFMA, with its splits, checked",
                   [](hipscope::Sweep& sweep) {
                     gemm::check_tiles<float>(sweep, gemm::mfma::tile_by_size_stage<float>(),
                                              gemm::mfma::kernels<float>(),
                                              gemm::mfma::costs<float>());
                   });
#endif
  experiment.conclude([&](hipscope::Results& results) { ladder.conclude(results); });
  return experiment.run(argc, argv);
}
