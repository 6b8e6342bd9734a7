// Each thread of a launch runs once and knows its indices.
#include <algorithm>
#include <vector>

#include "test_support.h"

namespace {

struct Shape {
  dim3 grid;
  dim3 block;
};

__device__ unsigned linear(const uint3& index, const dim3& size) {
  return index.x + size.x * (index.y + size.y * index.z);
}

__global__ void count_visits(unsigned* visits, unsigned* lanes) {
  const unsigned threads_per_block = blockDim.x * blockDim.y * blockDim.z;
  const unsigned thread = linear(threadIdx, blockDim);
  const unsigned global = linear(blockIdx, gridDim) * threads_per_block + thread;
  visits[global] += 1;
  lanes[global] = thread % warpSize == __lane_id() ? __lane_id() : ~0U;
}

class Indices : public testing::TestWithParam<Shape> {};

TEST_P(Indices, EachThreadRunsOnce) {
  const auto [grid, block] = GetParam();
  const unsigned threads_per_block = block.x * block.y * block.z;
  const unsigned threads = grid.x * grid.y * grid.z * threads_per_block;
  DeviceBuffer<unsigned> visits(threads);
  DeviceBuffer<unsigned> lanes(threads);
  ASSERT_EQ(hipMemset(visits.data(), 0, threads * sizeof(unsigned)), hipSuccess);
  ASSERT_EQ(launch(count_visits, grid, block, visits.data(), lanes.data()), hipSuccess);
  EXPECT_EQ(visits.to_host(), std::vector<unsigned>(threads, 1));
  const std::vector<unsigned> seen = lanes.to_host();
  for (unsigned i = 0; i < threads; ++i) {
    EXPECT_EQ(seen[i], i % threads_per_block % warpSize);
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, Indices,
                         testing::Values(Shape{1, 1}, Shape{3, 33}, Shape{2, 1000},
                                         Shape{dim3(3, 2), dim3(7, 5)},
                                         Shape{dim3(2, 3, 4), dim3(5, 3, 7)},
                                         Shape{dim3(1, 1, 2), dim3(1, 1, 65)},
                                         Shape{1, dim3(8, 8, 16)}));

__global__ void record_sizes(dim3* sizes) {
  sizes[0] = gridDim;
  sizes[1] = blockDim;
}

TEST(Launch, TellsTheKernelItsSizes) {
  DeviceBuffer<dim3> sizes(2);
  ASSERT_EQ(launch(record_sizes, dim3(2, 3, 4), dim3(5, 6, 7), sizes.data()), hipSuccess);
  const std::vector<dim3> seen = sizes.to_host();
  EXPECT_EQ(seen[0].z, 4U);
  EXPECT_EQ(seen[1].y, 6U);
}

template <typename Value, int kFactor>
__global__ void scale(Value value, Value* result) {
  value *= kFactor;  // Each thread has its own copy.
  result[threadIdx.x] = value;
}

TEST(Launch, ConvertsAndCopiesArguments) {
  DeviceBuffer<double> result(4);
  ASSERT_EQ(launch(HIP_KERNEL_NAME(scale<double, 2>), 1, 4, 3, result.data()), hipSuccess);
  EXPECT_EQ(result.to_host(), std::vector<double>(4, 6.0));
}

__global__ void add_one(unsigned* counter) { *counter += 1; }

TEST(Launch, ManyLaunchesReuseTheStacks) {
  DeviceBuffer<unsigned> counter(1);
  ASSERT_EQ(hipMemset(counter.data(), 0, sizeof(unsigned)), hipSuccess);
  constexpr unsigned kLaunches = 2000;
  for (unsigned i = 0; i < kLaunches; ++i) {
    ASSERT_EQ(launch(add_one, 1, 1 + i % 64, counter.data()), hipSuccess);
  }
  unsigned expected = 0;
  for (unsigned i = 0; i < kLaunches; ++i) expected += 1 + i % 64;
  EXPECT_EQ(counter.to_host()[0], expected);
}

__global__ void use_much_stack(float* result) {
  volatile float local[16 * 1024];
  for (unsigned i = 0; i < 16 * 1024; ++i) local[i] = static_cast<float>(i + threadIdx.x);
  __syncthreads();
  result[threadIdx.x] = local[16 * 1024 - 1];
}

TEST(Launch, EachLaneHasItsOwnStack) {
  DeviceBuffer<float> result(100);
  ASSERT_EQ(launch(use_much_stack, 1, 100, result.data()), hipSuccess);
  const std::vector<float> values = result.to_host();
  for (unsigned i = 0; i < 100; ++i) EXPECT_EQ(values[i], static_cast<float>(16 * 1024 - 1 + i));
}

__global__ void record_order(unsigned* next, unsigned* order) { order[(*next)++] = threadIdx.x; }

std::vector<unsigned> order_of_lanes() {
  DeviceBuffer<unsigned> next(1);
  DeviceBuffer<unsigned> order(200);
  EXPECT_EQ(hipMemset(next.data(), 0, sizeof(unsigned)), hipSuccess);
  EXPECT_EQ(launch(record_order, 2, 100, next.data(), order.data()), hipSuccess);
  return order.to_host();
}

TEST(Order, DiffersPerPhaseAndRepeatsPerLaunch) {
  const std::vector<unsigned> order = order_of_lanes();
  const std::vector<unsigned> first(order.begin(), order.begin() + 100);
  const std::vector<unsigned> second(order.begin() + 100, order.end());
  EXPECT_NE(first, second);
  EXPECT_TRUE(std::ranges::is_permutation(first, second));
  EXPECT_EQ(order_of_lanes(), order);
}

}  // namespace
