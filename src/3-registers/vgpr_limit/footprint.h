// What the runtime says of a kernel of vgpr_limit: its registers, its scratch, how many fit on a
// CU.
#pragma once

#include <hipscope/hipscope.h>

#include <limits>

namespace footprint {

// What the runtime says of a kernel. Registers mean nothing on the host backend: NaN.
struct Footprint {
  double registers;      ///< per thread
  double scratch_bytes;  ///< per thread
  int resident_blocks;   ///< per CU, by the occupancy calculator
};

template <typename... Parameters>
Footprint of(const hipscope::Sweep& sweep, void (*kernel)(Parameters...), unsigned threads) {
  hipFuncAttributes attributes{};
  hipscope::check(hipFuncGetAttributes(&attributes, reinterpret_cast<const void*>(kernel)));
  int blocks = 0;
  hipscope::check(
      hipOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, static_cast<int>(threads), 0));
  if (!sweep.is_hardware()) {
    constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
    return {.registers = unknown, .scratch_bytes = unknown, .resident_blocks = blocks};
  }
  return {.registers = double(attributes.numRegs),
          .scratch_bytes = static_cast<double>(attributes.localSizeBytes),
          .resident_blocks = blocks};
}

inline unsigned waves_per_block(const hipscope::Sweep& sweep, unsigned threads) {
  const auto lanes = static_cast<unsigned>(sweep.device().wave_size);
  return (threads + lanes - 1) / lanes;
}

inline void add(hipscope::Point& point, const hipscope::Sweep& sweep, const Footprint& print,
                unsigned threads) {
  point.value("registers", print.registers, "per thread");
  point.value("scratch", print.scratch_bytes, "bytes/thread");
  point.value("resident", print.resident_blocks * double(waves_per_block(sweep, threads)),
              "waves/CU");
}

}  // namespace footprint
