// The vector unit on FP32, and conversions from and to it.
#include <algorithm>
#include <cmath>
#include <numbers>

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
template <bool is_fused>
void accumulate(Wave& wave, const Instruction& instruction) {
  Lanes space_a;
  Lanes space_b;
  Lanes result;
  const Dword* a = vector_source(wave, instruction, 0, space_a, true);
  const Dword* b = vector_source(wave, instruction, 1, space_b, true);
  const VectorRegister& sum = wave.vector[wave.indexed(instruction.destination, 3)];
  for (unsigned lane = 0; lane < wave_size; ++lane) {
    const float x = as_float(a[lane]);
    const float y = as_float(b[lane]);
    const float z = as_float(sum[lane]);
    result[lane] = bits_of(is_fused ? std::fma(x, y, z) : multiply_add(x, y, z));
  }
  if (modifies(instruction)) {
    for (Dword& value : result) {
      value = bits_of(modified(instruction, as_float(value)));
    }
  }
  set_vector(wave, instruction, result);
}

void add_arithmetic(InstructionSet& set) {
  define(set, "v_add_f32", floats([](float a, float b) { return a + b; }));
  define(set, "v_sub_f32", floats([](float a, float b) { return a - b; }));
  define(set, "v_subrev_f32", floats([](float a, float b) { return b - a; }));
  define(set, "v_mul_f32", floats([](float a, float b) { return a * b; }));
  define(set, "v_mul_legacy_f32",
         floats([](float a, float b) { return a == 0 || b == 0 ? 0 : a * b; }));
  define(set, "v_fma_f32", floats([](float a, float b, float c) { return std::fma(a, b, c); }));
  for (const char* name : {"v_mad_f32", "v_madmk_f32", "v_madak_f32"}) {
    define(set, name, floats([](float a, float b, float c) { return multiply_add(a, b, c); }));
  }
  define(set, "v_fmac_f32", accumulate<true>);
  define(set, "v_mac_f32", accumulate<false>);
}

void add_limits(InstructionSet& set) {
  define(set, "v_min_f32", floats([](float a, float b) { return std::fmin(a, b); }));
  define(set, "v_max_f32", floats([](float a, float b) { return std::fmax(a, b); }));
  define(set, "v_min3_f32",
         floats([](float a, float b, float c) { return std::fmin(a, std::fmin(b, c)); }));
  define(set, "v_max3_f32",
         floats([](float a, float b, float c) { return std::fmax(a, std::fmax(b, c)); }));
  define(set, "v_med3_f32", floats([](float a, float b, float c) {
           return std::fmax(std::fmin(a, b), std::fmin(std::fmax(a, b), c));
         }));
}

// Of FP32 to FP64, which is then rounded as the hardware may.
template <bool keeps_subnormals, typename Function>
constexpr Handler approximation(Function /*function*/) {
  return [](Wave& wave, const Instruction& instruction) {
    Lanes space;
    Lanes result;
    const Dword* a = vector_source(wave, instruction, 0, space, true);
    for (unsigned lane = 0; lane < wave_size; ++lane) {
      const float argument = as_float(a[lane]);
      const float value =
          approximate(wave, Function{}(double{keeps_subnormals ? argument : flushed(argument)}));
      result[lane] = bits_of(modified(instruction, keeps_subnormals ? value : flushed(value)));
    }
    set_vector(wave, instruction, result);
  };
}

// Of turns, as v_sin_f32 takes its argument.
double angle(double turns) { return 2 * std::numbers::pi * (turns - std::floor(turns)); }

void add_approximations(InstructionSet& set) {
  for (const char* name : {"v_rcp_f32", "v_rcp_iflag_f32"}) {
    define(set, name, approximation<false>([](double a) { return 1 / a; }));
  }
  define(set, "v_rsq_f32", approximation<false>([](double a) { return 1 / std::sqrt(a); }));
  define(set, "v_sqrt_f32", approximation<false>([](double a) { return std::sqrt(a); }));
  define(set, "v_exp_f32", approximation<false>([](double a) { return std::exp2(a); }));
  define(set, "v_log_f32", approximation<false>([](double a) { return std::log2(a); }));
  define(set, "v_sin_f32", approximation<true>([](double a) { return std::sin(angle(a)); }));
  define(set, "v_cos_f32", approximation<true>([](double a) { return std::cos(angle(a)); }));
}

void add_roundings(InstructionSet& set) {
  define(set, "v_fract_f32", floats([](float a) {
           constexpr float below_one = 0x1.fffffep-1F;
           return std::fmin(a - std::floor(a), below_one);
         }));
  define(set, "v_trunc_f32", floats([](float a) { return std::trunc(a); }));
  define(set, "v_rndne_f32", floats([](float a) { return std::nearbyint(a); }));
  define(set, "v_floor_f32", floats([](float a) { return std::floor(a); }));
  define(set, "v_ceil_f32", floats([](float a) { return std::ceil(a); }));
}

// Past these exponents every float is 0 or infinite, and int does not overflow.
constexpr int largest_exponent = 2000;

void load_exponent(Wave& wave, const Instruction& instruction) {
  Lanes space_a;
  Lanes space_b;
  Lanes result;
  const Dword* a = vector_source(wave, instruction, 0, space_a, true);
  const Dword* b = vector_source(wave, instruction, 1, space_b, false);
  for (unsigned lane = 0; lane < wave_size; ++lane) {
    const int exponent = std::clamp(as_signed(b[lane]), -largest_exponent, largest_exponent);
    result[lane] = bits_of(modified(instruction, std::ldexp(as_float(a[lane]), exponent)));
  }
  set_vector(wave, instruction, result);
}

void add_exponents(InstructionSet& set) {
  define(set, "v_ldexp_f32", load_exponent);
  define(set, "v_frexp_mant_f32", floats([](float a) {
           int exponent = 0;
           return std::isfinite(a) ? std::frexp(a, &exponent) : a;
         }));
  define(set, "v_frexp_exp_i32_f32", float_bits([](Dword bits) {
           int exponent = 0;
           const float value = as_float(bits);
           if (std::isfinite(value) && value != 0) {
             std::frexp(value, &exponent);
           }
           return as_bits(exponent);
         }));
}

void scale_for_division(Wave& wave, const Instruction& instruction) {
  Lanes space_a;
  Lanes space_b;
  Lanes space_c;
  Lanes result;
  const Dword* a = vector_source(wave, instruction, 0, space_a, true);
  const Dword* b = vector_source(wave, instruction, 1, space_b, true);
  const Dword* c = vector_source(wave, instruction, 2, space_c, true);
  Qword scaled = 0;
  for (unsigned lane = 0; lane < wave_size; ++lane) {
    bool scales_result = false;
    result[lane] = bits_of(scaled_for_division(as_float(a[lane]), as_float(b[lane]),
                                               as_float(c[lane]), scales_result));
    scaled |= Qword{scales_result ? 1U : 0U} << lane;
  }
  set_vector(wave, instruction, result);
  set_mask(wave, instruction.second_destination, scaled & wave.exec());
}

void finish_division(Wave& wave, const Instruction& instruction) {
  Lanes space_a;
  Lanes space_b;
  Lanes space_c;
  Lanes result;
  const Dword* a = vector_source(wave, instruction, 0, space_a, true);
  const Dword* b = vector_source(wave, instruction, 1, space_b, true);
  const Dword* c = vector_source(wave, instruction, 2, space_c, true);
  for (unsigned lane = 0; lane < wave_size; ++lane) {
    const float sum = as_float(c[lane]);
    float value = std::fma(as_float(a[lane]), as_float(b[lane]), sum);
    if (has_lane(wave.vcc(), lane)) {
      // Rounded once, after the scale.
      const double exact =
          std::fma(double{as_float(a[lane])}, double{as_float(b[lane])}, double{sum});
      value = static_cast<float>(std::ldexp(exact, result_scale(sum)));
    }
    result[lane] = bits_of(modified(instruction, value));
  }
  set_vector(wave, instruction, result);
}

void add_divisions(InstructionSet& set) {
  define(set, "v_div_scale_f32", scale_for_division, Layout::two_destinations);
  define(set, "v_div_fmas_f32", finish_division);
  define(set, "v_div_fixup_f32",
         floats([](float a, float b, float c) { return fixed_up(a, b, c); }));
}

template <typename Integer>
Dword saturated(float value) {
  if (std::isnan(value)) {
    return 0;
  }
  constexpr double least = std::numeric_limits<Integer>::min();
  constexpr double most = std::numeric_limits<Integer>::max();
  return static_cast<Dword>(static_cast<Integer>(std::clamp(double{value}, least, most)));
}

template <unsigned byte>
constexpr Handler converted_byte() {
  return integers([](Dword a) { return bits_of(static_cast<float>(a >> (8 * byte) & 0xff)); });
}

void add_conversions(InstructionSet& set) {
  define(set, "v_cvt_f32_u32", integers([](Dword a) { return bits_of(static_cast<float>(a)); }));
  define(set, "v_cvt_f32_i32",
         integers([](Dword a) { return bits_of(static_cast<float>(as_signed(a))); }));
  define(set, "v_cvt_u32_f32",
         float_bits([](Dword a) { return saturated<std::uint32_t>(as_float(a)); }));
  define(set, "v_cvt_i32_f32",
         float_bits([](Dword a) { return saturated<std::int32_t>(as_float(a)); }));
  define(set, "v_cvt_f32_ubyte0", converted_byte<0>());
  define(set, "v_cvt_f32_ubyte1", converted_byte<1>());
  define(set, "v_cvt_f32_ubyte2", converted_byte<2>());
  define(set, "v_cvt_f32_ubyte3", converted_byte<3>());
}

}  // namespace

void add_vector_float_instructions(InstructionSet& set) {
  add_arithmetic(set);
  add_limits(set);
  add_approximations(set);
  add_roundings(set);
  add_exponents(set);
  add_divisions(set);
  add_conversions(set);
}

}  // namespace emulator
