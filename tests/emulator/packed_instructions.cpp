// Half precision, and instructions on two values at once: two halves of a register, or, on gfx90a,
// two registers with an FP32 each.
#include <bit>
#include <cmath>

#include "operands.h"

namespace emulator {
namespace {

void define(InstructionSet& set, const std::string& name, Handler handler) {
  set[name] = {Unit::vector, Layout::destination_first, handler};
}

float half_to_float(std::uint16_t bits) {
  return static_cast<float>(std::bit_cast<_Float16>(bits));
}

std::uint16_t float_to_half(double value) {
  return std::bit_cast<std::uint16_t>(static_cast<_Float16>(value));
}

// One half of a source: which, and with what sign, op_sel and neg say for either half of the
// result.
double packed_half(Wave& wave, const Instruction& instruction, unsigned number, bool is_high,
                   unsigned lane) {
  const Operand& operand = instruction.source[number];
  Dword both = 0;
  if (operand.is_vector()) {
    both = wave.vector[operand.index][lane];
  } else if (operand.is_float) {
    both = float_to_half(operand.floating);
  } else {
    both = scalar_source(wave, instruction, number);
  }
  const unsigned selected = is_high ? instruction.select_high : instruction.select_low;
  const unsigned negated = is_high ? instruction.negate_high : instruction.negate_low;
  auto half = static_cast<std::uint16_t>((selected >> number & 1) != 0 ? both >> 16 : both);
  if ((negated >> number & 1) != 0) {
    half ^= 0x8000;
  }
  return half_to_float(half);
}

// `operation` makes one half of the result, in FP64, of its sources; `half` gives source `number`.
template <typename Operation>
void on_both_halves(Wave& wave, const Instruction& instruction, Operation operation) {
  Lanes result;
  for (unsigned lane = 0; lane < wave_size; ++lane) {
    result[lane] = 0;
    for (const bool is_high : {false, true}) {
      const double value = operation(
          [&](unsigned number) { return packed_half(wave, instruction, number, is_high, lane); });
      result[lane] |= Dword{float_to_half(value)} << (is_high ? 16 : 0);
    }
  }
  set_vector(wave, instruction, result);
}

void multiply_add_halves(Wave& wave, const Instruction& instruction) {
  // The product of halves is exact in FP64.
  on_both_halves(wave, instruction, [](auto half) { return half(0) * half(1) + half(2); });
}

void add_halves(Wave& wave, const Instruction& instruction) {
  on_both_halves(wave, instruction, [](auto half) { return half(0) + half(1); });
}

// A source of v_fma_mix: op_sel_hi says that it is a half, op_sel which; else it is an FP32.
float mixed_source(Wave& wave, const Instruction& instruction, unsigned number, unsigned lane) {
  const Operand& operand = instruction.source[number];
  const bool is_half = (instruction.select_high >> number & 1) != 0;
  const bool is_upper = (instruction.select_low >> number & 1) != 0;
  float value = 0;
  if (!operand.is_vector() && operand.is_float) {
    value = static_cast<float>(operand.floating);
  } else {
    const Dword bits = operand.is_vector() ? wave.vector[operand.index][lane]
                                           : scalar_source(wave, instruction, number);
    value = is_half ? half_to_float(static_cast<std::uint16_t>(is_upper ? bits >> 16 : bits))
                    : as_float(bits);
  }
  value = operand.absolute ? std::fabs(value) : value;
  return operand.negate ? -value : value;
}

void mixed_multiply_add(Wave& wave, const Instruction& instruction) {
  Lanes result;
  for (unsigned lane = 0; lane < wave_size; ++lane) {
    result[lane] =
        bits_of(modified(instruction, std::fma(mixed_source(wave, instruction, 0, lane),
                                               mixed_source(wave, instruction, 1, lane),
                                               mixed_source(wave, instruction, 2, lane))));
  }
  set_vector(wave, instruction, result);
}

// Products of a register's two halves, or four bytes, and a sum.
float dot(Dword a, Dword b, float sum) {
  for (const unsigned shift : {0U, 16U}) {
    sum = std::fma(half_to_float(static_cast<std::uint16_t>(a >> shift)),
                   half_to_float(static_cast<std::uint16_t>(b >> shift)), sum);
  }
  return sum;
}
std::int32_t dot(Dword a, Dword b, std::int32_t sum) {
  for (const unsigned shift : {0U, 8U, 16U, 24U}) {
    const int product = static_cast<std::int8_t>(a >> shift) * static_cast<std::int8_t>(b >> shift);
    sum = as_signed(static_cast<Dword>(sum) + static_cast<Dword>(product));
  }
  return sum;
}

// The third source, or, where there are two, the destination.
template <typename Sum>
void add_dot(Wave& wave, const Instruction& instruction) {
  if (instruction.select_low != 0 || (instruction.select_high & 3) != 3 ||
      instruction.negate_low != 0 || instruction.negate_high != 0) {
    wave.stop(instruction, "halves with signs, or in another order, are not known here");
  }
  Lanes space_a;
  Lanes space_b;
  Lanes space_c;
  Lanes result;
  const Dword* a = vector_source(wave, instruction, 0, space_a, false);
  const Dword* b = vector_source(wave, instruction, 1, space_b, false);
  const Dword* c = instruction.sources == 3
                       ? vector_source(wave, instruction, 2, space_c, false)
                       : wave.vector[wave.indexed(instruction.destination, 3)].data();
  for (unsigned lane = 0; lane < wave_size; ++lane) {
    result[lane] = std::bit_cast<Dword>(dot(a[lane], b[lane], std::bit_cast<Sum>(c[lane])));
  }
  set_vector(wave, instruction, result);
}

// A register of a source's pair: the second where `selected` says so. A constant is its own pair.
Dword of_pair(Wave& wave, const Instruction& instruction, unsigned number, unsigned selected,
              unsigned lane) {
  const Operand& operand = instruction.source[number];
  const unsigned second = selected >> number & 1;
  if (operand.is_vector()) {
    return wave.vector[operand.index + second][lane];
  }
  if (operand.is_scalar()) {
    return wave.scalars[operand.index + second];
  }
  return scalar_source(wave, instruction, number);
}

float packed_float(Wave& wave, const Instruction& instruction, unsigned number, bool is_high,
                   unsigned lane) {
  const Dword value = of_pair(wave, instruction, number,
                              is_high ? instruction.select_high : instruction.select_low, lane);
  const unsigned negated = is_high ? instruction.negate_high : instruction.negate_low;
  return as_float((negated >> number & 1) != 0 ? value ^ 0x80000000 : value);
}

// The operation is of three floats; what has two sources gets 0 for the third.
template <typename Operation>
constexpr Handler packed_floats(Operation /*operation*/) {
  return [](Wave& wave, const Instruction& instruction) {
    LanesOf64 result;
    for (unsigned lane = 0; lane < wave_size; ++lane) {
      std::array<Dword, 2> halves = {};
      for (const bool is_high : {false, true}) {
        std::array<float, 3> source = {};
        for (unsigned number = 0; number < instruction.sources; ++number) {
          source[number] = packed_float(wave, instruction, number, is_high, lane);
        }
        halves[is_high ? 1 : 0] =
            bits_of(modified(instruction, Operation{}(source[0], source[1], source[2])));
      }
      result[lane] = joined(halves[0], halves[1]);
    }
    set_vector_of_64(wave, instruction, result);
  };
}

// The low register is of the first source, the high one of the second.
void move_pair(Wave& wave, const Instruction& instruction) {
  LanesOf64 result;
  for (unsigned lane = 0; lane < wave_size; ++lane) {
    result[lane] = joined(of_pair(wave, instruction, 0, instruction.select_low, lane),
                          of_pair(wave, instruction, 1, instruction.select_low, lane));
  }
  set_vector_of_64(wave, instruction, result);
}

}  // namespace

void add_packed_instructions(InstructionSet& set) {
  define(set, "v_cvt_f32_f16",
         integers([](Dword a) { return bits_of(half_to_float(static_cast<std::uint16_t>(a))); }));
  define(set, "v_cvt_f16_f32",
         float_bits([](Dword a) { return Dword{float_to_half(as_float(a))}; }));
  define(set, "v_pack_b32_f16", integers([](Dword a, Dword b) { return (a & 0xffff) | b << 16; }));
  define(set, "v_pk_fma_f16", multiply_add_halves);
  define(set, "v_pk_add_f16", add_halves);
  define(set, "v_fma_mix_f32", mixed_multiply_add);
  define(set, "v_dot2_f32_f16", add_dot<float>);
  define(set, "v_dot2c_f32_f16", add_dot<float>);
  define(set, "v_dot4_i32_i8", add_dot<std::int32_t>);
  define(set, "v_dot4c_i32_i8", add_dot<std::int32_t>);
  define(set, "v_pk_fma_f32",
         packed_floats([](float a, float b, float c) { return std::fma(a, b, c); }));
  define(set, "v_pk_mul_f32", packed_floats([](float a, float b, float) { return a * b; }));
  define(set, "v_pk_add_f32", packed_floats([](float a, float b, float) { return a + b; }));
  define(set, "v_pk_mov_b32", move_pair);
}

}  // namespace emulator
