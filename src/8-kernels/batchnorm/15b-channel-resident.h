// Spatial, resident: several blocks share a channel, each keeps its part, and they exchange mean
// and squared deviations: one read, one write. Block b of a channel has accesses b * share to (b +
// 1) * share - 1; all loads are issued before the first value is used. What differs is where the
// values wait and how blocks meet:
//   15b  in registers, and in memory. While a block waits for its siblings its registers hold data
//        and move none.
//   15c  blocks that stay: no more than the device runs at a time. Each goes on to the next
//        channel, and loads its values as soon as it has stored this one's from the same registers.
//   15d  a cluster, on NVIDIA from sm_90: its blocks run at the same time and reach each other's
//        shared memory, so that they meet at a barrier and not in memory; no numbers are taken.
//   15e  in LDS too, which 15b leaves empty, so that a block has more of a channel, and fewer
//        siblings to wait for. NVIDIA and host. With what 15f asks for ahead.
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

/// Makes the compiler forget what `value` was, so that it does not keep what follows from it.
__device__ inline void forget([[maybe_unused]] unsigned& value) {
#if defined(__CUDA_ARCH__)
  asm volatile("" : "+r"(value));
#elif defined(__HIP_DEVICE_COMPILE__)
  asm volatile("" : "+v"(value));
#endif
}

/// What all do with part `block` of a channel. Thread t has accesses t, t + Block, ... of it:
/// `InLds` of 16 bytes in `lds`, then `InRegisters`. `meet(part, channel)` gives lane i of the
/// first wave sibling i's. Where a block `Stays` it goes on to every channel that is `groups`
/// further.
template <unsigned Width, unsigned InRegisters, unsigned Block, unsigned InLds, bool Stays,
          typename Meet>
__device__ __forceinline__ void normalize_part(const float* __restrict__ input,
                                               const float* __restrict__ gamma,
                                               const float* __restrict__ beta,
                                               float* __restrict__ output, const Runs& runs,
                                               const Group& group, unsigned channel, unsigned block,
                                               unsigned groups, [[maybe_unused]] float4* lds,
                                               const Meet& meet) {
  __shared__ float sums[2][most_waves];
  const unsigned accesses = accesses_of(runs, group, block);
  const auto place = [&](unsigned of_channel, unsigned i) {
    return place_of(runs, of_channel, block * group.share + i);
  };
  unsigned thread = threadIdx.x;
  // A thread waits for its own values and reads no other's: no barrier is needed.
  if constexpr (InLds > 0) {
#pragma unroll
    for (unsigned k = 0; k < InLds; ++k) {
      const unsigned i = min(thread + k * Block, accesses - 1);
      fetch(lds + k * Block + thread, input + std::size_t{place(channel, i)} * Width);
    }
  }
  Access<Width> x[InRegisters];
#pragma unroll
  for (unsigned k = 0; k < InRegisters; ++k) {
    const unsigned i = min(thread + (InLds + k) * Block, accesses - 1);
    x[k] = load_access<Width>(input, place(channel, i));
  }
  // Calls take(value, i) for each access i of thread `of`.
  const auto visit = [&](unsigned of, const auto& take) {
    if constexpr (InLds > 0) {
#pragma unroll 4
      for (unsigned k = 0; k < InLds; ++k) {
        Access<Width> value = lds[k * Block + of];
        take(value, of + k * Block);
      }
    }
#pragma unroll
    for (unsigned k = 0; k < InRegisters; ++k) {
      take(x[k], of + (InLds + k) * Block);
    }
  };
  while (true) {
    const float gamma_here = gamma[channel];
    const float beta_here = beta[channel];
    if constexpr (InLds > 0) {
      wait_for_fetches();
    } else {
      scheduling_barrier();
    }
    float sum = 0;
    visit(threadIdx.x, [&](Access<Width>& value, unsigned i) {
      sum += i < accesses ? sum_of_access<Width>(value) : 0;
    });
    Part part{};
    part.mean = sum_of_block(sum, sums[0]) / static_cast<float>(accesses * Width);
    visit(threadIdx.x, [&](Access<Width>& value, unsigned i) {
      const bool counts = i < accesses;
#pragma unroll
      for (unsigned w = 0; w < Width; ++w) {
        const float difference = counts ? component(value, w) - part.mean : 0;
        part.spread = fmaf(difference, difference, part.spread);
      }
    });
    part.spread = sum_of_block(part.spread, sums[1]);
    part = meet(part, channel);
    const Transform transform = merge_parts<Width>(part, runs, group, gamma_here, beta_here);
    const unsigned next = channel + groups;
    const bool goes_on = Stays && next < runs.channels;
    if constexpr (Stays) {
      forget(thread);  // or else registers would hold the places of all values for the next round
    }
    visit(thread, [&](Access<Width>& value, unsigned i) {
      if (i < accesses) {
        store_transformed<Width>(output, place(channel, i), value, transform);
      }
      if (goes_on) {
        value = load_access<Width>(input, place(next, min(i, accesses - 1)));
      }
    });
    if (!goes_on) {
      return;
    }
    channel = next;
  }
}

/// The same by block `number`, where blocks meet in memory.
template <unsigned Width, unsigned InRegisters, unsigned Block, unsigned InLds, bool Stays>
__device__ __forceinline__ void normalize_part_of(unsigned number, const float* __restrict__ input,
                                                  const float* __restrict__ gamma,
                                                  const float* __restrict__ beta,
                                                  float* __restrict__ output, const Runs& runs,
                                                  const Group& group, const Exchange& exchange,
                                                  float4* lds = nullptr) {
  const unsigned channel = divide(number, group.by_siblings);
  const unsigned block = number - channel * group.siblings;
  normalize_part<Width, InRegisters, Block, InLds, Stays>(
      input, gamma, beta, output, runs, group, channel, block, exchange.groups, lds,
      [&](const Part& part, unsigned of_channel) {
        return exchange_parts(part, exchange, group.siblings, of_channel, block);
      });
}

// 15b.
template <unsigned Width, unsigned Values, unsigned Block>
__global__ void __launch_bounds__(Block, second_bound(Block, Values* Width))
    channel_resident_kernel(const float* __restrict__ input, const float* __restrict__ gamma,
                            const float* __restrict__ beta, float* __restrict__ output, Runs runs,
                            Group group, Exchange exchange) {
  normalize_part_of<Width, Values, Block, 0, false>(take_number(exchange, group), input, gamma,
                                                    beta, output, runs, group, exchange);
}

// 15c.
template <unsigned Width, unsigned Values, unsigned Block>
__global__ void __launch_bounds__(Block, second_bound(Block, Values* Width))
    channel_staying_kernel(const float* __restrict__ input, const float* __restrict__ gamma,
                           const float* __restrict__ beta, float* __restrict__ output, Runs runs,
                           Group group, Exchange exchange) {
  normalize_part_of<Width, Values, Block, 0, true>(take_number(exchange, group), input, gamma, beta,
                                                   output, runs, group, exchange);
}

#if defined(__CUDACC__)
constexpr unsigned cluster_blocks = 8;  // the most that every GPU with clusters takes
// Eight blocks hold a channel of the source's size with nothing left.
constexpr unsigned cluster_values = 7;  // of 16 bytes per thread
constexpr unsigned cluster_threads = 448;

// 15d.
template <unsigned Width, unsigned Values, unsigned Block>
__global__ void __cluster_dims__(cluster_blocks, 1, 1)
    __launch_bounds__(Block, second_bound(Block, Values* Width))
        channel_cluster_kernel(const float* __restrict__ input, const float* __restrict__ gamma,
                               const float* __restrict__ beta, float* __restrict__ output,
                               Runs runs, Group group) {
#if __CUDA_ARCH__ >= 900
  __shared__ Part parts[cluster_blocks];
  const unsigned block = __clusterRelativeBlockRank();
  // No block writes to a sibling that has not started.
  __cluster_barrier_arrive();
  normalize_part<Width, Values, Block, 0, false>(
      input, gamma, beta, output, runs, group, blockIdx.x / cluster_blocks, block, 0, nullptr,
      [&](const Part& part, unsigned) {
        // Each block writes its part into the LDS of all.
        __cluster_barrier_wait();
        if (threadIdx.x < cluster_blocks) {
          *static_cast<Part*>(__cluster_map_shared_rank(&parts[block], threadIdx.x)) = part;
        }
        __cluster_barrier_arrive();
        __cluster_barrier_wait();
        return threadIdx.x < cluster_blocks ? parts[threadIdx.x] : Part{};
      });
#endif
}
#endif

#if !defined(HIPSCOPE_BACKEND_AMD)
/// 15e. `BlocksPerUnit` blocks are to fit into a CU.
template <unsigned InLds, unsigned InRegisters, unsigned Block, unsigned BlocksPerUnit, bool Asks>
__global__ void __launch_bounds__(Block, BlocksPerUnit)
    channel_in_lds_kernel(const float* __restrict__ input, const float* __restrict__ gamma,
                          const float* __restrict__ beta, float* __restrict__ output, Runs runs,
                          Group group, Exchange exchange, AskAhead ahead) {
  HIP_DYNAMIC_SHARED(float4, lds)
  const unsigned number = take_number(exchange, group);
  if constexpr (Asks) {
    ask_ahead(input, ahead, number);
  }
  normalize_part_of<4, InRegisters, Block, InLds, false>(number, input, gamma, beta, output, runs,
                                                         group, exchange, lds);
}
#endif

}  // namespace hipscope::batch_norm
