// Spatial, a cluster, on NVIDIA from sm_90. Against 15b: the blocks of a cluster run at the same
// time and reach each other's shared memory, so that they meet at a barrier and not in memory; no
// numbers are taken.
//
// On the H200 387 Gpixel/s, 72.8 % of the copy.
#pragma once

#include "channel_parts.h"

namespace hipscope::batch_norm {

#if defined(__CUDACC__)
constexpr unsigned cluster_blocks = 8;  // the most that every GPU with clusters takes
// Eight blocks hold a channel of the source's size with nothing left.
constexpr unsigned cluster_values = 7;  // of 16 bytes per thread
constexpr unsigned cluster_threads = 448;

template <unsigned Width, unsigned Values, unsigned Block>
__global__ void __cluster_dims__(cluster_blocks, 1, 1)
    __launch_bounds__(Block, second_bound(Block, Values* Width))
        channel_cluster_kernel(const float* __restrict__ input, const float* __restrict__ gamma,
                               const float* __restrict__ beta, float* __restrict__ output,
                               Runs runs, Group group) {
#if __CUDA_ARCH__ >= 900
  __shared__ Part parts[cluster_blocks];
  const unsigned channel = blockIdx.x / cluster_blocks;
  const unsigned block = __clusterRelativeBlockRank();
  // No block writes to a sibling that has not started.
  __cluster_barrier_arrive();
  const unsigned accesses = accesses_of(runs, group, block);
  Access<Width> x[Values];
#pragma unroll
  for (unsigned k = 0; k < Values; ++k) {
    const unsigned i = min(threadIdx.x + k * Block, accesses - 1);
    x[k] = load_access<Width>(input, place_of(runs, channel, block * group.share + i));
  }
  const float gamma_here = gamma[channel];
  const float beta_here = beta[channel];
  scheduling_barrier();
  Part part = part_in_registers<Width, Block>(x, accesses);
  // Each block writes its part into the LDS of all.
  __cluster_barrier_wait();
  if (threadIdx.x < cluster_blocks) {
    *static_cast<Part*>(__cluster_map_shared_rank(&parts[block], threadIdx.x)) = part;
  }
  __cluster_barrier_arrive();
  __cluster_barrier_wait();
  part = threadIdx.x < cluster_blocks ? parts[threadIdx.x] : Part{};
  const Transform transform = merge_parts<Width>(part, runs, group, gamma_here, beta_here);
#pragma unroll
  for (unsigned k = 0; k < Values; ++k) {
    const unsigned i = threadIdx.x + k * Block;
    if (i < accesses) {
      store_transformed<Width>(output, place_of(runs, channel, block * group.share + i), x[k],
                               transform);
    }
  }
#endif
}
#endif

}  // namespace hipscope::batch_norm
