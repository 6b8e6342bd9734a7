// NVIDIA's CUB, part of the CUDA toolkit.
#pragma once

#include <cub/device/device_reduce.cuh>
#include <cub/version.cuh>
#include <string>

#include "hipscope/check.h"
#include "hipscope/launch_stream.h"

namespace hipscope::vendor {

/// With a null workspace says in `bytes` how much it needs, else enqueues. Throws DeviceError.
template <typename Value>
void sum(unsigned char* workspace, std::size_t& bytes, const Value* values, Value* total,
         std::size_t count) {
  check(cub::DeviceReduce::Sum(workspace, bytes, values, total, count,
                               static_cast<cudaStream_t>(launch_stream)));
}

inline std::string sum_library_name() {
  return "CUB " + std::to_string(CUB_MAJOR_VERSION) + "." + std::to_string(CUB_MINOR_VERSION) +
         "." + std::to_string(CUB_SUBMINOR_VERSION);
}

}  // namespace hipscope::vendor
