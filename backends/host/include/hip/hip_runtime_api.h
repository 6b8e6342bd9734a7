// The HIP runtime API of the host backend: the calls and types that a benchmark uses.
//
// Signatures are HIP's. Everything is synchronous: when a call returns, its work is done. Calls
// return hipSuccess or the error that their comment names, which hipGetLastError then tells too.
// Each call can also return hipErrorNoDevice (environment variable HIPSCOPE_HOST_DEVICES=0) and,
// after an error inside a kernel, hipErrorLaunchFailure until hipDeviceReset.
#pragma once

#include <cstddef>

enum hipError_t {
  hipSuccess = 0,
  hipErrorInvalidValue = 1,
  hipErrorOutOfMemory = 2,
  hipErrorInvalidConfiguration = 9,
  hipErrorInvalidMemcpyDirection = 21,
  hipErrorInsufficientDriver = 35,
  hipErrorNoDevice = 100,
  hipErrorInvalidDevice = 101,
  hipErrorInvalidHandle = 400,
  hipErrorNotReady = 600,
  hipErrorIllegalAddress = 700,
  hipErrorLaunchFailure = 719,
  hipErrorCooperativeLaunchTooLarge = 720,
  hipErrorNotSupported = 801,
  hipErrorStreamCaptureUnsupported = 900,
  hipErrorStreamCaptureUnmatched = 903,
  hipErrorStreamCaptureImplicit = 906,
  hipErrorCapturedEvent = 907,
  hipErrorUnknown = 999,
};

// ---------------------------------------------------------------------------------------- errors

/// Returns the last error of any call and forgets it; hipErrorLaunchFailure is not forgotten.
[[nodiscard]] hipError_t hipGetLastError();
/// Returns the error's identifier, such as "hipErrorInvalidValue".
const char* hipGetErrorName(hipError_t error);
/// Returns what the error means, in words.
const char* hipGetErrorString(hipError_t error);

// ---------------------------------------------------------------------------------------- device

struct hipDeviceProp_t {
  char name[256];                   ///< "host CPU: " and the processor's name.
  std::size_t totalGlobalMem;       ///< Bytes that hipMalloc can give in all.
  std::size_t sharedMemPerBlock;    ///< Bytes of LDS a block.
  int regsPerBlock;                 ///< Nominal: fibers have no register limit.
  int warpSize;                     ///< Lanes of a wave.
  int maxThreadsPerBlock;           ///< Threads of a block.
  int maxThreadsDim[3];             ///< Threads of a block in x, y, z.
  int maxGridSize[3];               ///< Blocks of a grid in x, y, z.
  int clockRate;                    ///< kHz of clock64(), which counts nanoseconds.
  int memoryClockRate;              ///< kHz; 0, not known.
  int memoryBusWidth;               ///< Bits; 0, not known.
  std::size_t totalConstMem;        ///< Bytes.
  int major;                        ///< 0: no architecture of a GPU.
  int minor;                        ///< 0.
  int multiProcessorCount;          ///< Nominal: one core of the processor runs it all.
  int l2CacheSize;                  ///< Bytes; 0 if not known.
  int maxThreadsPerMultiProcessor;  ///< One block.
  int clockInstructionRate;         ///< kHz of wall_clock64().
  int concurrentKernels;            ///< 0.
  int pciDomainID;                  ///< 0.
  int pciBusID;                     ///< 0.
  int pciDeviceID;                  ///< 0.
  std::size_t maxSharedMemoryPerMultiProcessor;  ///< Bytes of LDS.
  int canMapHostMemory;                          ///< 1.
  char gcnArchName[256];                         ///< "host".
  int integrated;                                ///< 1: memory is shared with the host.
  int cooperativeLaunch;                         ///< 1.
  int ECCEnabled;                                ///< 0, not known.
};

// Of a fixed type, so that HIP's further attributes may be asked for.
enum hipDeviceAttribute_t : int {
  hipDeviceAttributeClockRate,
  hipDeviceAttributeCooperativeLaunch,
  hipDeviceAttributeMemoryClockRate,
  hipDeviceAttributeMultiprocessorCount,
  hipDeviceAttributeWarpSize,
  hipDeviceAttributeManagedMemory,
  hipDeviceAttributeConcurrentManagedAccess,
  hipDeviceAttributeMemoryPoolsSupported,
  hipDeviceAttributePageableMemoryAccess,
};

/// Sets `*count` to what the environment variable HIPSCOPE_HOST_DEVICES says, else to 1; to 0 with
/// hipErrorNoDevice. Several devices are all the same.
hipError_t hipGetDeviceCount(int* count);
/// hipErrorInvalidDevice where there is no such device.
hipError_t hipSetDevice(int device);
hipError_t hipGetDevice(int* device);
/// hipErrorInvalidDevice where there is no such device.
hipError_t hipGetDeviceProperties(hipDeviceProp_t* properties, int device);
/// hipErrorInvalidDevice where there is no such device, hipErrorInvalidValue for an unknown
/// attribute.
hipError_t hipDeviceGetAttribute(int* value, hipDeviceAttribute_t attribute, int device);
/// Sets `*can` to 0. hipErrorInvalidDevice where there is no such device.
hipError_t hipDeviceCanAccessPeer(int* can, int device, int peer);
/// hipErrorInvalidDevice: none can reach another.
hipError_t hipDeviceEnablePeerAccess(int peer, unsigned flags);
hipError_t hipDeviceDisablePeerAccess(int peer);
hipError_t hipDriverGetVersion(int* version);
hipError_t hipRuntimeGetVersion(int* version);
/// hipErrorStreamCaptureUnsupported while a stream captures.
hipError_t hipDeviceSynchronize();
/// Forgets all errors and destroys all buffers, streams, events and graphs.
hipError_t hipDeviceReset();

// ---------------------------------------------------------------------------------------- kernels

struct hipFuncAttributes {
  int binaryVersion;
  int cacheModeCA;
  std::size_t constSizeBytes;
  std::size_t localSizeBytes;
  int maxDynamicSharedSizeBytes;
  int maxThreadsPerBlock;
  int numRegs;
  int preferredShmemCarveout;
  int ptxVersion;
  std::size_t sharedSizeBytes;
};

enum hipFuncAttribute {
  hipFuncAttributeMaxDynamicSharedMemorySize = 8,
  hipFuncAttributePreferredSharedMemoryCarveout = 9,
  hipFuncAttributeMax,
};

/// Sets the limits of a launch; sizes that only a GPU's compiler knows (registers, static LDS) are
/// 0. hipErrorInvalidValue for a null pointer.
hipError_t hipFuncGetAttributes(hipFuncAttributes* attributes, const void* kernel);
/// hipErrorInvalidValue for an unknown attribute or more dynamic LDS than a block can have.
hipError_t hipFuncSetAttribute(const void* kernel, hipFuncAttribute attribute, int value);
/// Sets `*blocks` to 1: a core runs one block at a time. hipErrorInvalidValue for a block that
/// could not be launched.
hipError_t hipOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* kernel,
                                                        int block_size, std::size_t lds_bytes);
template <typename Result, typename... Parameters>
hipError_t hipOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks,
                                                        Result (*kernel)(Parameters...),
                                                        int block_size, std::size_t lds_bytes) {
  return hipOccupancyMaxActiveBlocksPerMultiprocessor(blocks, reinterpret_cast<const void*>(kernel),
                                                      block_size, lds_bytes);
}

// ---------------------------------------------------------------------------- streams and events

using hipStream_t = struct ihipStream_t*;
using hipEvent_t = struct ihipEvent_t*;

inline constexpr unsigned hipStreamDefault = 0x00;
inline constexpr unsigned hipStreamNonBlocking = 0x01;
inline constexpr unsigned hipEventDefault = 0x00;
inline constexpr unsigned hipEventBlockingSync = 0x01;
inline constexpr unsigned hipEventDisableTiming = 0x02;
inline constexpr unsigned hipEventReleaseToDevice = 0x40000000;
inline constexpr unsigned hipEventReleaseToSystem = 0x80000000;

hipError_t hipStreamCreate(hipStream_t* stream);
/// hipErrorInvalidValue for unknown flags.
hipError_t hipStreamCreateWithFlags(hipStream_t* stream, unsigned flags);
/// As hipStreamCreateWithFlags: there is one priority, and others are taken for the nearest.
hipError_t hipStreamCreateWithPriority(hipStream_t* stream, unsigned flags, int priority);
/// Sets both to 0: there is one priority. Either may be null.
hipError_t hipDeviceGetStreamPriorityRange(int* least, int* greatest);
/// hipErrorInvalidHandle for what is no stream; so do the calls below. Null is the default stream,
/// which cannot be destroyed.
hipError_t hipStreamDestroy(hipStream_t stream);
/// hipErrorStreamCaptureUnsupported if the stream captures.
hipError_t hipStreamSynchronize(hipStream_t stream);
/// hipErrorNotSupported for an event of another stream's capture: only single streams are captured.
hipError_t hipStreamWaitEvent(hipStream_t stream, hipEvent_t event, unsigned flags);

hipError_t hipEventCreate(hipEvent_t* event);
/// hipErrorInvalidValue for unknown flags.
hipError_t hipEventCreateWithFlags(hipEvent_t* event, unsigned flags);
/// hipErrorInvalidHandle for what is no event; so do the calls below.
hipError_t hipEventDestroy(hipEvent_t event);
/// Sets the event to the present time. On a stream that captures it marks a point of the graph and
/// has no time: hipErrorCapturedEvent where it is used for one.
hipError_t hipEventRecord(hipEvent_t event, hipStream_t stream = nullptr);
hipError_t hipEventSynchronize(hipEvent_t event);
/// Sets `*milliseconds` from `start` to `stop`. hipErrorInvalidHandle if one of them has not been
/// recorded or has no timing.
hipError_t hipEventElapsedTime(float* milliseconds, hipEvent_t start, hipEvent_t stop);

// ----------------------------------------------------------------------------------------- graphs

using hipGraph_t = struct ihipGraph*;
using hipGraphExec_t = struct hipGraphExec*;
using hipGraphNode_t = struct hipGraphNode*;

enum hipStreamCaptureMode {
  hipStreamCaptureModeGlobal = 0,
  hipStreamCaptureModeThreadLocal,
  hipStreamCaptureModeRelaxed,
};

/// From now on the stream's launches, memsets and asynchronous copies are recorded, not run.
/// hipErrorStreamCaptureUnsupported for the default stream; hipErrorInvalidValue if it captures
/// already.
hipError_t hipStreamBeginCapture(hipStream_t stream, hipStreamCaptureMode mode);
/// Sets `*graph` to what was recorded. hipErrorStreamCaptureUnmatched if the stream does not
/// capture.
hipError_t hipStreamEndCapture(hipStream_t stream, hipGraph_t* graph);
/// Sets `*executable` to a runnable copy of the graph; the other parameters, for a report of
/// errors, are not looked at. hipErrorInvalidValue for what is no graph.
hipError_t hipGraphInstantiate(hipGraphExec_t* executable, hipGraph_t graph,
                               hipGraphNode_t* error_node, char* log, std::size_t log_size);
/// Runs what was recorded, in order. hipErrorInvalidValue for what is no executable graph.
hipError_t hipGraphLaunch(hipGraphExec_t executable, hipStream_t stream);
hipError_t hipGraphDestroy(hipGraph_t graph);
hipError_t hipGraphExecDestroy(hipGraphExec_t executable);

// ----------------------------------------------------------------------------------------- memory

enum hipMemcpyKind {
  hipMemcpyHostToHost = 0,
  hipMemcpyHostToDevice = 1,
  hipMemcpyDeviceToHost = 2,
  hipMemcpyDeviceToDevice = 3,
  hipMemcpyDefault = 4,
};

inline constexpr unsigned hipHostMallocDefault = 0x0;
inline constexpr unsigned hipHostMallocMapped = 0x2;
inline constexpr unsigned hipHostMallocCoherent = 0x40000000;
inline constexpr unsigned hipHostMallocNonCoherent = 0x80000000;
inline constexpr unsigned hipHostRegisterDefault = 0x0;
inline constexpr unsigned hipMemAttachGlobal = 0x1;
inline constexpr unsigned hipMemAttachHost = 0x2;
inline constexpr unsigned hipIpcMemLazyEnablePeerAccess = 0x0;
inline constexpr int hipCpuDeviceId = -1;  ///< The host, as a place of managed memory.

enum hipMemoryAdvise {
  hipMemAdviseSetReadMostly = 1,
  hipMemAdviseSetPreferredLocation = 3,
  hipMemAdviseSetAccessedBy = 5,
};

struct hipIpcMemHandle_t {
  char reserved[64];
};

/// Sets `*pointer` to `bytes` bytes at a multiple of 256, all of them 0xFF; to null for 0 bytes.
/// hipErrorOutOfMemory for more than hipMemGetInfo's free bytes.
hipError_t hipMalloc(void** pointer, std::size_t bytes);
/// hipErrorInvalidValue for what is not from hipMalloc.
hipError_t hipFree(void* pointer);
/// As hipMalloc and hipFree, which wait for nothing either. hipErrorInvalidHandle for what is no
/// stream.
hipError_t hipMallocAsync(void** pointer, std::size_t bytes, hipStream_t stream);
hipError_t hipFreeAsync(void* pointer, hipStream_t stream);
/// As hipMalloc; the host and the device share all memory here, so `flags` change nothing.
hipError_t hipHostMalloc(void** pointer, std::size_t bytes, unsigned flags);
/// hipErrorInvalidValue for what is not from hipHostMalloc.
hipError_t hipHostFree(void* pointer);
/// hipErrorInvalidValue for what is not from hipHostMalloc, or flags other than 0.
hipError_t hipHostGetDevicePointer(void** device_pointer, void* host_pointer, unsigned flags);
/// Makes memory of the caller's known as pinned; nothing changes, since host and device share all
/// memory here. hipErrorInvalidValue for null, no bytes, or memory that is known already.
hipError_t hipHostRegister(void* memory, std::size_t bytes, unsigned flags);
/// hipErrorInvalidValue for what is not from hipHostRegister.
hipError_t hipHostUnregister(void* memory);
/// As hipMalloc; freed by hipFree. hipErrorInvalidValue for unknown flags.
hipError_t hipMallocManaged(void** pointer, std::size_t bytes, unsigned flags);
/// Does nothing: all pages are where host and device touch them. hipErrorInvalidValue for more
/// bytes than the buffer holds, hipErrorInvalidDevice for what is neither a device nor
/// hipCpuDeviceId.
hipError_t hipMemPrefetchAsync(const void* memory, std::size_t bytes, int device,
                               hipStream_t stream = nullptr);
/// Does nothing, for the same reason; the errors are those of hipMemPrefetchAsync.
hipError_t hipMemAdvise(const void* memory, std::size_t bytes, hipMemoryAdvise advice, int device);
/// hipErrorNotSupported: no other process can use a buffer of this one.
hipError_t hipIpcGetMemHandle(hipIpcMemHandle_t* handle, void* memory);
hipError_t hipIpcOpenMemHandle(void** memory, hipIpcMemHandle_t handle, unsigned flags);
hipError_t hipIpcCloseMemHandle(void* memory);
/// Sets the bytes that hipMalloc can still give, and those it could at the start.
hipError_t hipMemGetInfo(std::size_t* free, std::size_t* total);

template <typename Element>
hipError_t hipMalloc(Element** pointer, std::size_t bytes) {
  void* memory = nullptr;
  const hipError_t error = hipMalloc(pointer == nullptr ? nullptr : &memory, bytes);
  if (error == hipSuccess) *pointer = static_cast<Element*>(memory);
  return error;
}
template <typename Element>
hipError_t hipHostMalloc(Element** pointer, std::size_t bytes,
                         unsigned flags = hipHostMallocDefault) {
  void* memory = nullptr;
  const hipError_t error = hipHostMalloc(pointer == nullptr ? nullptr : &memory, bytes, flags);
  if (error == hipSuccess) *pointer = static_cast<Element*>(memory);
  return error;
}

// The copies and memsets return hipErrorInvalidValue for a null pointer or for more bytes than a
// buffer of hipMalloc or hipHostMalloc holds; the copies hipErrorInvalidMemcpyDirection for an
// unknown kind. Those without "Async" return hipErrorStreamCaptureImplicit while a stream captures.
hipError_t hipMemcpy(void* destination, const void* source, std::size_t bytes, hipMemcpyKind kind);
hipError_t hipMemcpyAsync(void* destination, const void* source, std::size_t bytes,
                          hipMemcpyKind kind, hipStream_t stream = nullptr);
/// As hipMemcpyAsync between devices; hipErrorInvalidDevice where there is no such device.
hipError_t hipMemcpyPeerAsync(void* destination, int destination_device, const void* source,
                              int source_device, std::size_t bytes, hipStream_t stream = nullptr);
hipError_t hipMemset(void* destination, int value, std::size_t bytes);
hipError_t hipMemsetAsync(void* destination, int value, std::size_t bytes,
                          hipStream_t stream = nullptr);
/// Copies into a __device__ or __constant__ variable, from its byte `offset` on.
hipError_t hipMemcpyToSymbol(const void* symbol, const void* source, std::size_t bytes,
                             std::size_t offset = 0, hipMemcpyKind kind = hipMemcpyHostToDevice);

// With the variable itself its size is known: hipErrorInvalidValue for more than that.
template <typename Variable>
hipError_t hipMemcpyToSymbol(const Variable& symbol, const void* source, std::size_t bytes,
                             std::size_t offset = 0, hipMemcpyKind kind = hipMemcpyHostToDevice) {
  const bool fits = offset <= sizeof(symbol) && bytes <= sizeof(symbol) - offset;
  return hipMemcpyToSymbol(fits ? static_cast<const void*>(&symbol) : nullptr, source, bytes,
                           offset, kind);
}
