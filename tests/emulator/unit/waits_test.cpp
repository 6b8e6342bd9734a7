// s_waitcnt, wait states, branches and counters: what is reported, and what is not.
#include <gtest/gtest.h>

#include <array>

#include "disassembly.h"
#include "test_kernel.h"

namespace emulator {
namespace {

struct Waits : testing::Test {
  std::array<Dword, 256> buffer = {};

  // The reports of missing waits of a kernel whose v[0:1] are addresses, v8 one of LDS, and s[0:1]
  // one.
  std::size_t missing(const std::string& assembly) {
    TestKernel kernel(assembly + "s_endpgm\n", {.lds = 1024});
    const auto address = reinterpret_cast<Qword>(buffer.data());
    kernel.machine().memory.allow(address, sizeof buffer);
    kernel.wave().vector[0].fill(low_half(address));
    kernel.wave().vector[1].fill(high_half(address));
    kernel.wave().vector[8].fill(0);
    kernel.wave().set_pair(0, address);
    kernel.run();
    EXPECT_EQ(kernel.reports(), kernel.reports(mistake::missing_wait));
    return kernel.reports(mistake::missing_wait);
  }
};

TEST_F(Waits, RegisterReadBeforeItsLoad) {
  const std::string load = "global_load_dword v2, v[0:1], off\n";
  EXPECT_EQ(missing(load + "v_mov_b32 v3, v2\n"), 1U);
  EXPECT_EQ(missing(load + "s_waitcnt vmcnt(0)\nv_mov_b32 v3, v2\n"), 0U);
  EXPECT_EQ(missing(load + "s_waitcnt lgkmcnt(0)\nv_mov_b32 v3, v2\n"), 1U);
  EXPECT_EQ(missing(load + "v_mov_b32 v3, v4\n"), 0U);
}

TEST_F(Waits, RegisterWrittenBeforeItsLoad) {
  const std::string load = "global_load_dword v2, v[0:1], off\n";
  EXPECT_EQ(missing(load + "v_mov_b32 v2, 0\n"), 1U);
  // A second load of the same kind ends after the first.
  EXPECT_EQ(missing(load + load), 0U);
  EXPECT_EQ(missing(load + "ds_read_b32 v2, v8\n"), 1U);
}

TEST_F(Waits, CountsThatAreLeft) {
  const std::string loads =
      "global_load_dword v2, v[0:1], off\n"
      "global_load_dword v3, v[0:1], off\n";
  EXPECT_EQ(missing(loads + "s_waitcnt vmcnt(1)\nv_mov_b32 v4, v2\n"), 0U);
  EXPECT_EQ(missing(loads + "s_waitcnt vmcnt(1)\nv_mov_b32 v4, v3\n"), 1U);
  EXPECT_EQ(missing(loads + "s_waitcnt vmcnt(2)\nv_mov_b32 v4, v2\n"), 1U);
}

TEST_F(Waits, LdsAccessesEndInOrderAndScalarLoadsInNone) {
  const std::string two =
      "ds_read_b32 v2, v8\n"
      "ds_read_b32 v3, v8\n";
  EXPECT_EQ(missing(two + "s_waitcnt lgkmcnt(1)\nv_mov_b32 v4, v2\n"), 0U);
  EXPECT_EQ(missing(two + "s_waitcnt lgkmcnt(1)\nv_mov_b32 v4, v3\n"), 1U);
  const std::string scalar_loads =
      "s_load_dword s4, s[0:1], 0x0\n"
      "s_load_dword s5, s[0:1], 0x4\n";
  EXPECT_EQ(missing(scalar_loads + "s_waitcnt lgkmcnt(1)\ns_mov_b32 s6, s4\n"), 1U);
  EXPECT_EQ(missing(scalar_loads + "s_waitcnt lgkmcnt(0)\ns_mov_b32 s6, s4\n"), 0U);
}

TEST_F(Waits, FlatLoadsCountInBoth) {
  const std::string load = "flat_load_dword v2, v[0:1]\n";
  EXPECT_EQ(missing(load + "s_waitcnt vmcnt(0) lgkmcnt(0)\nv_mov_b32 v3, v2\n"), 0U);
  EXPECT_EQ(missing(load + "s_waitcnt lgkmcnt(0)\nv_mov_b32 v3, v2\n"), 1U);
}

// How many hazards a kernel of vector instructions has.
std::size_t hazards(const std::string& assembly) {
  TestKernel kernel(assembly + "s_endpgm\n");
  kernel.run();
  EXPECT_EQ(kernel.reports(), kernel.reports(mistake::hazard));
  return kernel.reports(mistake::hazard);
}

TEST(Hazards, DppAfterAWrite) {
  const std::string write = "v_mov_b32 v0, 1\n";
  const std::string read = "v_mov_b32_dpp v1, v0 row_shl:1 row_mask:0xf bank_mask:0xf\n";
  EXPECT_EQ(hazards(write + read), 1U);
  EXPECT_EQ(hazards(write + "s_nop 0\n" + read), 1U);
  EXPECT_EQ(hazards(write + "s_nop 1\n" + read), 0U);
}

TEST(Hazards, LaneChosenByAWrittenRegister) {
  const std::string write = "v_readfirstlane_b32 s4, v0\n";
  const std::string read = "v_readlane_b32 s5, v0, s4\n";
  EXPECT_EQ(hazards(write + "s_nop 2\n" + read), 1U);
  EXPECT_EQ(hazards(write + "s_nop 3\n" + read), 0U);
}

TEST(Hazards, LoadToLdsAfterItsAddress) {
  const std::string load = "global_load_dword v[0:1], off lds\n";
  const std::string nobody = "s_mov_b64 exec, 0\ns_mov_b32 m0, 0\n";
  EXPECT_EQ(hazards(nobody + load), 1U);
  EXPECT_EQ(hazards(nobody + "s_nop 0\n" + load), 0U);
}

TEST(Hazards, DivisionAfterItsMask) {
  const std::string write = "v_cmp_eq_u32 vcc, 0, v0\n";
  const std::string read = "v_div_fmas_f32 v1, v2, v3, v4\n";
  EXPECT_EQ(hazards(write + read), 1U);
  EXPECT_EQ(hazards(write + "s_nop 3\n" + read), 0U);
}

TEST(Control, BranchesAndLoops) {
  TestKernel kernel(
      "s_mov_b32 s4, 5\n"
      "s_mov_b32 s5, 0\n"
      "loop:\n"
      "s_add_u32 s5, s5, s4\n"
      "s_sub_u32 s4, s4, 1\n"
      "s_cmp_lg_u32 s4, 0\n"
      "s_cbranch_scc1 loop\n"
      "s_cbranch_vccz end\n"
      "s_mov_b32 s5, 99\n"
      "end:\n"
      "s_endpgm\n");
  kernel.wave().set_pair(scalar::vcc, 0);
  kernel.run();
  EXPECT_EQ(kernel.wave().scalars[5], 15U);
}

TEST(Control, ClocksAdvanceOrStandStill) {
  const auto advance = [](const std::string& options) {
    TestKernel kernel(
        "s_memtime s[4:5]\n"
        "s_memtime s[6:7]\n"
        "s_memrealtime s[8:9]\n"
        "s_memrealtime s[10:11]\n"
        "s_waitcnt lgkmcnt(0)\n"
        "s_endpgm\n",
        {.options = options});
    kernel.run();
    return std::pair(kernel.wave().pair(6) > kernel.wave().pair(4),
                     kernel.wave().pair(10) > kernel.wave().pair(8));
  };
  EXPECT_EQ(advance(""), std::pair(true, true));
  EXPECT_EQ(advance("still-counter"), std::pair(false, true));
  EXPECT_EQ(advance("still-timer"), std::pair(true, false));
}

TEST(Control, RegistersAreIndexed) {
  TestKernel kernel(
      "s_set_gpr_idx_on s4, gpr_idx(SRC0)\n"
      "v_mov_b32 v0, v1\n"
      "s_set_gpr_idx_off\n"
      "v_mov_b32 v2, v1\n"
      "s_endpgm\n");
  for (unsigned reg = 0; reg < 8; ++reg) {
    kernel.wave().vector[reg].fill(10 * reg);
  }
  kernel.wave().scalars[4] = 4;
  kernel.run();
  EXPECT_EQ(kernel.wave().vector[0][0], 50U);
  EXPECT_EQ(kernel.wave().vector[2][0], 10U);
}

TEST(Unknown, InstructionStopsWhereItIsExecuted) {
  const std::string assembly =
      "s_cbranch_scc1 end\n"
      "v_sad_u8 v0, v1, v2, v3\n"
      "end:\n"
      "s_endpgm\n";
  TestKernel good(assembly);
  good.wave().scc = true;
  good.run();
  TestKernel bad(assembly);
  bad.wave().scc = false;
  try {
    bad.run();
    FAIL();
  } catch (const Stopped& stopped) {
    EXPECT_EQ(std::string(stopped.what()),
              "unknown instruction: v_sad_u8 v0, v1, v2, v3 in made (at 0x4, block 0,0,0, wave 0)");
  }
}

TEST(Decoder, OperandsAsDisassembled) {
  const Operand pair = parse_operand("s[4:7]");
  EXPECT_TRUE(pair.is_scalar());
  EXPECT_EQ(pair.index, 4);
  EXPECT_EQ(pair.count, 4);
  const Operand accumulator = parse_operand("a17");
  EXPECT_TRUE(accumulator.is_vector());
  EXPECT_EQ(accumulator.index, first_accumulator + 17);
  const Operand changed = parse_operand("-|v3|");
  EXPECT_TRUE(changed.negate);
  EXPECT_TRUE(changed.absolute);
  EXPECT_EQ(changed.index, 3);
  EXPECT_EQ(parse_operand("-16").integer, -16);
  EXPECT_TRUE(parse_operand("0xff").is_literal);
  EXPECT_EQ(parse_operand("-4.0").floating, -4.0);
  EXPECT_TRUE(parse_operand("sext(v1)").sign_extend);
  EXPECT_EQ(parse_operand("exec_hi").index, scalar::exec + 1);
  EXPECT_THROW(parse_operand("label"), std::runtime_error);
}

TEST(Decoder, WhatIsNotKnownIsNotTakenForSomethingElse) {
  // A byte straight into LDS.
  TestKernel kernel("buffer_load_ubyte off, s[0:3], 0 lds\n");
  EXPECT_THROW(kernel.execute(0), Stopped);
}

}  // namespace
}  // namespace emulator
