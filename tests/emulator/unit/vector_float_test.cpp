// FP32, FP64, half precision, comparisons and matrices, against values and formulas of the test's
// own.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "test_kernel.h"

namespace emulator {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
const float not_a_number = std::nanf("");

template <typename Value>
void set(Wave& wave, unsigned reg, Value value, unsigned lane) {
  if constexpr (sizeof(Value) == sizeof(Qword)) {
    wave.vector[reg][lane] = low_half(std::bit_cast<Qword>(value));
    wave.vector[reg + 1][lane] = high_half(std::bit_cast<Qword>(value));
  } else {
    wave.vector[reg][lane] = std::bit_cast<Dword>(value);
  }
}

template <typename Value>
Value get(const Wave& wave, unsigned reg, unsigned lane) {
  if constexpr (sizeof(Value) == sizeof(Qword)) {
    return std::bit_cast<Value>(joined(wave.vector[reg][lane], wave.vector[reg + 1][lane]));
  } else {
    return std::bit_cast<Value>(wave.vector[reg][lane]);
  }
}

template <typename Source, typename Result>
struct Case {
  const char* line;               // v6 or v[6:7], of:
  std::array<Source, 3> sources;  // v0 or v[0:1], v2 or v[2:3], v4 or v[4:5]; v6 begins as the last
  Result expected;
};

template <typename Source, typename Result = Source>
void check(const std::vector<Case<Source, Result>>& cases) {
  constexpr unsigned lane = 17;
  std::string assembly;
  for (const auto& one : cases) {
    assembly += std::string(one.line) + '\n';
  }
  TestKernel kernel(assembly);
  Wave& wave = kernel.wave();
  wave.set_pair(scalar::vcc, 0);
  int line = 0;
  for (const auto& one : cases) {
    for (unsigned number = 0; number < 3; ++number) {
      set(wave, 2 * number, one.sources[number], lane);
    }
    set(wave, 6, one.sources[2], lane);
    kernel.execute(line++);
    const auto result = get<Result>(wave, 6, lane);
    // A number that is none equals none; 0 differs from -0.
    const auto is_number = [](Result value) { return value == value; };
    EXPECT_TRUE(is_number(one.expected) ? std::memcmp(&result, &one.expected, sizeof result) == 0
                                        : !is_number(result))
        << one.line << ": " << result;
  }
}

TEST(VectorFloat, Arithmetic) {
  check<float>({
      {"v_add_f32 v6, v0, v2", {1.5F, 2.25F}, 3.75F},
      {"v_sub_f32 v6, v0, v2", {1.5F, 2.25F}, -0.75F},
      {"v_subrev_f32 v6, v0, v2", {1.5F, 2.25F}, 0.75F},
      {"v_mul_f32 v6, v0, v2", {1.5F, -2}, -3},
      {"v_mul_f32 v6, 0.5, v2", {0, 3}, 1.5F},
      {"v_add_f32 v6, -v0, |v2|", {1, -3}, 2},
      {"v_mul_f32 v6, v0, v2 mul:4", {3, 5}, 60},
      {"v_mul_f32 v6, v0, v2 div:2", {3, 5}, 7.5F},
      {"v_mul_f32 v6, v0, v2 clamp", {3, 5}, 1},
      {"v_mul_f32 v6, v0, v2 clamp", {-3, 5}, 0},
      // (1 + 2^-12)^2 - (1 + 2^-11) is 2^-24, which two roundings lose.
      {"v_fma_f32 v6, v0, v2, v4", {1 + 0x1p-12F, 1 + 0x1p-12F, -(1 + 0x1p-11F)}, 0x1p-24F},
      {"v_fmac_f32 v6, v0, v2", {1 + 0x1p-12F, 1 + 0x1p-12F, -(1 + 0x1p-11F)}, 0x1p-24F},
      {"v_mad_f32 v6, v0, v2, v4", {1 + 0x1p-12F, 1 + 0x1p-12F, -(1 + 0x1p-11F)}, 0},
      // v_mad_f32 knows no subnormals, v_fma_f32 does.
      {"v_mad_f32 v6, v0, 1.0, v4", {0x1p-130F}, 0},
      {"v_fma_f32 v6, v0, 1.0, v4", {0x1p-130F}, 0x1p-130F},
  });
}

TEST(VectorFloat, LimitsAndRoundings) {
  check<float>({
      {"v_min_f32 v6, v0, v2", {1, not_a_number}, 1},
      {"v_max_f32 v6, v0, v2", {not_a_number, -2}, -2},
      {"v_med3_f32 v6, v0, v2, v4", {5, 1, 3}, 3},
      {"v_min3_f32 v6, v0, v2, v4", {5, 1, 3}, 1},
      {"v_max3_f32 v6, v0, v2, v4", {5, 1, 3}, 5},
      {"v_fract_f32 v6, v0", {-1.25F}, 0.75F},
      {"v_trunc_f32 v6, v0", {-1.75F}, -1},
      {"v_rndne_f32 v6, v0", {2.5F}, 2},
      {"v_floor_f32 v6, v0", {-1.25F}, -2},
      {"v_ceil_f32 v6, v0", {1.25F}, 2},
      {"v_frexp_mant_f32 v6, v0", {-12}, -0.75F},
      {"v_ldexp_f32 v6, v0, 5", {3}, 96},
  });
}

TEST(VectorFloat, ApproximationsRoundToNearest) {
  check<float>({
      {"v_rcp_f32 v6, v0", {3}, 1.0F / 3},
      {"v_rcp_f32 v6, v0", {0}, infinity},
      {"v_rsq_f32 v6, v0", {16}, 0.25F},
      {"v_sqrt_f32 v6, v0", {2}, static_cast<float>(std::sqrt(2.0))},
      {"v_sqrt_f32 v6, v0", {-1}, not_a_number},
      {"v_exp_f32 v6, v0", {-3}, 0.125F},
      {"v_log_f32 v6, v0", {32}, 5},
      {"v_sin_f32 v6, v0", {0.25F}, 1},
      {"v_cos_f32 v6, v0", {-0.5F}, -1},
  });
}

TEST(VectorDouble, Arithmetic) {
  check<double>({
      {"v_add_f64 v[6:7], v[0:1], v[2:3]", {1.5, 2.25}, 3.75},
      {"v_add_f64 v[6:7], v[0:1], -v[2:3]", {1.5, 2.25}, -0.75},
      {"v_mul_f64 v[6:7], |v[0:1]|, v[2:3]", {-1.5, 2}, 3},
      {"v_mul_f64 v[6:7], v[0:1], 0.5", {3}, 1.5},
      {"v_fma_f64 v[6:7], v[0:1], v[2:3], v[4:5]",
       {1 + 0x1p-27, 1 + 0x1p-27, -(1 + 0x1p-26)},
       0x1p-54},
      {"v_fmac_f64 v[6:7], v[0:1], v[2:3]", {3, 4, 5}, 17},
      {"v_min_f64 v[6:7], v[0:1], v[2:3]", {3, -4}, -4},
      {"v_max_f64 v[6:7], v[0:1], v[2:3]", {3, -4}, 3},
      {"v_rndne_f64 v[6:7], v[0:1]", {3.5}, 4},
      {"v_floor_f64 v[6:7], v[0:1]", {-3.5}, -4},
      {"v_ceil_f64 v[6:7], v[0:1]", {-3.5}, -3},
      {"v_trunc_f64 v[6:7], v[0:1]", {-3.5}, -3},
      {"v_fract_f64 v[6:7], v[0:1]", {-3.25}, 0.75},
      {"v_ldexp_f64 v[6:7], v[0:1], 3", {1.5}, 12},
      {"v_frexp_mant_f64 v[6:7], v[0:1]", {12}, 0.75},
  });
}

TEST(VectorFloat, Conversions) {
  check<Dword, float>({
      {"v_cvt_f32_u32 v6, v0", {0xFFFFFFFE}, 0x1p32F},
      {"v_cvt_f32_i32 v6, v0", {0xFFFFFFFE}, -2},
      {"v_cvt_f32_ubyte2 v6, v0", {0xFFFFFFFE}, 255},
      {"v_cvt_f32_f16 v6, v0", {0xC5C0}, -5.75F},
  });
  check<float, Dword>({
      {"v_cvt_u32_f32 v6, v0", {-5.75F}, 0},
      {"v_cvt_i32_f32 v6, v0", {-5.75F}, static_cast<Dword>(-5)},
      {"v_cvt_u32_f32 v6, v0", {1e20F}, 0xFFFFFFFF},
      {"v_cvt_i32_f32 v6, v0", {1e20F}, 0x7FFFFFFF},
      {"v_frexp_exp_i32_f32 v6, v0", {-5.75F}, 3},
      {"v_cvt_f16_f32 v6, v0", {-5.75F}, 0xC5C0},
  });
  check<float, double>({{"v_cvt_f64_f32 v[6:7], v0", {-1.5F}, -1.5}});
}

TEST(VectorDouble, Conversions) {
  check<Dword, double>({
      {"v_cvt_f64_i32 v[6:7], v0", {0xFFFFFFFF}, -1.0},
      {"v_cvt_f64_u32 v[6:7], v0", {0xFFFFFFFF}, 4294967295.0},
  });
  check<double, float>({{"v_cvt_f32_f64 v6, v[0:1]", {4294967295.0}, 0x1p32F}});
  check<double, Dword>({
      {"v_cvt_i32_f64 v6, v[0:1]", {4294967295.0}, 0x7FFFFFFF},
      {"v_cvt_u32_f64 v6, v[0:1]", {4294967295.0}, 0xFFFFFFFF},
      {"v_frexp_exp_i32_f64 v6, v[0:1]", {4294967295.0}, 32},
  });
}

// What the compiler makes of a / b must be rounded to nearest, whatever v_rcp_f64 is off by.
double quotient(double numerator, double denominator) {
  TestKernel kernel(
      "v_div_scale_f64 v[4:5], s[4:5], v[2:3], v[2:3], v[0:1]\n"
      "v_rcp_f64 v[6:7], v[4:5]\n"
      "v_fma_f64 v[8:9], -v[4:5], v[6:7], 1.0\n"
      "v_fma_f64 v[6:7], v[6:7], v[8:9], v[6:7]\n"
      "v_fma_f64 v[8:9], -v[4:5], v[6:7], 1.0\n"
      "v_fma_f64 v[6:7], v[6:7], v[8:9], v[6:7]\n"
      "v_div_scale_f64 v[10:11], vcc, v[0:1], v[2:3], v[0:1]\n"
      "v_mul_f64 v[8:9], v[10:11], v[6:7]\n"
      "v_fma_f64 v[4:5], -v[4:5], v[8:9], v[10:11]\n"
      "s_nop 3\n"
      "v_div_fmas_f64 v[4:5], v[4:5], v[6:7], v[8:9]\n"
      "v_div_fixup_f64 v[0:1], v[4:5], v[2:3], v[0:1]\n"
      "s_endpgm\n");
  set(kernel.wave(), 0, numerator, 7);
  set(kernel.wave(), 2, denominator, 7);
  kernel.run();
  EXPECT_EQ(kernel.reports(), 0U);
  return get<double>(kernel.wave(), 0, 7);
}

TEST(VectorDouble, DivisionIsRoundedToNearest) {
  EXPECT_EQ(quotient(1, 3), 1.0 / 3);
  EXPECT_EQ(quotient(-22, 7), -22.0 / 7);
  EXPECT_EQ(quotient(0x1p1000, 0x1.8p-20), 0x1p1000 / 0x1.8p-20);
  EXPECT_EQ(quotient(0x1.8p-1000, 0x1.cp20), 0x1.8p-1000 / 0x1.cp20);
  EXPECT_EQ(quotient(3, 0x1.1p1023), 3 / 0x1.1p1023);
  EXPECT_EQ(quotient(0, 5), 0.0);
  EXPECT_EQ(quotient(5, 0), std::numeric_limits<double>::infinity());
}

float float_quotient(float numerator, float denominator) {
  TestKernel kernel(
      "v_div_scale_f32 v2, s[4:5], v1, v1, v0\n"
      "v_rcp_f32 v3, v2\n"
      "v_add_u32 v3, 1, v3\n"  // off by an ulp, as hardware's may be
      "v_fma_f32 v4, -v2, v3, 1.0\n"
      "v_fma_f32 v3, v4, v3, v3\n"
      "v_div_scale_f32 v5, vcc, v0, v1, v0\n"
      "v_mul_f32 v6, v5, v3\n"
      "v_fma_f32 v7, -v2, v6, v5\n"
      "v_fma_f32 v6, v7, v3, v6\n"
      "v_fma_f32 v2, -v2, v6, v5\n"
      "s_nop 3\n"
      "v_div_fmas_f32 v2, v2, v3, v6\n"
      "v_div_fixup_f32 v0, v2, v1, v0\n"
      "s_endpgm\n");
  kernel.wave().vector[0].fill(bits_of(numerator));
  kernel.wave().vector[1].fill(bits_of(denominator));
  kernel.run();
  EXPECT_EQ(kernel.reports(), 0U);
  return as_float(kernel.wave().vector[0][63]);
}

TEST(VectorFloat, DivisionIsRoundedToNearest) {
  EXPECT_EQ(float_quotient(1, 3), 1.0F / 3);
  EXPECT_EQ(float_quotient(-22, 7), -22.0F / 7);
  EXPECT_EQ(float_quotient(0x1p100F, 0x1.8p-10F), 0x1p100F / 0x1.8p-10F);
  EXPECT_EQ(float_quotient(3, 0x1.1p127F), 3 / 0x1.1p127F);
  EXPECT_EQ(float_quotient(5, infinity), 0.0F);
}

// The product of an argument's exponent and 2 / pi begins with the digits 0.63661977.
TEST(VectorDouble, DigitsOfTwoOverPi) {
  TestKernel kernel(
      "v_trig_preop_f64 v[2:3], v[0:1], 0\n"
      "v_trig_preop_f64 v[4:5], v[0:1], 1\n");
  set(kernel.wave(), 0, 1.0, 7);
  kernel.execute(0);
  kernel.execute(1);
  const double both = get<double>(kernel.wave(), 2, 7) + get<double>(kernel.wave(), 4, 7);
  EXPECT_NEAR(both, 2 / std::acos(-1.0), 1e-16);
  EXPECT_LT(get<double>(kernel.wave(), 4, 7), 0x1p-53);
}

TEST(VectorComparison, MasksOfLanes) {
  TestKernel kernel(
      "v_cmp_lt_f32 vcc, v0, v1\n"
      "v_cmp_nlt_f32 s[4:5], v0, v1\n"
      "v_cmp_u_f32 s[4:5], v0, v1\n"
      "v_cmp_gt_u32 s[4:5], v0, v1\n"
      "v_cmp_gt_i32 s[4:5], v0, v1\n"
      "v_cmp_eq_u16 s[4:5], v2, v3\n"
      "v_cmp_lt_u64 s[4:5], v[0:1], v[2:3]\n"
      "v_cmp_class_f32 s[4:5], v0, v4\n"
      "v_cmp_class_f64 s[4:5], v[6:7], v4\n");
  Wave& wave = kernel.wave();
  wave.vector[0].fill(bits_of(2.0F));
  wave.vector[1].fill(bits_of(-1.0F));
  wave.vector[0][1] = bits_of(-3.0F);
  wave.vector[0][2] = bits_of(not_a_number);
  wave.vector[2].fill(0xABCD1234);
  wave.vector[3].fill(0xFFFF1234);
  wave.vector[4].fill(1 << 3);  // negative and normal
  wave.vector[6].fill(0);
  wave.vector[7].fill(0);
  set(wave, 6, -1.5, 2);
  wave.set_pair(scalar::exec, 0b1111);
  const auto mask = [&](int line) {
    kernel.execute(line);
    return wave.pair(4);
  };
  kernel.execute(0);
  EXPECT_EQ(wave.vcc(), 0b0010U);
  EXPECT_EQ(mask(1), 0b1101U);
  EXPECT_EQ(mask(2), 0b0100U);
  EXPECT_EQ(mask(3), 0b0010U);  // as bits, only -3 is above -1
  EXPECT_EQ(mask(4), 0b1111U);
  EXPECT_EQ(mask(5), 0b1111U);
  EXPECT_EQ(mask(6), 0b1111U);
  EXPECT_EQ(mask(7), 0b0010U);
  EXPECT_EQ(mask(8), 0b0100U);
}

// Two registers, or two halves of one.
Qword pair(float low, float high) { return joined(bits_of(low), bits_of(high)); }

TEST(Packed, TwoFloatsAtOnce) {
  const Qword a = pair(2, 3);
  const Qword b = pair(4, 5);
  check<Qword>({
      {"v_pk_fma_f32 v[6:7], v[0:1], v[2:3], v[4:5]", {a, b, pair(6, 7)}, pair(14, 22)},
      {"v_pk_mul_f32 v[6:7], v[0:1], v[2:3] op_sel:[1,0] op_sel_hi:[0,1]", {a, b}, pair(12, 10)},
      {"v_pk_add_f32 v[6:7], v[0:1], v[2:3] neg_lo:[0,1] neg_hi:[0,0]", {a, b}, pair(-2, 8)},
      {"v_pk_mov_b32 v[6:7], v[0:1], v[2:3] op_sel:[1,0]", {a, b}, pair(3, 4)},
  });
}

TEST(Packed, TwoHalvesAtOnce) {
  check<Dword>({
      // 2 * 3 - 1, 1 * 4 + 0.5
      {"v_pk_fma_f16 v6, v0, v2, v4", {0x4000'3C00, 0x4200'4400, 0xBC00'3800}, 0x4500'4480},
      // Slightly less, and more, than halfway between two halves, by less than an FP32 can tell.
      {"v_pk_fma_f16 v6, v0, v2, v4", {0x2384'3C01, 0x2842'0FFE, 0x3C00'3C01}, 0x3C01'3C01},
      // Beyond the largest half.
      {"v_pk_mul_f16 v6, v0, v2", {0x7BFF'FBFF, 0x7BFF'4000}, 0x7C00'FC00},
      {"v_pk_add_f16 v6, v0, v2", {0x4000'3C00, 0xBC00'3800}, 0x3C00'3E00},
      {"v_pk_mul_f16 v6, v0, v2", {0x4000'3C00, 0xBC00'3800}, 0xC000'3800},
  });
}

TEST(Packed, DotProductsAddTheProductsOfARegistersParts) {
  check<Dword>({
      // 3, 1 by -2, 4
      {"v_dot2c_f32_f16 v6, v0, v2", {0x4200'3C00, 0xC000'4400, bits_of(0.5F)}, bits_of(-1.5F)},
      // 1, -2, 127, -128 by 5, -3, 2, -128
      {"v_dot4c_i32_i8 v6, v0, v2", {0x01fe'7f80, 0x05fd'0280, 1000}, 1000 + 5 + 6 + 254 + 16384},
      // 0, 1 by 65504, 4
      {"v_dot2_f32_f16 v6, v0, v2, v4", {0x0000'3C00, 0x7BFF'4400, bits_of(8.0F)}, bits_of(12.0F)},
      {"v_dot4_i32_i8 v6, v0, v2, v4", {0x0001'0000, 0x00FF'0000, 7}, 6},
  });
}

TEST(Packed, AMixedMultiplyAddTakesHalvesWhereItIsTold) {
  // 3, 2 by a half of 4, which as FP32 is slightly more than 1
  const std::array<Dword, 3> sources = {0x4200'4000, 0x3F80'4400, bits_of(0.25F)};
  check<Dword>({
      {"v_fma_mix_f32 v6, v0, v2, v4 op_sel_hi:[1,1,0]", sources, bits_of(8.25F)},
      {"v_fma_mix_f32 v6, v0, v2, v4 op_sel:[1,0,0] op_sel_hi:[1,0,0]", sources,
       bits_of(std::fma(3.0F, as_float(0x3F80'4400), 0.25F))},
      {"v_fma_mix_f32 v6, v4, -v4, |v0|", {bits_of(-5.0F), 0, bits_of(0.25F)}, bits_of(4.9375F)},
  });
  // v6 begins as the last source, of which the half that is not written stays.
  const std::array<Dword, 3> with_rest = {bits_of(1.5F), bits_of(-3.0F), 0xABCD'3400};
  check<Dword>({
      {"v_fma_mixlo_f16 v6, v0, v2, v4 op_sel_hi:[0,0,1]", with_rest, 0xABCD'C440},
      {"v_fma_mixhi_f16 v6, v0, v2, v4 op_sel_hi:[0,0,1]", with_rest, 0xC440'3400},
      // 1 + 2^-11 lies halfway between two halves: to the even one
      {"v_fma_mixlo_f16 v6, v0, 1.0, v4", {bits_of(1.0F + 0x1p-11F), 0, 0}, 0x3C00},
  });
}

// Bits of whole numbers, as a half, as the upper half of an FP32, and as a byte.
Dword half(float value) { return std::bit_cast<std::uint16_t>(static_cast<_Float16>(value)); }
Dword brain_float(float value) { return bits_of(value) >> 16; }
Dword byte(float value) { return static_cast<std::uint8_t>(static_cast<int>(value)); }

float row_value(unsigned row, unsigned k) {
  return static_cast<float>(row % 8 + 3 * k % 5) - static_cast<float>(k % 3);
}
float column_value(unsigned k, unsigned column) {
  return static_cast<float>(column % 4 + k % 7) - 4;
}

// Runs LINE, whose A is from v0 on, B from v4, and C and D from `first`, and holds every element of
// D against the sum of products, where it is as AMD's matrix instruction calculator says; C is
// `addend` everywhere.
template <typename Sum>
void check_matrix(const std::string& line, unsigned size, unsigned per_lane, Dword (*bits)(float),
                  unsigned bits_of_element, unsigned first = 8, int addend = 10) {
  TestKernel kernel(line + "\n");
  Wave& wave = kernel.wave();
  const unsigned depth = wave_size / size * per_lane;
  for (unsigned lane = 0; lane < wave_size; ++lane) {
    for (unsigned reg = 0; reg < 8; ++reg) {
      wave.vector[reg][lane] = 0;
    }
    for (unsigned i = 0; i < per_lane; ++i) {
      const unsigned k = lane / size * per_lane + i;
      const unsigned reg = i * bits_of_element / 32;
      const unsigned shift = i * bits_of_element % 32;
      wave.vector[reg][lane] |= bits(row_value(lane % size, k)) << shift;
      wave.vector[4 + reg][lane] |= bits(column_value(k, lane % size)) << shift;
    }
    for (unsigned reg = first; reg < first + size * size / wave_size; ++reg) {
      wave.vector[reg][lane] = std::bit_cast<Dword>(static_cast<Sum>(addend));
    }
  }
  kernel.execute(0);
  for (unsigned row = 0; row < size; ++row) {
    for (unsigned column = 0; column < size; ++column) {
      auto expected = static_cast<float>(addend);
      for (unsigned k = 0; k < depth; ++k) {
        expected += row_value(row, k) * column_value(k, column);
      }
      // Four rows in a lane's registers, the next four in the next lanes of the column.
      const unsigned rows_of_lanes = 4 * (wave_size / size);
      const unsigned reg = first + row / rows_of_lanes * 4 + row % 4;
      const unsigned lane = row % rows_of_lanes / 4 * size + column;
      ASSERT_EQ(std::bit_cast<Sum>(wave.vector[reg][lane]), static_cast<Sum>(expected))
          << line << ", row " << row << ", column " << column;
    }
  }
}

TEST(Matrix, Floats) {
  check_matrix<float>("v_mfma_f32_32x32x2f32 a[0:15], v0, v4, a[0:15]", 32, 1, bits_of, 32,
                      first_accumulator);
  check_matrix<float>("v_mfma_f32_16x16x4f32 v[8:11], v0, v4, 1.0", 16, 1, bits_of, 32, 8, 1);
}

TEST(Matrix, Doubles) {
  TestKernel kernel("v_mfma_f64_16x16x4f64 v[8:15], v[0:1], v[2:3], v[8:15]\n");
  Wave& wave = kernel.wave();
  for (unsigned lane = 0; lane < wave_size; ++lane) {
    for (unsigned reg = 8; reg < 16; reg += 2) {
      set(wave, reg, 0.5, lane);
    }
    set(wave, 0, double(lane), lane);
    set(wave, 2, lane % 16 == 3 ? 1.0 + lane / 16 : 0.0, lane);
  }
  kernel.execute(0);
  // v[12:13] of lane 35: row 4 * 2 + 2, column 3; A there is row + 16 k, B is 1 + k.
  EXPECT_EQ(get<double>(wave, 12, 35), 0.5 + 10 * 1 + 26 * 2 + 42 * 3 + 58 * 4);
  EXPECT_EQ(get<double>(wave, 12, 36), 0.5);
}

TEST(Matrix, Halves) {
  check_matrix<float>("v_mfma_f32_32x32x8f16 v[8:23], v[0:1], v[4:5], v[8:23]", 32, 4, half, 16);
  check_matrix<float>("v_mfma_f32_16x16x16f16 v[8:11], v[0:1], v[4:5], v[8:11]", 16, 4, half, 16);
}

TEST(Matrix, BrainFloats) {
  check_matrix<float>("v_mfma_f32_32x32x4bf16 v[8:23], v0, v4, v[8:23]", 32, 2, brain_float, 16);
  check_matrix<float>("v_mfma_f32_32x32x8bf16_1k v[8:23], v[0:1], v[4:5], v[8:23]", 32, 4,
                      brain_float, 16);
  check_matrix<float>("v_mfma_f32_16x16x16bf16_1k v[8:11], v[0:1], v[4:5], v[8:11]", 16, 4,
                      brain_float, 16);
}

TEST(Matrix, Bytes) {
  check_matrix<std::int32_t>("v_mfma_i32_32x32x8i8 v[8:23], v0, v4, v[8:23]", 32, 4, byte, 8);
}

TEST(VectorComparison, OfHalvesLookAtTheLowerPartsOfRegisters) {
  TestKernel kernel(
      "v_cmp_eq_f16 vcc, v0, v1\nv_cmp_lt_f16 vcc, v0, v1\nv_cmp_u_f16 vcc, v0, v1\n");
  Wave& wave = kernel.wave();
  wave.vector[0].fill(0xdead'3c00);  // 1
  wave.vector[1].fill(0xbeef'3c00);
  wave.vector[1][3] = 0x4000;  // 2
  wave.vector[1][4] = 0x7e00;  // no number
  wave.vector[0][6] = 0x8000;  // -0
  wave.vector[1][6] = 0;
  kernel.execute(0);
  EXPECT_EQ(wave.vcc(), ~Qword{0} & ~(Qword{1} << 3) & ~(Qword{1} << 4));
  kernel.execute(1);
  EXPECT_EQ(wave.vcc(), Qword{1} << 3);
  kernel.execute(2);
  EXPECT_EQ(wave.vcc(), Qword{1} << 4);
}

}  // namespace
}  // namespace emulator
