// LDS belongs to one block and starts poisoned.
#include <algorithm>
#include <cmath>
#include <vector>

#include "test_support.h"

namespace {

bool all_nan(const std::vector<float>& values) {
  return std::ranges::all_of(values, [](float value) { return std::isnan(value); });
}

__global__ void read_unwritten(float* result) {
  __shared__ float never_written[64];
  result[blockIdx.x * blockDim.x + threadIdx.x] = never_written[threadIdx.x];
}

TEST(StaticLds, NeverWrittenIsNaN) {
  DeviceBuffer<float> result(128);
  ASSERT_EQ(launch(read_unwritten, 2, 64, result.data()), hipSuccess);
  EXPECT_TRUE(all_nan(result.to_host()));
}

__global__ void read_then_write(float* from_static, float* from_dynamic) {
  __shared__ float value[64];
  HIP_DYNAMIC_SHARED(float, dynamic_value)
  const unsigned global = blockIdx.x * blockDim.x + threadIdx.x;
  from_static[global] = value[threadIdx.x];
  from_dynamic[global] = dynamic_value[threadIdx.x];
  __syncthreads();
  value[threadIdx.x] = 1.0F;
  dynamic_value[threadIdx.x] = 2.0F;
}

TEST(Lds, ABlockDoesNotSeeWhatAnotherLeft) {
  std::vector<float> from_static(3 * 64);
  std::vector<float> from_dynamic(3 * 64);
  hipLaunchKernelGGL(read_then_write, 3, 64, 64 * sizeof(float), nullptr, from_static.data(),
                     from_dynamic.data());
  ASSERT_EQ(hipGetLastError(), hipSuccess);
  EXPECT_TRUE(all_nan(from_static));
  EXPECT_TRUE(all_nan(from_dynamic));
}

__global__ void read_dynamic(float* result) {
  HIP_DYNAMIC_SHARED(float, values);
  result[threadIdx.x] = values[threadIdx.x];
  __syncthreads();
  values[threadIdx.x] = static_cast<float>(threadIdx.x);
  __syncthreads();
  result[blockDim.x + threadIdx.x] = values[blockDim.x - 1 - threadIdx.x];
}

TEST(DynamicLds, IsSharedByTheBlockAndStartsAsNaN) {
  DeviceBuffer<float> result(2 * 48);
  hipLaunchKernelGGL(read_dynamic, 1, 48, 48 * sizeof(float), nullptr, result.data());
  ASSERT_EQ(hipGetLastError(), hipSuccess);
  const std::vector<float> values = result.to_host();
  EXPECT_TRUE(all_nan({values.begin(), values.begin() + 48}));
  for (unsigned i = 0; i < 48; ++i) EXPECT_EQ(values[48 + i], static_cast<float>(47 - i));
}

__global__ void compare_with_null(int* is_null) {
  HIP_DYNAMIC_SHARED(float, values)
  *is_null = values == nullptr ? 1 : 0;
}

TEST(DynamicLds, IsNullIfTheLaunchHasNone) {
  DeviceBuffer<int> is_null(1);
  ASSERT_EQ(launch(compare_with_null, 1, 1, is_null.data()), hipSuccess);
  EXPECT_EQ(is_null.to_host()[0], 1);
}

template <unsigned kSize>
__global__ void transpose_tile(const float* source, float* destination) {
  __shared__ float tile[kSize][kSize + 1];
  tile[threadIdx.y][threadIdx.x] = source[threadIdx.y * kSize + threadIdx.x];
  __syncthreads();
  destination[threadIdx.y * kSize + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}

TEST(StaticLds, WorksInTemplates) {
  constexpr unsigned kSize = 16;
  std::vector<float> source(kSize * kSize);
  for (unsigned i = 0; i < source.size(); ++i) source[i] = static_cast<float>(i);
  DeviceBuffer<float> destination(kSize * kSize);
  ASSERT_EQ(launch(transpose_tile<kSize>, 1, dim3(kSize, kSize), source.data(), destination.data()),
            hipSuccess);
  const std::vector<float> result = destination.to_host();
  for (unsigned i = 0; i < kSize * kSize; ++i) {
    EXPECT_EQ(result[i], source[i % kSize * kSize + i / kSize]);
  }
}

}  // namespace
