// Comparisons: a mask of lanes, in VCC or in a pair of scalar registers.
#include <cmath>
#include <functional>

#include "operations.h"

namespace emulator {
namespace {

template <typename Value, typename Test>
void define(InstructionSet& set, const std::string& name, Test /*test*/) {
  set["v_cmp_" + name] = vector_unit([](Value a, Value b) -> bool { return Test{}(a, b); });
}

template <typename Value>
void add_integers(InstructionSet& set, const std::string& type) {
  define<Value>(set, "eq_" + type, std::equal_to<>{});
  define<Value>(set, "ne_" + type, std::not_equal_to<>{});
  define<Value>(set, "lt_" + type, std::less<>{});
  define<Value>(set, "le_" + type, std::less_equal<>{});
  define<Value>(set, "gt_" + type, std::greater<>{});
  define<Value>(set, "ge_" + type, std::greater_equal<>{});
}

// And not the test: true where one is not a number.
template <typename Value, typename Test>
void define_with_opposite(InstructionSet& set, const std::string& name, Test test) {
  define<Value>(set, name, test);
  define<Value>(set, "n" + name, [](auto a, auto b) { return !Test{}(a, b); });
}

template <typename Value>
void add_floats(InstructionSet& set, const std::string& type) {
  define_with_opposite<Value>(set, "eq_" + type, std::equal_to<>{});
  define_with_opposite<Value>(set, "lt_" + type, std::less<>{});
  define_with_opposite<Value>(set, "le_" + type, std::less_equal<>{});
  define_with_opposite<Value>(set, "gt_" + type, std::greater<>{});
  define_with_opposite<Value>(set, "ge_" + type, std::greater_equal<>{});
  define_with_opposite<Value>(set, "lg_" + type, [](auto a, auto b) { return a < b || a > b; });
  define<Value>(set, "o_" + type, [](auto a, auto b) { return a <= b || a > b; });
  define<Value>(set, "u_" + type, [](auto a, auto b) { return !(a <= b || a > b); });
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

}  // namespace

void add_vector_comparisons(InstructionSet& set) {
  add_integers<std::uint16_t>(set, "u16");
  add_integers<std::int16_t>(set, "i16");
  add_integers<Dword>(set, "u32");
  add_integers<std::int32_t>(set, "i32");
  add_integers<Qword>(set, "u64");
  add_integers<std::int64_t>(set, "i64");
  add_floats<_Float16>(set, "f16");
  add_floats<float>(set, "f32");
  add_floats<double>(set, "f64");
  set["v_cmp_class_f32"] =
      vector_unit([](float a, Dword classes) { return is_of_class(a, classes); });
  set["v_cmp_class_f64"] =
      vector_unit([](double a, Dword classes) { return is_of_class(a, classes); });
}

}  // namespace emulator
