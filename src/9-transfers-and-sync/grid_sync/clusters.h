// Clusters: blocks that share a piece of hardware (NVIDIA from compute capability 9.0: a GPC), and
// have a barrier there. AMD has none.
#pragma once

#include <hipscope/hipscope.h>

#include <string>

#include "barriers.h"

namespace grid_sync {

inline bool has_clusters(const std::string& architecture) {
  constexpr int first_with_them = 90;
  const std::string prefix = "sm_";
  return architecture.starts_with(prefix) &&
         std::stoi(architecture.substr(prefix.size())) >= first_with_them;
}

#if defined(HIPSCOPE_BACKEND_NVIDIA)

/// Each arrives with what it has stored (.release), and leaves with what all have (.acquire).
__device__ inline void meet_in_cluster() {
#if __CUDA_ARCH__ >= 900
  asm volatile("barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;" ::
                   : "memory");
#endif
}

__device__ inline unsigned cluster_size() {
  unsigned blocks = 1;
#if __CUDA_ARCH__ >= 900
  asm volatile("mov.u32 %0, %%cluster_nctaid.x;" : "=r"(blocks));
#endif
  return blocks;
}

/// A cluster's blocks alone.
struct ClusterAlone {
  static __device__ void meet(const Meeting&, unsigned, Patience&) { meet_in_cluster(); }
  static __device__ unsigned peers() { return cluster_size(); }
};

/// All blocks: one of each cluster meets the others at a counter.
struct ClusterAndCounter {
  static __device__ void meet(const Meeting& at, unsigned epoch, Patience& patience) {
    meet_in_cluster();
    if (blockIdx.x % cluster_size() == 0 && threadIdx.x == 0) {
      release();
      const unsigned all = epoch * (gridDim.x / cluster_size());
      if (add_one(at.counter) != all) {
        patience.wait_until([&] { return has_reached(at.counter, all); });
      }
    }
    meet_in_cluster();
  }
  static __device__ unsigned peers() { return gridDim.x; }
};

/// A launch of clusters of that many blocks.
class ClusterLaunch {
 public:
  ClusterLaunch(const hipscope::LaunchShape& shape, unsigned size) {
    attribute_.id = cudaLaunchAttributeClusterDimension;
    attribute_.val.clusterDim = {size, 1, 1};
    config_.gridDim = shape.grid;
    config_.blockDim = shape.block;
    config_.dynamicSmemBytes = shape.lds_bytes;
    config_.attrs = &attribute_;
    config_.numAttrs = 1;
  }
  ClusterLaunch(const ClusterLaunch&) = delete;
  ClusterLaunch& operator=(const ClusterLaunch&) = delete;

  /// The clusters that run at once; 0 where the size is too large.
  template <typename... Parameters>
  unsigned resident(void (*kernel)(Parameters...)) {
    int clusters = 0;
    allow_large_clusters(kernel);
    if (cudaOccupancyMaxActiveClusters(&clusters, kernel, &config_) != cudaSuccess) {
      static_cast<void>(hipGetLastError());
      return 0;
    }
    return static_cast<unsigned>(clusters);
  }

  template <typename... Parameters, typename... Arguments>
  void operator()(void (*kernel)(Parameters...), const Arguments&... arguments) {
    allow_large_clusters(kernel);
    hipscope::check(cudaLaunchKernelEx(&config_, kernel, static_cast<Parameters>(arguments)...));
  }

 private:
  // Not every device with clusters takes more than 8 blocks: that has to be asked for.
  template <typename... Parameters>
  static void allow_large_clusters(void (*kernel)(Parameters...)) {
    hipscope::check(
        cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
  }

  cudaLaunchAttribute attribute_{};
  cudaLaunchConfig_t config_{};
};

#endif

}  // namespace grid_sync
