// A driver that refuses what the device is asked for: that value is unknown, and no launch is
// blamed.
#include <gtest/gtest.h>
#include <hip/hip_runtime.h>

#include "hipscope/describe_device.h"
#include "hipscope/device.h"

// The linker gives every call of hipDeviceGetAttribute to the former, and the runtime's own is the
// latter (ld's option --wrap).
extern "C" hipError_t __wrap__Z21hipDeviceGetAttributePi20hipDeviceAttribute_ti(
    int*, hipDeviceAttribute_t, int);
extern "C" hipError_t __real__Z21hipDeviceGetAttributePi20hipDeviceAttribute_ti(
    int*, hipDeviceAttribute_t, int);

hipError_t __wrap__Z21hipDeviceGetAttributePi20hipDeviceAttribute_ti(int* value,
                                                                     hipDeviceAttribute_t attribute,
                                                                     int /*device*/) {
  return __real__Z21hipDeviceGetAttributePi20hipDeviceAttribute_ti(value, attribute, -1);
}

namespace {

TEST(OldDriverTest, AnAttributeThatItDoesNotKnowIsNoError) {
  EXPECT_EQ(hipscope::describe_device(0).memory_mhz, 0);
  EXPECT_EQ(hipGetLastError(), hipSuccess);
  EXPECT_NO_THROW(hipscope::open_device(0));  // which launches
}

}  // namespace
