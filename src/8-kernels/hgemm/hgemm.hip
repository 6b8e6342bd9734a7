// How does a matrix product of halves get from one thread per element to the speed of the vendor's
// library?
//
// C = alpha A B + beta C, all matrices row-major in half precision (FP16), all sums in FP32; sweep
// formats has BF16, and C in FP32, too (formats.h).
// Matrix instructions do sixteen times as many FMAs of halves per cycle as the vector unit does of
// floats; with them, the ladder is about feeding operands. Each stage is a file, which says what it
// changes against which other and why that should help; stages.h lists them. ../gemm/ladder.h
// checks and measures them, and has the sweeps.
#include <hipscope/hipscope.h>

#include <string>

#include "8-kernels/gemm/ladder.h"
#include "formats.h"
#include "stages.h"

namespace {

// FMAs of one CU per cycle by the vendors' manuals; NaN for what is not listed. The vector unit's
// are of floats, in which the stages without matrix instructions compute; the matrix unit's are of
// halves, with sums in FP32: NVIDIA H100 Tensor Core GPU Architecture (2022), table 1; AMD CDNA 2,
// 3 and 4 white papers (2021, 2023, 2025).
double fmas_per_cycle(const std::string& architecture, gemm::Unit unit) {
  const auto begins = [&](const std::string& start) { return architecture.rfind(start, 0) == 0; };
  const bool matrix = unit == gemm::Unit::matrix;
  if (begins("sm_90")) {
    return matrix ? 2048 : 128;
  }
  if (begins("sm_80")) {
    return matrix ? 1024 : 64;
  }
  if (begins("gfx950")) {
    return matrix ? 2048 : 128;
  }
  if (begins("gfx94")) {
    return matrix ? 1024 : 128;
  }
  if (begins("gfx90a") || begins("gfx908")) {
    return matrix ? 512 : begins("gfx90a") ? 128 : 64;
  }
  return gemm::unknown;
}

}  // namespace

int main(int argc, char** argv) {
  if (const auto status = gemm::probe_if_asked<hipscope::Half>(argc, argv)) {
    return *status;
  }
  if (const auto status = gemm::print_stages_if_asked(argc, argv, hgemm::all_stages())) {
    return *status;
  }
  hipscope::Experiment experiment(
      "hgemm",
      {.question = "How does a matrix product of halves get from one thread per element to the "
                   "speed of the vendor's library?",
       .sources = {"hipscope's own"}});
  gemm::Ladder<hipscope::Half> ladder(experiment, {.name = "HGEMM",
                                                   .arithmetic = "FP16 with FP32 sums",
                                                   .stages = hgemm::all_stages(),
                                                   .fmas_per_cycle = fmas_per_cycle,
                                                   .odd_sizes = 20});
  experiment.sweep("formats",
                   "the last stages with bfloat16, with floats of 8 bits, and with C in FP32",
                   [&](hipscope::Sweep& sweep) {
                     hgemm::measure_formats(sweep, ladder.size(), ladder.largest_awkward());
                   });
#if !defined(HIPSCOPE_BACKEND_NVIDIA)
  experiment.sweep("tiles", "every tile of stage 07.9, with its splits, checked",
                   hgemm::check_tiles);
#endif
  experiment.conclude([&](hipscope::Results& results) { ladder.conclude(results); });
  return experiment.run(argc, argv);
}
