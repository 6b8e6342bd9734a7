#include "context.h"

#include <cstdlib>
#include <string_view>

namespace hip_host {
namespace {

constinit hipError_t last_error = hipSuccess;
constinit bool kernel_failed = false;

bool device_present() {
  const char* const devices = std::getenv("HIPSCOPE_HOST_DEVICES");
  return devices == nullptr || std::string_view(devices) != "0";
}

}  // namespace

hipError_t standing_error() {
  if (!device_present()) return hipErrorNoDevice;
  return kernel_failed ? hipErrorLaunchFailure : hipSuccess;
}

hipError_t note(hipError_t error) {
  if (error == hipErrorLaunchFailure) kernel_failed = true;
  if (error != hipSuccess) last_error = error;
  return error;
}

void forget_errors() {
  last_error = hipSuccess;
  kernel_failed = false;
}

}  // namespace hip_host

hipError_t hipGetLastError() {
  const hipError_t standing = hip_host::standing_error();
  const hipError_t error = standing != hipSuccess ? standing : hip_host::last_error;
  hip_host::last_error = hipSuccess;
  return error;
}

hipError_t hipDeviceReset() {
  hip_host::destroy_stream_objects();
  hip_host::free_all_memory();
  hip_host::forget_errors();
  return hip_host::standing_error();
}
