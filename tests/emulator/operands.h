// How instructions read their sources and write their results.
#pragma once

#include <array>

#include "wave.h"

namespace emulator {

using Lanes = std::array<Dword, wave_size>;
using LanesOf64 = std::array<Qword, wave_size>;

/// Source `number`; what is past the last one is the destination, as v_fmac_f32 and s_cmov_b32 have
/// it.
inline const Operand& operand_of(const Instruction& instruction, unsigned number) {
  return number < instruction.sources ? instruction.source[number] : instruction.destination;
}

inline unsigned use_of(const Instruction& instruction, unsigned number) {
  return number < instruction.sources ? number : destination_use;
}

/// A source of a scalar instruction, or one that is the same for all lanes.
Dword scalar_source(Wave& wave, const Instruction& instruction, unsigned number);
/// As 64 bits. A literal of an FP64 instruction is the upper half.
Qword scalar_source_of_64(Wave& wave, const Instruction& instruction, unsigned number,
                          bool is_float = false);
void set_scalar(Wave& wave, const Instruction& instruction, Dword value);
void set_scalar_of_64(Wave& wave, const Instruction& instruction, Qword value);

/// A source in all lanes, with DPP, SDWA, and, where it `is_float`, signs. `space` is used where it
/// is not just a register.
const Dword* vector_source(Wave& wave, const Instruction& instruction, unsigned number,
                           Lanes& space, bool is_float);
const Qword* vector_source_of_64(Wave& wave, const Instruction& instruction, unsigned number,
                                 LanesOf64& space, bool is_float);
/// Writes the lanes that the instruction writes.
void set_vector(Wave& wave, const Instruction& instruction, const Lanes& result);
void set_vector(Wave& wave, const Instruction& instruction, const LanesOf64& result);

/// mul:2, mul:4, div:2 and clamp.
float modified(const Instruction& instruction, float result);
double modified(const Instruction& instruction, double result);
inline bool modifies(const Instruction& instruction) {
  return instruction.output_modifier != 0 || instruction.clamp;
}

/// FP32 without subnormals, as v_mad_f32 and the approximations compute.
float flushed(float value);
/// v_mad_f32: two roundings.
float multiply_add(float a, float b, float c);

}  // namespace emulator
