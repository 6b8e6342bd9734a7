#include "hazards.h"

namespace emulator {
namespace {

// `written` is when; `needed`, the wait states between.
void check(Wave& wave, const Instruction& instruction, Qword written, unsigned needed,
           const char* what) {
  if (written != 0 && wave.time - written < needed + 1) {
    wave.report(mistake::hazard, instruction, [&] {
      return std::string(what) + ": " + std::to_string(needed) + " wait states are needed, " +
             std::to_string(wave.time - written - 1) + " are there";
    });
  }
}

void check_scalar_address(Wave& wave, const Instruction& instruction) {
  for (unsigned number = 0; number < instruction.sources; ++number) {
    const Operand& source = instruction.source[number];
    for (unsigned reg = source.index; source.is_scalar() && reg < source.index + source.count;
         ++reg) {
      check(wave, instruction, wave.scalar_written[reg], 5,
            "the vector unit writes a scalar register that an address needs");
    }
  }
}

}  // namespace

void check_hazards(Wave& wave, const Instruction& instruction) {
  if (instruction.unit == Unit::vector_memory || instruction.unit == Unit::flat) {
    check_scalar_address(wave, instruction);
    if (instruction.loads_lds) {
      check(wave, instruction, wave.m0_written, 1, "m0 is written before a load to LDS");
    }
    return;
  }
  if (instruction.unit != Unit::vector) {
    return;
  }
  if (instruction.is_dpp && instruction.source[0].is_vector()) {
    check(wave, instruction, wave.vector_written[instruction.source[0].index], 2,
          "DPP reads what the vector unit writes");
    check(wave, instruction, wave.scalar_written[scalar::exec], 5,
          "the vector unit writes EXEC before DPP");
  }
  if (instruction.is_division_step) {
    check(wave, instruction, wave.scalar_written[scalar::vcc], 4,
          "the vector unit writes VCC before v_div_fmas");
  }
  if (instruction.selects_lane && instruction.source[1].is_scalar()) {
    check(wave, instruction, wave.scalar_written[instruction.source[1].index], 4,
          "the vector unit writes the scalar register that selects a lane");
  }
}

void note_written(Wave& wave, const Instruction& instruction) {
  const Operand& destination = instruction.destination;
  if (instruction.unit == Unit::scalar && destination.is_scalar() &&
      destination.index == scalar::m0) {
    wave.m0_written = wave.time;
  }
  if (instruction.unit != Unit::vector) {
    return;
  }
  for (const Operand* written : {&instruction.destination, &instruction.second_destination}) {
    for (unsigned reg = written->index; reg < written->index + written->count; ++reg) {
      if (written->is_vector()) {
        wave.vector_written[reg] = wave.time;
      } else if (written->is_scalar()) {
        wave.scalar_written[reg] = wave.time;
      }
    }
  }
}

}  // namespace emulator
