// Matrix instructions (MFMA). Where an element is held is as AMD's matrix instruction calculator
// prints it.
#include <algorithm>
#include <bit>
#include <cmath>

#include "operands.h"

namespace emulator {
namespace {

// What a lane's registers hold of A and B, as numbers that are summed: element `i`, of those that
// begin in `reg`.
struct Float {
  static float at(const Wave& wave, unsigned reg, unsigned i, unsigned lane) {
    return as_float(wave.vector[reg + i][lane]);
  }
};
struct Half {
  static float at(const Wave& wave, unsigned reg, unsigned i, unsigned lane) {
    const Dword bits = wave.vector[reg + i / 2][lane] >> 16 * (i % 2);
    return static_cast<float>(std::bit_cast<_Float16>(static_cast<std::uint16_t>(bits)));
  }
};
struct BrainFloat {
  static float at(const Wave& wave, unsigned reg, unsigned i, unsigned lane) {
    return as_float(wave.vector[reg + i / 2][lane] >> 16 * (i % 2) << 16);
  }
};
struct Byte {
  static std::int32_t at(const Wave& wave, unsigned reg, unsigned i, unsigned lane) {
    return static_cast<std::int8_t>(wave.vector[reg + i / 4][lane] >> 8 * (i % 4));
  }
};
struct Double {
  static double at(const Wave& wave, unsigned reg, unsigned i, unsigned lane) {
    return as_double(joined(wave.vector[reg + 2 * i][lane], wave.vector[reg + 2 * i + 1][lane]));
  }
};

template <typename Number>
Number multiplied_and_added(Number a, Number b, Number sum) {
  if constexpr (std::is_floating_point_v<Number>) {
    return std::fma(a, b, sum);
  } else {
    return as_signed(static_cast<Dword>(sum) + static_cast<Dword>(a * b));
  }
}

template <typename Sum>
Sum constant(Wave& wave, const Instruction& instruction, unsigned number) {
  if constexpr (sizeof(Sum) == sizeof(Qword)) {
    return std::bit_cast<Sum>(scalar_source_of_64(wave, instruction, number, true));
  } else {
    return std::bit_cast<Sum>(scalar_source(wave, instruction, number));
  }
}

// v_mfma of one block. A is size x depth, B depth x size: lane `i` has `per_lane` elements of row,
// or column, i % size, side by side along k, those of i / size before it in the lanes before. Of
// the sums `rows` rows are in a lane's successive registers, then those of the next lanes of this
// column.
template <typename Element, unsigned size, unsigned per_lane, unsigned rows = 4>
void multiply(Wave& wave, const Instruction& instruction) {
  using Sum = decltype(Element::at(wave, 0, 0, 0));
  constexpr unsigned sums = size * size / wave_size;
  constexpr unsigned dwords = sizeof(Sum) / sizeof(Dword);
  constexpr unsigned lane_groups = wave_size / size;
  constexpr unsigned depth = lane_groups * per_lane;
  std::array<std::array<std::array<Sum, depth>, size>, 2> operand;  // A, and B's columns
  for (unsigned number = 0; number < 2; ++number) {
    for (unsigned lane = 0; lane < wave_size; ++lane) {
      for (unsigned i = 0; i < per_lane; ++i) {
        operand[number][lane % size][lane / size * per_lane + i] =
            Element::at(wave, instruction.source[number].index, i, lane);
      }
    }
  }
  const Operand& addend = instruction.source[2];
  std::array<VectorRegister, sums * dwords> result;
  for (unsigned number = 0; number < sums; ++number) {
    for (unsigned lane = 0; lane < wave_size; ++lane) {
      const unsigned row = number / rows * rows * lane_groups + lane / size * rows + number % rows;
      const unsigned column = lane % size;
      std::array<Dword, dwords> bits;
      for (unsigned dword = 0; dword < dwords && addend.is_vector(); ++dword) {
        bits[dword] = wave.vector[addend.index + number * dwords + dword][lane];
      }
      auto sum =
          addend.is_vector() ? std::bit_cast<Sum>(bits) : constant<Sum>(wave, instruction, 2);
      for (unsigned k = 0; k < depth; ++k) {
        sum = multiplied_and_added(operand[0][row][k], operand[1][column][k], sum);
      }
      bits = std::bit_cast<std::array<Dword, dwords>>(sum);
      for (unsigned dword = 0; dword < dwords; ++dword) {
        result[number * dwords + dword][lane] = bits[dword];
      }
    }
  }
  // All lanes, whatever EXEC says.
  std::ranges::copy(result, &wave.vector[instruction.destination.index]);
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
  define("v_mfma_f64_16x16x4f64", multiply<Double, 16, 1, 1>);
}

}  // namespace emulator
