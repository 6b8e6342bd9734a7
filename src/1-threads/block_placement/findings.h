// What block_placement concludes from its curves. Plain C++, no GPU headers.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hipscope/experiment.h"

namespace block_placement {

/// CUs are numbered by shader engine and the like, with gaps.
inline constexpr unsigned most_units = 1U << 12;

/// Of one block: its own number, where it was, and the numbers of its begin and its end among those
/// of all blocks.
struct Place {
  unsigned block;
  unsigned unit;
  unsigned begin;
  unsigned end;
};

/// Of the blocks that began when places had been freed, in percent: those that took the one that
/// was freed first, and those whose number follows on the greatest before; and how many places
/// there were on average. NaN where no block began so.
struct Refills {
  double first_freed = 0;
  double in_order = 0;
  double free = 0;
};
Refills refills_of(const std::vector<Place>& places);

/// The XCD in a CU's number as compute_unit_id tells it, and the shader engine with what is above
/// it. Empty on GPUs that do not tell.
std::optional<unsigned> xcd_of(const std::string& architecture, unsigned unit);
std::optional<unsigned> group_of(const std::string& architecture, unsigned unit);

/// Whether XCDs take turns (sweep large-lds: "CU"), blocks before a CU gets a second one (small:
/// "CU"), and groups of CUs (groups: "group"). What was not measured is left out.
void conclude(hipscope::Results& results);

}  // namespace block_placement
