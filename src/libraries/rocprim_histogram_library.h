// AMD's rocPRIM, part of ROCm; Debian has it as librocprim-dev.
#pragma once

#include <iostream>  // rocPRIM 5.3 uses it without saying so
#include <rocprim/device/device_histogram.hpp>
#include <rocprim/rocprim_version.hpp>
#include <string>

#include "hipscope/check.h"
#include "hipscope/launch_stream.h"

namespace hipscope::vendor {

/// With a null workspace says in `bytes` how much it needs, else enqueues. Throws DeviceError.
inline void histogram(unsigned char* workspace, std::size_t& bytes, const unsigned char* samples,
                      unsigned* counts, std::size_t count) {
  constexpr unsigned levels = 257;
  constexpr int lowest = 0;
  constexpr int highest = 256;
  check(rocprim::histogram_even(workspace, bytes, samples, static_cast<unsigned>(count), counts,
                                levels, lowest, highest, static_cast<hipStream_t>(launch_stream)));
}

inline std::string histogram_library_name() {
  return "rocPRIM " + std::to_string(ROCPRIM_VERSION_MAJOR) + "." +
         std::to_string(ROCPRIM_VERSION_MINOR) + "." + std::to_string(ROCPRIM_VERSION_PATCH);
}

}  // namespace hipscope::vendor
