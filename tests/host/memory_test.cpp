// Buffers, copies and memsets.
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "test_support.h"

namespace {

__constant__ int constant_values[4];

TEST(Memory, AFreshBufferIsNaNAndAligned) {
  DeviceBuffer<double> buffer(100);
  for (const double value : buffer.to_host()) EXPECT_TRUE(std::isnan(value));
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer.data()) % 256, 0U);
}

TEST(Memory, NoBytesAreNoBuffer) {
  int marker = 0;
  int* buffer = &marker;
  EXPECT_EQ(hipMalloc(&buffer, 0), hipSuccess);
  EXPECT_EQ(buffer, nullptr);
  EXPECT_EQ(hipFree(nullptr), hipSuccess);
}

TEST(Memory, MoreThanIsFreeIsOutOfMemory) {
  std::size_t free = 0;
  std::size_t total = 0;
  ASSERT_EQ(hipMemGetInfo(&free, &total), hipSuccess);
  ASSERT_GT(free, 0U);
  EXPECT_LE(free, total);
  char* buffer = nullptr;
  EXPECT_EQ(hipMalloc(&buffer, total + 1), hipErrorOutOfMemory);
  EXPECT_EQ(hipMalloc(&buffer, std::numeric_limits<std::size_t>::max()), hipErrorOutOfMemory);
  EXPECT_EQ(hipHostMalloc(&buffer, total + 1), hipErrorOutOfMemory);
  EXPECT_EQ(buffer, nullptr);
  EXPECT_EQ(hipGetLastError(), hipErrorOutOfMemory);
}

TEST(Memory, FreeRefusesWhatItDidNotGive) {
  int on_stack = 0;
  EXPECT_EQ(hipFree(&on_stack), hipErrorInvalidValue);
  int* host = nullptr;
  ASSERT_EQ(hipHostMalloc(&host, 4), hipSuccess);
  EXPECT_EQ(hipFree(host), hipErrorInvalidValue);
  int* device = nullptr;
  EXPECT_EQ(hipHostGetDevicePointer(reinterpret_cast<void**>(&device), host, 0), hipSuccess);
  EXPECT_EQ(device, host);
  EXPECT_EQ(hipHostFree(host), hipSuccess);
  EXPECT_EQ(hipHostFree(host), hipErrorInvalidValue);
  EXPECT_EQ(hipGetLastError(), hipErrorInvalidValue);
}

TEST(Memory, OwnMemoryIsRegisteredOnce) {
  std::vector<int> own(4, 7);
  EXPECT_EQ(hipHostUnregister(own.data()), hipErrorInvalidValue);
  EXPECT_EQ(hipHostRegister(nullptr, 16, hipHostRegisterDefault), hipErrorInvalidValue);
  ASSERT_EQ(hipHostRegister(own.data(), 16, hipHostRegisterDefault), hipSuccess);
  EXPECT_EQ(hipHostRegister(own.data(), 16, hipHostRegisterDefault), hipErrorInvalidValue);
  EXPECT_EQ(hipHostFree(own.data()), hipErrorInvalidValue);
  DeviceBuffer<int> device(4);
  // Now its end is known.
  EXPECT_EQ(hipMemcpy(device.data(), own.data(), 20, hipMemcpyHostToDevice), hipErrorInvalidValue);
  EXPECT_EQ(hipMemcpy(device.data(), own.data(), 16, hipMemcpyHostToDevice), hipSuccess);
  EXPECT_EQ(device.to_host(), own);
  EXPECT_EQ(hipHostUnregister(own.data()), hipSuccess);
  EXPECT_EQ(hipGetLastError(), hipErrorInvalidValue);
}

TEST(Memory, ManagedMemoryIsEverywhere) {
  void* memory = nullptr;
  constexpr unsigned unknown_flags = 8;
  EXPECT_EQ(hipMallocManaged(&memory, 16, unknown_flags), hipErrorInvalidValue);
  ASSERT_EQ(hipMallocManaged(&memory, 16, hipMemAttachGlobal), hipSuccess);
  EXPECT_EQ(hipMemPrefetchAsync(memory, 16, 0, nullptr), hipSuccess);
  EXPECT_EQ(hipMemPrefetchAsync(memory, 17, 0, nullptr), hipErrorInvalidValue);
  EXPECT_EQ(hipMemPrefetchAsync(memory, 16, 1, nullptr), hipErrorInvalidDevice);
  EXPECT_EQ(hipMemPrefetchAsync(memory, 16, hipCpuDeviceId, nullptr), hipSuccess);
  EXPECT_EQ(hipMemAdvise(memory, 16, hipMemAdviseSetAccessedBy, 0), hipSuccess);
  EXPECT_EQ(hipMemAdvise(memory, 17, hipMemAdviseSetAccessedBy, 0), hipErrorInvalidValue);
  EXPECT_EQ(hipMemAdvise(memory, 16, hipMemAdviseSetAccessedBy, 1), hipErrorInvalidDevice);
  EXPECT_EQ(hipFree(memory), hipSuccess);
  EXPECT_EQ(hipGetLastError(), hipErrorInvalidDevice);
}

TEST(Memory, AStreamAllocatesAndFrees) {
  int no_stream = 0;
  auto* const stream = reinterpret_cast<hipStream_t>(&no_stream);
  void* memory = nullptr;
  EXPECT_EQ(hipMallocAsync(&memory, 16, stream), hipErrorInvalidHandle);
  ASSERT_EQ(hipMallocAsync(&memory, 16, nullptr), hipSuccess);
  EXPECT_EQ(hipMemset(memory, 0, 17), hipErrorInvalidValue);
  EXPECT_EQ(hipFreeAsync(memory, nullptr), hipSuccess);
  EXPECT_EQ(hipFreeAsync(memory, nullptr), hipErrorInvalidValue);
  EXPECT_EQ(hipGetLastError(), hipErrorInvalidValue);
}

TEST(Memory, CopiesAndSets) {
  const std::vector<int> source = {1, 2, 3, 4};
  DeviceBuffer<int> first(4);
  DeviceBuffer<int> second(4);
  ASSERT_EQ(hipMemcpy(first.data(), source.data(), 16, hipMemcpyHostToDevice), hipSuccess);
  ASSERT_EQ(hipMemcpyAsync(second.data(), first.data(), 16, hipMemcpyDeviceToDevice), hipSuccess);
  EXPECT_EQ(second.to_host(), source);
  ASSERT_EQ(hipMemsetAsync(second.data() + 1, 1, 4), hipSuccess);
  EXPECT_EQ(second.to_host(), (std::vector<int>{1, 0x01010101, 3, 4}));
}

TEST(Memory, CopiesRefuseWhatDoesNotFit) {
  std::vector<int> host(8);
  DeviceBuffer<int> buffer(4);
  EXPECT_EQ(hipMemcpy(buffer.data(), host.data(), 17, hipMemcpyHostToDevice), hipErrorInvalidValue);
  EXPECT_EQ(hipMemcpy(host.data(), buffer.data() + 1, 16, hipMemcpyDeviceToHost),
            hipErrorInvalidValue);
  EXPECT_EQ(hipMemset(buffer.data() + 3, 0, 5), hipErrorInvalidValue);
  EXPECT_EQ(hipMemcpy(nullptr, host.data(), 4, hipMemcpyHostToDevice), hipErrorInvalidValue);
  EXPECT_EQ(hipMemcpy(buffer.data(), host.data(), 4, static_cast<hipMemcpyKind>(7)),
            hipErrorInvalidMemcpyDirection);
  EXPECT_EQ(hipGetLastError(), hipErrorInvalidMemcpyDirection);
}

__global__ void read_constants(int* result) { result[threadIdx.x] = constant_values[threadIdx.x]; }

TEST(Memory, CopiesToSymbols) {
  const std::vector<int> source = {5, 6, 7, 8};
  ASSERT_EQ(hipMemcpyToSymbol(HIP_SYMBOL(constant_values), source.data(), 16), hipSuccess);
  DeviceBuffer<int> result(4);
  ASSERT_EQ(launch(read_constants, 1, 4, result.data()), hipSuccess);
  EXPECT_EQ(result.to_host(), source);
  EXPECT_EQ(hipMemcpyToSymbol(HIP_SYMBOL(constant_values), source.data(), 8, 12),
            hipErrorInvalidValue);
  EXPECT_EQ(hipGetLastError(), hipErrorInvalidValue);
}

TEST(Memory, ResetFreesAll) {
  char* buffer = nullptr;
  ASSERT_EQ(hipMalloc(&buffer, 4096), hipSuccess);
  ASSERT_EQ(hipDeviceReset(), hipSuccess);
  EXPECT_EQ(hipFree(buffer), hipErrorInvalidValue);
  EXPECT_EQ(hipGetLastError(), hipErrorInvalidValue);
}

}  // namespace
