// The options of memory_latency, and the footprints over which a sweep goes.
#pragma once

#include <hipscope/hipscope.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <set>
#include <string>

namespace memory_latency {

inline constexpr std::uint64_t kib = 1024;
inline constexpr std::uint64_t mib = 1024 * kib;

struct Sizes {
  hipscope::Size footprint;
  hipscope::Size spacing;
  hipscope::Size steps;
  hipscope::Size points;
  hipscope::Size pages;
};

inline constexpr std::uint64_t smallest_footprint = kib;

// Of another kind of load than the plain one: two octaves more than the largest known cache of a
// CU.
inline constexpr std::uint64_t largest_of_a_kind = mib;

inline void require_spacing(const Sizes& sizes) {
  if (sizes.spacing % sizeof(std::uint64_t) != 0 || sizes.spacing > sizes.footprint) {
    throw hipscope::UsageError("--spacing must be a multiple of 8 and no more than --footprint");
  }
  constexpr std::uint64_t most_nodes = std::uint64_t{1} << 31;  // so that 32 bits number them
  if (sizes.footprint / sizes.spacing > most_nodes) {
    throw hipscope::UsageError("--footprint must be no more than 2^31 times --spacing");
  }
}

// This many per octave, equally far apart in it, whole multiples of `spacing`: first ... last.
inline std::set<std::uint64_t> footprints(std::uint64_t first, std::uint64_t last,
                                          std::uint64_t per_octave, std::uint64_t spacing) {
  std::set<std::uint64_t> all;
  for (std::uint64_t octave = std::bit_floor(first); octave <= last; octave *= 2) {
    for (std::uint64_t i = 0; i < per_octave; ++i) {
      const std::uint64_t bytes = (octave + octave * i / per_octave) / spacing * spacing;
      if (bytes >= std::max(first, spacing) && bytes <= last) {
        all.insert(bytes);
      }
    }
  }
  return all;
}

inline void set_footprint_axis(hipscope::Sweep& sweep, std::uint64_t spacing) {
  sweep.axis({.name = "footprint", .unit = "bytes", .scale = hipscope::Scale::logarithmic});
  sweep.headline("latency");
  sweep.note("nodes are " + std::to_string(spacing) + " bytes apart");
}

}  // namespace memory_latency
