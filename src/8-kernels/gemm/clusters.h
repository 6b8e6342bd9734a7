// Clusters: blocks that run at the same time on neighbouring CUs and read each other's LDS (NVIDIA,
// sm_90 and later); and launches that overlap, which came with them.
#pragma once

#include <hipscope/hipscope.h>
#include <hipscope/lds_copies.h>

#include <utility>

namespace gemm {

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
#define HIPSCOPE_GEMM_CLUSTERS
#endif

/// Waits for all threads of the cluster.
__device__ inline void cluster_barrier() {
#if defined(HIPSCOPE_GEMM_CLUSTERS)
  asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" ::: "memory");
#else
  __syncthreads();
#endif
}

/// What a kernel has to wait for before it touches memory, where it may be launched before the one
/// ahead of it in the stream has ended; and where it says that the next may be.
__device__ inline void wait_for_kernel_before() {
#if defined(HIPSCOPE_GEMM_CLUSTERS)
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}
__device__ inline void let_next_kernel_begin() {
#if defined(HIPSCOPE_GEMM_CLUSTERS)
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

/// Whether the code of a kernel that the device runs is for a compute capability, 80 or 90, or a
/// later one.
template <typename... Parameters>
bool is_compiled_for([[maybe_unused]] int capability,
                     [[maybe_unused]] void (*kernel)(Parameters...)) {
#if defined(HIPSCOPE_BACKEND_NVIDIA)
  hipFuncAttributes attributes{};
  hipscope::check(hipFuncGetAttributes(&attributes, reinterpret_cast<const void*>(kernel)));
  return attributes.ptxVersion >= capability;
#else
  return false;
#endif
}
template <typename... Parameters>
bool uses_clusters(void (*kernel)(Parameters...)) {
  return is_compiled_for(90, kernel);
}

#if defined(HIPSCOPE_BACKEND_NVIDIA)
// Device code that calls these asks for HIPSCOPE_GEMM_CLUSTERS first.

/// Brings a map to where copies look for it, before the first one needs it.
__device__ inline void prefetch_map(const hipscope::TensorMap* map) {
  asm volatile("prefetch.tensormap [%0];" ::"l"(map) : "memory");
}
/// Barrier `number` (1 ... 15), for `threads` of the block.
__device__ inline void barrier_of(unsigned number, unsigned threads) {
  asm volatile("bar.sync %0, %1;" ::"r"(number), "r"(threads) : "memory");
}
__device__ inline unsigned block_of_cluster() {
  unsigned block = 0;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(block));
  return block;
}
/// One lane of a warp all of which is here; the compiler knows it to be one.
__device__ inline bool elect() {
  unsigned is_elected = 0;
  asm volatile("{ .reg .pred one; elect.sync _|one, 0xFFFFFFFF; selp.u32 %0, 1, 0, one; }"
               : "=r"(is_elected));
  return is_elected != 0;
}
/// At barrier `number`, without waiting for the others.
__device__ inline void arrive_at_barrier_of(unsigned number, unsigned threads) {
  asm volatile("bar.arrive %0, %1;" ::"r"(number), "r"(threads) : "memory");
}
/// The pointer to an LDS address.
__device__ inline void* lds_at(unsigned address) {
  return reinterpret_cast<void*>(__cvta_shared_to_generic(address));
}
/// An LDS address of this block, in another block of the cluster.
__device__ inline unsigned address_at(unsigned address, unsigned block) {
  unsigned there = 0;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(address), "r"(block));
  return there;
}

/// Enqueues a kernel in clusters of such a shape. Where it `overlaps`, its blocks may begin as
/// soon as all of the kernel before have said that they may, and that kernel's results are there
/// only after `wait_for_kernel_before`; not in graphs, where it is compared with kernels that do
/// not. Throws DeviceError.
template <typename... Parameters, typename... Arguments>
void launch_clusters(void (*kernel)(Parameters...), const hipscope::LaunchShape& shape,
                     dim3 cluster, bool overlaps, Arguments&&... arguments) {
  cudaLaunchAttribute attributes[2] = {};
  attributes[0].id = cudaLaunchAttributeClusterDimension;
  attributes[0].val.clusterDim = {cluster.x, cluster.y, cluster.z};
  attributes[1].id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attributes[1].val.programmaticStreamSerializationAllowed =
      overlaps && hipscope::launch_stream == nullptr ? 1 : 0;
  cudaLaunchConfig_t configuration = {};
  configuration.gridDim = shape.grid;
  configuration.blockDim = shape.block;
  configuration.dynamicSmemBytes = shape.lds_bytes;
  configuration.stream = shape.stream;
  configuration.attrs = attributes;
  configuration.numAttrs = 2;
  hipscope::check(
      cudaLaunchKernelEx(&configuration, kernel,
                         static_cast<Parameters>(std::forward<Arguments>(arguments))...),
      shape.file, shape.line);
}
#endif

/// Enqueues a kernel on a row of clusters of blocks: as such, and overlapping, where it was
/// compiled for clusters.
template <typename... Parameters, typename... Arguments>
void launch_clusters_where_used(void (*kernel)(Parameters...), const hipscope::LaunchShape& shape,
                                [[maybe_unused]] unsigned cluster, Arguments&&... arguments) {
#if defined(HIPSCOPE_BACKEND_NVIDIA)
  static const bool has_clusters = uses_clusters(kernel);  // all of one signature, or none
  if (has_clusters) {
    launch_clusters(kernel, shape, dim3(cluster), true, std::forward<Arguments>(arguments)...);
    return;
  }
#endif
  hipscope::launch(kernel, shape, std::forward<Arguments>(arguments)...);
}

}  // namespace gemm
