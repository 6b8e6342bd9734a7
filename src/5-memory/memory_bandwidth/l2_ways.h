// How is L2 read best, and does it serve several CUs by one answer? Ways to read the same few MiB
// over and over (sweep l2).
#pragma once

#include <hipscope/hipscope.h>

#include <cstdint>
#include <string>

#include "walk.h"

namespace memory_bandwidth {

inline void measure_l2(Sweep& sweep, std::uint64_t bytes, std::uint64_t traffic) {
  sweep.axis({.name = "way"});
  sweep.headline("bandwidth");
  sweep.note(
      "blocks per CU x threads x loads in flight; once: each line once per pass, from L2; in step: "
      "every block takes all lines, and one answer of L2 may serve several CUs that ask for a line "
      "at about the same time; through L1 also the blocks of one CU");
  sweep.require_memory(bytes, "--l2-bytes");
  Arrays arrays(sweep, bytes, 1, false);
  double row = 0;
  const auto way = [&]<unsigned Loads, Hint hint = Hint::past_l1>(
      const Crew& crew, const std::string& name = "once", Pattern pattern = Pattern::once) {
    const std::string label = name + ", " + std::to_string(crew.blocks_per_unit) + " x " +
                              std::to_string(crew.threads) + " x " + std::to_string(Loads);
    measure_reading<Loads, hint>(sweep, arrays, label, ++row, pattern, crew, traffic);
  };
  for (const unsigned threads : {256U, 512U, 768U, 1024U}) {
    way.operator()<1>({.threads = threads});
    way.operator()<2>({.threads = threads});
    way.operator()<4>({.threads = threads});
  }
  way.operator()<3>({.threads = 1024});
  constexpr Crew two_blocks = {.threads = 1024, .blocks_per_unit = 2};
  way.operator()<1>(two_blocks);
  way.operator()<4>(two_blocks);
  way.operator()<1>(two_blocks, "in step", Pattern::in_step);
  way.operator()<1, Hint::none>(two_blocks, "in step, through L1", Pattern::in_step);
}

}  // namespace memory_bandwidth
