// A device that a build has no code for.
#include "device_code.h"

#include <gtest/gtest.h>

#include <string>

#include "hipscope/device.h"

namespace hipscope::detail {
namespace {

std::string objection(const char* architecture, const char* backend, const char* targets) {
  try {
    require_code_for(architecture, backend, targets);
  } catch (const DeviceError& error) {
    return error.what();
  }
  return "";
}

TEST(DeviceCodeTest, ATargetOfTheBuildRuns) {
  EXPECT_EQ(objection("gfx1100", "amd", "gfx1100"), "");
  EXPECT_EQ(objection("gfx1100", "amd", "gfx900;gfx1100;gfx1036"), "");
  EXPECT_EQ(objection("gfx90a:sramecc+:xnack-", "amd", "gfx900;gfx90a"), "");
  EXPECT_EQ(objection("gfx90a:sramecc+:xnack-", "amd", "gfx90a:xnack-"), "");
}

TEST(DeviceCodeTest, AnotherGpuIsToldWhatToBuild) {
  EXPECT_EQ(objection("gfx1036", "amd", "gfx900;gfx1100"),
            "this build has no code for the device, gfx1036: it was made for gfx900 gfx1100; build "
            "with -DHIPSCOPE_AMD_TARGETS=gfx1036, or choose another device (--device, --devices)");
  EXPECT_NE(objection("gfx942:sramecc+:xnack-", "amd", "gfx90a"), "");
  EXPECT_NE(objection("gfx90", "amd", "gfx90a"), "");
  EXPECT_NE(objection("gfx90a", "amd", "gfx90"), "");
}

TEST(DeviceCodeTest, WhatCannotBeKnownIsLeftToTheRuntime) {
  EXPECT_EQ(objection("gfx1100", "amd", "gfx11-generic"), "");
  EXPECT_EQ(objection("sm_90", "nvidia", "80"), "");
  EXPECT_EQ(objection("host", "host", "host"), "");
}

}  // namespace
}  // namespace hipscope::detail
