// Launches: blocks, their numbers, their arguments, and blocks that wait for each other.
#include <gtest/gtest.h>

#include <array>

#include "test_kernel.h"

namespace emulator {
namespace {

// output[block] = block + input
const std::string store_block_number =
    "s_load_dwordx2 s[4:5], s[0:1], 0x0\n"
    "s_load_dword s6, s[0:1], 0x8\n"
    "s_waitcnt lgkmcnt(0)\n"
    "s_add_u32 s6, s6, s2\n"
    "s_lshl_b32 s7, s2, 2\n"
    "v_mov_b32 v1, s7\n"
    "v_mov_b32 v2, s6\n"
    "s_mov_b64 exec, 1\n"
    "global_store_dword v1, v2, s[4:5]\n"
    "s_endpgm\n";

std::array<Dword, 37> block_numbers(const std::string& options) {
  std::array<Dword, 37> output = {};
  const auto address = reinterpret_cast<Qword>(output.data());
  const Reports reports =
      launch(store_block_number, 37, 1, {address, 1000}, options,
             [&](Machine& machine) { machine.memory.allow(address, sizeof output); });
  EXPECT_TRUE(reports.all().empty());
  return output;
}

TEST(Launches, EachBlockRunsOnce) {
  for (const char* options : {"", "shuffle", "shuffle late-stores stale-l1 seed=5", "units=1"}) {
    const auto output = block_numbers(options);
    for (Dword block = 0; block < output.size(); ++block) {
      ASSERT_EQ(output[block], 1000 + block) << options;
    }
  }
}

// Adds 1 to a counter, and waits until all blocks have.
const std::string meet_all =
    "s_load_dwordx2 s[4:5], s[0:1], 0x0\n"
    "s_load_dword s6, s[0:1], 0x8\n"
    "v_mov_b32 v1, 0\n"
    "v_mov_b32 v2, 1\n"
    "s_mov_b64 exec, 1\n"
    "s_waitcnt lgkmcnt(0)\n"
    "global_atomic_add v1, v2, s[4:5]\n"
    "wait:\n"
    "global_load_dword v3, v1, s[4:5] glc\n"
    "s_waitcnt vmcnt(0)\n"
    "v_cmp_ne_u32 vcc, s6, v3\n"
    "s_cbranch_vccnz wait\n"
    "s_endpgm\n";

void meet(unsigned blocks, unsigned expected, const std::string& options) {
  Dword counter = 0;
  const auto address = reinterpret_cast<Qword>(&counter);
  launch(meet_all, blocks, 1, {address, expected}, options,
         [&](Machine& machine) { machine.memory.allow(address, sizeof counter); });
  EXPECT_EQ(counter, blocks);
}

TEST(Launches, BlocksThatAreThereTogetherMeet) {
  meet(8, 8, "units=4");
  meet(8, 8, "units=4 shuffle late-stores stale-l1");
}

// Block 0's wave 1 stores 7 and its wave 0 then sets a flag, for which the other block waits before
// it copies what is there.
std::string hand_over(const std::string& between) {
  return "s_load_dwordx2 s[4:5], s[0:1], 0x0\n"
         "v_readfirstlane_b32 s6, v0\n"
         "v_mov_b32 v1, 0\n"
         "v_mov_b32 v2, 1\n"
         "v_mov_b32 v4, 7\n"
         "s_mov_b64 exec, 1\n"
         "s_lshr_b32 s7, s2, 1\n"
         "s_lshl_b32 s7, s7, 8\n"
         "s_waitcnt lgkmcnt(0)\n"
         "s_add_u32 s4, s4, s7\n"
         "s_addc_u32 s5, s5, 0\n"
         "s_bitcmp1_b32 s2, 0\n"
         "s_cbranch_scc1 take\n"
         "s_barrier\n"
         "s_cmp_eq_u32 s6, 0\n"
         "s_cbranch_scc1 stored\n"
         "global_store_dword v1, v4, s[4:5] offset:64\n"
         "s_waitcnt vmcnt(0)\n"
         "stored:\n" +
         between +
         "s_cmp_eq_u32 s6, 0\n"
         "s_cbranch_scc0 end\n"
         "global_store_dword v1, v2, s[4:5]\n"
         "s_branch end\n"
         "take:\n"
         "global_load_dword v3, v1, s[4:5] glc\n"
         "s_waitcnt vmcnt(0)\n"
         "v_cmp_ne_u32 vcc, 1, v3\n"
         "s_cbranch_vccnz take\n"
         "global_load_dword v3, v1, s[4:5] offset:64 glc\n"
         "s_waitcnt vmcnt(0)\n"
         "global_store_dword v1, v3, s[4:5] offset:128\n"
         "end:\n"
         "s_endpgm\n";
}

unsigned wrong_hand_overs(const std::string& between) {
  constexpr unsigned pairs = 16;
  constexpr unsigned dwords_of_pair = 64;
  std::array<Dword, pairs* dwords_of_pair> memory = {};
  unsigned wrong = 0;
  for (const char* seed : {"1", "2", "3", "4"}) {
    memory = {};
    const auto address = reinterpret_cast<Qword>(memory.data());
    launch(hand_over(between), 2 * pairs, 2, {address},
           std::string("shuffle late-stores seed=") + seed,
           [&](Machine& machine) { machine.memory.allow(address, sizeof memory); });
    for (unsigned pair = 0; pair < pairs; ++pair) {
      wrong += memory[pair * dwords_of_pair + 32] == 7 ? 0 : 1;
    }
  }
  return wrong;
}

TEST(Launches, AHeldWaveShowsABarrierThatIsNotThere) {
  EXPECT_EQ(wrong_hand_overs("s_barrier\n"), 0U);
  EXPECT_GT(wrong_hand_overs(""), 0U);
}

TEST(Launches, WhatNeverEndsIsStopped) {
  try {
    meet(2, 3, "units=4");
    FAIL();
  } catch (const Stopped& stopped) {
    EXPECT_EQ(std::string(stopped.what()).substr(0, 14), "no block ends:");
  }
  // The kernel has 256 registers, of which each of four SIMDs has room for two waves.
  meet(8, 8, "units=1");
  EXPECT_THROW(meet(9, 9, "units=1"), Stopped);
}

TEST(Launches, OccupancyFollowsRegistersAndLds) {
  const CodeObject unified = assemble("s_endpgm\n", "gfx90a");
  const CodeObject separate = assemble("s_endpgm\n", "gfx908");
  Kernel kernel;
  kernel.vgprs = 24;
  EXPECT_EQ(blocks_per_unit(unified, kernel, 64, 0), 32U);
  EXPECT_EQ(blocks_per_unit(separate, kernel, 64, 0), 40U);
  kernel.vgprs = 128;
  EXPECT_EQ(blocks_per_unit(unified, kernel, 256, 0), 4U);
  EXPECT_EQ(blocks_per_unit(separate, kernel, 256, 0), 2U);
  kernel.lds = 16384;
  EXPECT_EQ(blocks_per_unit(unified, kernel, 256, 16384), 2U);
}

}  // namespace
}  // namespace emulator
