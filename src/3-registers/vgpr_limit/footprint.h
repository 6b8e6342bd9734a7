// The columns of vgpr_limit with a kernel's use of a CU.
#pragma once

#include <hipscope/footprint.h>
#include <hipscope/hipscope.h>

namespace footprint {

inline unsigned waves_per_block(const hipscope::Sweep& sweep, unsigned threads) {
  const auto lanes = static_cast<unsigned>(sweep.device().wave_size);
  return (threads + lanes - 1) / lanes;
}

template <typename... Parameters>
void add(hipscope::Point& point, const hipscope::Sweep& sweep, void (*kernel)(Parameters...),
         unsigned threads) {
  const hipscope::Footprint footprint = hipscope::footprint_of(sweep, kernel);
  point.value("registers", footprint.registers, "per thread");
  point.value("scratch", footprint.scratch_bytes, "bytes/thread");
  point.value("resident",
              hipscope::resident_blocks(kernel, threads) * double(waves_per_block(sweep, threads)),
              "waves/CU");
}

}  // namespace footprint
