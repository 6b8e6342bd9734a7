// Instructions that follow each other too soon, where gfx9 leaves it to software to keep them apart
// (Vega ISA manual, Manually Inserted Wait States).
#pragma once

#include "wave.h"

namespace emulator {

/// Reports what the instruction reads too soon.
void check_hazards(Wave& wave, const Instruction& instruction);
/// Notes what it writes.
void note_written(Wave& wave, const Instruction& instruction);

}  // namespace emulator
