// What a user asks of the emulator, by words in the environment variable HIPSCOPE_EMULATOR.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace emulator {

struct Options {
  std::string target = "gfx90a";  // target=gfx906, gfx908 or gfx90a
  unsigned units = 4;             // units=N: compute units
  std::uint64_t seed = 1;         // seed=N: of what is random
  bool shuffle = false;           // shuffle: blocks and waves take short turns, in random order
  bool late_stores =
      false;              // late-stores: others see a store when the wave waits for it, or before
  bool stale_l1 = false;  // stale-l1: a CU keeps the lines that it has loaded until it invalidates
  bool still_counter = false;  // still-counter: the cycle counter does not advance
  bool still_timer = false;    // still-timer: the constant-rate timer does not
  bool trace = false;          // trace: a line on stderr for each launch
  bool conflicts = false;      // conflicts: at the end, what LDS took for each kernel
  // drop=KERNEL:INSTRUCTION:N: the N-th instruction that begins so, in kernels whose symbol
  // contains KERNEL, does nothing. An underscore stands for a blank in INSTRUCTION as well.
  std::string drop_kernel;
  std::string drop_instruction;
  int drop_index = -1;
};

/// Reads the words. Throws std::invalid_argument with a sentence.
Options parse_options(std::string_view words);

}  // namespace emulator
