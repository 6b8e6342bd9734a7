// Do loads of two paths meet in one cache? Keep a few lines by one, walk through far more by the
// other, look at the first again. And what does LDS take of the vector cache?
#pragma once

#include <hipscope/hipscope.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>

#include "chase.h"

namespace cache_sharing {

// So few that the smallest cache, 2 KiB of NVIDIA's constants, keeps them, beside a kernel's
// arguments.
inline constexpr unsigned kept_nodes = 16;

// A node in each line.
constexpr std::uint64_t spacing_of(Path path) { return path == Path::constant ? 64 : 128; }

inline constexpr std::uint64_t kept_bytes = kept_nodes * spacing_of(Path::constant);

inline NodeRing kept_ring(Path path, std::uint64_t seed) {
  return {path, scattered(0, kept_nodes, spacing_of(path), seed)};
}

// Beside what is kept, all that NVIDIA has of constants, if `bytes` are more.
inline NodeRing evicting_ring(Path path, std::uint64_t bytes, std::uint64_t seed) {
  const std::uint64_t begin = 2 * kept_bytes;
  const std::uint64_t most =
      path == Path::constant ? std::min<std::uint64_t>(bytes, constant_bytes - begin) : bytes;
  return {path, scattered(begin, most / spacing_of(path), spacing_of(path), seed)};
}

inline void measure_pairs(Sweep& sweep, const Sizes& sizes, PhasesKernel kernel) {
  sweep.axis({.name = "kept, evicted by"});
  sweep.headline("after");
  sweep.note(
      "alone: cycles per load of what was loaded twice before; after: the same after a walk of the "
      "second kind through " +
      std::to_string(sizes.evict) + " bytes");
  for (const Path path : {Path::read_only, Path::texture}) {
    if (!has(path)) {
      sweep.note(std::string(name_of(path)) + ": not on this device, as a path of its own");
    }
  }
  sweep.require_memory(2 * sizes.evict, "--evict");
  prefer_lds(kernel);
  constexpr std::array all = {Path::vector, Path::read_only, Path::constant, Path::texture};
  for (const Path kept : all) {
    for (const Path evictor : all) {
      if (!has(kept) || !has(evictor)) {
        continue;
      }
      auto point = sweep.point(std::string(name_of(kept)) + ", " + name_of(evictor),
                               pair_row(kept, evictor));
      const NodeRing few = kept_ring(kept, sweep.seed());
      const NodeRing many = evicting_ring(evictor, sizes.evict, sweep.seed() + 1);
      Phases phases = {.kept = few.ring(),
                       .fill_steps = 2 * kept_nodes,
                       .evictor = many.ring(),
                       .evict_steps = 0,
                       .look_steps = kept_nodes};
      const auto cycles = [&](const std::string& what) {
        return run_phases(sweep, point, sizes, kernel, few, many, phases, what, [] {});
      };
      point.value("alone", cycles("alone"), "cycles");
      phases.evict_steps = 2 * many.ring().nodes;
      point.value("after", cycles("after"), "cycles");
      const DeviceBuffer<Outcome> outcome(1);
      point.measure(
          [&] {
            hipscope::launch(kernel, {.grid = dim3(1), .block = dim3(1)}, phases, outcome.data());
          },
          {.name = "launch", .batch = 1});
    }
  }
}

// The vector cache by latency over footprint, in a block without LDS and in one with all it can
// get.
inline void measure_lds(Sweep& sweep, const Sizes& sizes, PhasesKernel kernel) {
  sweep.axis({.name = "footprint", .unit = "bytes", .scale = hipscope::Scale::logarithmic});
  sweep.headline("with LDS");
  const auto lds = static_cast<std::uint32_t>(sweep.device().largest_lds_bytes_per_block);
  sweep.note("with LDS: in a block that has " + std::to_string(lds) + " bytes of it");
  sweep.require_memory(sizes.evict, "--evict");
  hipscope::allow_lds(kernel, lds);
  const NodeRing nothing = kept_ring(Path::vector, sweep.seed());
  constexpr std::uint64_t smallest = 4096;
  for (std::uint64_t octave = smallest; octave <= std::max<std::uint64_t>(smallest, sizes.evict);
       octave *= 2) {
    for (const std::uint64_t bytes : {octave, octave + octave / 2}) {
      auto point = sweep.point(std::to_string(bytes), static_cast<double>(bytes));
      const auto nodes = static_cast<unsigned>(bytes / spacing_of(Path::vector));
      const NodeRing ring(Path::vector,
                          scattered(0, nodes, spacing_of(Path::vector), sweep.seed()));
      const Phases phases = {.kept = ring.ring(),
                             .fill_steps = 2 * nodes,
                             .evictor = nothing.ring(),
                             .evict_steps = 0,
                             .look_steps = nodes};
      const auto cycles = [&](const std::string& what, std::uint32_t lds_bytes) {
        return run_phases(
            sweep, point, sizes, kernel, ring, nothing, phases, what, [] {}, lds_bytes);
      };
      hipscope::prefer_level_1_cache(kernel);
      point.value("without LDS", cycles("without LDS", 0), "cycles");
      prefer_lds(kernel);
      point.value("with LDS", cycles("with LDS", lds), "cycles");
    }
  }
}

}  // namespace cache_sharing
