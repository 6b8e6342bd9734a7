// Matrix instructions (MFMA). Where an element is held is as AMD's matrix instruction calculator
// prints it.
#include <bit>
#include <cmath>

#include "operands.h"

namespace emulator {
namespace {

// What a lane's registers hold of A and B, and what is summed.
struct Float {
  using Sum = float;
  static constexpr unsigned per_register = 1;
  static Sum of(Dword bits, unsigned /*position*/) { return as_float(bits); }
};
struct Half {
  using Sum = float;
  static constexpr unsigned per_register = 2;
  static Sum of(Dword bits, unsigned position) {
    return static_cast<float>(
        std::bit_cast<_Float16>(static_cast<std::uint16_t>(bits >> 16 * position)));
  }
};
struct BrainFloat {
  using Sum = float;
  static constexpr unsigned per_register = 2;
  static Sum of(Dword bits, unsigned position) { return as_float(bits >> 16 * position << 16); }
};
struct Byte {
  using Sum = std::int32_t;
  static constexpr unsigned per_register = 4;
  static Sum of(Dword bits, unsigned position) {
    return static_cast<std::int8_t>(bits >> 8 * position);
  }
};

float multiplied_and_added(float a, float b, float sum) { return std::fma(a, b, sum); }
std::int32_t multiplied_and_added(std::int32_t a, std::int32_t b, std::int32_t sum) {
  return as_signed(static_cast<Dword>(sum) + static_cast<Dword>(a * b));
}

// v_mfma of one block. A is size x depth, B depth x size: lane `i` has `per_lane` elements of row,
// or column, i % size, side by side along k, those of i / size before it in the lanes before. Of
// the sums four rows are in a lane's successive registers, then those of the next lanes of this
// column.
template <typename Element, unsigned size, unsigned per_lane>
void multiply(Wave& wave, const Instruction& instruction) {
  using Sum = typename Element::Sum;
  constexpr unsigned registers = size * size / wave_size;
  constexpr unsigned lane_groups = wave_size / size;
  constexpr unsigned depth = lane_groups * per_lane;
  std::array<std::array<std::array<Sum, depth>, size>, 2> operand;  // A, and B's columns
  for (unsigned number = 0; number < 2; ++number) {
    for (unsigned lane = 0; lane < wave_size; ++lane) {
      for (unsigned i = 0; i < per_lane; ++i) {
        const unsigned reg = instruction.source[number].index + i / Element::per_register;
        operand[number][lane % size][lane / size * per_lane + i] =
            Element::of(wave.vector[reg][lane], i % Element::per_register);
      }
    }
  }
  const Operand& addend = instruction.source[2];
  std::array<VectorRegister, registers> result;
  for (unsigned reg = 0; reg < registers; ++reg) {
    for (unsigned lane = 0; lane < wave_size; ++lane) {
      const unsigned row = reg / 4 * 4 * lane_groups + lane / size * 4 + reg % 4;
      const unsigned column = lane % size;
      auto sum = std::bit_cast<Sum>(addend.is_vector() ? wave.vector[addend.index + reg][lane]
                                                       : scalar_source(wave, instruction, 2));
      for (unsigned k = 0; k < depth; ++k) {
        sum = multiplied_and_added(operand[0][row][k], operand[1][column][k], sum);
      }
      result[reg][lane] = std::bit_cast<Dword>(sum);
    }
  }
  // All lanes, whatever EXEC says.
  for (unsigned reg = 0; reg < registers; ++reg) {
    wave.vector[instruction.destination.index + reg] = result[reg];
  }
}

// v_mfma_f64_16x16x4f64: a row in each group of 16 lanes.
void multiply_doubles(Wave& wave, const Instruction& instruction) {
  constexpr unsigned size = 16;
  constexpr unsigned depth = 4;
  constexpr unsigned elements = size * size / wave_size;
  LanesOf64 space_a;
  LanesOf64 space_b;
  const Qword* a = vector_source_of_64(wave, instruction, 0, space_a, true);
  const Qword* b = vector_source_of_64(wave, instruction, 1, space_b, true);
  const Operand& addend = instruction.source[2];
  std::array<LanesOf64, elements> result;
  for (unsigned element = 0; element < elements; ++element) {
    for (unsigned lane = 0; lane < wave_size; ++lane) {
      const unsigned row = element * (wave_size / size) + lane / size;
      const unsigned column = lane % size;
      const unsigned reg = addend.index + 2 * element;
      double sum =
          as_double(addend.is_vector() ? joined(wave.vector[reg][lane], wave.vector[reg + 1][lane])
                                       : scalar_source_of_64(wave, instruction, 2, true));
      for (unsigned k = 0; k < depth; ++k) {
        sum = std::fma(as_double(a[row + size * k]), as_double(b[column + size * k]), sum);
      }
      result[element][lane] = bits_of(sum);
    }
  }
  for (unsigned element = 0; element < elements; ++element) {
    const unsigned reg = instruction.destination.index + 2 * element;
    for (unsigned lane = 0; lane < wave_size; ++lane) {
      wave.vector[reg][lane] = low_half(result[element][lane]);
      wave.vector[reg + 1][lane] = high_half(result[element][lane]);
    }
  }
}

}  // namespace

void add_matrix_instructions(InstructionSet& set) {
  const auto define = [&](const char* name, Handler handler) {
    set[name] = {Unit::matrix, Layout::destination_first, handler};
  };
  define("v_mfma_f32_32x32x2f32", multiply<Float, 32, 1>);
  define("v_mfma_f32_16x16x4f32", multiply<Float, 16, 1>);
  define("v_mfma_f32_32x32x8f16", multiply<Half, 32, 4>);
  define("v_mfma_f32_16x16x16f16", multiply<Half, 16, 4>);
  define("v_mfma_f32_32x32x4bf16", multiply<BrainFloat, 32, 2>);
  define("v_mfma_f32_32x32x8bf16_1k", multiply<BrainFloat, 32, 4>);
  define("v_mfma_f32_16x16x16bf16_1k", multiply<BrainFloat, 16, 4>);
  define("v_mfma_i32_32x32x8i8", multiply<Byte, 32, 4>);
  define("v_mfma_f64_16x16x4f64", multiply_doubles);
}

}  // namespace emulator
