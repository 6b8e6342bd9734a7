// The scalar unit, against values worked out by hand.
#include <gtest/gtest.h>

#include "disassembly.h"
#include "test_kernel.h"

namespace emulator {
namespace {

struct Case {
  const char* line;  // s4 or s[4:5] of s0 and s2, or s[0:1] and s[2:3]
  Qword a;
  Qword b;
  Qword expected;
  bool scc;  // after it
  bool scc_before = false;
};

// The result is compared with as many registers as are written.
void check(const std::vector<Case>& cases) {
  std::string assembly;
  for (const Case& one : cases) {
    assembly += std::string(one.line) + '\n';
  }
  TestKernel kernel(assembly);
  Wave& wave = kernel.wave();
  int line = 0;
  for (const Case& one : cases) {
    wave.set_pair(0, one.a);
    wave.set_pair(2, one.b);
    wave.set_pair(4, 0x5555'5555'5555'5555);
    wave.scc = one.scc_before;
    kernel.execute(line++);
    const bool is_pair = std::string(one.line).find("s[4:5]") != std::string::npos;
    const Qword result = is_pair ? wave.pair(4) : wave.scalars[4];
    EXPECT_EQ(result, one.expected) << one.line;
    EXPECT_EQ(wave.scc, one.scc) << one.line;
  }
  EXPECT_EQ(kernel.reports(), 0U);
}

TEST(Scalar, SumsAndDifferencesCarryIntoScc) {
  check({
      {"s_add_u32 s4, s0, s2", 0xFFFFFFFF, 2, 1, true},
      {"s_add_u32 s4, s0, s2", 5, 7, 12, false, true},
      {"s_addc_u32 s4, s0, s2", 0xFFFFFFFF, 0, 0, true, true},
      {"s_addc_u32 s4, s0, s2", 1, 2, 3, false},
      {"s_sub_u32 s4, s0, s2", 1, 2, 0xFFFFFFFF, true},
      {"s_subb_u32 s4, s0, s2", 5, 5, 0xFFFFFFFF, true, true},
      {"s_subb_u32 s4, s0, s2", 0, 0xFFFFFFFF, 0, true, true},
      {"s_add_i32 s4, s0, s2", 0x7FFFFFFF, 1, 0x80000000, true},
      {"s_add_i32 s4, s0, s2", 0xFFFFFFFF, 1, 0, false},
      {"s_sub_i32 s4, s0, s2", 0x80000000, 1, 0x7FFFFFFF, true},
      {"s_lshl3_add_u32 s4, s0, s2", 0x20000000, 9, 9, true},
  });
}

TEST(Scalar, BothCompilersLiteralsAreRead) {
  for (const char* text : {"0xffffffff", "lit(0xffffffff)"}) {
    const Operand operand = parse_operand(text);
    EXPECT_TRUE(operand.is_literal) << text;
    EXPECT_EQ(operand.integer, 0xFFFFFFFF) << text;
  }
  EXPECT_FALSE(parse_operand("-1").is_literal);
}

TEST(Scalar, ProductsAndLimits) {
  check({
      {"s_mul_i32 s4, s0, s2", 0x10001, 0x10001, 0x20001, false},
      {"s_mul_hi_u32 s4, s0, s2", 0x80000000, 6, 3, false},
      {"s_mul_hi_i32 s4, s0, s2", 0xFFFFFFFF, 6, 0xFFFFFFFF, false},
      {"s_min_u32 s4, s0, s2", 0xFFFFFFFF, 3, 3, false},
      {"s_min_i32 s4, s0, s2", 0xFFFFFFFF, 3, 0xFFFFFFFF, true},
      {"s_max_u32 s4, s0, s2", 0xFFFFFFFF, 3, 0xFFFFFFFF, true},
      {"s_max_i32 s4, s0, s2", 0xFFFFFFFF, 3, 3, false},
      {"s_abs_i32 s4, s0", 0xFFFFFFF9, 0, 7, true},
  });
}

TEST(Scalar, LogicSetsSccWhereTheResultIsNotZero) {
  check({
      {"s_and_b32 s4, s0, s2", 0xFF00FF00, 0x0FF00FF0, 0x0F000F00, true},
      {"s_and_b32 s4, s0, s2", 0xFF, 0xFF00, 0, false, true},
      {"s_or_b32 s4, s0, s2", 0xF0, 0x0F, 0xFF, true},
      {"s_xor_b32 s4, s0, s2", 0xFF, 0xFF, 0, false, true},
      {"s_andn2_b32 s4, s0, s2", 0xFF, 0x0F, 0xF0, true},
      {"s_orn2_b32 s4, s0, s2", 0, 0xFFFFFFFE, 1, true},
      {"s_nand_b32 s4, s0, s2", 0xFFFFFFFF, 0xFFFFFFFF, 0, false, true},
      {"s_not_b32 s4, s0", 0xFFFFFFFF, 0, 0, false, true},
      {"s_cselect_b32 s4, s0, s2", 1, 2, 1, true, true},
      {"s_cselect_b32 s4, s0, s2", 1, 2, 2, false},
      {"s_and_b64 s[4:5], s[0:1], s[2:3]", 0xFFFF'0000'FFFF'0000, 0x00FF'00FF'00FF'00FF,
       0x00FF'0000'00FF'0000, true},
      {"s_andn2_b64 s[4:5], s[0:1], s[2:3]", 0xF0'0000'0000, 0x10'0000'0000, 0xE0'0000'0000, true},
      {"s_mov_b64 s[4:5], s[0:1]", 0x1234'5678'9ABC'DEF0, 0, 0x1234'5678'9ABC'DEF0, false},
      {"s_mov_b64 s[4:5], -1", 0, 0, ~Qword{0}, false},
  });
}

TEST(Scalar, ShiftsTakeTheAmountModuloTheWidth) {
  check({
      {"s_lshl_b32 s4, s0, s2", 0x80000001, 33, 2, true},
      {"s_lshr_b32 s4, s0, s2", 0x80000000, 31, 1, true},
      {"s_ashr_i32 s4, s0, s2", 0x80000000, 31, 0xFFFFFFFF, true},
      {"s_bfe_u32 s4, s0, s2", 0xABCD1234, 0x80010, 0xCD, true},
      {"s_bfe_i32 s4, s0, s2", 0xABCD1234, 0x80010, 0xFFFFFFCD, true},
      {"s_bfe_u32 s4, s0, s2", 0xABCD1234, 0x200000, 0xABCD1234, true},
      {"s_bfm_b32 s4, s0, s2", 3, 4, 0x70, false},
      {"s_sext_i32_i8 s4, s0", 0x180, 0, 0xFFFFFF80, false},
      {"s_sext_i32_i16 s4, s0", 0x17FFF, 0, 0x7FFF, false},
      {"s_pack_ll_b32_b16 s4, s0, s2", 0x11112222, 0x33334444, 0x44442222, false},
      {"s_lshl_b64 s[4:5], s[0:1], s2", 1, 65, 2, true},
      {"s_lshr_b64 s[4:5], s[0:1], s2", Qword{1} << 63, 62, 2, true},
      {"s_ashr_i64 s[4:5], s[0:1], s2", Qword{1} << 63, 63, ~Qword{0}, true},
  });
}

TEST(Scalar, BitsAreCounted) {
  check({
      {"s_bcnt1_i32_b32 s4, s0", 0xF0F0, 0, 8, true},
      {"s_bcnt1_i32_b64 s4, s[0:1]", 0xF'0000'0001, 0, 5, true},
      {"s_ff1_i32_b32 s4, s0", 0x100, 0, 8, false},
      {"s_ff1_i32_b32 s4, s0", 0, 0, 0xFFFFFFFF, false},
      {"s_ff1_i32_b64 s4, s[0:1]", Qword{1} << 40, 0, 40, false},
      {"s_flbit_i32_b32 s4, s0", 0x100, 0, 23, false},
      {"s_flbit_i32_b64 s4, s[0:1]", 1, 0, 63, false},
      {"s_brev_b32 s4, s0", 0x1, 0, 0x80000000, false},
      {"s_bitset1_b32 s4, s0", 1, 0, 0x55555557, false},
      {"s_bitset0_b32 s4, s0", 2, 0, 0x55555551, false},
  });
}

TEST(Scalar, ConstantsInTheEncodingHaveASign) {
  check({
      {"s_movk_i32 s4, 0x8000", 0, 0, 0xFFFF8000, false},
      {"s_addk_i32 s4, 0xffff", 0, 0, 0x55555554, false},
      {"s_mulk_i32 s4, 0x3", 0, 0, 0xFFFFFFFF, false},
      {"s_cmovk_i32 s4, 0x7", 0, 0, 0x55555555, false},
      {"s_cmpk_eq_u32 s4, 0x5", 0, 0, 0x55555555, false},
      {"s_cmpk_gt_i32 s4, 0xffff", 0, 0, 0x55555555, true},
      {"s_cmpk_gt_u32 s4, 0xffff", 0, 0, 0x55555555, true},
  });
}

TEST(Scalar, ComparisonsSetScc) {
  check({
      {"s_cmp_lt_u32 s0, s2", 0xFFFFFFFF, 1, 0x55555555, false},
      {"s_cmp_lt_i32 s0, s2", 0xFFFFFFFF, 1, 0x55555555, true},
      {"s_cmp_ge_u32 s0, s2", 7, 7, 0x55555555, true},
      {"s_cmp_lg_u32 s0, s2", 7, 7, 0x55555555, false, true},
      {"s_cmp_eq_u64 s[0:1], s[2:3]", Qword{1} << 40, Qword{1} << 40, 0x55555555, true},
      {"s_cmp_lg_u64 s[0:1], s[2:3]", Qword{1} << 40, 0, 0x55555555, true},
      {"s_bitcmp1_b32 s0, s2", 4, 34, 0x55555555, true},
      {"s_bitcmp0_b32 s0, s2", 4, 2, 0x55555555, false, true},
  });
}

TEST(Scalar, ExecIsSavedAndMasked) {
  TestKernel kernel(
      "s_and_saveexec_b64 s[4:5], s[0:1]\n"
      "s_andn2_saveexec_b64 s[4:5], s[0:1]\n");
  Wave& wave = kernel.wave();
  wave.set_pair(0, 0xF0);
  kernel.execute(0);
  EXPECT_EQ(wave.exec(), 0xF0U);
  EXPECT_EQ(wave.pair(4), all_lanes);
  EXPECT_TRUE(wave.scc);
  kernel.execute(1);
  EXPECT_EQ(wave.exec(), 0U);
  EXPECT_EQ(wave.pair(4), 0xF0U);
  EXPECT_FALSE(wave.scc);
}

}  // namespace
}  // namespace emulator
