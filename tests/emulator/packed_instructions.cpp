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

Dword half_bits(float value) { return std::bit_cast<std::uint16_t>(static_cast<_Float16>(value)); }

// Rounded once: the float on the way is cut off, and its last bit says whether anything was. Its 24
// bits are more than twice a half's 11, so that this bit never stands where a half would round.
Dword half_bits(double value) {
  const auto nearest = static_cast<float>(value);
  Dword bits = bits_of(nearest);
  bits -= std::fabs(double{nearest}) > std::fabs(value) ? 1 : 0;
  bits |= double{nearest} != value ? 1 : 0;
  return half_bits(as_float(bits));
}

bool has_bit(unsigned bits, unsigned number) { return (bits >> number & 1) != 0; }

// A register of a source, `further` registers on, in all lanes. A constant is the same in all.
void read_register(Wave& wave, const Instruction& instruction, unsigned number, unsigned further,
                   Lanes& lanes) {
  const Operand& operand = instruction.source[number];
  if (operand.is_vector()) {
    lanes = wave.vector[operand.index + further];
  } else {
    lanes.fill(operand.is_scalar() ? wave.scalars[operand.index + further]
                                   : scalar_source(wave, instruction, number));
  }
}

// The sources of the low or the high half of a result, in all lanes; 0 where there is no third.
using Sources = std::array<Lanes, 3>;

// Which half or register of a source, and with what sign, op_sel and neg say for either half of the
// result.
struct Selection {
  Selection(const Instruction& instruction, unsigned number, bool is_high)
      : upper(has_bit(is_high ? instruction.select_high : instruction.select_low, number)),
        negated(has_bit(is_high ? instruction.negate_high : instruction.negate_low, number)) {}

  bool upper;
  bool negated;
};

void read_halves(Wave& wave, const Instruction& instruction, bool is_high, Sources& sources) {
  for (unsigned number = 0; number < instruction.sources; ++number) {
    const Selection selection(instruction, number, is_high);
    const Operand& operand = instruction.source[number];
    Lanes& lanes = sources[number];
    if (operand.is_float) {
      lanes.fill(half_bits(operand.floating));
    } else {
      read_register(wave, instruction, number, 0, lanes);
    }
    const unsigned shift = selection.upper ? 16 : 0;
    const Dword sign = selection.negated ? 0x8000 : 0;
    for (Dword& value : lanes) {
      value = (value >> shift & 0xffff) ^ sign;
    }
  }
}

void read_floats(Wave& wave, const Instruction& instruction, bool is_high, Sources& sources) {
  for (unsigned number = 0; number < instruction.sources; ++number) {
    const Selection selection(instruction, number, is_high);
    Lanes& lanes = sources[number];
    read_register(wave, instruction, number, selection.upper ? 1 : 0, lanes);
    const Dword sign = selection.negated ? 0x80000000 : 0;
    for (Dword& value : lanes) {
      value ^= sign;
    }
  }
}

// The operation makes one half of the result, in FP64, of three sources.
template <typename Operation>
Definition halves(Operation /*operation*/) {
  return {Unit::vector, Layout::destination_first, [](Wave& wave, const Instruction& instruction) {
            Lanes result = {};
            for (const bool is_high : {false, true}) {
              Sources sources = {};
              read_halves(wave, instruction, is_high, sources);
              for (unsigned lane = 0; lane < wave_size; ++lane) {
                const double value =
                    Operation{}(half_to_float(sources[0][lane]), half_to_float(sources[1][lane]),
                                half_to_float(sources[2][lane]));
                result[lane] |= half_bits(value) << (is_high ? 16 : 0);
              }
            }
            set_vector(wave, instruction, result);
          }};
}

template <typename Operation>
Definition pair_of_floats(Operation /*operation*/) {
  return {Unit::vector, Layout::destination_first, [](Wave& wave, const Instruction& instruction) {
            LanesOf64 result = {};
            for (const bool is_high : {false, true}) {
              Sources sources = {};
              read_floats(wave, instruction, is_high, sources);
              Lanes half;
              for (unsigned lane = 0; lane < wave_size; ++lane) {
                half[lane] =
                    bits_of(Operation{}(as_float(sources[0][lane]), as_float(sources[1][lane]),
                                        as_float(sources[2][lane])));
              }
              if (modifies(instruction)) {
                for (Dword& value : half) {
                  value = bits_of(modified(instruction, as_float(value)));
                }
              }
              for (unsigned lane = 0; lane < wave_size; ++lane) {
                result[lane] |= Qword{half[lane]} << (is_high ? 32 : 0);
              }
            }
            set_vector(wave, instruction, result);
          }};
}

// The low register is of the first source, the high one of the second.
void move_pair(Wave& wave, const Instruction& instruction) {
  std::array<Lanes, 2> half;
  for (const unsigned number : {0U, 1U}) {
    const unsigned further = has_bit(instruction.select_low, number) ? 1 : 0;
    read_register(wave, instruction, number, further, half[number]);
  }
  LanesOf64 result;
  for (unsigned lane = 0; lane < wave_size; ++lane) {
    result[lane] = joined(half[0][lane], half[1][lane]);
  }
  set_vector(wave, instruction, result);
}

// A source of v_fma_mix: op_sel_hi says that it is a half, op_sel which; else it is an FP32.
void read_mixed(Wave& wave, const Instruction& instruction, unsigned number,
                std::array<float, wave_size>& values) {
  const Operand& operand = instruction.source[number];
  if (operand.is_float) {
    values.fill(static_cast<float>(operand.floating));
  } else {
    Lanes lanes;
    read_register(wave, instruction, number, 0, lanes);
    const bool is_half = has_bit(instruction.select_high, number);
    const unsigned shift = has_bit(instruction.select_low, number) ? 16 : 0;
    for (unsigned lane = 0; lane < wave_size; ++lane) {
      values[lane] = is_half ? half_to_float(lanes[lane] >> shift) : as_float(lanes[lane]);
    }
  }
  for (float& value : values) {
    value = operand.absolute ? std::fabs(value) : value;
    value = operand.negate ? -value : value;
  }
}

// v_fma_mixlo and v_fma_mixhi round the FP32 once more, to a half of the destination.
template <bool gives_half>
void mixed_multiply_add(Wave& wave, const Instruction& instruction) {
  std::array<std::array<float, wave_size>, 3> source;
  for (unsigned number = 0; number < source.size(); ++number) {
    read_mixed(wave, instruction, number, source[number]);
  }
  Lanes result;
  for (unsigned lane = 0; lane < wave_size; ++lane) {
    const float sum = std::fma(source[0][lane], source[1][lane], source[2][lane]);
    const float value = modified(instruction, sum);
    result[lane] = gives_half ? half_bits(value) : bits_of(value);
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
  set["v_fma_mix_f32"] = {Unit::vector, Layout::destination_first, mixed_multiply_add<false>};
  for (const char* name : {"v_fma_mixlo_f16", "v_fma_mixhi_f16"}) {
    set[name] = {Unit::vector, Layout::destination_first, mixed_multiply_add<true>};
  }
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
