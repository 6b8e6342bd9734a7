// Global memory, scratch, atomics, and what the emulator reports of their use.
#include <gtest/gtest.h>

#include <array>
#include <numeric>

#include "test_kernel.h"

namespace emulator {
namespace {

template <std::size_t count>
using Buffer = std::array<Dword, count>;

template <std::size_t count>
Qword allow(Machine& machine, Buffer<count>& buffer) {
  const auto address = reinterpret_cast<Qword>(buffer.data());
  machine.memory.allow(address, sizeof buffer);
  return address;
}

// Four bytes each lane further on, from an address.
void set_addresses(Wave& wave, unsigned reg, Qword address) {
  set_lanes(wave.vector[reg], [&](unsigned lane) { return low_half(address + Qword{4} * lane); });
  set_lanes(wave.vector[reg + 1],
            [&](unsigned lane) { return high_half(address + Qword{4} * lane); });
}

// Dwords 4 and on, each lane's at LDS address 512 + 16 + 4 * lane, after the wait and not before.
TEST(Memory, LoadsToLdsArriveWhenTheyAreWaitedFor) {
  for (const bool is_buffer : {false, true}) {
    TestKernel kernel(
        std::string(is_buffer ? "buffer_load_dword v2, s[4:7], 0 offen offset:16 lds\n"
                              : "global_load_dword v[0:1], off offset:16 lds\n") +
            "ds_read_b32 v4, v3\n"
            "s_waitcnt vmcnt(0)\n"
            "ds_read_b32 v4, v3\n",
        {.lds = 1024});
    Buffer<80> buffer;
    std::iota(buffer.begin(), buffer.end(), 1000);
    Wave& wave = kernel.wave();
    const Qword address = allow(kernel.machine(), buffer);
    set_addresses(wave, 0, address);
    wave.set_pair(4, address);
    wave.scalars[scalar::m0] = 512;
    set_lanes(wave.vector[2], [](unsigned lane) { return 4 * lane; });
    set_lanes(wave.vector[3],
              [](unsigned lane) { return 512 + 16 + 4 * ((lane + 1) % wave_size); });
    wave.set_pair(scalar::exec, ~Qword{1} << 1);  // all but lanes 0 and 1
    kernel.execute(0);
    kernel.execute(1);
    EXPECT_EQ(wave.vector[4][5], 0xCDCDCDCDU);
    kernel.execute(2);
    kernel.execute(3);
    EXPECT_EQ(wave.vector[4][5], 1000U + 4 + 6);
    EXPECT_EQ(wave.vector[4][62], 1000U + 4 + 63);
    EXPECT_EQ(wave.vector[4][63], 0xFBFBFBFBU);  // lane 0's, which has loaded nothing
  }
}

TEST(Memory, LoadsAndStoresOfAllWidths) {
  TestKernel kernel(
      "global_load_dword v2, v[0:1], off offset:4\n"
      "global_load_dwordx4 v[2:5], v[0:1], off\n"
      "global_load_sbyte v2, v[0:1], off offset:3\n"
      "global_load_ushort v2, v[0:1], off offset:2\n"
      "global_store_dwordx2 v[0:1], v[2:3], off offset:8\n"
      "global_store_short_d16_hi v[0:1], v2, off\n"
      "flat_load_dword v2, v[0:1]\n"
      "global_load_dword v2, v6, s[4:5] offset:8\n"
      "global_load_dword v2, v[0:1], off offset:-4\n");
  Buffer<80> buffer;
  for (Dword index = 0; index < buffer.size(); ++index) {
    buffer[index] = 0x80000000 + 0x10001 * index;
  }
  Wave& wave = kernel.wave();
  const Qword address = allow(kernel.machine(), buffer);
  set_addresses(wave, 0, address);
  kernel.execute(0);
  EXPECT_EQ(wave.vector[2][9], buffer[10]);
  kernel.execute(1);
  EXPECT_EQ(wave.vector[5][9], buffer[12]);
  kernel.execute(2);
  EXPECT_EQ(wave.vector[2][9], 0xFFFFFF80U);
  kernel.execute(3);
  EXPECT_EQ(wave.vector[2][9], 0x8009U);
  wave.set_pair(scalar::exec, 1);
  wave.vector[2].fill(0x12345678);
  wave.vector[3].fill(77);
  kernel.execute(4);
  EXPECT_EQ(buffer[2], 0x12345678U);
  EXPECT_EQ(buffer[3], 77U);
  EXPECT_EQ(buffer[4], 0x80040004U);
  kernel.execute(5);
  EXPECT_EQ(buffer[0], 0x80001234U);
  kernel.execute(6);
  EXPECT_EQ(wave.vector[2][0], 0x80001234U);
  wave.set_pair(4, address);
  wave.vector[6].fill(4);
  kernel.execute(7);
  EXPECT_EQ(wave.vector[2][0], 77U);
  set_addresses(wave, 0, address + 16);
  kernel.execute(8);
  EXPECT_EQ(wave.vector[2][0], 77U);
  EXPECT_EQ(kernel.reports(mistake::out_of_bounds), 0U);
}

TEST(Memory, ScalarLoads) {
  TestKernel kernel(
      "s_load_dwordx2 s[4:5], s[0:1], 0x8\n"
      "s_load_dword s4, s[0:1], s2\n");
  Buffer<8> buffer;
  std::iota(buffer.begin(), buffer.end(), 100);
  kernel.wave().set_pair(0, allow(kernel.machine(), buffer));
  kernel.wave().scalars[2] = 20;
  kernel.execute(0);
  EXPECT_EQ(kernel.wave().scalars[4], 102U);
  EXPECT_EQ(kernel.wave().scalars[5], 103U);
  kernel.execute(1);
  EXPECT_EQ(kernel.wave().scalars[4], 105U);
}

TEST(Memory, Atomics) {
  TestKernel kernel(
      "global_atomic_add v[0:1], v2, off\n"
      "global_atomic_add v3, v[0:1], v2, off glc\n"
      "global_atomic_umax v[0:1], v4, off\n"
      "global_atomic_inc v3, v[0:1], v2, off glc\n"
      "global_atomic_cmpswap v3, v[0:1], v[4:5], off glc\n"
      "global_atomic_add_x2 v[0:1], v[4:5], off\n"
      "global_atomic_add_f32 v[0:1], v2, off\n"
      "global_atomic_pk_add_f16 v2, v[0:1], v4, off glc\n"
      "flat_atomic_add_f64 v[0:1], v[4:5]\n");
  Buffer<2> buffer = {};
  Wave& wave = kernel.wave();
  const Qword address = allow(kernel.machine(), buffer);
  wave.vector[0].fill(low_half(address));
  wave.vector[1].fill(high_half(address));
  wave.vector[2].fill(2);
  kernel.execute(0);
  EXPECT_EQ(buffer[0], 128U);
  kernel.execute(1);
  EXPECT_EQ(wave.vector[3][0], 128U);
  EXPECT_EQ(wave.vector[3][63], 254U);
  wave.vector[4].fill(1000);
  kernel.execute(2);
  EXPECT_EQ(buffer[0], 1000U);
  kernel.execute(3);  // to 0, then 1, 2, 0, ...
  EXPECT_EQ(wave.vector[3][0], 1000U);
  EXPECT_EQ(wave.vector[3][3], 2U);
  EXPECT_EQ(buffer[0], 0U);
  wave.vector[5].fill(0);
  kernel.execute(4);
  EXPECT_EQ(wave.vector[3][0], 0U);
  EXPECT_EQ(wave.vector[3][1], 1000U);
  buffer = {0xFFFFFFFF, 0};
  wave.vector[4].fill(1);
  wave.vector[5].fill(0);
  kernel.execute(5);
  EXPECT_EQ(joined(buffer[0], buffer[1]), Qword{0xFFFFFFFF} + 64);
  buffer[0] = 0;
  wave.vector[2].fill(bits_of(0.5F));
  kernel.execute(6);
  EXPECT_EQ(as_float(buffer[0]), 32.0F);
  buffer = {0x3C000000, 0};  // halves, 0 and 1, to which 0.5 and 1 are added
  wave.vector[4].fill(0x3C003800);
  kernel.execute(7);
  EXPECT_EQ(wave.vector[2][0], 0x3C000000U);
  EXPECT_EQ(wave.vector[2][1], 0x40003800U);
  EXPECT_EQ(buffer[0], 0x54105000U);  // 32 and 65
  buffer = {0, 0};
  wave.vector[4].fill(0);
  wave.vector[5].fill(0x3FF00000);
  kernel.execute(8);
  EXPECT_EQ(joined(buffer[0], buffer[1]), Qword{0x4050000000000000});  // 64
}

TEST(Memory, FlatAddressesReachLdsAndGlobalOnesDoNot) {
  TestKernel kernel(
      "flat_store_dword v[0:1], v2\n"
      "ds_read_b32 v3, v0\n"
      "global_store_dword v[0:1], v2, off\n",
      {.lds = 64});
  Wave& wave = kernel.wave();
  wave.vector[0].fill(8);
  wave.vector[1].fill(high_half(shared_aperture));
  wave.vector[2].fill(77);
  kernel.execute(0);
  kernel.execute(1);
  EXPECT_EQ(wave.vector[3][0], 77U);
  EXPECT_EQ(kernel.reports(), 0U);
  kernel.execute(2);
  EXPECT_EQ(kernel.reports(mistake::out_of_bounds), 1U);
}

TEST(Memory, ScratchIsALanesOwn) {
  TestKernel kernel(
      "buffer_store_dword v0, off, s[0:3], s4 offset:8\n"
      "buffer_load_dword v1, off, s[0:3], s4 offset:8\n"
      "buffer_store_dword v0, v2, s[0:3], s4 offen\n",
      {.scratch = 32});
  Wave& wave = kernel.wave();
  wave.set_pair(0, joined(0x10000, 0x80000000));
  wave.scalars[4] = 4;
  set_lanes(wave.vector[0], [](unsigned lane) { return lane; });
  kernel.execute(0);
  kernel.execute(1);
  EXPECT_EQ(wave.vector[1][33], 33U);
  wave.vector[2].fill(24);
  kernel.execute(2);
  EXPECT_EQ(kernel.reports(), 0U);
  wave.vector[2][6] = 25;
  kernel.execute(2);
  EXPECT_EQ(kernel.reports(mistake::scratch_out_of_bounds), 1U);
}

TEST(Reports, LoadsAndStoresOutOfBounds) {
  TestKernel kernel(
      "global_load_dword v2, v[0:1], off\n"
      "global_store_dword v[0:1], v2, off\n"
      "global_atomic_add v[0:1], v2, off\n");
  Buffer<64> buffer = {};
  const Qword address = allow(kernel.machine(), buffer);
  set_addresses(kernel.wave(), 0, address);
  for (int line = 0; line < 3; ++line) {
    kernel.execute(line);
  }
  kernel.machine().memory.settle_all();
  EXPECT_EQ(kernel.reports(mistake::out_of_bounds), 0U);
  set_addresses(kernel.wave(), 0, address + 4);
  for (int line = 0; line < 3; ++line) {
    kernel.execute(line);
  }
  EXPECT_EQ(kernel.reports(mistake::out_of_bounds), 3U);
}

TEST(Reports, LanesThatStoreDifferentValuesToOneAddress) {
  TestKernel kernel("global_store_dword v[0:1], v2, off\n");
  Buffer<64> buffer = {};
  set_addresses(kernel.wave(), 0, allow(kernel.machine(), buffer));
  std::iota(kernel.wave().vector[2].begin(), kernel.wave().vector[2].end(), 0);
  kernel.execute(0);
  EXPECT_EQ(kernel.reports(), 0U);
  kernel.wave().vector[0][9] = kernel.wave().vector[0][8];
  kernel.execute(0);
  EXPECT_EQ(kernel.reports(mistake::lanes_collide), 1U);
}

// Wave 0 stores what wave 1, of the same block, loads.
struct LateStore : testing::Test {
  const std::string store_and_load =
      "global_store_dword v[0:1], v2, off\n"
      "s_waitcnt vmcnt(0)\n"
      "global_load_dword v3, v[0:1], off\n"
      "global_load_dword v3, v[0:1], off glc\n";
  Buffer<64> buffer = {};

  void prepare(TestKernel& kernel) {
    const Qword address = allow(kernel.machine(), buffer);
    for (unsigned index = 0; index < 2; ++index) {
      set_addresses(kernel.wave(index), 0, address);
      kernel.wave(index).vector[2].fill(7);
    }
  }
};

TEST_F(LateStore, IsSeenByItsOwnWaveAtOnce) {
  TestKernel kernel(store_and_load, {.waves = 2, .options = "late-stores"});
  prepare(kernel);
  kernel.execute(0, 0);
  EXPECT_EQ(buffer[5], 0U);
  kernel.execute(2, 0);
  EXPECT_EQ(kernel.wave(0).vector[3][5], 7U);
}

TEST_F(LateStore, IsSeenByOthersWhenItsWaveHasWaited) {
  TestKernel kernel(store_and_load, {.waves = 2, .options = "late-stores"});
  prepare(kernel);
  kernel.execute(0, 0);
  kernel.execute(2, 1);
  EXPECT_EQ(kernel.wave(1).vector[3][5], 0U);
  kernel.execute(1, 0);
  kernel.execute(2, 1);
  EXPECT_EQ(kernel.wave(1).vector[3][5], 7U);
}

TEST_F(LateStore, StaleLinesStayUntilTheyAreInvalidated) {
  TestKernel kernel(store_and_load + "buffer_wbinvl1_vol\n", {.waves = 2, .options = "stale-l1"});
  prepare(kernel);
  kernel.execute(2, 1);
  buffer.fill(9);  // by another CU
  kernel.execute(2, 1);
  EXPECT_EQ(kernel.wave(1).vector[3][5], 0U);
  kernel.execute(3, 1);  // glc goes past the L1
  EXPECT_EQ(kernel.wave(1).vector[3][5], 9U);
  buffer.fill(10);
  kernel.execute(2, 1);  // and has loaded the line anew: nothing keeps the old one
  kernel.execute(4, 1);
  kernel.execute(2, 1);
  EXPECT_EQ(kernel.wave(1).vector[3][5], 10U);
}

}  // namespace
}  // namespace emulator
