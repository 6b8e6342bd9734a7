// The vector unit on integers, against plain C++ on each lane.
#include <gtest/gtest.h>

#include <bit>
#include <functional>

#include "test_kernel.h"

namespace emulator {
namespace {

// Values that differ in each lane and have all signs and sizes.
Dword value(unsigned lane, Dword salt) {
  const Dword mixed = (lane + 1) * 0x9E3779B1U ^ salt * 0x85EBCA6BU;
  return mixed >> (lane % 4 * 9);
}

struct Case {
  const char* line;  // v3 of v0, v1, v2
  std::function<Dword(Dword, Dword, Dword)> expected;
};

void check(const std::vector<Case>& cases) {
  std::string assembly;
  for (const Case& one : cases) {
    assembly += std::string(one.line) + '\n';
  }
  TestKernel kernel(assembly);
  Wave& wave = kernel.wave();
  // What v_perm_b32 takes.
  wave.scalars[0] = 0x0B0D0601;
  constexpr Dword before = 0x77777777;
  constexpr Qword exec = 0xFFFF'FFFF'0FFF'FFFE;
  int line = 0;
  for (const Case& one : cases) {
    for (unsigned lane = 0; lane < wave_size; ++lane) {
      for (unsigned reg = 0; reg < 3; ++reg) {
        wave.vector[reg][lane] = value(lane, reg);
      }
      wave.vector[3][lane] = before;
    }
    wave.set_pair(scalar::exec, exec);
    kernel.execute(line++);
    for (unsigned lane = 0; lane < wave_size; ++lane) {
      const Dword expected = has_lane(exec, lane)
                                 ? one.expected(value(lane, 0), value(lane, 1), value(lane, 2))
                                 : before;
      ASSERT_EQ(wave.vector[3][lane], expected) << one.line << ", lane " << lane;
    }
  }
  EXPECT_EQ(kernel.reports(), 0U);
}

std::int64_t number(Dword bits) { return static_cast<std::int32_t>(bits); }
Dword low(std::int64_t wide) { return static_cast<Dword>(wide); }
Dword high(std::int64_t wide) { return static_cast<Dword>(wide >> 32); }
// Bits 0 to 23 with their sign.
std::int64_t number_24(Dword bits) { return number(bits << 8) / 256; }

TEST(VectorInteger, Logic) {
  check({
      {"v_and_b32 v3, v0, v1", [](Dword a, Dword b, Dword) { return a & b; }},
      {"v_or_b32 v3, v0, v1", [](Dword a, Dword b, Dword) { return a | b; }},
      {"v_xor_b32 v3, v0, v1", [](Dword a, Dword b, Dword) { return a ^ b; }},
      {"v_not_b32 v3, v0", [](Dword a, Dword, Dword) { return ~a; }},
      {"v_or3_b32 v3, v0, v1, v2", [](Dword a, Dword b, Dword c) { return a | b | c; }},
      {"v_and_or_b32 v3, v0, v1, v2", [](Dword a, Dword b, Dword c) { return (a & b) | c; }},
      {"v_bfi_b32 v3, v0, v1, v2", [](Dword a, Dword b, Dword c) { return c ^ ((b ^ c) & a); }},
  });
}

TEST(VectorInteger, SumsAndProducts) {
  check({
      {"v_add_u32 v3, v0, v1", [](Dword a, Dword b, Dword) { return a + b; }},
      {"v_sub_u32 v3, v0, v1", [](Dword a, Dword b, Dword) { return a - b; }},
      {"v_subrev_u32 v3, v0, v1", [](Dword a, Dword b, Dword) { return b - a; }},
      {"v_add_u32 v3, v0, v1 clamp",
       [](Dword a, Dword b, Dword) { return Qword{a} + b > 0xFFFFFFFF ? 0xFFFFFFFF : a + b; }},
      {"v_sub_u32 v3, v0, v1 clamp", [](Dword a, Dword b, Dword) { return a < b ? 0 : a - b; }},
      {"v_add3_u32 v3, v0, v1, v2", [](Dword a, Dword b, Dword c) { return a + b + c; }},
      {"v_lshl_add_u32 v3, v0, 5, v2", [](Dword a, Dword, Dword c) { return a * 32 + c; }},
      {"v_add_lshl_u32 v3, v0, v1, 3", [](Dword a, Dword b, Dword) { return (a + b) * 8; }},
      {"v_mul_lo_u32 v3, v0, v1",
       [](Dword a, Dword b, Dword) { return low(number(a) * number(b)); }},
      {"v_mul_hi_u32 v3, v0, v1",
       [](Dword a, Dword b, Dword) { return static_cast<Dword>(Qword{a} * b >> 32); }},
      {"v_mul_hi_i32 v3, v0, v1",
       [](Dword a, Dword b, Dword) { return high(number(a) * number(b)); }},
      {"v_mul_u32_u24 v3, v0, v1",
       [](Dword a, Dword b, Dword) { return (a % (1U << 24)) * (b % (1U << 24)); }},
      {"v_mul_i32_i24 v3, v0, v1",
       [](Dword a, Dword b, Dword) { return low(number_24(a) * number_24(b)); }},
      {"v_mad_u32_u24 v3, v0, v1, v2",
       [](Dword a, Dword b, Dword c) { return (a % (1U << 24)) * (b % (1U << 24)) + c; }},
      {"v_mad_i32_i24 v3, v0, v1, v2",
       [](Dword a, Dword b, Dword c) { return low(number_24(a) * number_24(b)) + c; }},
  });
}

TEST(VectorInteger, LimitsAndShifts) {
  check({
      {"v_min_u32 v3, v0, v1", [](Dword a, Dword b, Dword) { return a < b ? a : b; }},
      {"v_max_u32 v3, v0, v1", [](Dword a, Dword b, Dword) { return a < b ? b : a; }},
      {"v_min_i32 v3, v0, v1",
       [](Dword a, Dword b, Dword) { return number(a) < number(b) ? a : b; }},
      {"v_max_i32 v3, v0, v1",
       [](Dword a, Dword b, Dword) { return number(a) < number(b) ? b : a; }},
      {"v_lshlrev_b32 v3, 7, v1", [](Dword, Dword b, Dword) { return b * 128; }},
      {"v_lshrrev_b32 v3, 7, v1", [](Dword, Dword b, Dword) { return b / 128; }},
      {"v_ashrrev_i32 v3, v0, v1",
       [](Dword a, Dword b, Dword) { return low(number(b) >> (a % 32)); }},
      {"v_alignbit_b32 v3, v0, v1, 12", [](Dword a, Dword b, Dword) { return a << 20 | b >> 12; }},
      {"v_alignbyte_b32 v3, v0, v1, 3", [](Dword a, Dword b, Dword) { return a << 8 | b >> 24; }},
      {"v_lshl_or_b32 v3, v0, 4, v2", [](Dword a, Dword, Dword c) { return a << 4 | c; }},
  });
}

TEST(VectorInteger, Bits) {
  check({
      {"v_bfe_u32 v3, v0, 5, 9", [](Dword a, Dword, Dword) { return a / 32 % 512; }},
      {"v_bfe_i32 v3, v0, 5, 9",
       [](Dword a, Dword, Dword) {
         const Dword field = a / 32 % 512;
         return field < 256 ? field : field - 512;
       }},
      {"v_bcnt_u32_b32 v3, v0, v1",
       [](Dword a, Dword b, Dword) { return static_cast<Dword>(std::popcount(a)) + b; }},
      {"v_ffbh_u32 v3, v0",
       [](Dword a, Dword, Dword) {
         return a == 0 ? ~0U : static_cast<Dword>(std::countl_zero(a));
       }},
      {"v_ffbl_b32 v3, v0",
       [](Dword a, Dword, Dword) {
         return a == 0 ? ~0U : static_cast<Dword>(std::countr_zero(a));
       }},
      {"v_bfm_b32 v3, 5, 8", [](Dword, Dword, Dword) { return 0x1F00U; }},
      // Bytes 1 of v1, 2 of v0, 0xff, and the sign of v0's upper half.
      {"v_perm_b32 v3, v0, v1, s0",
       [](Dword a, Dword b, Dword) {
         return (b >> 8 & 0xff) | (a >> 16 & 0xff) << 8 | 0xff0000U |
                (a >> 31 != 0 ? 0xff000000 : 0);
       }},
  });
}

TEST(VectorInteger, SixteenBits) {
  check({
      {"v_add_u16 v3, v0, v1", [](Dword a, Dword b, Dword) { return (a + b) % 65536; }},
      {"v_sub_u16 v3, v0, v1", [](Dword a, Dword b, Dword) { return (a - b) % 65536; }},
      {"v_mul_lo_u16 v3, v0, v1", [](Dword a, Dword b, Dword) { return a * b % 65536; }},
      {"v_lshlrev_b16 v3, 3, v1", [](Dword, Dword b, Dword) { return b * 8 % 65536; }},
      {"v_lshrrev_b16 v3, 3, v1", [](Dword, Dword b, Dword) { return b % 65536 / 8; }},
      {"v_max_u16 v3, v0, v1",
       [](Dword a, Dword b, Dword) { return std::max(a % 65536, b % 65536); }},
  });
}

// SDWA: a byte or a word of a source, and of the result.
TEST(VectorInteger, PartsOfRegisters) {
  check({
      {"v_add_u32_sdwa v3, v0, v1 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:BYTE_1 "
       "src1_sel:WORD_1",
       [](Dword a, Dword b, Dword) { return (a >> 8 & 0xff) + (b >> 16); }},
      {"v_mov_b32_sdwa v3, v0 dst_sel:WORD_1 dst_unused:UNUSED_PRESERVE src0_sel:WORD_0",
       [](Dword a, Dword, Dword) { return a << 16 | 0x7777; }},
      {"v_mov_b32_sdwa v3, v0 dst_sel:BYTE_2 dst_unused:UNUSED_PAD src0_sel:BYTE_3",
       [](Dword a, Dword, Dword) { return a >> 24 << 16; }},
      {"v_mov_b32_sdwa v3, sext(v0) dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:BYTE_0",
       [](Dword a, Dword, Dword) { return low(static_cast<std::int8_t>(a)); }},
  });
}

TEST(VectorInteger, CarriesGoThroughMasks) {
  TestKernel kernel(
      "v_add_co_u32 v2, vcc, v0, v1\n"
      "v_addc_co_u32 v3, vcc, v0, v1, vcc\n"
      "v_sub_co_u32 v2, s[4:5], v0, v1\n"
      "v_subbrev_co_u32 v3, vcc, v0, v1, vcc\n"
      "v_mad_u64_u32 v[4:5], s[6:7], v0, v1, v[2:3]\n");
  Wave& wave = kernel.wave();
  wave.vector[0].fill(0xFFFFFFFF);
  wave.vector[1].fill(0);
  wave.vector[1][3] = 1;
  kernel.execute(0);
  EXPECT_EQ(wave.vcc(), Qword{1} << 3);
  EXPECT_EQ(wave.vector[2][3], 0U);
  EXPECT_EQ(wave.vector[2][4], 0xFFFFFFFF);
  wave.set_pair(scalar::vcc, 0b110000);
  kernel.execute(1);
  EXPECT_EQ(wave.vcc(), 0b111000U);
  EXPECT_EQ(wave.vector[3][5], 0U);
  kernel.execute(2);
  EXPECT_EQ(wave.pair(4), 0U);
  EXPECT_EQ(wave.vector[2][3], 0xFFFFFFFE);
  wave.set_pair(scalar::vcc, 1);
  kernel.execute(3);
  EXPECT_EQ(wave.vcc(), all_lanes);  // 0 - 0xFFFFFFFF borrows everywhere
  EXPECT_EQ(wave.vector[3][0], 0U);
  EXPECT_EQ(wave.vector[3][1], 1U);
  wave.vector[2].fill(0xFFFFFFFF);
  wave.vector[3].fill(0xFFFFFFFF);
  kernel.execute(4);
  EXPECT_EQ(wave.pair(6), Qword{1} << 3);  // 2^64 - 1 + 2^32 - 1 there, and 2^64 - 1 elsewhere
  EXPECT_EQ(wave.vector[4][3], 0xFFFFFFFE);
  EXPECT_EQ(wave.vector[5][3], 0U);
}

TEST(VectorInteger, SixtyFourBitsShift) {
  TestKernel kernel(
      "v_lshlrev_b64 v[4:5], v0, v[2:3]\n"
      "v_lshrrev_b64 v[4:5], v0, v[2:3]\n"
      "v_ashrrev_i64 v[4:5], v0, v[2:3]\n");
  Wave& wave = kernel.wave();
  wave.vector[0].fill(36);
  wave.vector[2].fill(0x89ABCDEF);
  wave.vector[3].fill(0xF1234567);
  kernel.execute(0);
  EXPECT_EQ(joined(wave.vector[4][9], wave.vector[5][9]), 0x9ABCDEF0'00000000U);
  kernel.execute(1);
  EXPECT_EQ(joined(wave.vector[4][9], wave.vector[5][9]), 0x0F123456U);
  kernel.execute(2);
  EXPECT_EQ(joined(wave.vector[4][9], wave.vector[5][9]), 0xFFFFFFFF'FF123456U);
}

TEST(VectorInteger, LanesAreReadCountedAndChosen) {
  TestKernel kernel(
      "v_readfirstlane_b32 s4, v0\n"
      "v_readlane_b32 s4, v0, 9\n"
      "v_writelane_b32 v0, s4, 11\n"
      "v_mbcnt_lo_u32_b32 v1, -1, 0\n"
      "v_mbcnt_hi_u32_b32 v1, -1, v1\n"
      "v_cndmask_b32_e32 v2, v0, v1, vcc\n");
  Wave& wave = kernel.wave();
  set_lanes(wave.vector[0], [](unsigned lane) { return 100 + lane; });
  wave.set_pair(scalar::exec, 0b110000);
  kernel.execute(0);
  EXPECT_EQ(wave.scalars[4], 104U);
  kernel.execute(1);
  EXPECT_EQ(wave.scalars[4], 109U);
  kernel.execute(2);
  EXPECT_EQ(wave.vector[0][11], 109U);
  wave.set_pair(scalar::exec, all_lanes);
  kernel.execute(3);
  kernel.execute(4);
  for (unsigned lane = 0; lane < wave_size; ++lane) {
    EXPECT_EQ(wave.vector[1][lane], lane);
  }
  wave.set_pair(scalar::vcc, 0b10);
  kernel.execute(5);
  EXPECT_EQ(wave.vector[2][0], 100U);
  EXPECT_EQ(wave.vector[2][1], 1U);
}

// DPP: the lane that each reads from, -1 for none.
void check_crossing(const std::string& pattern, const std::function<int(int)>& source) {
  TestKernel kernel("v_mov_b32_dpp v1, v0 " + pattern + " row_mask:0xf bank_mask:0xf\n");
  Wave& wave = kernel.wave();
  set_lanes(wave.vector[0], [](unsigned lane) { return lane; });
  constexpr Dword before = 777;
  wave.vector[1].fill(before);
  kernel.execute(0);
  for (int lane = 0; lane < 64; ++lane) {
    const int from = source(lane);
    ASSERT_EQ(wave.vector[1][static_cast<unsigned>(lane)],
              from < 0 ? before : static_cast<Dword>(from))
        << pattern << ", lane " << lane;
  }
}

TEST(VectorInteger, LanesCross) {
  check_crossing("quad_perm:[1,0,3,2]", [](int lane) { return lane ^ 1; });
  check_crossing("row_shl:1", [](int lane) { return lane % 16 == 15 ? -1 : lane + 1; });
  check_crossing("row_shr:4", [](int lane) { return lane % 16 < 4 ? -1 : lane - 4; });
  check_crossing("row_ror:3", [](int lane) { return lane / 16 * 16 + (lane % 16 + 13) % 16; });
  check_crossing("wave_shl:1", [](int lane) { return lane == 63 ? -1 : lane + 1; });
  check_crossing("wave_ror:1", [](int lane) { return (lane + 63) % 64; });
  check_crossing("row_mirror", [](int lane) { return lane ^ 15; });
  check_crossing("row_half_mirror", [](int lane) { return lane ^ 7; });
  check_crossing("row_bcast:15", [](int lane) { return lane / 16 * 16 - 1; });
  check_crossing("row_bcast:31", [](int lane) { return lane < 32 ? -1 : 31; });
}

TEST(VectorInteger, CrossingWritesChosenRowsAndZerosFromOutside) {
  TestKernel kernel(
      "v_mov_b32_dpp v1, v0 row_shl:1 row_mask:0x2 bank_mask:0x9\n"
      "v_mov_b32_dpp v2, v0 row_shl:1 row_mask:0xf bank_mask:0xf bound_ctrl:0\n");
  Wave& wave = kernel.wave();
  wave.vector[0].fill(5);
  wave.vector[1].fill(9);
  wave.vector[2].fill(9);
  kernel.execute(0);
  EXPECT_EQ(wave.vector[1][16], 5U);
  EXPECT_EQ(wave.vector[1][20], 9U);  // of a bank that is not chosen
  EXPECT_EQ(wave.vector[1][0], 9U);   // of a row that is not chosen
  EXPECT_EQ(wave.vector[1][31], 9U);  // has no source
  kernel.execute(1);
  EXPECT_EQ(wave.vector[2][31], 0U);
}

}  // namespace
}  // namespace emulator
