// Wave operations: shuffles and votes, whole, partial and divergent.
#include <cstdint>
#include <string>
#include <vector>

#include "test_support.h"

namespace {

const unsigned kWave = warpSize;

enum class Shuffle { kIndexed, kDown, kXor };

template <typename Value>
__global__ void shuffle(Shuffle operation, int argument, int width, Value scale, Value* result) {
  const unsigned i = threadIdx.x;
  const Value own = static_cast<Value>(i + 1) * scale;
  switch (operation) {
    case Shuffle::kIndexed:
      result[i] = __shfl(own, argument, width);
      break;
    case Shuffle::kDown:
      result[i] = __shfl_down(own, static_cast<unsigned>(argument), width);
      break;
    case Shuffle::kXor:
      result[i] = __shfl_xor(own, argument, width);
      break;
  }
}

// The lane of its segment that a lane reads, each rule as HIP's manual words it.
unsigned source_in_segment(Shuffle operation, unsigned lane, unsigned argument, unsigned width) {
  switch (operation) {
    case Shuffle::kIndexed:
      return argument % width;
    case Shuffle::kDown:
      return lane + argument >= width ? lane : lane + argument;
    case Shuffle::kXor:
      return lane ^ argument;
  }
  return lane;
}

template <typename Value>
void expect_shuffles(Value scale) {
  for (const Shuffle operation : {Shuffle::kIndexed, Shuffle::kDown, Shuffle::kXor}) {
    for (unsigned width = 8; width <= kWave; width *= 2) {
      for (const unsigned argument : {0U, 1U, 5U, 7U}) {
        DeviceBuffer<Value> result(2 * kWave);
        ASSERT_EQ(launch(shuffle<Value>, 1, 2 * kWave, operation, static_cast<int>(argument),
                         static_cast<int>(width), scale, result.data()),
                  hipSuccess);
        const std::vector<Value> values = result.to_host();
        for (unsigned i = 0; i < 2 * kWave; ++i) {
          const unsigned source =
              i / width * width + source_in_segment(operation, i % width, argument, width);
          EXPECT_EQ(values[i], static_cast<Value>(source + 1) * scale)
              << "operation " << static_cast<int>(operation) << ", width " << width << ", argument "
              << argument << ", thread " << i;
        }
      }
    }
  }
}

TEST(Shuffles, MoveEachType) {
  expect_shuffles<int>(-3);
  expect_shuffles<unsigned>(0x01000001U);
  expect_shuffles<long long>(-(1LL << 40));
  expect_shuffles<unsigned long long>(1ULL << 50);
  expect_shuffles<float>(0.5F);
  expect_shuffles<double>(1e-100);
}

TEST(Shuffles, IndexIsTakenModuloTheWidth) {
  DeviceBuffer<int> result(kWave);
  ASSERT_EQ(launch(shuffle<int>, 1, kWave, Shuffle::kIndexed, -1, 8, 1, result.data()), hipSuccess);
  const std::vector<int> values = result.to_host();
  for (unsigned i = 0; i < kWave; ++i) EXPECT_EQ(values[i], static_cast<int>(i / 8 * 8 + 8));
}

TEST(Shuffles, XorReadsLowerSegmentsOnly) {
  DeviceBuffer<int> result(32);
  ASSERT_EQ(launch(shuffle<int>, 1, 32, Shuffle::kXor, 8, 8, 1, result.data()), hipSuccess);
  const std::vector<int> values = result.to_host();
  for (unsigned i = 0; i < 32; ++i) {
    EXPECT_EQ(values[i], static_cast<int>((i / 8 % 2 == 1 ? i - 8 : i) + 1));
  }
}

TEST(Shuffles, PartialLastWaveReadsPoisonBeyondItsEnd) {
  const unsigned threads = kWave + 10;
  DeviceBuffer<unsigned> result(threads);
  ASSERT_EQ(launch(shuffle<unsigned>, 1, threads, Shuffle::kDown, 4, warpSize, 1U, result.data()),
            hipSuccess);
  const std::vector<unsigned> values = result.to_host();
  for (unsigned i = kWave; i < threads; ++i) {
    EXPECT_EQ(values[i], i + 4 < threads ? i + 5 : ~0U) << i;
  }
}

TEST(Shuffles, InvalidWidthFailsTheLaunch) {
  for (const int width : {0, -8, 12, 2 * warpSize}) {
    std::vector<int> result(kWave);
    const std::string sentence =
        failure_of(shuffle<int>, 1, kWave, Shuffle::kDown, 1, width, 1, result.data());
    EXPECT_NE(sentence.find("is " + std::to_string(width) + "; it must be a power of two"),
              std::string::npos)
        << sentence;
  }
}

__global__ void reduce_wave(unsigned* sums) {
  unsigned sum = threadIdx.x;
  for (unsigned distance = kWave / 2; distance > 0; distance /= 2) {
    sum += __shfl_down(sum, distance);
  }
  if (__lane_id() == 0) sums[threadIdx.x / kWave] = sum;
}

TEST(Shuffles, ReduceAWave) {
  DeviceBuffer<unsigned> sums(4);
  ASSERT_EQ(launch(reduce_wave, 1, 4 * kWave, sums.data()), hipSuccess);
  const std::vector<unsigned> values = sums.to_host();
  for (unsigned wave = 0; wave < 4; ++wave) {
    EXPECT_EQ(values[wave], wave * kWave * kWave + kWave * (kWave - 1) / 2);
  }
}

__global__ void shuffle_in_branches(unsigned* neighbours, unsigned long long* together) {
  const unsigned i = threadIdx.x;
  if (i % 4 == 0) {
    neighbours[i] = __shfl(i, static_cast<int>(i) + 4);
  } else if (i % 4 == 1) {
    neighbours[i] = __shfl(i, static_cast<int>(i) + 1);
  }
  together[i] = __ballot(1);
}

TEST(Divergence, OnlyActiveLanesTakePart) {
  DeviceBuffer<unsigned> neighbours(kWave);
  DeviceBuffer<unsigned long long> together(kWave);
  ASSERT_EQ(launch(shuffle_in_branches, 1, kWave, neighbours.data(), together.data()), hipSuccess);
  const std::vector<unsigned> values = neighbours.to_host();
  for (unsigned i = 0; i < kWave; ++i) {
    // The lane 4 further is in the same branch; the one next to a lane of the other is not.
    EXPECT_EQ(values[i], i % 4 == 0 ? (i + 4) % kWave : ~0U) << i;
  }
  const std::uint64_t whole_wave = ~std::uint64_t{0} >> (64 - kWave);
  EXPECT_EQ(together.to_host(), std::vector<unsigned long long>(kWave, whole_wave))
      << "the branches did not reconverge";
}

__global__ void loop_unevenly(unsigned* active_lanes, unsigned* after) {
  const unsigned i = threadIdx.x;
  for (unsigned round = 0; round <= i; ++round) {
    const auto active = static_cast<unsigned>(__popcll(__ballot(1)));
    if (i == kWave - 1) active_lanes[round] = active;
  }
  after[i] = static_cast<unsigned>(__popcll(__ballot(1)));
}

TEST(Divergence, LoopsOfDifferentLengthReconverge) {
  DeviceBuffer<unsigned> active_lanes(kWave);
  DeviceBuffer<unsigned> after(kWave);
  ASSERT_EQ(launch(loop_unevenly, 1, kWave, active_lanes.data(), after.data()), hipSuccess);
  const std::vector<unsigned> counts = active_lanes.to_host();
  for (unsigned round = 0; round < kWave; ++round) EXPECT_EQ(counts[round], kWave - round);
  EXPECT_EQ(after.to_host(), std::vector<unsigned>(kWave, kWave));
}

__global__ void vote_before_barrier(unsigned* lanes) {
  const bool first_half = threadIdx.x % kWave < kWave / 2;
  if (first_half) lanes[threadIdx.x] = static_cast<unsigned>(__popcll(__ballot(1)));
  __syncthreads();
  if (!first_half) lanes[threadIdx.x] = static_cast<unsigned>(__popcll(__ballot(1)));
}

TEST(Divergence, LanesAtABarrierAreNotActive) {
  DeviceBuffer<unsigned> lanes(3 * kWave);
  ASSERT_EQ(launch(vote_before_barrier, 1, 3 * kWave, lanes.data()), hipSuccess);
  EXPECT_EQ(lanes.to_host(), std::vector<unsigned>(3 * kWave, kWave / 2));
}

struct Votes {
  unsigned long long odd;
  int all_lanes, all_but_last;
};

__global__ void vote(Votes* votes) {
  const unsigned lane = __lane_id();
  const bool is_last = lane == kWave - 1;
  Votes own{};
  own.odd = __ballot(lane % 2);
  own.all_lanes = __all(1);
  __syncwarp();
  own.all_but_last = __all(!is_last);
  votes[threadIdx.x] = own;
}

TEST(Vote, CountsTheWholeWave) {
  DeviceBuffer<Votes> votes(kWave);
  ASSERT_EQ(launch(vote, 1, kWave, votes.data()), hipSuccess);
  for (const Votes& seen : votes.to_host()) {
    EXPECT_EQ(seen.odd, 0xAAAAAAAAAAAAAAAAULL >> (64 - kWave));
    EXPECT_EQ(seen.all_lanes, 1);
    EXPECT_EQ(seen.all_but_last, 0);
  }
}

TEST(Vote, LanesThatDoNotExistHaveNoSay) {
  DeviceBuffer<Votes> votes(5);
  ASSERT_EQ(launch(vote, 1, 5, votes.data()), hipSuccess);
  for (const Votes& seen : votes.to_host()) {
    EXPECT_EQ(seen.odd, 0b01010ULL);
    EXPECT_EQ(seen.all_but_last, 1);
  }
}

}  // namespace
