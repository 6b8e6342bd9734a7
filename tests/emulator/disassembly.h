// What llvm-objdump prints of gfx9 code, cut into its parts.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "instruction.h"

namespace emulator {

/// One line of the disassembly, cut into its parts.
struct Line {
  std::string text;      ///< without the comment
  std::string mnemonic;  ///< without its ending
  std::vector<std::string> operands;
  std::vector<std::string> modifiers;
  Qword address = 0;
  Dword encoding = 0;
  unsigned size = 0;  ///< bytes
  bool is_dpp = false;
};

/// The parts of a line; none of one that has no instruction.
std::optional<Line> read_line(std::string_view text);

/// An operand. Throws std::runtime_error.
Operand parse_operand(std::string_view text);

/// The value of "-12" or "0x1f". Throws std::runtime_error.
std::int64_t number(std::string_view text);

}  // namespace emulator
