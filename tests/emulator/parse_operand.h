// Operands as llvm-objdump prints them.
#pragma once

#include <string_view>

#include "instruction.h"

namespace emulator {

/// An operand as disassembled. Throws std::runtime_error.
Operand parse_operand(std::string_view text);

}  // namespace emulator
