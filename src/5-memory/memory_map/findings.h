// What memory_map concludes from its curves. Plain C++, no GPU headers.
#pragma once

#include <cstdint>
#include <string>

#include "hipscope/experiment.h"

namespace memory_map {

inline constexpr std::uint64_t line_bytes = 128;

/// The most lines of sweeps map and memory, and what the values of all sweeps are named: a line as
/// CUs see it, and a CU's view of all lines.
inline constexpr unsigned map_lines = 48;
inline std::string line_name(unsigned line) { return "line " + std::to_string(line) + " latency"; }
inline std::string unit_name(unsigned unit) { return "CU " + std::to_string(unit) + " latency"; }

/// Groups of CUs that see the same lines near (sweeps map and memory: line_name), how many slices
/// of L2 differ for some CU, and which address bits choose the slice (sweep lines: unit_name, x the
/// line's number). What was not measured is left out.
void conclude(hipscope::Results& results);

}  // namespace memory_map
