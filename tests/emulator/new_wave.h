// What a wave finds in its registers before its first instruction.
#pragma once

#include <memory>

#include "wave.h"

namespace emulator {

/// A new wave as the hardware begins one. `arguments` and `packet` are addresses of what the kernel
/// reads at its start. Throws Stopped.
std::unique_ptr<Wave> make_wave(Block& block, unsigned index, Qword arguments, Qword packet);

}  // namespace emulator
