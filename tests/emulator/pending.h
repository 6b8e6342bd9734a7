// What a wave has in flight: loads, stores and LDS accesses that s_waitcnt waits for.
#pragma once

#include <array>
#include <vector>

#include "instruction.h"

namespace emulator {

class Pending {
 public:
  /// The number of the instruction that is executed; it begins with 1.
  Qword number() const { return number_; }
  void next() { ++number_; }

  /// The instruction has begun, in the counters of its unit.
  void begin(Wave& wave, const Instruction& instruction);
  /// s_waitcnt: until no more than these are in flight.
  void wait(Wave& wave, unsigned vector_memory, unsigned lds_and_scalar);
  /// That an LDS access is in flight.
  bool has_lds() const;

  /// Reports each register of the operand that is used before what loads it has been waited for.
  /// `use` counts sources from 0; a destination is of use 3.
  void check(Wave& wave, const Instruction& instruction, const Operand& operand, unsigned use);

 private:
  enum class Kind : std::uint8_t { vector_memory, lds, in_no_order };

  struct Access {
    Qword number;
    Kind kind;
    bool is_scalar;
    std::uint16_t first;  // register that it loads
    std::uint8_t count;
  };

  Access access_of(const Instruction& instruction, Kind kind);
  void push(Wave& wave, std::vector<Access>& queue, Access access);
  void retire(Wave& wave, std::vector<Access>& queue, std::size_t position);
  bool ends_in_order(const Instruction& instruction, Qword number) const;

  Qword number_ = 1;
  std::vector<Access> vector_memory_;
  std::vector<Access> lds_and_scalar_;
  // The instruction that is to write a register, 0 for none.
  std::array<Qword, vector_registers> vector_ = {};
  std::array<Qword, scalar::count> scalar_ = {};
};

}  // namespace emulator
