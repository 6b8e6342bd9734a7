#include "instruction.h"

namespace emulator {

const InstructionSet& instruction_set() {
  static const InstructionSet all = [] {
    InstructionSet set;
    add_scalar_instructions(set);
    add_control_instructions(set);
    add_vector_integer_instructions(set);
    add_vector_float_instructions(set);
    add_vector_comparisons(set);
    add_packed_instructions(set);
    add_matrix_instructions(set);
    add_memory_instructions(set);
    return set;
  }();
  return all;
}

}  // namespace emulator
