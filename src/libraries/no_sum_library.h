// In place of a vendor's library that is not there.
#pragma once

#include <string>

#include "hipscope/device.h"
#include "hipscope/libraries/sum.h"

namespace hipscope::vendor {

template <typename Value>
void sum(unsigned char*, std::size_t&, const Value*, Value*, std::size_t) {
  throw DeviceError(std::string("this build has no library for sums: ") + sum_libraries);
}

inline std::string sum_library_name() { return ""; }

}  // namespace hipscope::vendor
