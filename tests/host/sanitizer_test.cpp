// AddressSanitizer sees what a kernel does to memory that is not its own.
#include "test_support.h"

namespace {

__global__ void store_at(float* data, unsigned index) { data[index] = 1.0F; }

__global__ void overrun_dynamic_lds(unsigned index) {
  HIP_DYNAMIC_SHARED(float, values)
  values[index] = 1.0F;
  __syncthreads();
}

class AddressSanitizer : public testing::Test {
 protected:
  void SetUp() override {
#ifndef __SANITIZE_ADDRESS__
    GTEST_SKIP() << "built without AddressSanitizer";
#endif
    // The child starts afresh: a fork would inherit the fibers of earlier tests.
    GTEST_FLAG_SET(death_test_style, "threadsafe");
  }
};

TEST_F(AddressSanitizer, StopsAStorePastABuffer) {
  DeviceBuffer<float> buffer(10);
  EXPECT_EQ(launch(store_at, 1, 1, buffer.data(), 9U), hipSuccess);
  EXPECT_DEATH(static_cast<void>(launch(store_at, 1, 1, buffer.data(), 10U)),
               "heap-buffer-overflow");
}

TEST_F(AddressSanitizer, StopsAStoreIntoAFreedBuffer) {
  float* buffer = nullptr;
  ASSERT_EQ(hipMalloc(&buffer, 40), hipSuccess);
  ASSERT_EQ(hipFree(buffer), hipSuccess);
  EXPECT_DEATH(static_cast<void>(launch(store_at, 1, 1, buffer, 0U)), "heap-use-after-free");
}

TEST_F(AddressSanitizer, StopsAnOverrunOfDynamicLds) {
  hipLaunchKernelGGL(overrun_dynamic_lds, 1, 1, 12 * sizeof(float), nullptr, 11U);
  EXPECT_EQ(hipGetLastError(), hipSuccess);
  EXPECT_DEATH(hipLaunchKernelGGL(overrun_dynamic_lds, 1, 1, 12 * sizeof(float), nullptr, 12U),
               "heap-buffer-overflow");
}

}  // namespace
