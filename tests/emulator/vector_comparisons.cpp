// Comparisons: a mask of lanes, in VCC or in a pair of scalar registers.
#include <bit>
#include <cmath>
#include <functional>

#include "operands.h"

namespace emulator {
namespace {

void define(InstructionSet& set, const std::string& name, Handler handler) {
  set["v_cmp_" + name] = {Unit::vector, Layout::destination_first, handler};
}

// `Value` is what the bits of a lane are compared as.
template <typename Value, typename Test>
constexpr Handler compare(Test /*test*/) {
  return [](Wave& wave, const Instruction& instruction) {
    Lanes space_a;
    Lanes space_b;
    constexpr bool is_float = std::is_same_v<Value, float>;
    const Dword* a = vector_source(wave, instruction, 0, space_a, is_float);
    const Dword* b = vector_source(wave, instruction, 1, space_b, is_float);
    const auto as_value = [](Dword bits) {
      if constexpr (is_float) {
        return as_float(bits);
      } else {
        return static_cast<Value>(bits);
      }
    };
    Qword mask = 0;
    for (unsigned lane = 0; lane < wave_size; ++lane) {
      mask |= Qword{Test{}(as_value(a[lane]), as_value(b[lane])) ? 1U : 0U} << lane;
    }
    set_mask(wave, instruction.destination, mask & wave.exec());
  };
}

template <typename Value, typename Test>
constexpr Handler compare_of_64(Test /*test*/) {
  return [](Wave& wave, const Instruction& instruction) {
    LanesOf64 space_a;
    LanesOf64 space_b;
    constexpr bool is_float = std::is_same_v<Value, double>;
    const Qword* a = vector_source_of_64(wave, instruction, 0, space_a, is_float);
    const Qword* b = vector_source_of_64(wave, instruction, 1, space_b, is_float);
    Qword mask = 0;
    for (unsigned lane = 0; lane < wave_size; ++lane) {
      const bool holds = Test{}(std::bit_cast<Value>(a[lane]), std::bit_cast<Value>(b[lane]));
      mask |= Qword{holds ? 1U : 0U} << lane;
    }
    set_mask(wave, instruction.destination, mask & wave.exec());
  };
}

// Of halves, in the lower parts of registers.
template <typename Test>
constexpr Handler compare_halves(Test /*test*/) {
  return [](Wave& wave, const Instruction& instruction) {
    for (const Operand& operand : {instruction.source[0], instruction.source[1]}) {
      if (operand.negate || operand.absolute || operand.is_float || instruction.is_sdwa) {
        wave.stop(instruction, "a half that is not just a register is not known here");
      }
    }
    Lanes space_a;
    Lanes space_b;
    const Dword* a = vector_source(wave, instruction, 0, space_a, false);
    const Dword* b = vector_source(wave, instruction, 1, space_b, false);
    const auto half = [](Dword bits) {
      return static_cast<float>(std::bit_cast<_Float16>(static_cast<std::uint16_t>(bits)));
    };
    Qword mask = 0;
    for (unsigned lane = 0; lane < wave_size; ++lane) {
      mask |= Qword{Test{}(half(a[lane]), half(b[lane])) ? 1U : 0U} << lane;
    }
    set_mask(wave, instruction.destination, mask & wave.exec());
  };
}

template <typename Test>
void define_integers(InstructionSet& set, const std::string& name, Test test) {
  define(set, name + "_u16", compare<std::uint16_t>(test));
  define(set, name + "_i16", compare<std::int16_t>(test));
  define(set, name + "_u32", compare<std::uint32_t>(test));
  define(set, name + "_i32", compare<std::int32_t>(test));
  define(set, name + "_u64", compare_of_64<std::uint64_t>(test));
  define(set, name + "_i64", compare_of_64<std::int64_t>(test));
}

template <typename Test>
void define_floats(InstructionSet& set, const std::string& name, Test test) {
  define(set, name + "_f16", compare_halves(test));
  define(set, name + "_f32", compare<float>(test));
  define(set, name + "_f64", compare_of_64<double>(test));
}

// Not the test: true where one is not a number.
template <typename Test>
void define_with_opposite(InstructionSet& set, const std::string& name, Test test) {
  define_floats(set, name, test);
  define_floats(set, "n" + name, [](auto a, auto b) { return !Test{}(a, b); });
}

void add_floats(InstructionSet& set) {
  define_with_opposite(set, "eq", std::equal_to<>{});
  define_with_opposite(set, "lt", std::less<>{});
  define_with_opposite(set, "le", std::less_equal<>{});
  define_with_opposite(set, "gt", std::greater<>{});
  define_with_opposite(set, "ge", std::greater_equal<>{});
  define_with_opposite(set, "lg", [](auto a, auto b) { return a < b || a > b; });
  define_floats(set, "o", [](auto a, auto b) { return !std::isnan(a) && !std::isnan(b); });
  define_floats(set, "u", [](auto a, auto b) { return std::isnan(a) || std::isnan(b); });
}

// The bits of v_cmp_class, from the lowest: signaling and quiet NaN, -infinity, -normal,
// -subnormal, -0, +0, +subnormal, +normal, +infinity. The two kinds of NaN are not told apart.
template <typename Float>
bool is_of_class(Float value, Dword classes) {
  const bool is_negative = std::signbit(value);
  unsigned bit = 0;
  switch (std::fpclassify(value)) {
    case FP_NAN:
      return (classes & 3) != 0;
    case FP_INFINITE:
      bit = is_negative ? 2 : 9;
      break;
    case FP_NORMAL:
      bit = is_negative ? 3 : 8;
      break;
    case FP_SUBNORMAL:
      bit = is_negative ? 4 : 7;
      break;
    default:
      bit = is_negative ? 5 : 6;
  }
  return (classes >> bit & 1) != 0;
}

void compare_class(Wave& wave, const Instruction& instruction) {
  Lanes space_a;
  Lanes space_b;
  const Dword* a = vector_source(wave, instruction, 0, space_a, true);
  const Dword* classes = vector_source(wave, instruction, 1, space_b, false);
  Qword mask = 0;
  for (unsigned lane = 0; lane < wave_size; ++lane) {
    mask |= Qword{is_of_class(as_float(a[lane]), classes[lane]) ? 1U : 0U} << lane;
  }
  set_mask(wave, instruction.destination, mask & wave.exec());
}

void compare_class_of_64(Wave& wave, const Instruction& instruction) {
  LanesOf64 space_a;
  Lanes space_b;
  const Qword* a = vector_source_of_64(wave, instruction, 0, space_a, true);
  const Dword* classes = vector_source(wave, instruction, 1, space_b, false);
  Qword mask = 0;
  for (unsigned lane = 0; lane < wave_size; ++lane) {
    mask |= Qword{is_of_class(as_double(a[lane]), classes[lane]) ? 1U : 0U} << lane;
  }
  set_mask(wave, instruction.destination, mask & wave.exec());
}

}  // namespace

void add_vector_comparisons(InstructionSet& set) {
  define_integers(set, "eq", std::equal_to<>{});
  define_integers(set, "ne", std::not_equal_to<>{});
  define_integers(set, "lt", std::less<>{});
  define_integers(set, "le", std::less_equal<>{});
  define_integers(set, "gt", std::greater<>{});
  define_integers(set, "ge", std::greater_equal<>{});
  add_floats(set);
  define(set, "class_f32", compare_class);
  define(set, "class_f64", compare_class_of_64);
}

}  // namespace emulator
