// Makes instructions of what llvm-objdump prints of gfx9 code.
#pragma once

#include <string_view>
#include <vector>

#include "instruction.h"

namespace emulator {

/// The instructions of a disassembly, in its order, with the targets of branches as indices. One
/// that is not known is decoded as one that stops the emulator when it is executed.
std::vector<Instruction> decode(std::string_view disassembly);

}  // namespace emulator
