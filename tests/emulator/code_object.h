// A code object: the ELF file that the compiler makes for one target, laid out in memory.
#pragma once

#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "decoder.h"
#include "instruction.h"
#include "memory.h"
#include "options.h"

namespace emulator {

struct Argument {
  unsigned offset = 0;  // bytes
  unsigned size = 0;
  std::string kind;  // as the metadata says: by_value, global_buffer, hidden_...

  bool is_hidden() const { return kind.starts_with("hidden"); }
};

struct Kernel {
  std::string name;
  std::vector<Argument> arguments;
  unsigned argument_bytes = 0;
  unsigned lds = 0;      // bytes
  unsigned scratch = 0;  // bytes of a lane
  unsigned vgprs = 0;
  unsigned agprs = 0;
  unsigned largest_block = 1024;
  bool has_dynamic_stack = false;
  Qword entry = 0;  // in the code object
  // Of the kernel descriptor (LLVM, User Guide for AMDGPU Backend, Kernel Descriptor).
  Dword resources_1 = 0;
  Dword resources_2 = 0;
  std::uint16_t properties = 0;

  /// With room for calls whose depth the compiler does not know.
  unsigned scratch_of_lane() const { return scratch + (has_dynamic_stack ? 16384 : 0); }
};

struct Symbol {
  Qword value = 0;
  Qword size = 0;
};

struct CodeObject {
  std::string target;
  std::uint8_t* base = nullptr;  // where it starts
  std::vector<Instruction> program;
  std::unordered_map<Qword, int> at;  // an address in the code object: the index in `program`
  std::map<std::string, Kernel> kernels;
  std::map<std::string, Symbol> symbols;

  /// Takes the instructions of a disassembly.
  void set_program(std::string_view disassembly);
  /// The index of the instruction at an address of the host; -1 where there is none.
  int index_at(Qword address) const;
};

/// Lays the ELF file out in memory that kernels may access, and disassembles it. Throws Stopped.
CodeObject load_code_object(const std::uint8_t* elf, std::size_t size, const Options& options,
                            Memory& memory);

/// What llvm-objdump prints of an ELF file. Throws Stopped.
std::string disassemble(const std::uint8_t* elf, std::size_t size, const std::string& target);

}  // namespace emulator
