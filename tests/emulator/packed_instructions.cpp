// Half precision, and instructions on two values at once: two halves of a register, or, on gfx90a,
// two registers with an FP32 each.
#include <bit>
#include <cmath>

#include "operations.h"

namespace emulator {
namespace {

float half_to_float(Dword bits) {
  return static_cast<float>(std::bit_cast<_Float16>(static_cast<std::uint16_t>(bits)));
}

Dword float_to_half(double value) {
  return std::bit_cast<std::uint16_t>(static_cast<_Float16>(value));
}

bool has_bit(unsigned bits, unsigned number) { return (bits >> number & 1) != 0; }

// A register of a source, `further` registers on. A constant is the same in all.
Dword register_of(Wave& wave, const Instruction& instruction, unsigned number, unsigned further,
                  unsigned lane) {
  const Operand& operand = instruction.source[number];
  return operand.is_vector()   ? wave.vector[operand.index + further][lane]
         : operand.is_scalar() ? wave.scalars[operand.index + further]
                               : scalar_source(wave, instruction, number);
}

// Which half or register of a source, and with what sign, op_sel and neg say for either half of the
// result.
struct Selection {
  Selection(const Instruction& instruction, unsigned number, bool is_high)
      : upper(has_bit(is_high ? instruction.select_high : instruction.select_low, number)),
        negated(has_bit(is_high ? instruction.negate_high : instruction.negate_low, number)) {}

  bool upper;
  bool negated;
};

double packed_half(Wave& wave, const Instruction& instruction, unsigned number, bool is_high,
                   unsigned lane) {
  const Selection selection(instruction, number, is_high);
  const Operand& operand = instruction.source[number];
  const Dword both = operand.is_float ? float_to_half(operand.floating)
                                      : register_of(wave, instruction, number, 0, lane);
  return half_to_float((selection.upper ? both >> 16 : both) ^ (selection.negated ? 0x8000 : 0));
}

float packed_float(Wave& wave, const Instruction& instruction, unsigned number, bool is_high,
                   unsigned lane) {
  const Selection selection(instruction, number, is_high);
  return as_float(register_of(wave, instruction, number, selection.upper ? 1 : 0, lane) ^
                  (selection.negated ? 0x80000000 : 0));
}

// The operation makes one half of the result, in FP64, of three sources; what has two gets 0 for
// the third.
template <typename Operation>
Definition halves(Operation /*operation*/) {
  return {Unit::vector, Layout::destination_first, [](Wave& wave, const Instruction& instruction) {
            Lanes result = {};
            for (unsigned lane = 0; lane < wave_size; ++lane) {
              for (const bool is_high : {false, true}) {
                std::array<double, 3> source = {};
                for (unsigned number = 0; number < instruction.sources; ++number) {
                  source[number] = packed_half(wave, instruction, number, is_high, lane);
                }
                const double value = Operation{}(source[0], source[1], source[2]);
                result[lane] |= float_to_half(value) << (is_high ? 16 : 0);
              }
            }
            set_vector(wave, instruction, result);
          }};
}

template <typename Operation>
Definition pair_of_floats(Operation /*operation*/) {
  return {Unit::vector, Layout::destination_first, [](Wave& wave, const Instruction& instruction) {
            LanesOf64 result = {};
            for (unsigned lane = 0; lane < wave_size; ++lane) {
              for (const bool is_high : {false, true}) {
                std::array<float, 3> source = {};
                for (unsigned number = 0; number < instruction.sources; ++number) {
                  source[number] = packed_float(wave, instruction, number, is_high, lane);
                }
                const float value = Operation{}(source[0], source[1], source[2]);
                result[lane] |= Qword{bits_of(modified(instruction, value))} << (is_high ? 32 : 0);
              }
            }
            set_vector(wave, instruction, result);
          }};
}

// The low register is of the first source, the high one of the second.
void move_pair(Wave& wave, const Instruction& instruction) {
  const auto half = [&](unsigned number, unsigned lane) {
    const unsigned further = has_bit(instruction.select_low, number) ? 1 : 0;
    return register_of(wave, instruction, number, further, lane);
  };
  LanesOf64 result;
  for (unsigned lane = 0; lane < wave_size; ++lane) {
    result[lane] = joined(half(0, lane), half(1, lane));
  }
  set_vector(wave, instruction, result);
}

// A source of v_fma_mix: op_sel_hi says that it is a half, op_sel which; else it is an FP32.
float mixed_source(Wave& wave, const Instruction& instruction, unsigned number, unsigned lane) {
  const Operand& operand = instruction.source[number];
  float value = static_cast<float>(operand.floating);
  if (!operand.is_float) {
    const Dword bits = register_of(wave, instruction, number, 0, lane);
    const Dword half = has_bit(instruction.select_low, number) ? bits >> 16 : bits;
    value = has_bit(instruction.select_high, number) ? half_to_float(half) : as_float(bits);
  }
  value = operand.absolute ? std::fabs(value) : value;
  return operand.negate ? -value : value;
}

void mixed_multiply_add(Wave& wave, const Instruction& instruction) {
  Lanes result;
  for (unsigned lane = 0; lane < wave_size; ++lane) {
    const auto source = [&](unsigned number) {
      return mixed_source(wave, instruction, number, lane);
    };
    result[lane] = bits_of(modified(instruction, std::fma(source(0), source(1), source(2))));
  }
  set_vector(wave, instruction, result);
}

// Products of a register's two halves, or four bytes, and a sum.
float dot_of_halves(Dword a, Dword b, float sum) {
  for (const unsigned shift : {0U, 16U}) {
    sum = std::fma(half_to_float(a >> shift), half_to_float(b >> shift), sum);
  }
  return sum;
}
Dword dot_of_bytes(Dword a, Dword b, Dword sum) {
  for (const unsigned shift : {0U, 8U, 16U, 24U}) {
    sum += static_cast<Dword>(static_cast<std::int8_t>(a >> shift) *
                              static_cast<std::int8_t>(b >> shift));
  }
  return sum;
}

}  // namespace

void add_packed_instructions(InstructionSet& set) {
  set["v_cvt_f32_f16"] = vector_unit([](_Float16 a) { return static_cast<float>(a); });
  set["v_cvt_f16_f32"] = vector_unit([](float a) { return static_cast<_Float16>(a); });
  set["v_pack_b32_f16"] = vector_unit([](Dword a, Dword b) { return (a & 0xffff) | b << 16; });
  // The product of halves is exact in FP64.
  set["v_pk_fma_f16"] = halves([](double a, double b, double c) { return a * b + c; });
  set["v_pk_add_f16"] = halves([](double a, double b, double) { return a + b; });
  set["v_pk_mul_f16"] = halves([](double a, double b, double) { return a * b; });
  set["v_fma_mix_f32"] = {Unit::vector, Layout::destination_first, mixed_multiply_add};
  for (const char* name : {"v_dot2_f32_f16", "v_dot2c_f32_f16"}) {
    set[name] = vector_unit([](Dword a, Dword b, float c) { return dot_of_halves(a, b, c); });
  }
  for (const char* name : {"v_dot4_i32_i8", "v_dot4c_i32_i8"}) {
    set[name] = vector_unit([](Dword a, Dword b, Dword c) { return dot_of_bytes(a, b, c); });
  }
  set["v_pk_fma_f32"] = pair_of_floats([](float a, float b, float c) { return std::fma(a, b, c); });
  set["v_pk_mul_f32"] = pair_of_floats([](float a, float b, float) { return a * b; });
  set["v_pk_add_f32"] = pair_of_floats([](float a, float b, float) { return a + b; });
  set["v_pk_mov_b32"] = {Unit::vector, Layout::destination_first, move_pair};
}

}  // namespace emulator
