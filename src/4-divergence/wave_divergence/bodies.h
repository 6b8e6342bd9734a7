// Branch or select? A short if, three ways to write it, and the sweeps over the length of its body.
#pragma once

#include <hipscope/hipscope.h>

#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "chains.h"

namespace wave_divergence {

// How a short if is written.
enum class Form {
  plain,   // as an if: the compiler chooses
  select,  // its body is computed always, then one of two values is selected
  branch,  // as an if whose body no compiler can compute without the branch
};

// Keeps the compiler from predicating the body of an if. AMD's takes a volatile asm for something
// that must not happen without its condition. NVIDIA's assembler does not see an empty one, and
// predicates up to seven instructions; but it leaves the branch before a profiler trigger, which
// costs one instruction.
__device__ inline void keep_branch(float& x) {
  hide(x);
#if defined(__CUDA_ARCH__)
  __prof_trigger(0);
#endif
}

constexpr float common_factor = path_factor(0);
constexpr float body_factor = path_factor(1);

template <unsigned fmas>
__device__ float short_body(float x) {
#pragma unroll
  for (unsigned step = 0; step < fmas; ++step) {
    x = fmaf(x, -body_factor, path_addend);
  }
  return x;
}

// Each iteration is one FMA for all lanes and `fmas` more for those whose x is under their limit.
template <Form form, unsigned fmas>
static __global__ void __launch_bounds__(largest_block)
    short_body_kernel(float* output, const float* limits, unsigned iterations) {
  const float limit = limits[threadIdx.x];
  float x = start_value(threadIdx.x);
#pragma unroll 1
  for (unsigned i = 0; i < iterations; ++i) {
    x = fmaf(x, -common_factor, path_addend);
    if constexpr (form == Form::select) {
      float result = short_body<fmas>(x);
      hide(result);
      x = x < limit ? result : x;
    } else if (x < limit) {
      if constexpr (form == Form::branch) {
        keep_branch(x);
      }
      x = short_body<fmas>(x);
    }
  }
  output[threadIdx.x] = x;
}

// Which lanes run the body.
enum class Taken { none, every_other, all };

// All values are between 0 and 1.
inline float limit_of(unsigned thread, Taken taken) {
  const bool is_taken = taken == Taken::all || (taken == Taken::every_other && thread % 2 == 0);
  return is_taken ? 2.0F : -1.0F;
}

template <Form form, unsigned fmas>
void measure_form(hipscope::Point& point, const std::string& name, Taken taken,
                  std::uint64_t iterations) {
  std::vector<float> limits(largest_block);
  for (unsigned thread = 0; thread < largest_block; ++thread) {
    limits[thread] = limit_of(thread, taken);
  }
  const hipscope::DeviceBuffer<float> device_limits{std::span<const float>(limits)};
  const hipscope::DeviceBuffer<float> output(largest_block);
  const auto run = [&] {
    hipscope::launch(short_body_kernel<form, fmas>, {.grid = dim3(1), .block = dim3(largest_block)},
                     output.data(), device_limits.data(), iterations);
  };
  run();
  const auto ends_with = [&](unsigned body_fmas) {
    return ends_of([&](float x) {
      for (std::uint64_t i = 0; i < iterations; ++i) {
        x = chain_end(std::fma(x, -common_factor, path_addend), -body_factor, path_addend,
                      body_fmas);
      }
      return x;
    });
  };
  const auto taken_ends = ends_with(fmas);
  const auto other_ends = ends_with(0);
  const auto expected = [&](unsigned thread) {
    return (limits[thread] > 0 ? taken_ends : other_ends)[thread % start_values];
  };
  check_ends(point, "end of every lane's chain, " + name, output, largest_block, expected);
  const auto time = point.measure(run, {.name = name});
  point.value(name + " cycles", time.cycles() / static_cast<double>(iterations), "cycles");
}

template <unsigned... fmas>
void measure_bodies(hipscope::Sweep& sweep, Taken taken, std::uint64_t iterations) {
  sweep.axis({.name = "body", .unit = "FMAs", .scale = hipscope::Scale::logarithmic});
  sweep.headline("branch cycles");
  sweep.note("cycles are of one iteration of all 1024 threads");
  sweep.note("branch: on NVIDIA one instruction longer, by a profiler trigger that keeps it");
  const auto measure_body = [&]<unsigned count>(std::integral_constant<unsigned, count>) {
    auto point = sweep.point(std::to_string(count), count);
    measure_form<Form::plain, count>(point, "plain", taken, iterations);
    measure_form<Form::select, count>(point, "select", taken, iterations);
    measure_form<Form::branch, count>(point, "branch", taken, iterations);
  };
  (measure_body(std::integral_constant<unsigned, fmas>{}), ...);
}

}  // namespace wave_divergence
