// Launch errors, the device, streams and events.
#include <string>
#include <thread>

#include "test_support.h"

namespace {

__global__ void do_nothing() {}

hipError_t error_of(dim3 grid, dim3 block, std::size_t lds_bytes = 0) {
  hipLaunchKernelGGL(do_nothing, grid, block, lds_bytes, nullptr);
  return hipGetLastError();
}

TEST(LaunchErrors, SizesOfZero) {
  for (const dim3 empty : {dim3(0), dim3(1, 0), dim3(1, 1, 0)}) {
    EXPECT_EQ(error_of(empty, 1), hipErrorInvalidConfiguration);
    EXPECT_EQ(error_of(1, empty), hipErrorInvalidConfiguration);
  }
}

TEST(LaunchErrors, TooManyThreadsInABlock) {
  EXPECT_EQ(error_of(1, 1024), hipSuccess);
  EXPECT_EQ(error_of(1, dim3(32, 8, 4)), hipSuccess);
  EXPECT_EQ(error_of(1, 1025), hipErrorInvalidConfiguration);
  EXPECT_EQ(error_of(1, dim3(32, 33)), hipErrorInvalidConfiguration);
  EXPECT_EQ(error_of(1, dim3(65536, 65536)), hipErrorInvalidConfiguration);
}

TEST(LaunchErrors, TooMuchLds) {
  EXPECT_EQ(error_of(1, 1, 65536), hipSuccess);
  EXPECT_EQ(error_of(1, 1, 65537), hipErrorInvalidConfiguration);
}

TEST(LaunchErrors, TooLargeAGrid) {
  EXPECT_EQ(error_of(1U << 31, 1), hipErrorInvalidConfiguration);
  EXPECT_EQ(error_of(dim3(1, 65536), 1), hipErrorInvalidConfiguration);
  EXPECT_EQ(error_of(dim3(1, 1, 65536), 1), hipErrorInvalidConfiguration);
  EXPECT_EQ(error_of(1U << 22, 1024), hipErrorInvalidConfiguration);
}

TEST(Streams, OnePriorityIsAllThereIs) {
  int least = -1;
  int greatest = -1;
  ASSERT_EQ(hipDeviceGetStreamPriorityRange(&least, &greatest), hipSuccess);
  EXPECT_EQ(least, 0);
  EXPECT_EQ(greatest, 0);
  EXPECT_EQ(hipDeviceGetStreamPriorityRange(nullptr, nullptr), hipSuccess);
  for (const int priority : {-1, 0, 1}) {
    hipStream_t stream = nullptr;
    ASSERT_EQ(hipStreamCreateWithPriority(&stream, hipStreamNonBlocking, priority), hipSuccess);
    EXPECT_EQ(hipStreamSynchronize(stream), hipSuccess);
    EXPECT_EQ(hipStreamDestroy(stream), hipSuccess);
  }
  hipStream_t stream = nullptr;
  EXPECT_EQ(hipStreamCreateWithPriority(&stream, 7, 0), hipErrorInvalidValue);
  EXPECT_EQ(hipStreamCreateWithPriority(nullptr, 0, 0), hipErrorInvalidValue);
  EXPECT_EQ(hipGetLastError(), hipErrorInvalidValue);
}

TEST(LaunchErrors, UnknownStream) {
  hipStream_t stream = nullptr;
  ASSERT_EQ(hipStreamCreate(&stream), hipSuccess);
  ASSERT_EQ(hipStreamDestroy(stream), hipSuccess);
  hipLaunchKernelGGL(do_nothing, 1, 1, 0, stream);
  EXPECT_EQ(hipStreamSynchronize(stream), hipErrorInvalidHandle);
  EXPECT_EQ(hipGetLastError(), hipErrorInvalidHandle);
  EXPECT_EQ(hipGetLastError(), hipSuccess);
}

TEST(Errors, HaveNamesAndTexts) {
  EXPECT_STREQ(hipGetErrorName(hipErrorOutOfMemory), "hipErrorOutOfMemory");
  EXPECT_STREQ(hipGetErrorString(hipErrorOutOfMemory), "out of memory");
  EXPECT_STREQ(hipGetErrorName(static_cast<hipError_t>(1000)), "hipErrorUnknown");
}

TEST(Device, TellsItsProperties) {
  int count = 0;
  int device = -1;
  hipDeviceProp_t properties;
  ASSERT_EQ(hipGetDeviceCount(&count), hipSuccess);
  EXPECT_EQ(count, 1);
  EXPECT_EQ(hipSetDevice(0), hipSuccess);
  EXPECT_EQ(hipGetDevice(&device), hipSuccess);
  ASSERT_EQ(hipGetDeviceProperties(&properties, device), hipSuccess);
  EXPECT_TRUE(std::string(properties.name).starts_with("host CPU: "));
  EXPECT_STREQ(properties.gcnArchName, "host");
  EXPECT_EQ(properties.warpSize, warpSize);
  EXPECT_EQ(properties.sharedMemPerBlock, 65536U);
  EXPECT_GT(properties.totalGlobalMem, 0U);
  EXPECT_EQ(properties.multiProcessorCount, 5);  // whatever the machine
  int value = 0;
  EXPECT_EQ(hipDeviceGetAttribute(&value, hipDeviceAttributeWarpSize, 0), hipSuccess);
  EXPECT_EQ(value, warpSize);
  EXPECT_EQ(hipDeviceGetAttribute(&value, static_cast<hipDeviceAttribute_t>(31), 0),
            hipErrorInvalidValue);
  EXPECT_EQ(hipSetDevice(1), hipErrorInvalidDevice);
  EXPECT_EQ(hipGetDeviceProperties(&properties, 1), hipErrorInvalidDevice);
  EXPECT_EQ(hipGetLastError(), hipErrorInvalidDevice);
  EXPECT_EQ(hipRuntimeGetVersion(&value), hipSuccess);
  EXPECT_EQ(value / 10'000'000, 5);
  EXPECT_EQ(hipDriverGetVersion(&value), hipSuccess);
}

TEST(Device, CanBeAbsent) {
  const ScopedEnvironment environment("HIPSCOPE_HOST_DEVICES", "0");
  int count = 7;
  float* buffer = nullptr;
  EXPECT_EQ(hipGetDeviceCount(&count), hipErrorNoDevice);
  EXPECT_EQ(count, 0);
  EXPECT_EQ(hipSetDevice(0), hipErrorNoDevice);
  EXPECT_EQ(hipMalloc(&buffer, 4), hipErrorNoDevice);
  EXPECT_EQ(error_of(1, 1), hipErrorNoDevice);
}

TEST(Function, HasAttributes) {
  hipFuncAttributes attributes;
  int blocks = 0;
  const void* const kernel = reinterpret_cast<const void*>(&do_nothing);
  ASSERT_EQ(hipFuncGetAttributes(&attributes, kernel), hipSuccess);
  EXPECT_EQ(attributes.maxThreadsPerBlock, 1024);
  EXPECT_EQ(attributes.numRegs, 0);
  EXPECT_EQ(hipFuncSetAttribute(kernel, hipFuncAttributeMaxDynamicSharedMemorySize, 65536),
            hipSuccess);
  EXPECT_EQ(hipFuncSetAttribute(kernel, hipFuncAttributeMaxDynamicSharedMemorySize, 65537),
            hipErrorInvalidValue);
  EXPECT_EQ(hipOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, do_nothing, 256, 0), hipSuccess);
  EXPECT_EQ(blocks, 1);
  EXPECT_EQ(hipOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, do_nothing, 1025, 0),
            hipErrorInvalidValue);
  EXPECT_EQ(hipGetLastError(), hipErrorInvalidValue);
}

TEST(Events, AreMonotonic) {
  hipEvent_t start = nullptr;
  hipEvent_t stop = nullptr;
  float milliseconds = -1;
  ASSERT_EQ(hipEventCreate(&start), hipSuccess);
  ASSERT_EQ(hipEventCreateWithFlags(&stop, hipEventBlockingSync), hipSuccess);
  const auto before = std::chrono::steady_clock::now();
  ASSERT_EQ(hipEventRecord(start), hipSuccess);
  EXPECT_EQ(hipEventElapsedTime(&milliseconds, start, stop), hipErrorInvalidHandle);
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  ASSERT_EQ(hipEventRecord(stop, nullptr), hipSuccess);
  ASSERT_EQ(hipEventSynchronize(stop), hipSuccess);
  ASSERT_EQ(hipEventElapsedTime(&milliseconds, start, stop), hipSuccess);
  EXPECT_GE(milliseconds, 5.0F);
  const std::chrono::duration<float, std::milli> elapsed =
      std::chrono::steady_clock::now() - before;
  EXPECT_LE(milliseconds, elapsed.count());
  EXPECT_EQ(hipEventDestroy(start), hipSuccess);
  EXPECT_EQ(hipEventDestroy(stop), hipSuccess);
  EXPECT_EQ(hipEventRecord(stop), hipErrorInvalidHandle);
  EXPECT_EQ(hipGetLastError(), hipErrorInvalidHandle);
}

TEST(Events, WithoutTimingHaveNone) {
  hipEvent_t event = nullptr;
  float milliseconds = 0;
  ASSERT_EQ(hipEventCreateWithFlags(&event, hipEventDisableTiming), hipSuccess);
  ASSERT_EQ(hipEventRecord(event), hipSuccess);
  EXPECT_EQ(hipEventElapsedTime(&milliseconds, event, event), hipErrorInvalidHandle);
  EXPECT_EQ(hipEventDestroy(event), hipSuccess);
  EXPECT_EQ(hipGetLastError(), hipErrorInvalidHandle);
}

}  // namespace
