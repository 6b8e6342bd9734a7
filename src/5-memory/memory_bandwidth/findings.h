// What memory_bandwidth concludes from its curves. Plain C++, no GPU headers.
#pragma once

#include <array>
#include <cstddef>
#include <string>

#include "hipscope/experiment.h"

namespace memory_bandwidth {

/// The functions, by which sweep stream numbers its rows.
enum class Function { read, write, copy, scale, add, triad, dot };
constexpr const char* name_of(Function function) {
  constexpr std::array names = {"read", "write", "copy", "scale", "add", "triad", "dot"};
  return names[static_cast<std::size_t>(function)];
}

/// The unit of all bandwidths, 10^9 bytes per second.
inline constexpr const char* gigabytes = "GB/s";

/// The rows of sweep l2 that read each line once per pass are numbered up to this.
inline constexpr double ways_once = 15;

/// The bandwidth in GB/s by the driver's memory clock and bus width, two transfers per clock; NaN
/// where it tells none.
double peak(const hipscope::DeviceDescription& device);

/// A footprint as people write it: "512 KiB", "1.5 MiB".
std::string footprint_label(double bytes);

/// Bandwidth of memory by function (sweep stream: "bandwidth"), of cache levels (footprint-l1,
/// footprint-read and footprint-write; l2), and the bytes in flight that it takes (occupancy-*: "in
/// flight per CU"). What was not measured is left out.
void conclude(hipscope::Results& results);

}  // namespace memory_bandwidth
