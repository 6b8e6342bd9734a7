// The vector unit on FP64, and conversions from and to it.
#include <algorithm>
#include <array>
#include <cmath>

#include "approximation.h"
#include "division.h"
#include "operands.h"

namespace emulator {
namespace {

void define(InstructionSet& set, const std::string& name, Handler handler,
            Layout layout = Layout::destination_first) {
  set[name] = {Unit::vector, layout, handler};
}

// The destination is the third source.
void accumulate(Wave& wave, const Instruction& instruction) {
  LanesOf64 space_a;
  LanesOf64 space_b;
  LanesOf64 result;
  const Qword* a = vector_source_of_64(wave, instruction, 0, space_a, true);
  const Qword* b = vector_source_of_64(wave, instruction, 1, space_b, true);
  const VectorRegister& low = wave.vector[instruction.destination.index];
  const VectorRegister& high = wave.vector[instruction.destination.index + 1U];
  for (unsigned lane = 0; lane < wave_size; ++lane) {
    const double sum = as_double(joined(low[lane], high[lane]));
    result[lane] =
        bits_of(modified(instruction, std::fma(as_double(a[lane]), as_double(b[lane]), sum)));
  }
  set_vector_of_64(wave, instruction, result);
}

void add_arithmetic(InstructionSet& set) {
  define(set, "v_add_f64", doubles([](double a, double b) { return a + b; }));
  define(set, "v_mul_f64", doubles([](double a, double b) { return a * b; }));
  define(set, "v_min_f64", doubles([](double a, double b) { return std::fmin(a, b); }));
  define(set, "v_max_f64", doubles([](double a, double b) { return std::fmax(a, b); }));
  define(set, "v_fma_f64", doubles([](double a, double b, double c) { return std::fma(a, b, c); }));
  define(set, "v_fmac_f64", accumulate);
}

template <typename Function>
constexpr Handler approximation(Function /*function*/) {
  return [](Wave& wave, const Instruction& instruction) {
    LanesOf64 space;
    LanesOf64 result;
    const Qword* a = vector_source_of_64(wave, instruction, 0, space, true);
    for (unsigned lane = 0; lane < wave_size; ++lane) {
      const double value = approximate_double(wave, Function{}(as_double(a[lane])));
      result[lane] = bits_of(modified(instruction, value));
    }
    set_vector_of_64(wave, instruction, result);
  };
}

void add_approximations(InstructionSet& set) {
  define(set, "v_rcp_f64", approximation([](double a) { return 1 / a; }));
  define(set, "v_rsq_f64", approximation([](double a) { return 1 / std::sqrt(a); }));
  define(set, "v_sqrt_f64", approximation([](double a) { return std::sqrt(a); }));
}

void add_roundings(InstructionSet& set) {
  define(set, "v_rndne_f64", doubles([](double a) { return std::nearbyint(a); }));
  define(set, "v_trunc_f64", doubles([](double a) { return std::trunc(a); }));
  define(set, "v_floor_f64", doubles([](double a) { return std::floor(a); }));
  define(set, "v_ceil_f64", doubles([](double a) { return std::ceil(a); }));
  define(set, "v_fract_f64", doubles([](double a) {
           constexpr double below_one = 0x1.fffffffffffffp-1;
           return std::fmin(a - std::floor(a), below_one);
         }));
}

// FP64 and a dword in, FP64 out.
template <typename Operation>
constexpr Handler with_integer(Operation /*operation*/) {
  return [](Wave& wave, const Instruction& instruction) {
    LanesOf64 space_a;
    Lanes space_b;
    LanesOf64 result;
    const Qword* a = vector_source_of_64(wave, instruction, 0, space_a, true);
    const Dword* b = vector_source(wave, instruction, 1, space_b, false);
    for (unsigned lane = 0; lane < wave_size; ++lane) {
      result[lane] = bits_of(modified(instruction, Operation{}(as_double(a[lane]), b[lane])));
    }
    set_vector_of_64(wave, instruction, result);
  };
}

// FP64 in, a dword out.
template <typename Operation>
constexpr Handler narrowed(Operation /*operation*/) {
  return [](Wave& wave, const Instruction& instruction) {
    LanesOf64 space;
    Lanes result;
    const Qword* a = vector_source_of_64(wave, instruction, 0, space, true);
    for (unsigned lane = 0; lane < wave_size; ++lane) {
      result[lane] = Operation{}(as_double(a[lane]));
    }
    set_vector(wave, instruction, result);
  };
}

// A dword in, FP64 out.
template <bool is_float, typename Operation>
constexpr Handler widened(Operation /*operation*/) {
  return [](Wave& wave, const Instruction& instruction) {
    Lanes space;
    LanesOf64 result;
    const Dword* a = vector_source(wave, instruction, 0, space, is_float);
    for (unsigned lane = 0; lane < wave_size; ++lane) {
      result[lane] = bits_of(modified(instruction, Operation{}(a[lane])));
    }
    set_vector_of_64(wave, instruction, result);
  };
}

// Past these exponents every double is 0 or infinite, and int does not overflow.
constexpr int largest_exponent = 5000;

void add_exponents(InstructionSet& set) {
  define(set, "v_ldexp_f64", with_integer([](double value, Dword exponent) {
           return std::ldexp(value,
                             std::clamp(as_signed(exponent), -largest_exponent, largest_exponent));
         }));
  define(set, "v_frexp_mant_f64", doubles([](double value) {
           int exponent = 0;
           return std::isfinite(value) ? std::frexp(value, &exponent) : value;
         }));
  define(set, "v_frexp_exp_i32_f64", narrowed([](double value) {
           int exponent = 0;
           if (std::isfinite(value) && value != 0) {
             std::frexp(value, &exponent);
           }
           return as_bits(exponent);
         }));
}

template <typename Integer>
Dword saturated(double value) {
  if (std::isnan(value)) {
    return 0;
  }
  constexpr double least = std::numeric_limits<Integer>::min();
  constexpr double most = std::numeric_limits<Integer>::max();
  return static_cast<Dword>(static_cast<Integer>(std::clamp(value, least, most)));
}

// Its result is a float, so that it is modified as one.
void convert_to_float(Wave& wave, const Instruction& instruction) {
  LanesOf64 space;
  Lanes result;
  const Qword* a = vector_source_of_64(wave, instruction, 0, space, true);
  for (unsigned lane = 0; lane < wave_size; ++lane) {
    result[lane] = bits_of(modified(instruction, static_cast<float>(as_double(a[lane]))));
  }
  set_vector(wave, instruction, result);
}

void add_conversions(InstructionSet& set) {
  define(set, "v_cvt_f32_f64", convert_to_float);
  define(set, "v_cvt_i32_f64", narrowed([](double a) { return saturated<std::int32_t>(a); }));
  define(set, "v_cvt_u32_f64", narrowed([](double a) { return saturated<std::uint32_t>(a); }));
  define(set, "v_cvt_f64_f32", widened<true>([](Dword a) { return double{as_float(a)}; }));
  define(set, "v_cvt_f64_i32", widened<false>([](Dword a) { return double(as_signed(a)); }));
  define(set, "v_cvt_f64_u32", widened<false>([](Dword a) { return double(a); }));
}

void scale_for_division(Wave& wave, const Instruction& instruction) {
  LanesOf64 space_a;
  LanesOf64 space_b;
  LanesOf64 space_c;
  LanesOf64 result;
  const Qword* a = vector_source_of_64(wave, instruction, 0, space_a, true);
  const Qword* b = vector_source_of_64(wave, instruction, 1, space_b, true);
  const Qword* c = vector_source_of_64(wave, instruction, 2, space_c, true);
  Qword scaled = 0;
  for (unsigned lane = 0; lane < wave_size; ++lane) {
    bool scales_result = false;
    result[lane] = bits_of(scaled_for_division(as_double(a[lane]), as_double(b[lane]),
                                               as_double(c[lane]), scales_result));
    scaled |= Qword{scales_result ? 1U : 0U} << lane;
  }
  set_vector_of_64(wave, instruction, result);
  set_mask(wave, instruction.second_destination, scaled & wave.exec());
}

void finish_division(Wave& wave, const Instruction& instruction) {
  LanesOf64 space_a;
  LanesOf64 space_b;
  LanesOf64 space_c;
  LanesOf64 result;
  const Qword* a = vector_source_of_64(wave, instruction, 0, space_a, true);
  const Qword* b = vector_source_of_64(wave, instruction, 1, space_b, true);
  const Qword* c = vector_source_of_64(wave, instruction, 2, space_c, true);
  for (unsigned lane = 0; lane < wave_size; ++lane) {
    const double sum = as_double(c[lane]);
    const double value = std::fma(as_double(a[lane]), as_double(b[lane]), sum);
    const int scale = has_lane(wave.vcc(), lane) ? result_scale(sum) : 0;
    result[lane] = bits_of(modified(instruction, std::ldexp(value, scale)));
  }
  set_vector_of_64(wave, instruction, result);
}

// The binary digits of 2 / pi, 32 in each word.
constexpr std::array<Dword, 38> two_over_pi = {
    0xA2F9836E, 0x4E441529, 0xFC2757D1, 0xF534DDC0, 0xDB629599, 0x3C439041, 0xFE5163AB, 0xDEBBC561,
    0xB7246E3A, 0x424DD2E0, 0x06492EEA, 0x09D1921C, 0xFE1DEB1C, 0xB129A73E, 0xE88235F5, 0x2EBB4484,
    0xE99C7026, 0xB45F7E41, 0x3991D639, 0x835339F4, 0x9C845F8B, 0xBDF9283B, 0x1FF897FF, 0xDE05980F,
    0xEF2F118B, 0x5A0A6D1F, 0x6D367ECF, 0x27CB09B7, 0x4F463F66, 0x9E5FEA2D, 0x7527BAC7, 0xEBE5F17B,
    0x3D0739F7, 0x8A5292EA, 0x6BFB5FB1, 0x1F8D5D08, 0x56033046, 0xFC7B6BAB};

// v_trig_preop_f64: 53 digits of 2 / pi, from where the argument's exponent and the segment say.
double digits_of_two_over_pi(double argument, Dword segment) {
  constexpr int digits = 53;
  constexpr int last_digit = 1201;
  // From this exponent on the result is scaled up, so that it is no subnormal.
  constexpr int scaled_exponent = 1968;
  constexpr int scale_up = 128;
  const int exponent = Scaling<double>::exponent(argument);
  const int first = static_cast<int>(segment & 31) * digits + std::max(0, exponent - 1077);
  Qword value = 0;
  for (int digit = first; digit < first + digits; ++digit) {
    const auto word = static_cast<std::size_t>(digit / 32);
    const bool is_there = digit < last_digit && word < two_over_pi.size();
    value = value << 1 | (is_there ? two_over_pi[word] >> (31 - digit % 32) & 1 : 0);
  }
  return std::ldexp(static_cast<double>(value),
                    -digits - first + (exponent >= scaled_exponent ? scale_up : 0));
}

void add_divisions_and_angles(InstructionSet& set) {
  define(set, "v_div_scale_f64", scale_for_division, Layout::two_destinations);
  define(set, "v_div_fmas_f64", finish_division);
  define(set, "v_div_fixup_f64",
         doubles([](double a, double b, double c) { return fixed_up(a, b, c); }));
  define(set, "v_trig_preop_f64",
         with_integer([](double a, Dword b) { return digits_of_two_over_pi(a, b); }));
}

}  // namespace

void add_vector_double_instructions(InstructionSet& set) {
  add_arithmetic(set);
  add_approximations(set);
  add_roundings(set);
  add_exponents(set);
  add_conversions(set);
  add_divisions_and_angles(set);
}

}  // namespace emulator
