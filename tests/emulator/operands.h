// How instructions read their sources and write their results.
#pragma once

#include <array>
#include <type_traits>

#include "wave.h"

namespace emulator {

using Lanes = std::array<Dword, wave_size>;
using LanesOf64 = std::array<Qword, wave_size>;

/// A source of a scalar instruction, or one that is the same for all lanes.
Dword scalar_source(Wave& wave, const Instruction& instruction, unsigned number);
/// As 64 bits. A literal of an FP64 instruction is the upper half.
Qword scalar_source_of_64(Wave& wave, const Instruction& instruction, unsigned number,
                          bool is_float = false);
void set_scalar(Wave& wave, const Instruction& instruction, Dword value);
void set_scalar_of_64(Wave& wave, const Instruction& instruction, Qword value);
void set_mask(Wave& wave, const Operand& destination, Qword mask);

/// A source in all lanes, with DPP, SDWA, and, where it `is_float`, signs. `space` is used where it
/// is not just a register.
const Dword* vector_source(Wave& wave, const Instruction& instruction, unsigned number,
                           Lanes& space, bool is_float);
const Qword* vector_source_of_64(Wave& wave, const Instruction& instruction, unsigned number,
                                 LanesOf64& space, bool is_float);
/// Writes the lanes that the instruction writes.
void set_vector(Wave& wave, const Instruction& instruction, const Lanes& result);
void set_vector_of_64(Wave& wave, const Instruction& instruction, const LanesOf64& result);

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

// The following make handlers of operations on one lane. `Operation` is a lambda that captures
// nothing.

template <typename Operation, typename Value>
constexpr unsigned arity = std::is_invocable_v<Operation, Value>          ? 1
                           : std::is_invocable_v<Operation, Value, Value> ? 2
                                                                          : 3;

namespace detail {

template <typename Operation, bool is_float>
void apply(Wave& wave, const Instruction& instruction, Operation operation) {
  constexpr unsigned count = arity<Operation, Dword>;
  std::array<Lanes, count> space;
  Lanes result;
  const Dword* a = vector_source(wave, instruction, 0, space[0], is_float);
  if constexpr (count == 1) {
    for (unsigned lane = 0; lane < wave_size; ++lane) {
      result[lane] = operation(a[lane]);
    }
  } else {
    const Dword* b = vector_source(wave, instruction, 1, space[1], is_float);
    if constexpr (count == 2) {
      for (unsigned lane = 0; lane < wave_size; ++lane) {
        result[lane] = operation(a[lane], b[lane]);
      }
    } else {
      const Dword* c = vector_source(wave, instruction, 2, space[2], is_float);
      for (unsigned lane = 0; lane < wave_size; ++lane) {
        result[lane] = operation(a[lane], b[lane], c[lane]);
      }
    }
  }
  if (is_float && modifies(instruction)) {
    for (Dword& value : result) {
      value = bits_of(modified(instruction, as_float(value)));
    }
  }
  set_vector(wave, instruction, result);
}

template <typename Operation>
void apply_doubles(Wave& wave, const Instruction& instruction, Operation operation) {
  constexpr unsigned count = arity<Operation, double>;
  std::array<LanesOf64, count> space;
  LanesOf64 result;
  const Qword* a = vector_source_of_64(wave, instruction, 0, space[0], true);
  if constexpr (count == 1) {
    for (unsigned lane = 0; lane < wave_size; ++lane) {
      result[lane] = bits_of(operation(as_double(a[lane])));
    }
  } else {
    const Qword* b = vector_source_of_64(wave, instruction, 1, space[1], true);
    if constexpr (count == 2) {
      for (unsigned lane = 0; lane < wave_size; ++lane) {
        result[lane] = bits_of(operation(as_double(a[lane]), as_double(b[lane])));
      }
    } else {
      const Qword* c = vector_source_of_64(wave, instruction, 2, space[2], true);
      for (unsigned lane = 0; lane < wave_size; ++lane) {
        result[lane] =
            bits_of(operation(as_double(a[lane]), as_double(b[lane]), as_double(c[lane])));
      }
    }
  }
  if (modifies(instruction)) {
    for (Qword& value : result) {
      value = bits_of(modified(instruction, as_double(value)));
    }
  }
  set_vector_of_64(wave, instruction, result);
}

}  // namespace detail

/// Of dwords: u32(u32...).
template <typename Operation>
constexpr Handler integers(Operation /*operation*/) {
  return [](Wave& wave, const Instruction& instruction) {
    detail::apply<Operation, false>(wave, instruction, Operation{});
  };
}

/// Of dwords whose signs may be changed as those of floats: u32(u32...).
template <typename Operation>
constexpr Handler float_bits(Operation /*operation*/) {
  return [](Wave& wave, const Instruction& instruction) {
    detail::apply<Operation, true>(wave, instruction, Operation{});
  };
}

/// Of FP32: float(float...).
template <typename Operation>
constexpr Handler floats(Operation /*operation*/) {
  return [](Wave& wave, const Instruction& instruction) {
    if constexpr (arity<Operation, float> == 1) {
      const auto on_bits = [](Dword a) { return bits_of(Operation{}(as_float(a))); };
      detail::apply<decltype(on_bits), true>(wave, instruction, on_bits);
    } else if constexpr (arity<Operation, float> == 2) {
      const auto on_bits = [](Dword a, Dword b) {
        return bits_of(Operation{}(as_float(a), as_float(b)));
      };
      detail::apply<decltype(on_bits), true>(wave, instruction, on_bits);
    } else {
      const auto on_bits = [](Dword a, Dword b, Dword c) {
        return bits_of(Operation{}(as_float(a), as_float(b), as_float(c)));
      };
      detail::apply<decltype(on_bits), true>(wave, instruction, on_bits);
    }
  };
}

/// Of FP64: double(double...).
template <typename Operation>
constexpr Handler doubles(Operation /*operation*/) {
  return [](Wave& wave, const Instruction& instruction) {
    detail::apply_doubles<Operation>(wave, instruction, Operation{});
  };
}

}  // namespace emulator
