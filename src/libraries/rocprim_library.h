// AMD's rocPRIM, part of ROCm; Debian has it as librocprim-dev.
#pragma once

#include <iostream>  // rocPRIM 5.3 uses it without saying so
#include <rocprim/device/device_reduce.hpp>
#include <rocprim/functional.hpp>
#include <rocprim/rocprim_version.hpp>
#include <string>

#include "hipscope/check.h"
#include "hipscope/launch_stream.h"

namespace hipscope::vendor {

/// With a null workspace says in `bytes` how much it needs, else enqueues. Throws DeviceError.
template <typename Value>
void sum(unsigned char* workspace, std::size_t& bytes, const Value* values, Value* total,
         std::size_t count) {
  check(rocprim::reduce(workspace, bytes, values, total, Value{0}, count, rocprim::plus<Value>(),
                        static_cast<hipStream_t>(launch_stream)));
}

inline std::string sum_library_name() {
  return "rocPRIM " + std::to_string(ROCPRIM_VERSION_MAJOR) + "." +
         std::to_string(ROCPRIM_VERSION_MINOR) + "." + std::to_string(ROCPRIM_VERSION_PATCH);
}

}  // namespace hipscope::vendor
