// What cache_sharing concludes from its curves. Plain C++, no GPU headers.
#pragma once

#include <cstddef>
#include <vector>

#include "hipscope/experiment.h"

namespace cache_sharing {

/// The ways that a load can take to its caches. `constant` is NVIDIA's load of constant memory and
/// AMD's scalar load.
enum class Path { vector, read_only, constant, texture };
inline constexpr unsigned path_count = 4;
const char* name_of(Path path);

/// By which sweep pairs numbers its rows.
constexpr double pair_row(Path kept, Path evictor) {
  return path_count * static_cast<unsigned>(kept) + static_cast<unsigned>(evictor);
}

/// How much longer a miss must take than a hit for the two to be told apart.
inline constexpr double clear_miss = 1.25;

/// Who shares a cache with whom: `quiet[b]` is the latency on CU b while no other CU walks, and
/// `disturbed[a][b]` while CU a does. Two CUs belong together if each of them disturbs the other; a
/// CU that disturbs itself tells by how much. For each CU the first of its group. Empty where CUs
/// do not even disturb themselves.
std::vector<std::size_t> groups_by_disturbance(const std::vector<double>& quiet,
                                               const std::vector<std::vector<double>>& disturbed);

/// What loads of two paths evict of one another (sweep pairs: "alone", "after"); in which units
/// constant caches fetch (constant-unit: "second load") and the first of them keeps (constant-line:
/// "footprint", "miss"); what LDS takes of the vector cache (lds: "without LDS", "with LDS"); which
/// CUs share a cache (units-*: "first of its group", "beside itself", "quiet"); who finds in L2
/// what another CU has read (l2-handover: "own", "handed over", "cold"). What was not measured is
/// left out.
void conclude(hipscope::Results& results);

}  // namespace cache_sharing
