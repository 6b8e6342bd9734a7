// Launches of FMAs and of matrix instructions, with every CU full, in kernels that take no time.
#pragma once

#include <hipscope/hipscope.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "hipscope/matrix/instructions.h"
#include "hipscope/matrix/launcher.h"
#include "meter.h"

namespace energy {

using hipscope::WaveTime;
using matrix_rate::Instruction;

// Both pairs of operands stay in registers, and so do the sums of all chains.
template <typename Code, unsigned Chains>
__global__ void __launch_bounds__((matrix_rate::most_threads<Code, Chains>))
    multiply_kernel(const void* a_of_lanes, const void* b_of_lanes, const void* starts, void* ends,
                    WaveTime* /*times*/, unsigned rounds) {
  if constexpr (!matrix_rate::is_of_this_pass<Code>()) {
    return;
  }
  const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned lane = thread % Code::lanes;
  typename Code::A a[matrix_rate::pairs];
  typename Code::B b[matrix_rate::pairs];
#pragma unroll
  for (unsigned pair = 0; pair < matrix_rate::pairs; ++pair) {
    a[pair] = static_cast<const typename Code::A*>(a_of_lanes)[pair * Code::lanes + lane];
    b[pair] = static_cast<const typename Code::B*>(b_of_lanes)[pair * Code::lanes + lane];
  }
  typename Code::Sum sums[Chains];
#pragma unroll
  for (unsigned chain = 0; chain < Chains; ++chain) {
    sums[chain] = matrix_rate::load_sum<typename Code::Sum>(starts, chain, lane, Code::lanes);
  }
#pragma unroll 1
  for (unsigned round = 0; round < hipscope::warm_up_rounds + rounds; ++round) {
#pragma unroll
    for (unsigned step = 0; step < matrix_rate::body_instructions / Chains; ++step) {
#pragma unroll
      for (unsigned chain = 0; chain < Chains; ++chain) {
        Code::multiply_add(sums[chain], a[step % matrix_rate::pairs], b[step % matrix_rate::pairs]);
      }
    }
  }
#pragma unroll
  for (unsigned chain = 0; chain < Chains; ++chain) {
    matrix_rate::store_sum(ends, thread / Code::lanes * Chains + chain, lane, Code::lanes,
                           sums[chain]);
  }
}

// wgmma: B, and A too unless it comes from registers, in LDS, from where each instruction reads.
template <typename Code, unsigned Chains>
__global__ void __launch_bounds__((matrix_rate::most_threads<Code, Chains>))
    multiply_group_kernel(const void* a_given, const void* b_given, const void* starts, void* ends,
                          WaveTime* /*times*/, unsigned rounds) {
  __shared__ matrix_rate::GroupOperands<Code, matrix_rate::pairs> lds;
  const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned lane = thread % Code::lanes;
  lds.fill(a_given, b_given);
  typename Code::A a[matrix_rate::pairs];
  std::uint64_t b[matrix_rate::pairs];
#pragma unroll
  for (unsigned pair = 0; pair < matrix_rate::pairs; ++pair) {
    a[pair] = lds.a_of(a_given, pair, lane);
    b[pair] = lds.b_of(pair);
  }
  typename Code::Sum sums[Chains];
#pragma unroll
  for (unsigned chain = 0; chain < Chains; ++chain) {
    sums[chain] = matrix_rate::load_sum<typename Code::Sum>(starts, chain, lane, Code::lanes);
  }
#pragma unroll 1
  for (unsigned round = 0; round < hipscope::warm_up_rounds + rounds; ++round) {
    matrix_rate::wgmma_fence();
#pragma unroll
    for (unsigned step = 0; step < matrix_rate::body_instructions / Chains; ++step) {
#pragma unroll
      for (unsigned chain = 0; chain < Chains; ++chain) {
        lds.multiply_add(sums[chain], a[step % matrix_rate::pairs], b[step % matrix_rate::pairs],
                         step % matrix_rate::pairs);
      }
    }
    matrix_rate::wgmma_wait<1>();
  }
  matrix_rate::wgmma_wait<0>();
#pragma unroll
  for (unsigned chain = 0; chain < Chains; ++chain) {
    matrix_rate::store_sum(ends, thread / Code::lanes * Chains + chain, lane, Code::lanes,
                           sums[chain]);
  }
}

// Dense ones, and of wgmma the widest alone: a product of matrices has no use for narrower ones. Of
// vector instructions FP32, FP64 and packed half.
template <typename Code>
constexpr bool is_worth_it() {
  constexpr std::string_view format = Code::format;
  if (matrix_rate::is_vector<Code>) {
    return format == "FP32 vector" || format == "FP64 vector" || format == "FP16 packed";
  }
#if !defined(HIPSCOPE_BACKEND_HOST)
  constexpr unsigned widest = 256;
  if (matrix_rate::is_of_groups<Code> && Code::n < widest) {
    return false;
  }
#endif
  return Code::sparsity == matrix_rate::Sparsity::dense;
}

template <typename Code>
Instruction with_kernel() {
  Instruction instruction = matrix_rate::describe<Code>();
  constexpr unsigned chains = matrix_rate::peak_chains<Code>;
  matrix_rate::Kernel kernel = nullptr;
  if constexpr (matrix_rate::is_of_groups<Code>) {
    kernel = multiply_group_kernel<Code, chains>;
  } else {
    kernel = multiply_kernel<Code, chains>;
  }
  instruction.kernels.push_back({chains, matrix_rate::most_threads<Code, chains>, kernel});
  return instruction;
}

inline std::vector<Instruction> instructions_of(const hipscope::DeviceDescription& device) {
  std::vector<Instruction> list;
  matrix_rate::visit_instructions(device, [&]<typename Code>(const Code* /*type*/) {
    if constexpr (is_worth_it<Code>()) {
      list.push_back(with_kernel<Code>());
    }
  });
  return list;
}

/// One of each format, that with the most FMAs; of several the last.
inline std::vector<Instruction> matrix_instructions(const hipscope::DeviceDescription& device) {
  std::vector<Instruction> found;
  for (const Instruction& instruction : instructions_of(device)) {
    if (!matrix_rate::is_matrix_instruction(instruction)) {
      continue;
    }
    const auto same = std::find_if(found.begin(), found.end(), [&](const Instruction& other) {
      return other.format == instruction.format;
    });
    if (same == found.end()) {
      found.push_back(instruction);
    } else if (instruction.fmas() >= same->fmas()) {
      *same = instruction;
    }
  }
  return found;
}

/// Those of the vector units.
inline std::vector<Instruction> vector_instructions(const hipscope::DeviceDescription& device) {
  std::vector<Instruction> found;
  for (const Instruction& instruction : instructions_of(device)) {
    if (!matrix_rate::is_matrix_instruction(instruction)) {
      found.push_back(instruction);
    }
  }
  return found;
}

/// A row of FMAs; verified, and measured.
inline Load measure_multiply(Sweep& sweep, Meter& meter, Point& point,
                             const Instruction& instruction, Data data, double& fmas_of_launch) {
  const auto wave_size = static_cast<unsigned>(sweep.device().wave_size);
  const matrix_rate::ChainKernel& kernel = instruction.kernels.front();
  matrix_rate::Launcher launcher(instruction, kernel,
                                 matrix_rate::full_shape(sweep, instruction, kernel), wave_size,
                                 static_cast<matrix_rate::Data>(data), sweep.seed());
  launcher.verify(point);
  const unsigned rounds = meter.rounds_for([&](unsigned wanted) { launcher.run(wanted); });
  fmas_of_launch = instruction.fmas() * matrix_rate::body_instructions * launcher.groups() *
                   (double{hipscope::warm_up_rounds} + rounds);
  return meter.measure([&] { launcher.run(rounds); });
}

}  // namespace energy
