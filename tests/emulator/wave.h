// A wave, its block, and what they run on.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "instruction.h"
#include "lds.h"
#include "lds_cycles.h"
#include "memory.h"
#include "options.h"
#include "pending.h"
#include "reports.h"

namespace emulator {

struct CodeObject;
struct Kernel;

struct Dimensions {
  Dword x = 1;
  Dword y = 1;
  Dword z = 1;

  Qword product() const { return Qword{x} * y * z; }
};

/// The device: what outlives a launch.
struct Machine {
  explicit Machine(Options wanted)
      : options(std::move(wanted)), random(options.seed), memory(options) {}

  Options options;
  Random random;
  Memory memory;
  Reports reports;
  LdsWorkOfKernels lds_work;  // with the word `conflicts`
  Qword clock = 1'000'000;    // nanoseconds; advances with each instruction
  Qword instructions = 0;     // of waves, executed so far
};

/// One launch of a kernel.
struct Launch {
  Machine& machine;
  const CodeObject& object;
  const Kernel& kernel;
  Dimensions grid;
  Dimensions block;
  unsigned dynamic_lds = 0;                  // bytes
  std::vector<std::uint8_t> arguments = {};  // the explicit ones, where the kernel has them
};

struct Block {
  Block(Launch& its_launch, Dimensions its_id, unsigned its_unit, unsigned lds_size)
      : launch(its_launch), id(its_id), unit(its_unit), lds(lds_size) {}

  Launch& launch;
  Dimensions id;
  unsigned unit;  // the CU
  Lds lds;
  std::vector<std::unique_ptr<Wave>> waves;
};

using VectorRegister = std::array<Dword, wave_size>;

/// A load to LDS that is in flight: a dword for each lane.
struct LdsArrival {
  Qword number;  // of the instruction
  const Instruction* instruction;
  Dword address;
  Qword lanes;
  VectorRegister values;

  Dword address_of(unsigned lane) const { return address + Dword{sizeof(Dword)} * lane; }
};

struct Wave {
  Wave(Block& its_block, unsigned its_index) : block(&its_block), index(its_index) {}

  alignas(64) std::array<VectorRegister, vector_registers> vector;
  // Two more, since a pair may begin at the last.
  std::array<Dword, scalar::count + 2> scalars;
  bool scc = false;
  int next = 0;  // index into the program
  bool has_ended = false;
  bool is_at_barrier = false;
  bool yields = false;  // lets others run
  unsigned turns_to_sleep = 0;
  unsigned turns_held = 0;    // of its block, in which it does nothing
  bool is_indexing = false;   // s_set_gpr_idx_on
  unsigned indexed_uses = 0;  // a bit for each source, and for the destination
  Block* block;
  unsigned index;  // in the block
  std::vector<std::uint8_t> scratch;
  Pending pending;
  std::vector<LdsArrival> arriving;
  // When a vector instruction last wrote a register, in instructions and s_nop's wait states.
  Qword time = 0;
  std::array<Qword, vector_registers> vector_written = {};
  std::array<Qword, scalar::count> scalar_written = {};
  Qword m0_written = 0;  // by the scalar unit

  Machine& machine() const { return block->launch.machine; }
  unsigned unit() const { return block->unit; }
  Qword exec() const { return pair(scalar::exec); }
  Qword vcc() const { return pair(scalar::vcc); }
  Qword pair(unsigned first) const { return joined(scalars[first], scalars[first + 1]); }
  void set_pair(unsigned first, Qword value) {
    scalars[first] = low_half(value);
    scalars[first + 1] = high_half(value);
  }

  /// The register that an operand means, with s_set_gpr_idx_on's offset where that is on. Sources
  /// count from 0; the destination is use 3.
  unsigned indexed(const Operand& operand, unsigned use) const {
    const bool moves =
        is_indexing && (indexed_uses >> use & 1) != 0 && operand.index < first_accumulator;
    return moves ? operand.index + (scalars[scalar::m0] & 0xff) : operand.index;
  }

  /// Stores up to the instruction of this number are seen by all.
  void settle_stores(Qword number) {
    if (machine().options.late_stores) {
      machine().memory.settle(*this, number);
    }
  }

  /// Loads to LDS up to the instruction of this number are there.
  void settle_lds_loads(Qword number);

  template <typename Sentence>
  void report(const std::string& mistake, const Instruction& instruction, Sentence sentence) {
    machine().reports.add(mistake, kernel_name(), instruction.text,
                          [&] { return sentence() + place(instruction); });
  }
  /// Counts an access of the active lanes to LDS, where that is asked for. The second one of an
  /// instruction, which is taken for an access by itself, adds cycles and no instruction.
  void count_lds(const Instruction& instruction, Access use, unsigned bytes,
                 const std::array<Qword, wave_size>& addresses, bool is_second = false);
  [[noreturn]] void stop(const Instruction& instruction, const std::string& why) const;

 private:
  const std::string& kernel_name() const;
  std::string place(const Instruction& instruction) const;
};

}  // namespace emulator
