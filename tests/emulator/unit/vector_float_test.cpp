// FP32, FP64, half precision, comparisons and matrices, against values and formulas of the test's
// own.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "test_kernel.h"

namespace emulator {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
const float not_a_number = std::nanf("");

struct FloatCase {
  const char* line;  // v3 of v0, v1, v2
  float a;
  float b;
  float c;
  float expected;
};

void check(const std::vector<FloatCase>& cases) {
  std::string assembly;
  for (const FloatCase& one : cases) {
    assembly += std::string(one.line) + '\n';
  }
  TestKernel kernel(assembly);
  Wave& wave = kernel.wave();
  wave.set_pair(scalar::vcc, 0);
  int line = 0;
  for (const FloatCase& one : cases) {
    wave.vector[0].fill(bits_of(one.a));
    wave.vector[1].fill(bits_of(one.b));
    wave.vector[2].fill(bits_of(one.c));
    wave.vector[3].fill(bits_of(one.c));
    kernel.execute(line++);
    if (std::isnan(one.expected)) {
      EXPECT_TRUE(std::isnan(as_float(wave.vector[3][17]))) << one.line;
    } else {
      EXPECT_EQ(wave.vector[3][17], bits_of(one.expected))
          << one.line << ": " << as_float(wave.vector[3][17]);
    }
  }
}

TEST(VectorFloat, Arithmetic) {
  check({
      {"v_add_f32 v3, v0, v1", 1.5F, 2.25F, 0, 3.75F},
      {"v_sub_f32 v3, v0, v1", 1.5F, 2.25F, 0, -0.75F},
      {"v_subrev_f32 v3, v0, v1", 1.5F, 2.25F, 0, 0.75F},
      {"v_mul_f32 v3, v0, v1", 1.5F, -2, 0, -3},
      {"v_mul_f32 v3, 0.5, v1", 0, 3, 0, 1.5F},
      {"v_add_f32 v3, -v0, |v1|", 1, -3, 0, 2},
      {"v_mul_f32 v3, v0, v1 mul:4", 3, 5, 0, 60},
      {"v_mul_f32 v3, v0, v1 div:2", 3, 5, 0, 7.5F},
      {"v_mul_f32 v3, v0, v1 clamp", 3, 5, 0, 1},
      {"v_mul_f32 v3, v0, v1 clamp", -3, 5, 0, 0},
      // (1 + 2^-12)^2 - (1 + 2^-11) is 2^-24, which two roundings lose.
      {"v_fma_f32 v3, v0, v1, v2", 1 + 0x1p-12F, 1 + 0x1p-12F, -(1 + 0x1p-11F), 0x1p-24F},
      {"v_fmac_f32 v3, v0, v1", 1 + 0x1p-12F, 1 + 0x1p-12F, -(1 + 0x1p-11F), 0x1p-24F},
      {"v_mad_f32 v3, v0, v1, v2", 1 + 0x1p-12F, 1 + 0x1p-12F, -(1 + 0x1p-11F), 0},
      // v_mad_f32 knows no subnormals, v_fma_f32 does.
      {"v_mad_f32 v3, v0, 1.0, v2", 0x1p-130F, 0, 0, 0},
      {"v_fma_f32 v3, v0, 1.0, v2", 0x1p-130F, 0, 0, 0x1p-130F},
  });
}

TEST(VectorFloat, LimitsAndRoundings) {
  check({
      {"v_min_f32 v3, v0, v1", 1, not_a_number, 0, 1},
      {"v_max_f32 v3, v0, v1", not_a_number, -2, 0, -2},
      {"v_med3_f32 v3, v0, v1, v2", 5, 1, 3, 3},
      {"v_min3_f32 v3, v0, v1, v2", 5, 1, 3, 1},
      {"v_max3_f32 v3, v0, v1, v2", 5, 1, 3, 5},
      {"v_fract_f32 v3, v0", -1.25F, 0, 0, 0.75F},
      {"v_trunc_f32 v3, v0", -1.75F, 0, 0, -1},
      {"v_rndne_f32 v3, v0", 2.5F, 0, 0, 2},
      {"v_floor_f32 v3, v0", -1.25F, 0, 0, -2},
      {"v_ceil_f32 v3, v0", 1.25F, 0, 0, 2},
      {"v_frexp_mant_f32 v3, v0", -12, 0, 0, -0.75F},
      {"v_ldexp_f32 v3, v0, 5", 3, 0, 0, 96},
  });
}

TEST(VectorFloat, ApproximationsRoundToNearest) {
  check({
      {"v_rcp_f32 v3, v0", 3, 0, 0, 1.0F / 3},
      {"v_rcp_f32 v3, v0", 0, 0, 0, infinity},
      {"v_rsq_f32 v3, v0", 16, 0, 0, 0.25F},
      {"v_sqrt_f32 v3, v0", 2, 0, 0, static_cast<float>(std::sqrt(2.0))},
      {"v_sqrt_f32 v3, v0", -1, 0, 0, not_a_number},
      {"v_exp_f32 v3, v0", -3, 0, 0, 0.125F},
      {"v_log_f32 v3, v0", 32, 0, 0, 5},
      {"v_sin_f32 v3, v0", 0.25F, 0, 0, 1},
      {"v_cos_f32 v3, v0", -0.5F, 0, 0, -1},
  });
}

TEST(VectorFloat, ApproximateIsOffByAnUlpAtMost) {
  TestKernel kernel("v_rcp_f32 v1, v0\n", {.options = "approximate"});
  Wave& wave = kernel.wave();
  wave.vector[0].fill(bits_of(3.0F));
  kernel.execute(0);
  int off = 0;
  for (const Dword bits : wave.vector[1]) {
    const int distance = static_cast<int>(bits) - static_cast<int>(bits_of(1.0F / 3));
    EXPECT_LE(std::abs(distance), 1);
    off += distance != 0 ? 1 : 0;
  }
  EXPECT_GT(off, 10);
}

TEST(VectorFloat, Conversions) {
  TestKernel kernel(
      "v_cvt_f32_u32 v3, v0\n"
      "v_cvt_f32_i32 v3, v0\n"
      "v_cvt_u32_f32 v3, v1\n"
      "v_cvt_i32_f32 v3, v1\n"
      "v_cvt_f32_ubyte2 v3, v0\n"
      "v_frexp_exp_i32_f32 v3, v1\n"
      "v_cvt_f16_f32 v3, v1\n"
      "v_cvt_f32_f16 v3, v2\n");
  Wave& wave = kernel.wave();
  wave.vector[0].fill(0xFFFFFFFE);
  wave.vector[1].fill(bits_of(-5.75F));
  wave.vector[2].fill(0xC5C0);  // -5.75 in half precision
  const auto result = [&](int line) {
    kernel.execute(line);
    return wave.vector[3][40];
  };
  EXPECT_EQ(as_float(result(0)), 0x1p32F);
  EXPECT_EQ(as_float(result(1)), -2.0F);
  EXPECT_EQ(result(2), 0U);
  EXPECT_EQ(result(3), static_cast<Dword>(-5));
  EXPECT_EQ(as_float(result(4)), 255.0F);
  EXPECT_EQ(result(5), 3U);
  EXPECT_EQ(result(6), 0xC5C0U);
  EXPECT_EQ(as_float(result(7)), -5.75F);
  wave.vector[1].fill(bits_of(1e20F));
  EXPECT_EQ(result(2), 0xFFFFFFFFU);
  EXPECT_EQ(result(3), 0x7FFFFFFFU);
}

void set_double(Wave& wave, unsigned reg, double value) {
  wave.vector[reg].fill(low_half(bits_of(value)));
  wave.vector[reg + 1].fill(high_half(bits_of(value)));
}

double get_double(const Wave& wave, unsigned reg, unsigned lane = 7) {
  return as_double(joined(wave.vector[reg][lane], wave.vector[reg + 1][lane]));
}

struct DoubleCase {
  const char* line;  // v[6:7] of v[0:1], v[2:3], v[4:5]
  double a;
  double b;
  double c;
  double expected;
};

TEST(VectorDouble, Arithmetic) {
  const std::vector<DoubleCase> cases = {
      {"v_add_f64 v[6:7], v[0:1], v[2:3]", 1.5, 2.25, 0, 3.75},
      {"v_add_f64 v[6:7], v[0:1], -v[2:3]", 1.5, 2.25, 0, -0.75},
      {"v_mul_f64 v[6:7], |v[0:1]|, v[2:3]", -1.5, 2, 0, 3},
      {"v_mul_f64 v[6:7], v[0:1], 0.5", 3, 0, 0, 1.5},
      {"v_fma_f64 v[6:7], v[0:1], v[2:3], v[4:5]", 1 + 0x1p-27, 1 + 0x1p-27, -(1 + 0x1p-26),
       0x1p-54},
      {"v_fmac_f64 v[6:7], v[0:1], v[2:3]", 3, 4, 5, 17},
      {"v_min_f64 v[6:7], v[0:1], v[2:3]", 3, -4, 0, -4},
      {"v_max_f64 v[6:7], v[0:1], v[2:3]", 3, -4, 0, 3},
      {"v_rndne_f64 v[6:7], v[0:1]", 3.5, 0, 0, 4},
      {"v_floor_f64 v[6:7], v[0:1]", -3.5, 0, 0, -4},
      {"v_ceil_f64 v[6:7], v[0:1]", -3.5, 0, 0, -3},
      {"v_trunc_f64 v[6:7], v[0:1]", -3.5, 0, 0, -3},
      {"v_fract_f64 v[6:7], v[0:1]", -3.25, 0, 0, 0.75},
      {"v_ldexp_f64 v[6:7], v[0:1], 3", 1.5, 0, 0, 12},
      {"v_frexp_mant_f64 v[6:7], v[0:1]", 12, 0, 0, 0.75},
  };
  std::string assembly;
  for (const DoubleCase& one : cases) {
    assembly += std::string(one.line) + '\n';
  }
  TestKernel kernel(assembly);
  int line = 0;
  for (const DoubleCase& one : cases) {
    set_double(kernel.wave(), 0, one.a);
    set_double(kernel.wave(), 2, one.b);
    set_double(kernel.wave(), 4, one.c);
    set_double(kernel.wave(), 6, one.c);
    kernel.execute(line++);
    EXPECT_EQ(get_double(kernel.wave(), 6), one.expected) << one.line;
  }
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
  set_double(kernel.wave(), 0, numerator);
  set_double(kernel.wave(), 2, denominator);
  kernel.run();
  EXPECT_EQ(kernel.reports(), 0U);
  return get_double(kernel.wave(), 0);
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
      "s_endpgm\n",
      {.options = "approximate"});
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

TEST(VectorDouble, Conversions) {
  TestKernel kernel(
      "v_cvt_f64_f32 v[2:3], v0\n"
      "v_cvt_f64_i32 v[2:3], v1\n"
      "v_cvt_f64_u32 v[2:3], v1\n"
      "v_cvt_f32_f64 v4, v[2:3]\n"
      "v_cvt_i32_f64 v4, v[2:3]\n"
      "v_cvt_u32_f64 v4, v[2:3]\n"
      "v_frexp_exp_i32_f64 v4, v[2:3]\n"
      "v_cmp_class_f64 s[4:5], v[2:3], v1\n");
  Wave& wave = kernel.wave();
  wave.vector[0].fill(bits_of(-1.5F));
  wave.vector[1].fill(0xFFFFFFFF);
  kernel.execute(0);
  EXPECT_EQ(get_double(wave, 2), -1.5);
  kernel.execute(1);
  EXPECT_EQ(get_double(wave, 2), -1.0);
  kernel.execute(2);
  EXPECT_EQ(get_double(wave, 2), 4294967295.0);
  kernel.execute(3);
  EXPECT_EQ(as_float(wave.vector[4][0]), 0x1p32F);
  kernel.execute(4);
  EXPECT_EQ(wave.vector[4][0], 0x7FFFFFFFU);
  kernel.execute(5);
  EXPECT_EQ(wave.vector[4][0], 0xFFFFFFFFU);
  kernel.execute(6);
  EXPECT_EQ(wave.vector[4][0], 32U);
  kernel.execute(7);
  EXPECT_EQ(wave.pair(4), all_lanes);
}

// The product of an argument's exponent and 2 / pi begins with the digits 0.63661977.
TEST(VectorDouble, DigitsOfTwoOverPi) {
  TestKernel kernel(
      "v_trig_preop_f64 v[2:3], v[0:1], 0\n"
      "v_trig_preop_f64 v[4:5], v[0:1], 1\n");
  set_double(kernel.wave(), 0, 1.0);
  kernel.execute(0);
  kernel.execute(1);
  const double both = get_double(kernel.wave(), 2) + get_double(kernel.wave(), 4);
  EXPECT_NEAR(both, 2 / std::acos(-1.0), 1e-16);
  EXPECT_LT(get_double(kernel.wave(), 4), 0x1p-53);
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
      "v_cmp_class_f32 s[4:5], v0, v4\n");
  Wave& wave = kernel.wave();
  wave.vector[0].fill(bits_of(2.0F));
  wave.vector[1].fill(bits_of(-1.0F));
  wave.vector[0][1] = bits_of(-3.0F);
  wave.vector[0][2] = bits_of(not_a_number);
  wave.vector[2].fill(0xABCD1234);
  wave.vector[3].fill(0xFFFF1234);
  wave.vector[4].fill(1 << 3);  // negative and normal
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
}

TEST(Packed, TwoFloatsAtOnce) {
  TestKernel kernel(
      "v_pk_fma_f32 v[6:7], v[0:1], v[2:3], v[4:5]\n"
      "v_pk_mul_f32 v[6:7], v[0:1], v[2:3] op_sel:[1,0] op_sel_hi:[0,1]\n"
      "v_pk_add_f32 v[6:7], v[0:1], v[2:3] neg_lo:[0,1] neg_hi:[0,0]\n"
      "v_pk_mov_b32 v[6:7], v[0:1], v[2:3] op_sel:[1,0]\n");
  Wave& wave = kernel.wave();
  for (unsigned reg = 0; reg < 6; ++reg) {
    wave.vector[reg].fill(bits_of(static_cast<float>(reg + 2)));  // 2 3, 4 5, 6 7
  }
  const auto check = [&](int line, float low, float high) {
    kernel.execute(line);
    EXPECT_EQ(as_float(wave.vector[6][20]), low);
    EXPECT_EQ(as_float(wave.vector[7][20]), high);
  };
  check(0, 2 * 4 + 6, 3 * 5 + 7);
  check(1, 3 * 4, 2 * 5);
  check(2, 2 - 4, 3 + 5);
  check(3, 3, 4);
}

TEST(Packed, TwoHalvesAtOnce) {
  TestKernel kernel(
      "v_pk_fma_f16 v3, v0, v1, v2\n"
      "v_pk_add_f16 v3, v0, v2\n");
  Wave& wave = kernel.wave();
  wave.vector[0].fill(0x4000'3C00);  // 2, 1
  wave.vector[1].fill(0x4200'4400);  // 3, 4
  wave.vector[2].fill(0xBC00'3800);  // -1, 0.5
  kernel.execute(0);
  EXPECT_EQ(wave.vector[3][0], 0x4500'4480U);  // 5, 4.5
  kernel.execute(1);
  EXPECT_EQ(wave.vector[3][0], 0x3C00'3E00U);  // 1, 1.5
}

// C = A B + C, the element of a lane and register as AMD's matrix instruction calculator says.
TEST(Matrix, FloatsOf32By32) {
  TestKernel kernel("v_mfma_f32_32x32x2f32 a[0:15], v0, v1, a[0:15]\n");
  Wave& wave = kernel.wave();
  const auto a = [](unsigned row, unsigned k) { return static_cast<float>(3 * row + 100 * k); };
  const auto b = [](unsigned k, unsigned column) { return static_cast<float>(7 * column) - k; };
  for (unsigned lane = 0; lane < wave_size; ++lane) {
    wave.vector[0][lane] = bits_of(a(lane % 32, lane / 32));
    wave.vector[1][lane] = bits_of(b(lane / 32, lane % 32));
    for (unsigned reg = 0; reg < 16; ++reg) {
      wave.vector[first_accumulator + reg][lane] = bits_of(1.0F);
    }
  }
  kernel.execute(0);
  // a5 of lane 40 holds row 8 * 1 + 4 * 1 + 1, column 8.
  EXPECT_EQ(as_float(wave.vector[first_accumulator + 5][40]),
            1 + a(13, 0) * b(0, 8) + a(13, 1) * b(1, 8));
  EXPECT_EQ(as_float(wave.vector[first_accumulator][0]), 1 + a(0, 0) * b(0, 0) + a(0, 1) * b(1, 0));
  EXPECT_EQ(as_float(wave.vector[first_accumulator + 15][63]),
            1 + a(31, 0) * b(0, 31) + a(31, 1) * b(1, 31));
}

TEST(Matrix, FloatsOf16By16) {
  TestKernel kernel("v_mfma_f32_16x16x4f32 v[4:7], v0, v1, 0\n");
  Wave& wave = kernel.wave();
  for (unsigned lane = 0; lane < wave_size; ++lane) {
    wave.vector[0][lane] = bits_of(static_cast<float>(lane));
    wave.vector[1][lane] = bits_of(static_cast<float>(lane % 16 == 3 ? 1 + lane / 16 : 0));
  }
  kernel.execute(0);
  // v6 of lane 35: row 4 * 2 + 2, column 3; A there is row + 16 k, B is 1 + k.
  EXPECT_EQ(as_float(wave.vector[6][35]), 10 * 1 + 26 * 2 + 42 * 3 + 58 * 4);
  EXPECT_EQ(as_float(wave.vector[6][36]), 0);
}

TEST(Matrix, DoublesOf16By16) {
  TestKernel kernel("v_mfma_f64_16x16x4f64 v[8:15], v[0:1], v[2:3], v[8:15]\n");
  Wave& wave = kernel.wave();
  for (unsigned reg = 8; reg < 16; reg += 2) {
    set_double(wave, reg, 0.5);
  }
  for (unsigned lane = 0; lane < wave_size; ++lane) {
    const Qword a = bits_of(static_cast<double>(lane));
    const Qword b = bits_of(static_cast<double>(lane % 16 == 3 ? 1 + lane / 16 : 0));
    wave.vector[0][lane] = low_half(a);
    wave.vector[1][lane] = high_half(a);
    wave.vector[2][lane] = low_half(b);
    wave.vector[3][lane] = high_half(b);
  }
  kernel.execute(0);
  // v[12:13] of lane 35: row 4 * 2 + 2, column 3.
  EXPECT_EQ(get_double(wave, 12, 35), 0.5 + 10 * 1 + 26 * 2 + 42 * 3 + 58 * 4);
  EXPECT_EQ(get_double(wave, 12, 36), 0.5);
}

// Sixteen bits of whole numbers, as a half and as the upper half of an FP32.
std::uint16_t half(float value) {
  return std::bit_cast<std::uint16_t>(static_cast<_Float16>(value));
}
std::uint16_t brain_float(float value) { return static_cast<std::uint16_t>(bits_of(value) >> 16); }
std::uint16_t byte(float value) { return static_cast<std::uint8_t>(static_cast<int>(value)); }

float row_value(unsigned row, unsigned k) {
  return static_cast<float>(row % 8 + 3 * k % 5) - static_cast<float>(k % 3);
}
float column_value(unsigned k, unsigned column) {
  return static_cast<float>(column % 4 + k % 7) - 4;
}

// Runs LINE, whose A is from v0 on, B from v4 and C from v8, and holds every element of D against
// the sum of products; C is 10 everywhere.
template <typename Sum>
void check_matrix(const std::string& line, unsigned size, unsigned per_lane,
                  std::uint16_t (*bits)(float), unsigned bits_of_element) {
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
      wave.vector[reg][lane] |= Dword{bits(row_value(lane % size, k))} << shift;
      wave.vector[4 + reg][lane] |= Dword{bits(column_value(k, lane % size))} << shift;
    }
    for (unsigned reg = 8; reg < 8 + size * size / wave_size; ++reg) {
      wave.vector[reg][lane] = std::bit_cast<Dword>(Sum{10});
    }
  }
  kernel.execute(0);
  for (unsigned row = 0; row < size; ++row) {
    for (unsigned column = 0; column < size; ++column) {
      float expected = 10;
      for (unsigned k = 0; k < depth; ++k) {
        expected += row_value(row, k) * column_value(k, column);
      }
      // Four rows in a lane's registers, the next four in the next lanes of the column.
      const unsigned rows_of_lanes = 4 * (wave_size / size);
      const unsigned reg = 8 + row / rows_of_lanes * 4 + row % 4;
      const unsigned lane = row % rows_of_lanes / 4 * size + column;
      ASSERT_EQ(std::bit_cast<Sum>(wave.vector[reg][lane]), static_cast<Sum>(expected))
          << line << ", row " << row << ", column " << column;
    }
  }
}

TEST(Matrix, HalvesOf32By32) {
  check_matrix<float>("v_mfma_f32_32x32x8f16 v[8:23], v[0:1], v[4:5], v[8:23]", 32, 4, half, 16);
}
TEST(Matrix, HalvesOf16By16) {
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

TEST(Packed, DotProductsAddTheProductsOfARegistersParts) {
  TestKernel kernel(
      "v_dot2c_f32_f16 v2, v0, v1\n"
      "v_dot4c_i32_i8 v3, v0, v1\n");
  Wave& wave = kernel.wave();
  wave.vector[0][5] = 0x4200'3c00;  // 3, 1
  wave.vector[1][5] = 0xc000'4400;  // -2, 4
  wave.vector[2][5] = bits_of(0.5F);
  kernel.execute(0);
  EXPECT_EQ(as_float(wave.vector[2][5]), 0.5F + 1 * 4 + 3 * -2);
  wave.vector[0][5] = 0x01fe'7f80;  // 1, -2, 127, -128
  wave.vector[1][5] = 0x05fd'0280;  // 5, -3, 2, -128
  wave.vector[3][5] = 1000;
  kernel.execute(1);
  EXPECT_EQ(wave.vector[3][5], 1000U + 5 + 6 + 254 + 16384);
  TestKernel other("v_dot2_f32_f16 v2, v0, v1, v3\nv_dot4_i32_i8 v2, v0, v1, v3\n");
  other.wave().vector[0][1] = 0x0000'3c00;  // 0, 1
  other.wave().vector[1][1] = 0x7bff'4400;  // 65504, 4
  other.wave().vector[3][1] = bits_of(8.0F);
  other.execute(0);
  EXPECT_EQ(as_float(other.wave().vector[2][1]), 12);
  other.wave().vector[0][1] = 0x0001'0000;
  other.wave().vector[1][1] = 0x00ff'0000;
  other.wave().vector[3][1] = 7;
  other.execute(1);
  EXPECT_EQ(other.wave().vector[2][1], 6U);
}

TEST(Packed, AMixedMultiplyAddTakesHalvesWhereItIsTold) {
  TestKernel kernel(
      "v_fma_mix_f32 v3, v0, v1, v2 op_sel_hi:[1,1,0]\n"
      "v_fma_mix_f32 v3, v0, v1, v2 op_sel:[1,0,0] op_sel_hi:[1,0,0]\n"
      "v_fma_mix_f32 v3, v2, -v2, |v4|\n");
  Wave& wave = kernel.wave();
  wave.vector[0][7] = 0x4200'4000;  // 3, 2
  wave.vector[1][7] = 0x3f80'4400;  // a half of 4; as FP32 slightly more than 1
  wave.vector[2][7] = bits_of(0.25F);
  wave.vector[4][7] = bits_of(-5.0F);
  kernel.execute(0);
  EXPECT_EQ(as_float(wave.vector[3][7]), 2 * 4 + 0.25F);
  kernel.execute(1);
  EXPECT_EQ(as_float(wave.vector[3][7]), std::fma(3.0F, as_float(0x3f80'4400), 0.25F));
  kernel.execute(2);
  EXPECT_EQ(as_float(wave.vector[3][7]), 5 - 0.0625F);
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
