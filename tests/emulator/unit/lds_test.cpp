// LDS, and what the emulator reports of its use: each report by a kernel that deserves it, and one
// that does not.
#include <gtest/gtest.h>

#include <map>

#include "test_kernel.h"

namespace emulator {
namespace {

TEST(Lds, LoadsBringWhatStoresLeft) {
  TestKernel kernel(
      "ds_write_b64 v0, v[6:7]\n"
      "ds_write2_b32 v0, v6, v7 offset0:128 offset1:129\n"
      "ds_read_b32 v3, v0 offset:4\n"
      "ds_read2_b32 v[4:5], v0 offset0:128 offset1:129\n"
      "ds_read_u8 v3, v0 offset:1\n"
      "ds_read_i16 v3, v0 offset:4\n"
      "ds_write_b8 v0, v6\n"
      "ds_read_b64 v[4:5], v0\n"
      "ds_read2st64_b32 v[4:5], v0 offset0:0 offset1:2\n",
      {.lds = 4096});
  Wave& wave = kernel.wave();
  set_lanes(wave.vector[0], [](unsigned lane) { return 8 * lane; });
  set_lanes(wave.vector[6], [](unsigned lane) { return 0x01020304 + lane; });
  set_lanes(wave.vector[7], [](unsigned lane) { return 0xA0B0C0D0 + lane; });
  for (int line = 0; line < 3; ++line) {
    kernel.execute(line);
  }
  EXPECT_EQ(wave.vector[3][5], 0xA0B0C0D5U);
  kernel.execute(3);
  EXPECT_EQ(wave.vector[4][6], 0x0102030AU);
  EXPECT_EQ(wave.vector[5][63], 0xA0B0C10FU);
  kernel.execute(4);
  EXPECT_EQ(wave.vector[3][5], 0x03U);
  kernel.execute(5);
  EXPECT_EQ(wave.vector[3][5], 0xFFFFC0D5U);
  wave.vector[6].fill(0xEE);
  kernel.execute(6);
  kernel.execute(7);
  EXPECT_EQ(wave.vector[4][1], 0x010203EEU);
  EXPECT_EQ(wave.vector[5][1], 0xA0B0C0D1U);
  kernel.execute(8);
  EXPECT_EQ(wave.vector[5][0], 0x01020304U);  // 512 bytes on: offset0:128 of the second store
}

TEST(Lds, LanesExchangeValues) {
  TestKernel kernel(
      "ds_bpermute_b32 v2, v1, v0\n"
      "ds_permute_b32 v2, v1, v0\n"
      "ds_swizzle_b32 v2, v0 offset:swizzle(QUAD_PERM, 1, 0, 3, 2)\n"
      "ds_swizzle_b32 v2, v0 offset:swizzle(SWAP, 16)\n");
  Wave& wave = kernel.wave();
  set_lanes(wave.vector[0], [](unsigned lane) { return 1000 + lane; });
  set_lanes(wave.vector[1], [](unsigned lane) { return 4 * ((lane + 3) % wave_size); });
  kernel.execute(0);
  EXPECT_EQ(wave.vector[2][10], 1013U);
  kernel.execute(1);
  EXPECT_EQ(wave.vector[2][10], 1007U);
  kernel.execute(2);
  EXPECT_EQ(wave.vector[2][10], 1011U);
  kernel.execute(3);
  EXPECT_EQ(wave.vector[2][40], 1056U);
  // From a lane that EXEC leaves out comes 0.
  wave.set_pair(scalar::exec, 1);
  kernel.execute(0);
  EXPECT_EQ(wave.vector[2][0], 0U);
}

TEST(Lds, AtomicsOfAllLanesCount) {
  TestKernel kernel(
      "ds_write_b32 v0, v1\n"
      "ds_add_u32 v0, v2\n"
      "ds_add_rtn_u32 v3, v0, v2\n"
      "ds_read_b32 v4, v0\n"
      "ds_cmpst_rtn_b32 v3, v0, v4, v2\n"
      "ds_read_b32 v4, v0\n",
      {.lds = 64});
  Wave& wave = kernel.wave();
  wave.vector[0].fill(16);
  wave.vector[1].fill(0);
  wave.vector[2].fill(3);
  for (int line = 0; line < 4; ++line) {
    kernel.execute(line);
  }
  EXPECT_EQ(wave.vector[3][0], 192U);
  EXPECT_EQ(wave.vector[3][63], 192U + 63 * 3);
  EXPECT_EQ(wave.vector[4][7], 384U);
  kernel.execute(4);  // the first lane finds what it expects, and the others 3
  kernel.execute(5);
  EXPECT_EQ(wave.vector[3][0], 384U);
  EXPECT_EQ(wave.vector[3][1], 3U);
  EXPECT_EQ(wave.vector[4][7], 3U);
  EXPECT_EQ(kernel.reports(mistake::lds_race), 0U);
}

TEST(Lds, AtomicsOfTwoDwordsAndFloats) {
  TestKernel kernel(
      "ds_write_b64 v0, v[2:3]\n"
      "ds_add_rtn_u64 v[4:5], v0, v[6:7]\n"
      "ds_max_u64 v0, v[8:9]\n"
      "ds_min_rtn_u64 v[4:5], v0, v[6:7]\n"
      "ds_cmpst_rtn_b64 v[4:5], v0, v[6:7], v[8:9]\n"
      "ds_wrxchg_rtn_b64 v[4:5], v0, v[2:3]\n"
      "ds_write_b32 v0, v10\n"
      "ds_add_rtn_f32 v4, v0, v10\n",
      {.lds = 64});
  Wave& wave = kernel.wave();
  wave.vector[0].fill(16);
  wave.vector[2].fill(0xFFFFFFFF);
  wave.vector[3].fill(0);
  wave.vector[6].fill(1);
  wave.vector[7].fill(0);
  wave.vector[8].fill(0);
  wave.vector[9].fill(1);
  kernel.execute(0);
  kernel.execute(1);  // from 0xFFFFFFFF on, over the end of the dword
  EXPECT_EQ(wave.vector[4][0], 0xFFFFFFFFU);
  EXPECT_EQ(wave.vector[5][0], 0U);
  EXPECT_EQ(wave.vector[4][63], 62U);
  EXPECT_EQ(wave.vector[5][63], 1U);
  kernel.execute(2);
  kernel.execute(3);  // the first lane meets the sum, the others 1
  EXPECT_EQ(wave.vector[4][0], 63U);
  EXPECT_EQ(wave.vector[5][0], 1U);
  EXPECT_EQ(wave.vector[4][1], 1U);
  EXPECT_EQ(wave.vector[5][1], 0U);
  kernel.execute(4);  // the first lane finds the 1
  EXPECT_EQ(wave.vector[4][0], 1U);
  EXPECT_EQ(wave.vector[5][1], 1U);
  kernel.execute(5);
  EXPECT_EQ(wave.vector[5][0], 1U);
  EXPECT_EQ(wave.vector[4][1], 0xFFFFFFFFU);
  wave.vector[10].fill(0x3F800000);
  kernel.execute(6);
  kernel.execute(7);
  EXPECT_EQ(wave.vector[4][0], 0x3F800000U);
  EXPECT_EQ(wave.vector[4][63], 0x42800000U);  // 64
}

// The conflicts that the counters of an MI300X told, of a load of 4, 8 and 16 bytes by lanes that
// are so many bytes apart (github.com/nod-ai/amd-shark-ai, docs/empirical-lds/cdna3info.md).
TEST(LdsCycles, OfLoadsAreThoseMeasured) {
  const std::map<unsigned, std::map<unsigned, unsigned>> conflicts = {
      {4, {{4, 0}, {8, 2}, {16, 6}, {32, 14}, {64, 30}, {128, 62}, {256, 62}, {512, 62}}},
      {8, {{8, 0}, {16, 4}, {32, 12}, {64, 28}, {128, 60}, {256, 60}, {512, 60}}},
      {16, {{16, 0}, {32, 8}, {64, 24}, {128, 56}, {256, 56}, {512, 56}}}};
  for (const auto& [bytes, by_stride] : conflicts) {
    for (const auto& [stride, expected] : by_stride) {
      std::array<Qword, wave_size> addresses = {};
      for (unsigned lane = 0; lane < wave_size; ++lane) {
        addresses[lane] = stride * lane;
      }
      EXPECT_EQ(lds_cycles(Access::load, bytes, addresses, all_lanes) - lds_groups(bytes), expected)
          << bytes << " bytes, " << stride << " apart";
    }
  }
}

TEST(LdsCycles, OfLanesServedTogetherByOneDwordOfABank) {
  std::array<Qword, wave_size> addresses = {};
  EXPECT_EQ(lds_cycles(Access::load, 4, addresses, all_lanes), 2U);  // all of them one dword
  addresses[20] = 128;                                               // the bank of 0
  EXPECT_EQ(lds_cycles(Access::load, 16, addresses, 1U | 1U << 20), 9U);
  EXPECT_EQ(lds_cycles(Access::store, 16, addresses, 1U | 1U << 20), 8U);
  EXPECT_EQ(lds_cycles(Access::load, 8, addresses, 1U | 1U << 20), 4U);
  addresses[7] = 128;
  EXPECT_EQ(lds_cycles(Access::load, 16, addresses, 1U | 1U << 7), 8U);
  EXPECT_EQ(lds_cycles(Access::store, 16, addresses, 1U | 1U << 7), 9U);
  EXPECT_EQ(lds_cycles(Access::store, 8, addresses, 1U | 1U << 7), 5U);
  EXPECT_EQ(lds_cycles(Access::load, 1, addresses, 1U | 1U << 7 | 1U << 20), 3U);
}

TEST(LdsCycles, AreCountedByKernelAndInstruction) {
  const std::string assembly =
      "ds_write_b128 v0, v[4:7]\n"
      "ds_read_b128 v[8:11], v0\n"
      "ds_read_b128 v[8:11], v0 offset:16\n"
      "ds_read2_b32 v[8:9], v1 offset0:0 offset1:32\n"
      "s_endpgm\n";
  for (const bool is_asked : {true, false}) {
    TestKernel kernel(assembly, {.lds = 8192, .options = is_asked ? "conflicts" : ""});
    for (unsigned lane = 0; lane < wave_size; ++lane) {
      // 16 rows of 128 bytes and 16 of padding: free of conflicts for stores, twice too long for
      // loads (docs/6-lds.md, lds_phases).
      kernel.wave().vector[0][lane] = lane % 16 * 144 + lane / 16 * 16;
      kernel.wave().vector[1][lane] = 8 * lane;
    }
    kernel.run();
    const LdsWorkOfKernels& work = kernel.machine().lds_work;
    ASSERT_EQ(work.size(), is_asked ? 1U : 0U);
    if (is_asked) {
      EXPECT_EQ(line_of("made", work.at("made")),
                "LDS of made: 4 instructions, 48 cycles, 28 without conflicts (ds_read2_b32: 1 "
                "instructions, 8 cycles, 4 without conflicts; ds_read_b128: 2 instructions, 32 "
                "cycles, 16 without conflicts; ds_write_b128: 1 instructions, 8 cycles, 8 without "
                "conflicts)");
    }
  }
}

// Each of two waves stores in its half of LDS and loads from the other's, with some lines between.
struct Exchange : TestKernel {
  explicit Exchange(const std::string& between)
      : TestKernel(
            "v_mov_b32 v1, v0\n"
            "ds_write_b32 v0, v1\n" +
                between +
                "v_xor_b32 v2, 0x100, v0\n"
                "ds_read_b32 v3, v2\n"
                "s_waitcnt lgkmcnt(0)\n"
                "v_mov_b32 v4, v3\n"
                "s_endpgm\n",
            {.waves = 2, .lds = 512}) {
    for (unsigned index = 0; index < 2; ++index) {
      set_lanes(wave(index).vector[0], [=](unsigned lane) { return 256 * index + 4 * lane; });
    }
    run();
  }
};

TEST(Reports, LdsRaceWithoutBarrier) {
  Exchange kernel("s_waitcnt lgkmcnt(0)\n");
  EXPECT_EQ(kernel.reports(mistake::lds_race), 2U);  // the store after the load, and the load
}

TEST(Reports, NoLdsRaceWithBarrier) {
  Exchange kernel("s_waitcnt lgkmcnt(0)\ns_barrier\n");
  EXPECT_EQ(kernel.reports(), 0U);
  EXPECT_EQ(kernel.wave(0).vector[4][3], 256U + 12);
  EXPECT_EQ(kernel.wave(1).vector[4][3], 12U);
}

TEST(Reports, StoreInFlightAtTheBarrier) {
  EXPECT_EQ(Exchange("s_barrier\n").reports(mistake::lds_before_barrier), 1U);
}

TEST(Reports, StoresOfOneValueToOnePlaceAreNoRace) {
  const std::string assembly =
      "v_mov_b32 v1, s4\n"
      "ds_write_b32 v0, v1\n"
      "s_waitcnt lgkmcnt(0)\n"
      "s_endpgm\n";
  for (const bool is_same : {true, false}) {
    TestKernel kernel(assembly, {.waves = 2, .lds = 64});
    for (unsigned index = 0; index < 2; ++index) {
      kernel.wave(index).vector[0].fill(8);
      kernel.wave(index).scalars[4] = is_same ? 5 : index;
    }
    kernel.run();
    EXPECT_EQ(kernel.reports(mistake::lds_race), is_same ? 0U : 1U);
  }
}

TEST(Reports, LanesThatStoreDifferentValuesToOnePlace) {
  for (const bool is_same : {true, false}) {
    TestKernel kernel("ds_write_b32 v0, v1\n", {.lds = 64});
    kernel.wave().vector[0].fill(8);
    kernel.wave().vector[1].fill(3);
    kernel.wave().vector[1][9] = is_same ? 3 : 4;
    kernel.execute(0);
    EXPECT_EQ(kernel.reports(mistake::lanes_collide), is_same ? 0U : 1U);
    EXPECT_EQ(kernel.reports(), is_same ? 0U : 1U);
  }
}

TEST(Reports, LdsOutOfBoundsAndMisaligned) {
  TestKernel kernel("ds_read_b64 v[2:3], v0 offset:56\n", {.lds = 64});
  kernel.wave().vector[0].fill(0);
  kernel.execute(0);
  EXPECT_EQ(kernel.reports(), 0U);
  kernel.wave().vector[0][5] = 8;
  kernel.execute(0);
  EXPECT_EQ(kernel.reports(mistake::lds_out_of_bounds), 1U);
  EXPECT_EQ(kernel.reports(mistake::lds_misaligned), 0U);
  kernel.wave().vector[0].fill(-4U);
  kernel.execute(0);
  EXPECT_EQ(kernel.reports(mistake::lds_misaligned), 1U);
}

}  // namespace
}  // namespace emulator
