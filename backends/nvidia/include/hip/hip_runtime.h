// HIP's names for the CUDA runtime, so that the HIP sources build with nvcc and the CUDA toolkit
// alone. Nothing but aliases: what the experiments do not use is not here.
#pragma once

#include <cuda_runtime.h>

// --- Types and constants ---------------------------------------------------------------------
using hipError_t = cudaError_t;
using hipStream_t = cudaStream_t;
using hipEvent_t = cudaEvent_t;
using hipGraph_t = cudaGraph_t;
using hipGraphExec_t = cudaGraphExec_t;
using hipDeviceProp_t = cudaDeviceProp;
using hipFuncAttributes = cudaFuncAttributes;
using hipDeviceAttribute_t = cudaDeviceAttr;
using hipMemoryAdvise = cudaMemoryAdvise;
using hipIpcMemHandle_t = cudaIpcMemHandle_t;
using hipResourceDesc = cudaResourceDesc;
using hipTextureDesc = cudaTextureDesc;
using hipTextureObject_t = cudaTextureObject_t;

inline constexpr auto hipSuccess = cudaSuccess;
inline constexpr auto hipErrorNotReady = cudaErrorNotReady;
inline constexpr auto hipErrorNoDevice = cudaErrorNoDevice;
inline constexpr auto hipErrorInsufficientDriver = cudaErrorInsufficientDriver;
inline constexpr auto hipStreamNonBlocking = cudaStreamNonBlocking;
inline constexpr auto hipEventDefault = cudaEventDefault;
inline constexpr auto hipEventDisableTiming = cudaEventDisableTiming;
inline constexpr auto hipErrorOutOfMemory = cudaErrorMemoryAllocation;
inline constexpr auto hipMemcpyHostToDevice = cudaMemcpyHostToDevice;
inline constexpr auto hipMemcpyDeviceToHost = cudaMemcpyDeviceToHost;
inline constexpr auto hipMemcpyDeviceToDevice = cudaMemcpyDeviceToDevice;
inline constexpr auto hipMemcpyDefault = cudaMemcpyDefault;
inline constexpr auto hipHostMallocMapped = cudaHostAllocMapped;
inline constexpr auto hipHostRegisterDefault = cudaHostRegisterDefault;
inline constexpr auto hipMemAttachGlobal = cudaMemAttachGlobal;
inline constexpr int hipCpuDeviceId = cudaCpuDeviceId;
inline constexpr auto hipMemAdviseSetReadMostly = cudaMemAdviseSetReadMostly;
inline constexpr auto hipMemAdviseSetPreferredLocation = cudaMemAdviseSetPreferredLocation;
inline constexpr auto hipMemAdviseSetAccessedBy = cudaMemAdviseSetAccessedBy;
inline constexpr unsigned hipIpcMemLazyEnablePeerAccess = cudaIpcMemLazyEnablePeerAccess;
inline constexpr auto hipStreamCaptureModeGlobal = cudaStreamCaptureModeGlobal;
inline constexpr auto hipFuncAttributePreferredSharedMemoryCarveout =
    cudaFuncAttributePreferredSharedMemoryCarveout;
inline constexpr auto hipDeviceAttributeClockRate = cudaDevAttrClockRate;
inline constexpr auto hipDeviceAttributeMemoryClockRate = cudaDevAttrMemoryClockRate;
inline constexpr auto hipDeviceAttributeMultiprocessorCount = cudaDevAttrMultiProcessorCount;
inline constexpr auto hipDeviceAttributeSharedMemPerBlockOptin =
    cudaDevAttrMaxSharedMemoryPerBlockOptin;
inline constexpr auto hipDeviceAttributeCooperativeLaunch = cudaDevAttrCooperativeLaunch;
inline constexpr auto hipDeviceAttributeManagedMemory = cudaDevAttrManagedMemory;
inline constexpr auto hipDeviceAttributeConcurrentManagedAccess =
    cudaDevAttrConcurrentManagedAccess;
inline constexpr auto hipDeviceAttributePageableMemoryAccess = cudaDevAttrPageableMemoryAccess;
inline constexpr auto hipDeviceAttributeMemoryPoolsSupported = cudaDevAttrMemoryPoolsSupported;
inline constexpr auto hipFuncAttributeMaxDynamicSharedMemorySize =
    cudaFuncAttributeMaxDynamicSharedMemorySize;
inline constexpr auto hipResourceTypeLinear = cudaResourceTypeLinear;
inline constexpr auto hipChannelFormatKindUnsigned = cudaChannelFormatKindUnsigned;
inline constexpr auto hipReadModeElementType = cudaReadModeElementType;

// --- Runtime calls ---------------------------------------------------------------------------
#define hipGetErrorName cudaGetErrorName
#define hipGetErrorString cudaGetErrorString
#define hipGetLastError cudaGetLastError
#define hipGetDeviceCount cudaGetDeviceCount
#define hipSetDevice cudaSetDevice
#define hipGetDevice cudaGetDevice
#define hipGetDeviceProperties cudaGetDeviceProperties
#define hipDeviceGetAttribute cudaDeviceGetAttribute
#define hipDeviceCanAccessPeer cudaDeviceCanAccessPeer
#define hipDeviceEnablePeerAccess cudaDeviceEnablePeerAccess
#define hipDeviceDisablePeerAccess cudaDeviceDisablePeerAccess
#define hipDeviceSynchronize cudaDeviceSynchronize
#define hipDriverGetVersion cudaDriverGetVersion
#define hipRuntimeGetVersion cudaRuntimeGetVersion
#define hipMalloc cudaMalloc
#define hipFree cudaFree
#define hipMallocAsync cudaMallocAsync
#define hipFreeAsync cudaFreeAsync
#define hipIpcGetMemHandle cudaIpcGetMemHandle
#define hipIpcOpenMemHandle cudaIpcOpenMemHandle
#define hipIpcCloseMemHandle cudaIpcCloseMemHandle
#define hipHostMalloc cudaHostAlloc
#define hipHostFree cudaFreeHost
#define hipHostGetDevicePointer cudaHostGetDevicePointer
#define hipHostRegister cudaHostRegister
#define hipHostUnregister cudaHostUnregister
#define hipMallocManaged cudaMallocManaged
#define hipMemcpy cudaMemcpy
#define hipMemcpyAsync cudaMemcpyAsync
#define hipMemcpyPeerAsync cudaMemcpyPeerAsync
#define hipMemset cudaMemset
#define hipMemsetAsync cudaMemsetAsync
#define hipMemcpyToSymbol cudaMemcpyToSymbol
#define HIP_SYMBOL(symbol) symbol
#define hipCreateTextureObject cudaCreateTextureObject
#define hipDestroyTextureObject cudaDestroyTextureObject
#define hipMemGetInfo cudaMemGetInfo
#define hipStreamCreate cudaStreamCreate
#define hipStreamCreateWithFlags cudaStreamCreateWithFlags
#define hipStreamDestroy cudaStreamDestroy
#define hipStreamCreateWithPriority cudaStreamCreateWithPriority
#define hipStreamSynchronize cudaStreamSynchronize
#define hipStreamWaitEvent cudaStreamWaitEvent
#define hipDeviceGetStreamPriorityRange cudaDeviceGetStreamPriorityRange
#define hipStreamBeginCapture cudaStreamBeginCapture
#define hipStreamEndCapture cudaStreamEndCapture
#define hipEventCreate cudaEventCreate
#define hipEventCreateWithFlags cudaEventCreateWithFlags
#define hipEventDestroy cudaEventDestroy
#define hipEventRecord cudaEventRecord
#define hipEventSynchronize cudaEventSynchronize
#define hipEventElapsedTime cudaEventElapsedTime
#define hipGraphDestroy cudaGraphDestroy
#define hipGraphExecDestroy cudaGraphExecDestroy
#define hipGraphLaunch cudaGraphLaunch
#define hipLaunchCooperativeKernel cudaLaunchCooperativeKernel
#define hipFuncGetAttributes cudaFuncGetAttributes
#define hipFuncSetAttribute cudaFuncSetAttribute
#define hipOccupancyMaxActiveBlocksPerMultiprocessor cudaOccupancyMaxActiveBlocksPerMultiprocessor

/// HIP's five-argument form; the error node and its log are not used.
inline hipError_t hipGraphInstantiate(hipGraphExec_t* executable, hipGraph_t graph, void*, char*,
                                      std::size_t) {
  return cudaGraphInstantiate(executable, graph, 0);
}

// HIP's forms, in which a device is a number, and the host is hipCpuDeviceId.
#if CUDART_VERSION >= 13000
inline cudaMemLocation location_of(int device) {
  return device == hipCpuDeviceId ? cudaMemLocation{cudaMemLocationTypeHost, 0}
                                  : cudaMemLocation{cudaMemLocationTypeDevice, device};
}
inline hipError_t hipMemPrefetchAsync(const void* memory, std::size_t bytes, int device,
                                      hipStream_t stream) {
  return cudaMemPrefetchAsync(memory, bytes, location_of(device), 0, stream);
}
inline hipError_t hipMemAdvise(const void* memory, std::size_t bytes, hipMemoryAdvise advice,
                               int device) {
  return cudaMemAdvise(memory, bytes, advice, location_of(device));
}
#else
#define hipMemPrefetchAsync cudaMemPrefetchAsync
#define hipMemAdvise cudaMemAdvise
#endif

/// HIP's launch as a function.
template <typename... Parameters, typename... Arguments>
void hipLaunchKernelGGL(void (*kernel)(Parameters...), const dim3& grid, const dim3& block,
                        unsigned lds_bytes, hipStream_t stream, Arguments... arguments) {
  kernel<<<grid, block, lds_bytes, stream>>>(arguments...);
}

// --- Device side -----------------------------------------------------------------------------
#define HIP_DYNAMIC_SHARED(type, variable) extern __shared__ type variable[];

#ifdef __CUDACC__
/// The device's constant-rate timer, in nanoseconds.
__device__ inline long long wall_clock64() {
  unsigned long long nanoseconds;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(nanoseconds));
  return static_cast<long long>(nanoseconds);
}

// HIP's wave operations act on the active lanes.
template <typename T>
__device__ inline T __shfl(T value, int lane, int width = warpSize) {
  return __shfl_sync(__activemask(), value, lane, width);
}
template <typename T>
__device__ inline T __shfl_down(T value, unsigned delta, int width = warpSize) {
  return __shfl_down_sync(__activemask(), value, delta, width);
}
template <typename T>
__device__ inline T __shfl_xor(T value, int mask, int width = warpSize) {
  return __shfl_xor_sync(__activemask(), value, mask, width);
}
// CUDA still declares votes of these names, with another return type, so functions cannot be used.
#define __ballot(predicate) \
  static_cast<unsigned long long>(__ballot_sync(__activemask(), predicate))
#define __all(predicate) __all_sync(__activemask(), predicate)
#endif
