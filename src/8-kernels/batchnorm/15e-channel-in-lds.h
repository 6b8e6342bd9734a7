// Spatial, resident, in LDS too. Against 15b: a block keeps a part of its values in LDS, which 15b
// leaves empty, so that it has more of a channel, and fewer siblings to wait for. NVIDIA and host.
//
// On the H200 438 Gpixel/s, 82.3 % of the copy; 451, 84.9 %, where L2 is asked ahead (15f).
#pragma once

#include "15f-channel-asked-ahead.h"
#include "channel_parts.h"

namespace hipscope::batch_norm {

/// 16 bytes to LDS, not waited for: on NVIDIA from sm_80 on by cp.async, which takes no register on
/// the way; elsewhere by a plain load and store.
__device__ inline void fetch(float4* to, const float* from) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  const auto address = static_cast<unsigned>(__cvta_generic_to_shared(to));
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" : : "r"(address), "l"(from) : "memory");
#else
  *to = *reinterpret_cast<const float4*>(from);
#endif
}

/// Waits until all that this thread has fetched is there.
__device__ inline void wait_for_fetches() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_all;" : : : "memory");
#endif
}

#if !defined(HIPSCOPE_BACKEND_AMD)
/// A thread keeps `InLds` and `InRegisters` accesses of 16 bytes; `BlocksPerUnit` blocks are to fit
/// into a CU.
template <unsigned InLds, unsigned InRegisters, unsigned Block, unsigned BlocksPerUnit, bool Asks>
__global__ void __launch_bounds__(Block, BlocksPerUnit)
    channel_in_lds_kernel(const float* __restrict__ input, const float* __restrict__ gamma,
                          const float* __restrict__ beta, float* __restrict__ output, Runs runs,
                          Group group, Exchange exchange, AskAhead ahead) {
  constexpr unsigned width = 4;
  HIP_DYNAMIC_SHARED(float4, kept)
  __shared__ float sums[2][most_waves];
  const unsigned number = take_number(exchange, group);
  if constexpr (Asks) {
    ask_ahead(input, ahead, number);
  }
  const unsigned channel = divide(number, group.by_siblings);
  const unsigned block = number - channel * group.siblings;
  const unsigned accesses = accesses_of(runs, group, block);
  const auto place = [&](unsigned i) { return place_of(runs, channel, block * group.share + i); };
  // A thread waits for its own values and reads no other's: no barrier is needed.
#pragma unroll
  for (unsigned k = 0; k < InLds; ++k) {
    const unsigned i = min(threadIdx.x + k * Block, accesses - 1);
    fetch(kept + k * Block + threadIdx.x, input + std::size_t{place(i)} * width);
  }
  float4 x[InRegisters];
#pragma unroll
  for (unsigned k = 0; k < InRegisters; ++k) {
    const unsigned i = min(threadIdx.x + (InLds + k) * Block, accesses - 1);
    x[k] = load_access<width>(input, place(i));
  }
  const float gamma_here = gamma[channel];
  const float beta_here = beta[channel];
  wait_for_fetches();
  const auto counts = [&](unsigned k) { return threadIdx.x + k * Block < accesses; };
  float sum = 0;
  const auto add = [&](const float4& value, unsigned k) {
    sum += counts(k) ? (value.x + value.y) + (value.z + value.w) : 0;
  };
#pragma unroll 4
  for (unsigned k = 0; k < InLds; ++k) {
    add(kept[k * Block + threadIdx.x], k);
  }
#pragma unroll
  for (unsigned k = 0; k < InRegisters; ++k) {
    add(x[k], InLds + k);
  }
  Part part{};
  part.mean = sum_of_block(sum, sums[0]) / static_cast<float>(accesses * width);
  const auto add_square = [&](float4 value, unsigned k) {
#pragma unroll
    for (unsigned w = 0; w < width; ++w) {
      const float difference = counts(k) ? component(value, w) - part.mean : 0;
      part.spread = fmaf(difference, difference, part.spread);
    }
  };
#pragma unroll 4
  for (unsigned k = 0; k < InLds; ++k) {
    add_square(kept[k * Block + threadIdx.x], k);
  }
#pragma unroll
  for (unsigned k = 0; k < InRegisters; ++k) {
    add_square(x[k], InLds + k);
  }
  part.spread = sum_of_block(part.spread, sums[1]);
  part = exchange_parts(part, exchange, group.siblings, channel, block);
  const Transform transform = merge_parts<width>(part, runs, group, gamma_here, beta_here);
  const auto store = [&](const float4& value, unsigned k) {
    if (counts(k)) {
      store_transformed<width>(output, place(threadIdx.x + k * Block), value, transform);
    }
  };
#pragma unroll
  for (unsigned k = 0; k < InRegisters; ++k) {
    store(x[k], InLds + k);
  }
#pragma unroll 4
  for (unsigned k = 0; k < InLds; ++k) {
    store(kept[k * Block + threadIdx.x], k);
  }
}
#endif

}  // namespace hipscope::batch_norm
