// Spatial, a cluster, on NVIDIA from sm_90. Against 15d: the blocks of a cluster run at the same
// time and reach each other's shared memory, so that they meet at a barrier and not in memory.
//
// On the H200 385 Gpixel/s, 72.9 % of the copy.
#pragma once

#include "accesses.h"
#include "channel_parts.h"

namespace hipscope::batch_norm::channel_cluster {

constexpr unsigned cluster_blocks = 8;  // the most that every GPU with clusters takes
// Eight blocks hold a channel of V's size with nothing left.
constexpr unsigned accesses_of_thread = 7;  // of 16 bytes
constexpr unsigned threads = 448;

#if defined(__CUDACC__)
// A cluster's blocks run at the same time by definition: no tickets, no waiting in memory.
template <unsigned Width, unsigned Values, unsigned Block>
__global__ void __cluster_dims__(cluster_blocks, 1, 1)
    __launch_bounds__(Block, second_bound(Block, Values* Width))
        kernel(const float* __restrict__ input, const float* __restrict__ gamma,
               const float* __restrict__ beta, float* __restrict__ output, Runs runs, Group group) {
#if __CUDA_ARCH__ >= 900
  __shared__ Part parts[cluster_blocks];
  __shared__ float sums[2][most_waves];
  __shared__ Transform transform;
  const unsigned channel = blockIdx.x / cluster_blocks;
  const unsigned block = __clusterRelativeBlockRank();
  // No block writes to a sibling that has not started.
  __cluster_barrier_arrive();
  const auto accesses_of = [&](unsigned b) {
    return b < group.siblings ? min(group.share, runs.count - b * group.share) : 0;
  };
  const unsigned accesses = accesses_of(block);
  Access<Width> x[Values];
#pragma unroll
  for (unsigned k = 0; k < Values; ++k) {
    const unsigned i = min(threadIdx.x + k * Block, accesses - 1);
    x[k] = load_access<Width>(input, place_of(runs, channel, block * group.share + i));
  }
  const float gamma_here = gamma[channel];
  const float beta_here = beta[channel];
  end_of_loads();
  float sum = 0;
#pragma unroll
  for (unsigned k = 0; k < Values; ++k) {
    const bool counts = threadIdx.x + k * Block < accesses;
#pragma unroll
    for (unsigned w = 0; w < Width; ++w) {
      sum += counts ? component(x[k], w) : 0;
    }
  }
  Part part{};
  part.mean = sum_of_block(sum, sums[0]) / static_cast<float>(accesses * Width);
#pragma unroll
  for (unsigned k = 0; k < Values; ++k) {
    const bool counts = threadIdx.x + k * Block < accesses;
#pragma unroll
    for (unsigned w = 0; w < Width; ++w) {
      const float difference = counts ? component(x[k], w) - part.mean : 0;
      part.spread = fmaf(difference, difference, part.spread);
    }
  }
  part.spread = sum_of_block(part.spread, sums[1]);
  // Each block writes its part into the LDS of all.
  __cluster_barrier_wait();
  if (threadIdx.x < cluster_blocks) {
    *static_cast<Part*>(__cluster_map_shared_rank(&parts[block], threadIdx.x)) = part;
  }
  __cluster_barrier_arrive();
  __cluster_barrier_wait();
  part = threadIdx.x < cluster_blocks ? parts[threadIdx.x] : Part{};
  if (is_in_first_wave()) {
    const auto values = static_cast<float>(accesses_of(threadIdx.x) * Width);
    const Statistics statistics =
        merge_in_wave(part, values, static_cast<float>(runs.count * Width));
    if (threadIdx.x == 0) {
      transform = {.mean = statistics.mean,
                   .scale = scale_of(gamma_here, statistics.variance),
                   .shift = beta_here};
    }
  }
  __syncthreads();
  const Transform all = transform;
#pragma unroll
  for (unsigned k = 0; k < Values; ++k) {
    const unsigned i = threadIdx.x + k * Block;
    if (i < accesses) {
#pragma unroll
      for (unsigned w = 0; w < Width; ++w) {
        component(x[k], w) = fmaf(component(x[k], w) - all.mean, all.scale, all.shift);
      }
      reinterpret_cast<Access<Width>*>(output)[place_of(runs, channel, block * group.share + i)] =
          x[k];
    }
  }
#endif
}
#endif

}  // namespace hipscope::batch_norm::channel_cluster
