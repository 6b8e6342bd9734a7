// In place of a vendor's library that is not there.
#pragma once

#include <string>

#include "hipscope/device.h"
#include "hipscope/libraries/histogram.h"

namespace hipscope::vendor {

inline void histogram(unsigned char*, std::size_t&, const unsigned char*, unsigned*, std::size_t) {
  throw DeviceError(std::string("this build has no library for histograms: ") +
                    histogram_libraries);
}

inline std::string histogram_library_name() { return ""; }

}  // namespace hipscope::vendor
