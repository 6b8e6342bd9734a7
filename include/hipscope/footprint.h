// A kernel's use of a compute unit, as the runtime reports it.
#pragma once

#include <hip/hip_runtime.h>

#include <cstdint>
#include <limits>

#include "hipscope/check.h"
#include "hipscope/experiment.h"

namespace hipscope {

/// Blocks of `threads` threads that a CU holds at once. `kernel` is the function, or its address.
template <typename Kernel>
int resident_blocks(Kernel* kernel, unsigned threads, std::uint32_t lds_bytes = 0) {
  int blocks = 0;
  check(hipOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, static_cast<int>(threads),
                                                     lds_bytes));
  return blocks;
}

/// On the host backend only the threads of a block are known; the rest is NaN.
struct Footprint {
  double registers = std::numeric_limits<double>::quiet_NaN();      ///< per thread
  double scratch_bytes = std::numeric_limits<double>::quiet_NaN();  ///< per thread
  double lds_bytes = std::numeric_limits<double>::quiet_NaN();      ///< per block, without dynamic
  unsigned largest_block = 0;  ///< threads: bound by registers, or by what the compiler was told
};

inline Footprint footprint_of(const Sweep& sweep, const void* kernel) {
  hipFuncAttributes attributes{};
  check(hipFuncGetAttributes(&attributes, kernel));
  const auto largest_block = static_cast<unsigned>(attributes.maxThreadsPerBlock);
  if (!sweep.is_hardware()) {
    return {.largest_block = largest_block};
  }
  return {.registers = static_cast<double>(attributes.numRegs),
          .scratch_bytes = static_cast<double>(attributes.localSizeBytes),
          .lds_bytes = static_cast<double>(attributes.sharedSizeBytes),
          .largest_block = largest_block};
}

template <typename... Parameters>
Footprint footprint_of(const Sweep& sweep, void (*kernel)(Parameters...)) {
  return footprint_of(sweep, reinterpret_cast<const void*>(kernel));
}

}  // namespace hipscope
