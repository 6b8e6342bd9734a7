// Block barriers: what they order, what they refuse.
#include <stdexcept>
#include <string>
#include <vector>

#include "test_support.h"

namespace {

constexpr unsigned kBlocks = 8;

// Adds up 1 + 2 + ... + n in each block through LDS. Without its first barrier lanes read what
// others have yet to write.
template <bool kHasFirstBarrier>
__global__ void reduce(unsigned* sums) {
  __shared__ unsigned partial[1024];
  partial[threadIdx.x] = threadIdx.x + 1;
  if constexpr (kHasFirstBarrier) __syncthreads();
  for (unsigned count = blockDim.x; count > 1;) {
    const unsigned half = (count + 1) / 2;
    if (threadIdx.x + half < count) partial[threadIdx.x] += partial[threadIdx.x + half];
    __syncthreads();
    count = half;
  }
  if (threadIdx.x == 0) sums[blockIdx.x] = partial[0];
}

template <bool kHasFirstBarrier>
std::vector<unsigned> sums_of_blocks(unsigned threads) {
  DeviceBuffer<unsigned> sums(kBlocks);
  EXPECT_EQ(launch(reduce<kHasFirstBarrier>, kBlocks, threads, sums.data()), hipSuccess);
  return sums.to_host();
}

class Reduction : public testing::TestWithParam<unsigned> {};

TEST_P(Reduction, IsRight) {
  const unsigned threads = GetParam();
  const std::vector<unsigned> expected(kBlocks, threads * (threads + 1) / 2);
  EXPECT_EQ(sums_of_blocks<true>(threads), expected);
}

TEST_P(Reduction, IsWrongWithoutItsFirstBarrier) {
  const unsigned threads = GetParam();
  const std::vector<unsigned> right(kBlocks, threads * (threads + 1) / 2);
  EXPECT_NE(sums_of_blocks<false>(threads), right);
}

INSTANTIATE_TEST_SUITE_P(Threads, Reduction, testing::Values(32, 64, 96, 1000));

__global__ void exit_early(unsigned* result) {
  __shared__ unsigned written[128];
  if (threadIdx.x >= 100) return;
  written[threadIdx.x] = threadIdx.x;
  __syncthreads();
  if (threadIdx.x % 3 == 0) return;
  __syncthreads();
  result[threadIdx.x] = written[99 - threadIdx.x];
}

TEST(Barrier, DoesNotWaitForLanesThatExited) {
  DeviceBuffer<unsigned> result(128);
  ASSERT_EQ(launch(exit_early, 1, 128, result.data()), hipSuccess);
  const std::vector<unsigned> values = result.to_host();
  for (unsigned i = 0; i < 100; ++i) EXPECT_EQ(values[i], i % 3 == 0 ? ~0U : 99 - i);
}

class Counted {
 public:
  explicit Counted(int* alive) : alive_(alive) { ++*alive_; }
  ~Counted() { --*alive_; }
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;

 private:
  int* alive_;
};

constexpr int kLineBeforeBarriers = __LINE__;
__global__ void diverge(int* alive) {
  const Counted counted(alive);
  if (threadIdx.x < 10) {
    __syncthreads();
  } else {
    __syncthreads();
  }
}

TEST(Barrier, InDivergentCodeFailsTheLaunch) {
  int alive = 0;
  const std::string sentence = failure_of(diverge, 2, 40, &alive);
  EXPECT_NE(sentence.find("block (0, 0, 0): lanes of one block wait at different barriers"),
            std::string::npos)
      << sentence;
  for (const int line : {kLineBeforeBarriers + 4, kLineBeforeBarriers + 6}) {
    const std::string position = "barrier_test.cpp:" + std::to_string(line);
    EXPECT_NE(sentence.find(position), std::string::npos) << sentence;
  }
  EXPECT_EQ(sentence.find('\n'), sentence.size() - 1) << "more than one line: " << sentence;
  EXPECT_EQ(alive, 0) << "the waiting lanes' destructors did not run";
}

__global__ void throw_in_lane(int* alive) {
  const Counted counted(alive);
  __syncthreads();
  if (threadIdx.x == 7) throw std::runtime_error("seven");
  __syncthreads();
}

TEST(Failure, AnExceptionFailsTheLaunch) {
  int alive = 0;
  const std::string sentence = failure_of(throw_in_lane, 1, 40, &alive);
  EXPECT_NE(sentence.find("thread (7, 0, 0): seven"), std::string::npos) << sentence;
  EXPECT_EQ(alive, 0);
}

TEST(Failure, StaysUntilReset) {
  int alive = 0;
  testing::internal::CaptureStderr();
  EXPECT_EQ(launch(throw_in_lane, 1, 40, &alive), hipErrorLaunchFailure);
  EXPECT_EQ(launch(throw_in_lane, 1, 1, &alive), hipErrorLaunchFailure);
  EXPECT_NE(testing::internal::GetCapturedStderr(), "");
  float* memory = nullptr;
  EXPECT_EQ(hipMalloc(&memory, 4), hipErrorLaunchFailure);
  EXPECT_EQ(hipDeviceSynchronize(), hipErrorLaunchFailure);
  EXPECT_EQ(hipGetLastError(), hipErrorLaunchFailure);
  EXPECT_EQ(hipGetLastError(), hipErrorLaunchFailure);
  EXPECT_EQ(hipDeviceReset(), hipSuccess);
  EXPECT_EQ(hipGetLastError(), hipSuccess);
  EXPECT_EQ(launch(throw_in_lane, 1, 1, &alive), hipSuccess);
}

TEST(Failure, DeviceFunctionsThrowOutsideAKernel) {
  EXPECT_THROW(__syncthreads(), std::logic_error);
  EXPECT_THROW(__lane_id(), std::logic_error);
  EXPECT_THROW(__shfl(1, 0), std::logic_error);
  EXPECT_THROW(__ballot(1), std::logic_error);
}

}  // namespace
