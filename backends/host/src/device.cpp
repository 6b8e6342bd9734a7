// What the device is.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "context.h"
#include "hip/host/lanes.h"
#include "launch_limits.h"
#include "local_data_share.h"

namespace hip_host {
namespace {

// clock64() counts nanoseconds.
constexpr int kCounterKilohertz = 1'000'000;
constexpr int kNominalRegistersPerBlock = 65536;

// The version of HIP whose API this is: 5.2, in HIP's encoding.
constexpr int kHipVersion = 5 * 10'000'000 + 2 * 100'000;

std::string processor_name() {
  std::ifstream file("/proc/cpuinfo");
  std::string line;
  while (std::getline(file, line)) {
    const std::size_t value = line.find(": ");
    if (line.starts_with("model name") && value != std::string::npos) return line.substr(value + 2);
  }
  return "unknown";
}

template <std::size_t Capacity>
void set_text(char (&destination)[Capacity], const std::string& text) {
  destination[text.copy(destination, Capacity - 1)] = '\0';
}

std::size_t total_memory_bytes() {
  std::size_t free = 0;
  std::size_t total = 0;
  return hipMemGetInfo(&free, &total) == hipSuccess ? total : 0;
}

int second_level_cache_bytes() {
  const long bytes = sysconf(_SC_LEVEL2_CACHE_SIZE);
  return static_cast<int>(std::clamp(bytes, 0L, long{std::numeric_limits<int>::max()}));
}

hipDeviceProp_t properties_of_device() {
  hipDeviceProp_t properties{};
  set_text(properties.name, "host CPU: " + processor_name());
  set_text(properties.gcnArchName, "host");
  properties.totalGlobalMem = total_memory_bytes();
  properties.totalConstMem = properties.totalGlobalMem;
  properties.sharedMemPerBlock = kLdsBytesPerBlock;
  properties.maxSharedMemoryPerMultiProcessor = kLdsBytesPerBlock;
  properties.regsPerBlock = kNominalRegistersPerBlock;
  properties.warpSize = warpSize;
  properties.maxThreadsPerBlock = static_cast<int>(kThreadsPerBlock);
  properties.maxThreadsPerMultiProcessor = static_cast<int>(kThreadsPerBlock);
  std::ranges::fill(properties.maxThreadsDim, static_cast<int>(kThreadsPerBlock));
  std::ranges::fill(properties.maxGridSize, static_cast<int>(kGridLimitYZ));
  properties.maxGridSize[0] = static_cast<int>(kGridLimitX);
  properties.clockRate = kCounterKilohertz;
  properties.clockInstructionRate = kCounterKilohertz;
  properties.multiProcessorCount = static_cast<int>(kComputeUnits);
  properties.cooperativeLaunch = 1;
  properties.l2CacheSize = second_level_cache_bytes();
  properties.canMapHostMemory = 1;
  properties.integrated = 1;
  return properties;
}

// Returns the attribute's value; nothing for an unknown attribute.
std::optional<int> attribute_of(const hipDeviceProp_t& properties, hipDeviceAttribute_t attribute) {
  switch (attribute) {
    case hipDeviceAttributeClockRate:
      return properties.clockRate;
    case hipDeviceAttributeCooperativeLaunch:
      return properties.cooperativeLaunch;
    case hipDeviceAttributeMemoryClockRate:
      return properties.memoryClockRate;
    case hipDeviceAttributeMultiprocessorCount:
      return properties.multiProcessorCount;
    case hipDeviceAttributeWarpSize:
      return properties.warpSize;
    case hipDeviceAttributeManagedMemory:
    case hipDeviceAttributeConcurrentManagedAccess:
    case hipDeviceAttributeMemoryPoolsSupported:
    case hipDeviceAttributePageableMemoryAccess:
      return 1;
  }
  return std::nullopt;
}

// As many as the environment variable HIPSCOPE_HOST_DEVICES says, else one. They are all the same.
int device_count_from_environment() {
  constexpr long most = 64;
  const char* const text = std::getenv("HIPSCOPE_HOST_DEVICES");
  if (text == nullptr) return 1;
  char* end = nullptr;
  const long count = std::strtol(text, &end, 10);
  if (end != text && *end == '\0' && count >= 1 && count <= most) return static_cast<int>(count);
  std::fprintf(stderr, "HIPSCOPE_HOST_DEVICES is '%s'; it must be 0 to %ld\n", text, most);
  std::exit(2);
}

int device_count() {
  static const int count = device_count_from_environment();
  return count;
}

int current_device = 0;

}  // namespace

int wave_size_from_environment() {
  const char* const text = std::getenv("HIPSCOPE_HOST_WAVE_SIZE");
  if (text == nullptr || std::string_view(text) == "32") {
    return 32;
  }
  if (std::string_view(text) == "64") {
    return 64;
  }
  std::fprintf(stderr, "HIPSCOPE_HOST_WAVE_SIZE is '%s'; it must be 32 or 64\n", text);
  std::exit(2);
}

bool is_device(int device) { return device >= 0 && device < device_count(); }

}  // namespace hip_host

using hip_host::api_call;

hipError_t hipGetDeviceCount(int* count) {
  if (count != nullptr) *count = 0;
  return api_call([&] {
    if (count == nullptr) return hipErrorInvalidValue;
    *count = hip_host::device_count();
    return hipSuccess;
  });
}

hipError_t hipSetDevice(int device) {
  return api_call([&] {
    if (!hip_host::is_device(device)) return hipErrorInvalidDevice;
    hip_host::current_device = device;
    return hipSuccess;
  });
}

hipError_t hipGetDevice(int* device) {
  return api_call([&] {
    if (device == nullptr) return hipErrorInvalidValue;
    *device = hip_host::current_device;
    return hipSuccess;
  });
}

hipError_t hipGetDeviceProperties(hipDeviceProp_t* properties, int device) {
  return api_call([&] {
    if (properties == nullptr) return hipErrorInvalidValue;
    if (!hip_host::is_device(device)) return hipErrorInvalidDevice;
    *properties = hip_host::properties_of_device();
    return hipSuccess;
  });
}

hipError_t hipDeviceGetAttribute(int* value, hipDeviceAttribute_t attribute, int device) {
  return api_call([&] {
    if (value == nullptr) return hipErrorInvalidValue;
    if (!hip_host::is_device(device)) return hipErrorInvalidDevice;
    const std::optional<int> found =
        hip_host::attribute_of(hip_host::properties_of_device(), attribute);
    if (!found) return hipErrorInvalidValue;
    *value = *found;
    return hipSuccess;
  });
}

hipError_t hipRuntimeGetVersion(int* version) {
  return api_call([&] {
    if (version == nullptr) return hipErrorInvalidValue;
    *version = hip_host::kHipVersion;
    return hipSuccess;
  });
}

hipError_t hipDeviceCanAccessPeer(int* can, int device, int peer) {
  return api_call([&] {
    if (can == nullptr) return hipErrorInvalidValue;
    if (!hip_host::is_device(device) || !hip_host::is_device(peer)) return hipErrorInvalidDevice;
    *can = 0;
    return hipSuccess;
  });
}

hipError_t hipDeviceEnablePeerAccess(int /*peer*/, unsigned /*flags*/) {
  return api_call([] { return hipErrorInvalidDevice; });
}

hipError_t hipDeviceDisablePeerAccess(int /*peer*/) {
  return api_call([] { return hipErrorInvalidDevice; });
}

hipError_t hipDriverGetVersion(int* version) { return hipRuntimeGetVersion(version); }
