// NVIDIA's CUB, part of the CUDA toolkit.
#pragma once

#include <cub/device/device_histogram.cuh>
#include <cub/version.cuh>
#include <string>

#include "hipscope/check.h"
#include "hipscope/launch_stream.h"

namespace hipscope::vendor {

/// With a null workspace says in `bytes` how much it needs, else enqueues. Throws DeviceError.
inline void histogram(unsigned char* workspace, std::size_t& bytes, const unsigned char* samples,
                      unsigned* counts, std::size_t count) {
  constexpr int levels = 257;
  constexpr int lowest = 0;
  constexpr int highest = 256;
  check(cub::DeviceHistogram::HistogramEven(workspace, bytes, samples, counts, levels, lowest,
                                            highest, static_cast<int>(count),
                                            static_cast<cudaStream_t>(launch_stream)));
}

inline std::string histogram_library_name() {
  return "CUB " + std::to_string(CUB_MAJOR_VERSION) + "." + std::to_string(CUB_MINOR_VERSION) +
         "." + std::to_string(CUB_SUBMINOR_VERSION);
}

}  // namespace hipscope::vendor
