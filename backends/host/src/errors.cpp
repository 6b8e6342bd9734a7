// The names and texts of the errors.
#include <array>

#include "hip/hip_runtime_api.h"

namespace {

struct ErrorText {
  hipError_t error;
  const char* name;
  const char* meaning;
};

constexpr std::array kErrorTexts = {
    ErrorText{hipSuccess, "hipSuccess", "no error"},
    ErrorText{hipErrorInvalidValue, "hipErrorInvalidValue", "invalid argument"},
    ErrorText{hipErrorOutOfMemory, "hipErrorOutOfMemory", "out of memory"},
    ErrorText{hipErrorInvalidConfiguration, "hipErrorInvalidConfiguration",
              "invalid configuration argument"},
    ErrorText{hipErrorInvalidMemcpyDirection, "hipErrorInvalidMemcpyDirection",
              "invalid copy direction for memcpy"},
    ErrorText{hipErrorInsufficientDriver, "hipErrorInsufficientDriver",
              "the driver is older than the runtime"},
    ErrorText{hipErrorNoDevice, "hipErrorNoDevice", "no device is present"},
    ErrorText{hipErrorInvalidDevice, "hipErrorInvalidDevice", "invalid device number"},
    ErrorText{hipErrorInvalidHandle, "hipErrorInvalidHandle", "invalid resource handle"},
    ErrorText{hipErrorNotReady, "hipErrorNotReady", "device not ready"},
    ErrorText{hipErrorIllegalAddress, "hipErrorIllegalAddress", "illegal memory access"},
    ErrorText{hipErrorLaunchFailure, "hipErrorLaunchFailure", "a kernel failed while it ran"},
    ErrorText{hipErrorCooperativeLaunchTooLarge, "hipErrorCooperativeLaunchTooLarge",
              "more blocks than run at once"},
    ErrorText{hipErrorNotSupported, "hipErrorNotSupported", "operation not supported"},
    ErrorText{hipErrorStreamCaptureUnsupported, "hipErrorStreamCaptureUnsupported",
              "operation not permitted when stream is capturing"},
    ErrorText{hipErrorStreamCaptureUnmatched, "hipErrorStreamCaptureUnmatched",
              "the capture was not begun on this stream"},
    ErrorText{hipErrorStreamCaptureImplicit, "hipErrorStreamCaptureImplicit",
              "operation would make the capturing stream depend on the default stream"},
    ErrorText{hipErrorCapturedEvent, "hipErrorCapturedEvent",
              "operation not permitted on an event last recorded in a capturing stream"},
    ErrorText{hipErrorUnknown, "hipErrorUnknown", "unknown error"},
};

const ErrorText& text_of(hipError_t error) {
  for (const ErrorText& text : kErrorTexts) {
    if (text.error == error) return text;
  }
  return kErrorTexts.back();
}

}  // namespace

const char* hipGetErrorName(hipError_t error) { return text_of(error).name; }

const char* hipGetErrorString(hipError_t error) { return text_of(error).meaning; }
