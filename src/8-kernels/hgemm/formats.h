// The last stages with other formats: bfloat16 in place of halves, C in FP32, and floats of 8 bits
// (of OCP, and FNUZ where an instruction multiplies that).
#pragma once

#include <hipscope/hipscope.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <type_traits>
#include <vector>

#include "07-two-lds-buffers.h"
#if !defined(HIPSCOPE_BACKEND_NVIDIA)
#include "07.9-tile-by-size.h"
#include "16.1-rows-of-both.h"
#endif
#include "15.2-shared-steps.h"
#include "16-floats-of-8-bits.h"
#include "8-kernels/gemm/cases.h"
#include "8-kernels/gemm/judge.h"
#include "8-kernels/gemm/problem.h"

namespace hgemm {

#if !defined(HIPSCOPE_BACKEND_NVIDIA)
/// The last stage of each of AMD's instructions that the format has.
template <typename Value, typename Result>
std::vector<gemm::Stage<Value, Result>> last_amd_stages() {
  using Codes = Instructions<Value>;
  std::vector<gemm::Stage<Value, Result>> all;
  if constexpr (requires { typename Codes::Mfma; }) {
    all.push_back(whole_tiles_stage<typename Codes::Mfma, Value, Result>());
  }
  if constexpr (requires { typename Codes::MfmaOf950; }) {
    all.push_back(whole_tiles_stage<typename Codes::MfmaOf950, Value, Result>());
  }
  if constexpr (requires { typename Codes::WmmaOf11; }) {
    all.push_back(whole_tiles_stage<typename Codes::WmmaOf11, Value, Result>());
  }
  if constexpr (requires { typename Codes::WmmaOf12; }) {
    all.push_back(whole_tiles_stage<typename Codes::WmmaOf12, Value, Result>());
  }
  if constexpr (std::is_same_v<Value, Result> && !gemm::has_b_by_columns<Value>) {
    const auto by_size = tile_by_size_of_amd_stages<Value>();
    all.insert(all.end(), by_size.begin(), by_size.end());
  }
  return all;
}
#endif

/// The stages that are there for any format and that the device has.
template <typename Value, typename Result>
std::vector<gemm::Stage<Value, Result>> stages_of_format(const hipscope::Sweep& sweep) {
#if defined(HIPSCOPE_BACKEND_NVIDIA)
  std::vector<gemm::Stage<Value, Result>> all;
  if constexpr (!gemm::has_b_by_columns<Value>) {
    all = two_lds_buffers_stages<Value, Result>();
  }
#else
  auto all = last_amd_stages<Value, Result>();
#endif
  if constexpr (std::is_same_v<Value, E4M3>) {
    all.push_back(tiles_of_8_bits_stage<false, Result>("FP8, sums in the instruction"));
    all.push_back(tiles_of_8_bits_stage<true, Result>("FP8, sums of each 128 in FP32"));
  } else if constexpr (!gemm::has_b_by_columns<Value>) {
    all.push_back(shared_steps_stage<Value, Result>());
  }
  std::vector<gemm::Stage<Value, Result>> here;
  std::copy_if(all.begin(), all.end(), std::back_inserter(here),
               [&](const auto& stage) { return gemm::is_here(sweep, stage); });
  if (!sweep.is_hardware() && here.size() > 2) {
    // They differ by instruction, which sweep stages has been through.
    here.erase(here.begin() + 1, here.end() - 1);
  }
  if constexpr (std::is_same_v<Value, E4M3>) {
    if (here.empty() || !sweep.is_hardware()) {  // a thousandth of the others' rate
      here.push_back(one_thread_per_element_of_8_bits_stage<Result>());
    }
  }
  return here;
}

/// A third of the cases of sweep awkward, with its gaps and factors, each with another of a stage's
/// choices; on the host backend one.
template <typename Value, typename Result>
void check_awkward(const hipscope::Sweep& sweep, hipscope::Point& point,
                   const std::vector<gemm::Stage<Value, Result>>& stages, unsigned above) {
  constexpr std::size_t one_for_host = 2;  // k = 257: several tiles
  const auto cases = gemm::awkward_cases<Value>(above);
  for (std::size_t i = 2; i < cases.size(); i += 3) {
    if (!sweep.is_hardware() && i != one_for_host) {
      continue;
    }
    const gemm::AwkwardCase<Value>& what = cases[i];
    gemm::Problem<Value, Result> problem(what.m, what.n, what.k,
                                         i % 2 == 0 ? gemm::Values::integers : gemm::Values::random,
                                         sweep.seed(), what.gaps);
    if (what.factors.alpha == 0) {
      problem.poison_operands();
    }
    for (const auto& stage : stages) {
      const auto choice = static_cast<unsigned>(i / 3 % stage.choices);
      const gemm::Verdict verdict = gemm::judge(stage, problem, what.factors, choice);
      verify(point, stage.technique + ", " + gemm::name_of_size(what.m, what.n, what.k), verdict);
    }
  }
}

/// A row of sweep formats.
template <typename Value, typename Result>
void measure_format(hipscope::Sweep& sweep, const std::string& name, double x,
                    const gemm::Extents& size, unsigned above) {
  const auto stages = stages_of_format<Value, Result>(sweep);
  if (stages.empty()) {
    sweep.note(name + ": no stage for this device");
    return;
  }
  auto point = sweep.point(name, x);
  gemm::Problem<Value, Result> problem(size.m, size.n, size.k, gemm::Values::random, sweep.seed());
  for (const auto& stage : stages) {
    const gemm::Verdict verdict = gemm::judge(stage, problem, gemm::other_factors<Value>);
    verify(point, stage.technique + ", alpha = 1.5, beta = -0.5", verdict);
  }
  check_awkward(sweep, point, stages, above);
  gemm::measure_in_turn(sweep, point, stages, problem);
}

/// Sweep formats.
inline void measure_formats(hipscope::Sweep& sweep, const gemm::Extents& size, unsigned above) {
  sweep.axis({.name = "format"});
  sweep.headline("rate");
  sweep.note("M=" + std::to_string(size.m) + " N=" + std::to_string(size.n) +
             " K=" + std::to_string(size.k) + "; sums, alpha and beta are FP32");
  sweep.note(
      "of FP8, B is stored column by column, and sums have the bits that the instruction keeps");
  gemm::note_library<BFloat16, float>(sweep, "with FP32 sums");
  sweep.require_memory(gemm::bytes_of_problem<Half, float>(size.m, size.n, size.k), "--m");
  double x = 0;
  if (sweep.is_hardware()) {  // all of the ladder before has been it
    measure_format<Half, Half>(sweep, "FP16", ++x, size, above);
  }
  measure_format<Half, float>(sweep, "FP16, C in FP32", ++x, size, above);
  measure_format<BFloat16, BFloat16>(sweep, "BF16", ++x, size, above);
  measure_format<BFloat16, float>(sweep, "BF16, C in FP32", ++x, size, above);
  measure_format<E4M3, Half>(sweep, "FP8 E4M3, C in FP16", ++x, size, above);
  measure_format<E4M3, float>(sweep, "FP8 E4M3, C in FP32", ++x, size, above);
#if !defined(HIPSCOPE_BACKEND_NVIDIA)
  measure_format<E4M3Fnuz, Half>(sweep, "FP8 E4M3 FNUZ, C in FP16", ++x, size, above);
  measure_format<E4M3Fnuz, float>(sweep, "FP8 E4M3 FNUZ, C in FP32", ++x, size, above);
#endif
}

}  // namespace hgemm
