// Every HIP call goes through check(): no error is ever missed.
#pragma once

#include <hip/hip_runtime.h>

#include <string>

#include "hipscope/device.h"

namespace hipscope {

/// Unless `error` is hipSuccess throws a DeviceError with the error and the place of the call.
inline void check(hipError_t error, const char* file = __builtin_FILE(),
                  int line = __builtin_LINE()) {
  if (error == hipSuccess) {
    return;
  }
  const std::string path(file);
  throw DeviceError(std::string(hipGetErrorString(error)) + " (" + hipGetErrorName(error) +
                    ") at " + path.substr(path.find_last_of('/') + 1) + ":" + std::to_string(line));
}

}  // namespace hipscope
