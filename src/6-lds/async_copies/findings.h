// What async_copies concludes: what rate all CUs reach by copies to LDS past the registers, over
// that through them.
//
// Reads "bandwidth" of device-l2 and device-memory, for every way that the device has, by
// value_name().
#pragma once

#include <array>
#include <string>

#include "hipscope/experiment.h"

namespace async_copies {

/// All ways that some device has; the first is the one that others are held against.
inline constexpr std::array through_registers = {"load and store 16", "load and store 4"};
inline constexpr std::array past_registers = {
    "cp.async 4", "cp.async 8",           "cp.async 16",          "bulk",
    "tensor",     "global load to LDS 4", "buffer load to LDS 4", "global load to LDS 16"};

/// "latency" of the first way, "bulk latency" of another.
inline std::string value_name(const std::string& way, const std::string& what) {
  return way == through_registers.front() ? what : way + " " + what;
}

void conclude(hipscope::Results& results);

}  // namespace async_copies
