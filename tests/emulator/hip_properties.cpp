// What the runtime tells: of devices, of kernels, of errors.
#include <cstdio>
#include <map>
#include <string>

#include "emulated_device.h"

namespace emulator {
namespace {

constexpr int shader_clock_khz = 1'700'000;
constexpr int memory_clock_khz = 1'600'000;
constexpr int bus_bits = 4096;
constexpr int l2_bytes = 8 << 20;

}  // namespace
}  // namespace emulator

// NOLINTBEGIN(readability-identifier-naming): HIP's own names
using namespace emulator;

extern "C" {

hipError_t hipMemGetInfo(std::size_t* free, std::size_t* total) {
  *free = free_memory;
  *total = total_memory;
  return hipSuccess;
}

hipError_t hipSetDevice(int number) {
  return number == 0 ? hipSuccess : device().fail(hipErrorInvalidDevice);
}

hipError_t hipGetDevice(int* number) {
  *number = 0;
  return hipSuccess;
}

hipError_t hipGetDeviceCount(int* count) {
  *count = 1;
  return hipSuccess;
}

hipError_t hipDriverGetVersion(int* version) {
  *version = HIP_VERSION;
  return hipSuccess;
}

hipError_t hipRuntimeGetVersion(int* version) { return hipDriverGetVersion(version); }

hipError_t hipGetLastError() {
  const hipError_t error = device().last_error;
  device().last_error = hipSuccess;
  return error;
}

hipError_t hipPeekAtLastError() { return device().last_error; }

const char* hipGetErrorName(hipError_t error) {
  return error == hipSuccess ? "hipSuccess" : "hipError";
}

const char* hipGetErrorString(hipError_t error) {
  static std::string sentence;
  sentence = "the emulator's error " + std::to_string(static_cast<int>(error));
  return sentence.c_str();
}

hipError_t hipFuncGetAttributes(hipFuncAttributes* attributes, const void* host_function) {
  const Function function = function_of(host_function);
  if (function.kernel == nullptr) {
    return device().fail(hipErrorInvalidDeviceFunction);
  }
  const Kernel& kernel = *function.kernel;
  *attributes = {};
  attributes->numRegs = static_cast<int>(kernel.vgprs);
  attributes->localSizeBytes = kernel.scratch;
  attributes->sharedSizeBytes = kernel.lds;
  attributes->maxThreadsPerBlock = static_cast<int>(kernel.largest_block);
  attributes->maxDynamicSharedSizeBytes = static_cast<int>(largest_lds - kernel.lds);
  return hipSuccess;
}

hipError_t hipFuncSetAttribute(const void* /*function*/, hipFuncAttribute /*attribute*/,
                               int /*value*/) {
  return hipSuccess;
}

hipError_t hipOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* host_function,
                                                        int threads, std::size_t lds) {
  const Function function = function_of(host_function);
  if (function.kernel == nullptr) {
    return device().fail(hipErrorInvalidDeviceFunction);
  }
  *blocks =
      static_cast<int>(blocks_per_unit(*function.object, *function.kernel,
                                       static_cast<unsigned>(threads), static_cast<unsigned>(lds)));
  return hipSuccess;
}

hipError_t hipDeviceGetAttribute(int* value, hipDeviceAttribute_t attribute, int /*number*/) {
  const std::map<hipDeviceAttribute_t, int> values = {
      {hipDeviceAttributeClockRate, shader_clock_khz},
      {hipDeviceAttributeMemoryClockRate, memory_clock_khz},
      {hipDeviceAttributeMultiprocessorCount, static_cast<int>(device().machine.options.units)},
      {hipDeviceAttributeWarpSize, static_cast<int>(wave_size)},
      {hipDeviceAttributeMaxSharedMemoryPerBlock, static_cast<int>(largest_lds)},
      {hipDeviceAttributeManagedMemory, 1},
      {hipDeviceAttributeConcurrentManagedAccess, 1},
      {hipDeviceAttributeMemoryPoolsSupported, 1},
      {hipDeviceAttributeL2CacheSize, l2_bytes},
  };
  const auto known = values.find(attribute);
  *value = known == values.end() ? 0 : known->second;
  return hipSuccess;
}

hipError_t hipGetDeviceProperties(hipDeviceProp_t* properties, int /*number*/) {
  const Options& options = device().machine.options;
  *properties = {};
  std::snprintf(properties->name, sizeof properties->name, "emulated %s", options.target.c_str());
  std::snprintf(properties->gcnArchName, sizeof properties->gcnArchName, "%s:sramecc+:xnack-",
                options.target.c_str());
  properties->totalGlobalMem = total_memory;
  properties->sharedMemPerBlock = largest_lds;
  properties->regsPerBlock = 65536;
  properties->warpSize = static_cast<int>(wave_size);
  properties->maxThreadsPerBlock = static_cast<int>(largest_block);
  for (int& size : properties->maxThreadsDim) {
    size = static_cast<int>(largest_block);
  }
  for (int& size : properties->maxGridSize) {
    size = 2147483647;
  }
  properties->clockRate = shader_clock_khz;
  properties->memoryClockRate = memory_clock_khz;
  properties->memoryBusWidth = bus_bits;
  properties->multiProcessorCount = static_cast<int>(options.units);
  properties->l2CacheSize = l2_bytes;
  properties->maxThreadsPerMultiProcessor = options.target == "gfx90a" ? 2048 : 2560;
  properties->major = 9;
  return hipSuccess;
}
}
// NOLINTEND(readability-identifier-naming)
