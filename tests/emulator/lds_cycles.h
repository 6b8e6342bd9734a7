// How long LDS takes for what waves load and store: the word `conflicts`.
#pragma once

#include <array>
#include <map>
#include <string>

#include "types.h"

namespace emulator {

enum class Access { load, store };

/// The groups of a whole wave: the cycles that the access takes without conflicts.
unsigned lds_groups(unsigned bytes);

/// The cycles that a wave's access takes, of the lanes in the mask: in each group one for each
/// dword of the bank of which most are wanted, and at least one.
unsigned lds_cycles(Access use, unsigned bytes, const std::array<Qword, wave_size>& addresses,
                    Qword lanes);

/// What waves have asked of LDS.
struct LdsWork {
  Qword instructions = 0;
  Qword cycles = 0;
  Qword free_cycles = 0;  ///< that it would have been without conflicts
};

/// By the kernel's symbol and the mnemonic.
using LdsWorkOfKernels = std::map<std::string, std::map<std::string, LdsWork>>;

/// Of one kernel in a line: the sum and, in brackets, of each kind of instruction, each as
/// "INSTRUCTIONS instructions, CYCLES cycles, CYCLES without conflicts".
std::string line_of(const std::string& kernel, const std::map<std::string, LdsWork>& kinds);

}  // namespace emulator
