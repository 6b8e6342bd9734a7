// Matrix instructions (MFMA). Where an element lies is as AMD's matrix instruction calculator
// prints it.
#include <cmath>
#include <vector>

#include "operands.h"

namespace emulator {
namespace {

// A is rows x depth, B depth x columns, both with one element in each lane: lane + rows * k has row
// `lane` of column k.

// v_mfma_f32_MxMxKf32 of one block: four rows in a lane's successive registers, then those of the
// next lanes of this column.
template <unsigned size, unsigned depth>
void multiply_floats(Wave& wave, const Instruction& instruction) {
  constexpr unsigned registers = size * size / wave_size;
  constexpr unsigned lane_groups = wave_size / size;
  const VectorRegister& a = wave.vector[instruction.source[0].index];
  const VectorRegister& b = wave.vector[instruction.source[1].index];
  const Operand& addend = instruction.source[2];
  std::array<VectorRegister, registers> result;
  for (unsigned reg = 0; reg < registers; ++reg) {
    for (unsigned lane = 0; lane < wave_size; ++lane) {
      const unsigned row = reg / 4 * 4 * lane_groups + lane / size * 4 + reg % 4;
      const unsigned column = lane % size;
      float sum = as_float(addend.is_vector() ? wave.vector[addend.index + reg][lane]
                                              : scalar_source(wave, instruction, 2));
      for (unsigned k = 0; k < depth; ++k) {
        sum = std::fma(as_float(a[row + size * k]), as_float(b[column + size * k]), sum);
      }
      result[reg][lane] = bits_of(sum);
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
  set["v_mfma_f32_32x32x2f32"] = {Unit::matrix, Layout::destination_first, multiply_floats<32, 2>};
  set["v_mfma_f32_16x16x4f32"] = {Unit::matrix, Layout::destination_first, multiply_floats<16, 4>};
  set["v_mfma_f64_16x16x4f64"] = {Unit::matrix, Layout::destination_first, multiply_doubles};
}

}  // namespace emulator
