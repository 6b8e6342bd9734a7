// The vector unit on FP32 and FP64, and conversions from and to them.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>

#include "division.h"
#include "operations.h"

namespace emulator {
namespace {

template <typename Float>
void add_arithmetic(InstructionSet& set, const std::string& type) {
  set["v_add_" + type] = vector_unit([](Float a, Float b) { return a + b; });
  set["v_mul_" + type] = vector_unit([](Float a, Float b) { return a * b; });
  set["v_min_" + type] = vector_unit([](Float a, Float b) { return std::fmin(a, b); });
  set["v_max_" + type] = vector_unit([](Float a, Float b) { return std::fmax(a, b); });
  set["v_fma_" + type] = vector_unit([](Float a, Float b, Float c) { return std::fma(a, b, c); });
  set["v_fmac_" + type] = set["v_fma_" + type];
}

void add_arithmetic_of_fp32(InstructionSet& set) {
  set["v_sub_f32"] = vector_unit([](float a, float b) { return a - b; });
  set["v_subrev_f32"] = vector_unit([](float a, float b) { return b - a; });
  set["v_mul_legacy_f32"] =
      vector_unit([](float a, float b) { return a == 0 || b == 0 ? 0 : a * b; });
  for (const char* name : {"v_mad_f32", "v_madmk_f32", "v_madak_f32", "v_mac_f32"}) {
    set[name] = vector_unit([](float a, float b, float c) { return multiply_add(a, b, c); });
  }
  set["v_min3_f32"] =
      vector_unit([](float a, float b, float c) { return std::fmin(a, std::fmin(b, c)); });
  set["v_max3_f32"] =
      vector_unit([](float a, float b, float c) { return std::fmax(a, std::fmax(b, c)); });
  set["v_med3_f32"] = vector_unit([](float a, float b, float c) {
    return std::fmax(std::fmin(a, b), std::fmin(std::fmax(a, b), c));
  });
}

// What the hardware computes to about one ulp is rounded to nearest here. `Function` is of FP64.
template <bool keeps_subnormals, typename Function>
Definition approximation(Function /*function*/) {
  return vector_unit([](float a) {
    const auto value = static_cast<float>(Function{}(double{keeps_subnormals ? a : flushed(a)}));
    return keeps_subnormals ? value : flushed(value);
  });
}

// These are good to about 2^-24, as AMD documents: whatever refines them must cope.
template <typename Function>
Definition approximation_of_fp64(Function /*function*/) {
  return vector_unit([](double a) {
    constexpr double error = 0x1.8p-26;
    const double exact = Function{}(a);
    return std::isfinite(exact) ? exact * (1 + error) : exact;
  });
}

// Of turns, as v_sin_f32 takes its argument.
double angle(double turns) { return 2 * std::numbers::pi * (turns - std::floor(turns)); }

void add_approximations(InstructionSet& set) {
  const auto reciprocal = [](double a) { return 1 / a; };
  const auto reciprocal_root = [](double a) { return 1 / std::sqrt(a); };
  const auto root = [](double a) { return std::sqrt(a); };
  set["v_rcp_f32"] = approximation<false>(reciprocal);
  set["v_rcp_iflag_f32"] = approximation<false>(reciprocal);
  set["v_rsq_f32"] = approximation<false>(reciprocal_root);
  set["v_sqrt_f32"] = approximation<false>(root);
  set["v_exp_f32"] = approximation<false>([](double a) { return std::exp2(a); });
  set["v_log_f32"] = approximation<false>([](double a) { return std::log2(a); });
  set["v_sin_f32"] = approximation<true>([](double a) { return std::sin(angle(a)); });
  set["v_cos_f32"] = approximation<true>([](double a) { return std::cos(angle(a)); });
  set["v_rcp_f64"] = approximation_of_fp64(reciprocal);
  set["v_rsq_f64"] = approximation_of_fp64(reciprocal_root);
  set["v_sqrt_f64"] = approximation_of_fp64(root);
}

template <typename Float>
void add_roundings(InstructionSet& set, const std::string& type) {
  set["v_rndne_" + type] = vector_unit([](Float a) { return std::nearbyint(a); });
  set["v_trunc_" + type] = vector_unit([](Float a) { return std::trunc(a); });
  set["v_floor_" + type] = vector_unit([](Float a) { return std::floor(a); });
  set["v_ceil_" + type] = vector_unit([](Float a) { return std::ceil(a); });
  set["v_fract_" + type] = vector_unit([](Float a) {
    constexpr Float below_one = 1 - std::numeric_limits<Float>::epsilon() / 2;
    return std::fmin(a - std::floor(a), below_one);
  });
}

template <typename Float>
void add_exponents(InstructionSet& set, const std::string& type) {
  set["v_ldexp_" + type] = vector_unit([](Float value, std::int32_t exponent) {
    // Past these exponents every number is 0 or infinite, and int does not overflow.
    constexpr int largest_exponent = 5000;
    return std::ldexp(value, std::clamp(exponent, -largest_exponent, largest_exponent));
  });
  set["v_frexp_mant_" + type] = vector_unit([](Float value) {
    int exponent = 0;
    return std::isfinite(value) ? std::frexp(value, &exponent) : value;
  });
  set["v_frexp_exp_i32_" + type] = vector_unit([](Float value) {
    std::int32_t exponent = 0;
    if (std::isfinite(value) && value != 0) {
      std::frexp(value, &exponent);
    }
    return exponent;
  });
}

// a * b + c, scaled before it is rounded where VCC says so.
float scaled_sum(float a, float b, float c) {
  const double exact = std::fma(double{a}, double{b}, double{c});
  return static_cast<float>(std::ldexp(exact, result_scale(c)));
}
double scaled_sum(double a, double b, double c) {
  return std::ldexp(std::fma(a, b, c), result_scale(c));
}

template <typename Float>
void add_divisions(InstructionSet& set, const std::string& type) {
  set["v_div_scale_" + type] = vector_unit([](Float a, Float b, Float c) {
    WithMask<Float> result = {};
    result.value = scaled_for_division(a, b, c, result.bit);
    return result;
  });
  set["v_div_fmas_" + type] = vector_unit([](Float a, Float b, Float c, bool scales) {
    return scales ? scaled_sum(a, b, c) : std::fma(a, b, c);
  });
  set["v_div_fixup_" + type] =
      vector_unit([](Float a, Float b, Float c) { return fixed_up(a, b, c); });
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

template <typename Integer>
Integer saturated(double value) {
  if (std::isnan(value)) {
    return 0;
  }
  constexpr double least = std::numeric_limits<Integer>::min();
  constexpr double most = std::numeric_limits<Integer>::max();
  return static_cast<Integer>(std::clamp(value, least, most));
}

template <typename Float>
void add_conversions(InstructionSet& set, const std::string& type) {
  set["v_cvt_" + type + "_u32"] = vector_unit([](Dword a) { return static_cast<Float>(a); });
  set["v_cvt_" + type + "_i32"] = vector_unit([](std::int32_t a) { return static_cast<Float>(a); });
  set["v_cvt_u32_" + type] = vector_unit([](Float a) { return saturated<std::uint32_t>(a); });
  set["v_cvt_i32_" + type] = vector_unit([](Float a) { return saturated<std::int32_t>(a); });
}

template <unsigned byte>
Definition converted_byte() {
  return vector_unit([](Dword a) { return static_cast<float>(a >> (8 * byte) & 0xff); });
}

template <typename Float>
void add_both_widths(InstructionSet& set, const std::string& type) {
  add_arithmetic<Float>(set, type);
  add_roundings<Float>(set, type);
  add_exponents<Float>(set, type);
  add_divisions<Float>(set, type);
  add_conversions<Float>(set, type);
}

}  // namespace

void add_vector_float_instructions(InstructionSet& set) {
  add_both_widths<float>(set, "f32");
  add_both_widths<double>(set, "f64");
  add_arithmetic_of_fp32(set);
  add_approximations(set);
  set["v_trig_preop_f64"] =
      vector_unit([](double a, Dword b) { return digits_of_two_over_pi(a, b); });
  set["v_cvt_f32_f64"] = vector_unit([](double a) { return static_cast<float>(a); });
  set["v_cvt_f64_f32"] = vector_unit([](float a) { return double{a}; });
  set["v_cvt_f32_ubyte0"] = converted_byte<0>();
  set["v_cvt_f32_ubyte1"] = converted_byte<1>();
  set["v_cvt_f32_ubyte2"] = converted_byte<2>();
  set["v_cvt_f32_ubyte3"] = converted_byte<3>();
}

}  // namespace emulator
