// Kernels that repeat an instruction for long loads, and their launches on every CU.
#pragma once

#include <hip/hip_runtime.h>
#include <hipscope/timed_rounds.h>

#include <cstdint>

#include "hipscope/matrix/instructions.h"
#include "hipscope/matrix/launcher.h"
#include "hipscope/matrix/registers.h"

namespace matrix_rate {

/// Both pairs of operands stay in registers, and so do the sums of all chains. Of wgmma B, and A
/// too unless it comes from registers, is in LDS, from where each instruction reads. `Timed`: each
/// wave stores its time, that of wgmma with the warm-up.
template <typename Code, unsigned Chains, bool Timed>
__global__ void __launch_bounds__((most_threads<Code, Chains>))
    multiply_kernel(const void* a_given, const void* b_given, const void* starts, void* ends,
                    [[maybe_unused]] hipscope::WaveTime* times, unsigned rounds) {
  if constexpr (!is_of_this_pass<Code>()) {
    return;
  }
  const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned lane = thread % Code::lanes;
  typename Code::Sum sums[Chains];
  const auto load_sums = [&] {
#pragma unroll
    for (unsigned chain = 0; chain < Chains; ++chain) {
      sums[chain] = load_sum<typename Code::Sum>(starts, chain, lane, Code::lanes);
    }
  };
  // A round: `multiply_add(sum, pair)` by each chain in turn.
  const auto add_all = [&](auto multiply_add) {
#pragma unroll
    for (unsigned step = 0; step < body_instructions / Chains; ++step) {
#pragma unroll
      for (unsigned chain = 0; chain < Chains; ++chain) {
        multiply_add(sums[chain], step % pairs);
      }
    }
  };
  [[maybe_unused]] hipscope::CycleClock clock;
  [[maybe_unused]] hipscope::WaveTime time{};
  typename Code::A a[pairs];
  if constexpr (is_of_groups<Code>) {
    __shared__ GroupOperands<Code, pairs> lds;
    lds.fill(a_given, b_given);
    std::uint64_t b[pairs];
#pragma unroll
    for (unsigned pair = 0; pair < pairs; ++pair) {
      a[pair] = lds.a_of(a_given, pair, lane);
      b[pair] = lds.b_of(pair);
    }
    load_sums();
    if constexpr (Timed) {
      clock.start();
    }
#pragma unroll 1
    for (unsigned round = 0; round < hipscope::warm_up_rounds + rounds; ++round) {
      wgmma_fence();
      add_all([&](auto& sum, unsigned pair) { lds.multiply_add(sum, a[pair], b[pair], pair); });
      wgmma_wait<1>();
    }
    wgmma_wait<0>();
    if constexpr (Timed) {
      clock.stop();
      time = {.start = clock.started(), .end = clock.ended()};
    }
  } else {
    typename Code::B b[pairs];
#pragma unroll
    for (unsigned pair = 0; pair < pairs; ++pair) {
      a[pair] = static_cast<const typename Code::A*>(a_given)[pair * Code::lanes + lane];
      b[pair] = static_cast<const typename Code::B*>(b_given)[pair * Code::lanes + lane];
    }
    load_sums();
    const auto round = [&] {
      add_all([&](auto& sum, unsigned pair) { Code::multiply_add(sum, a[pair], b[pair]); });
    };
    if constexpr (Timed) {
      time = hipscope::time_rounds<true>(rounds, round);
    } else {
#pragma unroll 1
      for (unsigned i = 0; i < hipscope::warm_up_rounds + rounds; ++i) {
        round();
      }
    }
  }
#pragma unroll
  for (unsigned chain = 0; chain < Chains; ++chain) {
    store_sum(ends, thread / Code::lanes * Chains + chain, lane, Code::lanes, sums[chain]);
  }
  if constexpr (Timed) {
    if (threadIdx.x % warpSize == 0) {
      times[thread / warpSize] = time;
    }
  }
}

/// An instruction with that kernel alone, of as many chains as are fastest.
template <typename Code, bool Timed>
Instruction with_multiply_kernel() {
  constexpr unsigned chains = peak_chains<Code>;
  Instruction instruction = describe<Code>();
  instruction.kernels.push_back(
      {chains, most_threads<Code, chains>, multiply_kernel<Code, chains, Timed>});
  return instruction;
}

/// Its launches on every CU.
inline Launcher full_launcher(const hipscope::Sweep& sweep, const Instruction& instruction,
                              Data data) {
  const ChainKernel& kernel = instruction.kernels.front();
  return {instruction,
          kernel,
          full_shape(sweep, instruction, kernel),
          static_cast<unsigned>(sweep.device().wave_size),
          data,
          sweep.seed()};
}

/// FMAs of one of these launches.
inline double fmas_of_launch(const Instruction& instruction, const Launcher& launcher,
                             unsigned rounds) {
  return instruction.fmas() * body_instructions * launcher.groups() *
         (double{hipscope::warm_up_rounds} + rounds);
}

}  // namespace matrix_rate
