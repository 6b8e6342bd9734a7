#include "operands.h"

#include <cmath>

namespace emulator {
namespace {

Dword special_value(const Wave& wave, Special special) {
  constexpr Dword aperture_size = 0xffff;  // in units of 4 GiB, as the registers tell it
  switch (special) {
    case Special::scc:
      return wave.scc ? 1 : 0;
    case Special::vccz:
      return wave.vcc() == 0 ? 1 : 0;
    case Special::execz:
      return wave.exec() == 0 ? 1 : 0;
    case Special::shared_base:
      return high_half(shared_aperture);
    case Special::shared_limit:
      return high_half(shared_aperture) + aperture_size;
    case Special::private_base:
      return high_half(private_aperture);
    case Special::private_limit:
      return high_half(private_aperture) + aperture_size;
  }
  return 0;
}

bool reads_active_lane(const Wave& wave, int source) {
  return source >= 0 && has_lane(wave.exec(), static_cast<unsigned>(source));
}

void cross_lanes(const Wave& wave, const Instruction& instruction, const Dword* from, Lanes& to) {
  for (unsigned lane = 0; lane < wave_size; ++lane) {
    const int source = instruction.crossing[lane];
    to[lane] = reads_active_lane(wave, source) ? from[source] : 0;
  }
}

// The lanes that an instruction writes. With DPP, only those whose source is there.
Qword write_mask(const Wave& wave, const Instruction& instruction) {
  if (!instruction.is_dpp) {
    return wave.exec();
  }
  Qword mask = 0;
  for (unsigned lane = 0; lane < wave_size; ++lane) {
    const bool is_chosen = (instruction.row_mask >> (lane / 16) & 1) != 0 &&
                           (instruction.bank_mask >> (lane % 16 / 4) & 1) != 0;
    const int source = instruction.crossing[lane];
    if (is_chosen && (instruction.zero_from_outside || reads_active_lane(wave, source))) {
      mask |= Qword{1} << lane;
    }
  }
  return mask & wave.exec();
}

unsigned first_bit(Part part) {
  return part >= Part::word_0 ? 16 * (static_cast<unsigned>(part) - 4)
                              : 8 * static_cast<unsigned>(part);
}

unsigned bits_in(Part part) { return part >= Part::word_0 ? 16 : 8; }

Dword part_of_dword(Dword value, const Operand& operand) {
  const unsigned bits = bits_in(operand.part);
  const Dword part = value >> first_bit(operand.part) & low_bits(bits);
  return operand.sign_extend ? sign_extended(part, bits) : part;
}

void set_part(Wave& wave, const Instruction& instruction, const Lanes& result, Qword mask) {
  VectorRegister& destination = wave.vector[instruction.destination.index];
  const unsigned shift = first_bit(instruction.destination_part);
  const Dword bits = low_bits(bits_in(instruction.destination_part)) << shift;
  for (unsigned lane = 0; lane < wave_size; ++lane) {
    if (has_lane(mask, lane)) {
      const Dword rest = instruction.keeps_rest ? destination[lane] & ~bits : 0;
      destination[lane] = rest | (result[lane] << shift & bits);
    }
  }
}

template <typename Float>
Float modified_value(const Instruction& instruction, Float result) {
  constexpr std::array<Float, 4> factors = {1, 2, 4, Float(0.5)};
  result *= factors[instruction.output_modifier];
  if (instruction.clamp) {
    // A NaN becomes 0, too.
    result = !(result > 0) ? 0 : result > 1 ? 1 : result;
  }
  return result;
}

}  // namespace

Dword scalar_source(Wave& wave, const Instruction& instruction, unsigned number) {
  const Operand& operand = operand_of(instruction, number);
  switch (operand.kind) {
    case Operand::Kind::scalar:
      return wave.scalars[operand.index];
    case Operand::Kind::constant:
      return operand.is_float ? bits_of(static_cast<float>(operand.floating))
                              : static_cast<Dword>(operand.integer);
    case Operand::Kind::special:
      return special_value(wave, operand.special);
    default:
      wave.stop(instruction, "a scalar operand is none");
  }
}

Qword scalar_source_of_64(Wave& wave, const Instruction& instruction, unsigned number,
                          bool is_float) {
  const Operand& operand = operand_of(instruction, number);
  switch (operand.kind) {
    case Operand::Kind::scalar:
      return wave.pair(operand.index);
    case Operand::Kind::constant:
      if (operand.is_float) {
        return bits_of(operand.floating);
      }
      if (operand.is_literal) {
        const auto literal = static_cast<Dword>(operand.integer);
        return is_float ? joined(0, literal) : literal;
      }
      return as_bits(operand.integer);
    case Operand::Kind::special:
      if (operand.special == Special::shared_base) {
        return shared_aperture;
      }
      if (operand.special == Special::private_base) {
        return private_aperture;
      }
      return special_value(wave, operand.special);
    default:
      wave.stop(instruction, "a scalar operand of 64 bits is none");
  }
}

void set_scalar(Wave& wave, const Instruction& instruction, Dword value) {
  wave.scalars[instruction.destination.index] = value;
}

void set_scalar_of_64(Wave& wave, const Instruction& instruction, Qword value) {
  wave.set_pair(instruction.destination.index, value);
}

const Dword* vector_source(Wave& wave, const Instruction& instruction, unsigned number,
                           Lanes& space, bool is_float) {
  const Operand& operand = operand_of(instruction, number);
  const bool crosses = instruction.is_dpp && number == 0;
  const bool changes = operand.negate || operand.absolute || operand.part != Part::dword;
  const Dword* values = space.data();
  if (operand.is_vector()) {
    values = wave.vector[wave.indexed(operand, use_of(instruction, number))].data();
    if (!crosses && !changes) {
      return values;
    }
    if (crosses) {
      cross_lanes(wave, instruction, values, space);
      values = space.data();
    }
  } else {
    space.fill(scalar_source(wave, instruction, number));
  }
  if (!changes) {
    return space.data();
  }
  if (!is_float && (operand.negate || operand.absolute)) {
    wave.stop(instruction, "an integer operand has the sign of a float");
  }
  constexpr Dword sign = 0x80000000;
  for (unsigned lane = 0; lane < wave_size; ++lane) {
    Dword value = values[lane];
    if (operand.part != Part::dword) {
      value = part_of_dword(value, operand);
    }
    value = operand.absolute ? value & ~sign : value;
    space[lane] = operand.negate ? value ^ sign : value;
  }
  return space.data();
}

const Qword* vector_source_of_64(Wave& wave, const Instruction& instruction, unsigned number,
                                 LanesOf64& space, bool is_float) {
  const Operand& operand = operand_of(instruction, number);
  if (operand.is_vector()) {
    const unsigned index = wave.indexed(operand, use_of(instruction, number));
    const VectorRegister& low = wave.vector[index];
    const VectorRegister& high = wave.vector[index + 1];
    for (unsigned lane = 0; lane < wave_size; ++lane) {
      space[lane] = joined(low[lane], high[lane]);
    }
  } else {
    space.fill(scalar_source_of_64(wave, instruction, number, is_float));
  }
  constexpr Qword sign = Qword{1} << 63;
  if (operand.absolute) {
    for (Qword& value : space) {
      value &= ~sign;
    }
  }
  if (operand.negate) {
    for (Qword& value : space) {
      value ^= sign;
    }
  }
  return space.data();
}

void set_vector(Wave& wave, const Instruction& instruction, const Lanes& result) {
  const Qword mask = write_mask(wave, instruction);
  if (instruction.destination_part != Part::dword) {
    set_part(wave, instruction, result, mask);
    return;
  }
  VectorRegister& destination = wave.vector[wave.indexed(instruction.destination, destination_use)];
  if (mask == all_lanes) {
    destination = result;
    return;
  }
  for (unsigned lane = 0; lane < wave_size; ++lane) {
    if (has_lane(mask, lane)) {
      destination[lane] = result[lane];
    }
  }
}

void set_vector(Wave& wave, const Instruction& instruction, const LanesOf64& result) {
  const unsigned index = wave.indexed(instruction.destination, destination_use);
  const Qword mask = write_mask(wave, instruction);
  VectorRegister& low = wave.vector[index];
  VectorRegister& high = wave.vector[index + 1];
  if (mask == all_lanes) {
    for (unsigned lane = 0; lane < wave_size; ++lane) {
      low[lane] = low_half(result[lane]);
      high[lane] = high_half(result[lane]);
    }
    return;
  }
  for (unsigned lane = 0; lane < wave_size; ++lane) {
    if (has_lane(mask, lane)) {
      low[lane] = low_half(result[lane]);
      high[lane] = high_half(result[lane]);
    }
  }
}

float modified(const Instruction& instruction, float result) {
  return modified_value(instruction, result);
}

double modified(const Instruction& instruction, double result) {
  return modified_value(instruction, result);
}

float flushed(float value) {
  return std::fpclassify(value) == FP_SUBNORMAL ? std::copysign(0.0F, value) : value;
}

float multiply_add(float a, float b, float c) {
  return flushed(flushed(flushed(a) * flushed(b)) + flushed(c));
}

}  // namespace emulator
