// Cooperative launches: blocks that wait for each other.
#include <hip/hip_cooperative_groups.h>

#include <string>
#include <tuple>

#include "test_support.h"

namespace cooperative_launch_test {
namespace {

constexpr unsigned blocks = 5;
constexpr unsigned threads = 40;  // a whole wave of 32 and a part of one

template <typename... Parameters, typename... Arguments>
hipError_t launch_together(void (*kernel)(Parameters...), unsigned grid, Arguments... arguments) {
  std::tuple<Parameters...> values(arguments...);
  return std::apply(
      [&](auto&... value) {
        void* pointers[] = {&value...};
        return hipLaunchCooperativeKernel(kernel, dim3(grid), dim3(threads), pointers, 0, nullptr);
      },
      values);
}

// What each block finds of the next one's LDS sum, which that one stores in memory.
__global__ void pass_on(unsigned* sums, unsigned rounds, unsigned* wrong) {
  __shared__ unsigned own;
  for (unsigned round = 0; round < rounds; ++round) {
    if (threadIdx.x == 0) {
      own = 100 * round + blockIdx.x;
    }
    __syncthreads();
    sums[round % 2 * blocks + blockIdx.x] = own;
    cooperative_groups::this_grid().sync();
    const unsigned next = (blockIdx.x + 1) % blocks;
    if (sums[round % 2 * blocks + next] != 100 * round + next || own != 100 * round + blockIdx.x) {
      atomicAdd(wrong, 1U);
    }
    __syncthreads();
  }
}

TEST(CooperativeLaunch, BlocksMeetAndKeepTheirLds) {
  DeviceBuffer<unsigned> sums(2 * blocks);
  DeviceBuffer<unsigned> wrong(1);
  ASSERT_EQ(hipMemset(wrong.data(), 0, sizeof(unsigned)), hipSuccess);
  ASSERT_EQ(launch_together(pass_on, blocks, sums.data(), 20U, wrong.data()), hipSuccess);
  EXPECT_EQ(wrong.to_host()[0], 0U);
}

// Without a barrier a block goes ahead of its neighbours.
__global__ void go_ahead(unsigned* seen, unsigned* apart) {
  for (unsigned round = 1; round <= 100; ++round) {
    __syncthreads();
    if (threadIdx.x == 0) {
      seen[blockIdx.x] = round;
      if (seen[(blockIdx.x + 1) % blocks] != round) {
        atomicAdd(apart, 1U);
      }
    }
  }
}

TEST(CooperativeLaunch, BlocksThatDoNotWaitDoNotKeepStep) {
  DeviceBuffer<unsigned> seen(blocks);
  DeviceBuffer<unsigned> apart(1);
  ASSERT_EQ(hipMemset(apart.data(), 0, sizeof(unsigned)), hipSuccess);
  ASSERT_EQ(launch_together(go_ahead, blocks, seen.data(), apart.data()), hipSuccess);
  EXPECT_GT(apart.to_host()[0], 100U);
}

// A thread that waits in a loop, for the other blocks, while its own block waits at a barrier.
__global__ void count_up(unsigned* counter) {
  __syncthreads();
  if (threadIdx.x == 0) {
    atomicAdd(counter, 1U);
    while (*static_cast<volatile unsigned*>(counter) < blocks) {
      hip_host::let_others_run();
    }
  }
  __syncthreads();
  if (__ballot(1) == 0) {
    atomicAdd(counter, 1U);
  }
}

TEST(CooperativeLaunch, ALoopThatLetsOthersRunEnds) {
  DeviceBuffer<unsigned> counter(1);
  ASSERT_EQ(hipMemset(counter.data(), 0, sizeof(unsigned)), hipSuccess);
  ASSERT_EQ(launch_together(count_up, blocks, counter.data()), hipSuccess);
  EXPECT_EQ(counter.to_host()[0], blocks);
}

TEST(CooperativeLaunch, MoreBlocksThanAreResidentAreRefused) {
  DeviceBuffer<unsigned> counter(1);
  EXPECT_EQ(launch_together(count_up, blocks + 1, counter.data()),
            hipErrorCooperativeLaunchTooLarge);
  EXPECT_EQ(hipGetLastError(), hipErrorCooperativeLaunchTooLarge);
  EXPECT_EQ(counter.to_host()[0], ~0U);
}

__global__ void meet_all() { cooperative_groups::this_grid().sync(); }

TEST(CooperativeLaunch, AGridBarrierNeedsOne) {
  EXPECT_NE(failure_of(meet_all, dim3(1), dim3(1)).find("not cooperative"), std::string::npos);
}

__global__ void meet_without_first() {
  if (blockIdx.x > 0) {
    cooperative_groups::this_grid().sync();
  }
}

TEST(CooperativeLaunch, ABlockThatDoesNotComeIsTold) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(launch_together(meet_without_first, blocks), hipErrorLaunchFailure);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("will not come to the grid's barrier"),
            std::string::npos);
  EXPECT_EQ(hipDeviceReset(), hipSuccess);
}

TEST(CooperativeLaunch, TheNextLaunchIsOrdinaryAgain) {
  DeviceBuffer<unsigned> sums(2 * blocks);
  DeviceBuffer<unsigned> wrong(1);
  ASSERT_EQ(hipMemset(wrong.data(), 0, sizeof(unsigned)), hipSuccess);
  ASSERT_EQ(launch_together(pass_on, blocks, sums.data(), 2U, wrong.data()), hipSuccess);
  EXPECT_EQ(
      launch(
          +[](unsigned* counter) { atomicAdd(counter, 1U); }, dim3(100), dim3(3), wrong.data()),
      hipSuccess);
  EXPECT_EQ(wrong.to_host()[0], 300U);
}

}  // namespace
}  // namespace cooperative_launch_test
