#include "options.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace emulator {
namespace {

std::string refusal(const std::string& words) {
  try {
    parse_options(words);
  } catch (const std::invalid_argument& wrong) {
    return wrong.what();
  }
  return "";
}

TEST(Options, WordsAreRead) {
  const Options options = parse_options("target=gfx908 units=7 seed=3 shuffle late-stores");
  EXPECT_EQ(options.target, "gfx908");
  EXPECT_EQ(options.units, 7U);
  EXPECT_EQ(options.seed, 3U);
  EXPECT_TRUE(options.shuffle);
  EXPECT_TRUE(options.late_stores);
  EXPECT_FALSE(options.stale_l1);
  EXPECT_FALSE(options.still_counter);
  EXPECT_FALSE(parse_options("").shuffle);
  EXPECT_TRUE(parse_options("stale-l1").stale_l1);
  EXPECT_TRUE(parse_options("still-counter").still_counter);
  EXPECT_TRUE(parse_options("still-timer").still_timer);
  EXPECT_FALSE(parse_options("").conflicts);
  EXPECT_TRUE(parse_options("conflicts").conflicts);
}

TEST(Options, WhatIsDroppedHasThreeParts) {
  const Options options = parse_options("drop=kernel:s_waitcnt_vmcnt:12");
  EXPECT_EQ(options.drop_kernel, "kernel");
  EXPECT_EQ(options.drop_instruction, "s_waitcnt_vmcnt");
  EXPECT_EQ(options.drop_index, 12);
  EXPECT_NE(refusal("drop=kernel:s_waitcnt"), "");
}

TEST(Options, WrongWordsAreNamedInASentence) {
  EXPECT_EQ(refusal("units=0"), "HIPSCOPE_EMULATOR: 'units=0' needs a number from 1 to 256");
  EXPECT_EQ(refusal("units=2x"), "HIPSCOPE_EMULATOR: 'units=2x' needs a number from 1 to 256");
  EXPECT_EQ(refusal("shufle"), "HIPSCOPE_EMULATOR: 'shufle' is not known");
  EXPECT_EQ(refusal("seeds=1"), "HIPSCOPE_EMULATOR: 'seeds=1' is not known");
  EXPECT_EQ(refusal("target=gfx1100"),
            "HIPSCOPE_EMULATOR: 'target=gfx1100' is no target that is emulated: gfx906, gfx908 or "
            "gfx90a");
}

}  // namespace
}  // namespace emulator
