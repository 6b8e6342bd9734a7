// What streams concludes from made curves, and what it reads out of stamps.
#include "findings.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "made_results.h"
#include "normal_noise.h"

namespace hipscope {
namespace {

using streams::Stamp;

TEST(StreamsTest, ServedAtOnceAreThoseThatBeganBeforeTheFirstEnd) {
  const std::vector<Stamp> stamps = {{.begin = 5, .end = 105},
                                     {.begin = 0, .end = 100},
                                     {.begin = 99, .end = 199},
                                     {.begin = 100, .end = 200}};
  EXPECT_EQ(streams::served_at_once(stamps), 3);
  EXPECT_EQ(streams::span_of(stamps), 200);
  EXPECT_EQ(streams::hull_of(stamps).begin, 0);
  EXPECT_EQ(streams::hull_of(stamps).end, 200);
}

TEST(StreamsTest, OverlapIsAShareOfTheShorter) {
  const Stamp kernel = {.begin = 100, .end = 200};
  EXPECT_EQ(streams::overlap_of(kernel, {.begin = 120, .end = 170}), 1);
  EXPECT_EQ(streams::overlap_of({.begin = 120, .end = 170}, kernel), 1);
  EXPECT_EQ(streams::overlap_of(kernel, {.begin = 150, .end = 250}), 0.5);
  EXPECT_EQ(streams::overlap_of(kernel, {.begin = 200, .end = 300}), 0);
  EXPECT_EQ(streams::overlap_of(kernel, {.begin = 250, .end = 300}), 0);
  EXPECT_EQ(streams::overlap_of(kernel, {.begin = 150, .end = 150}), 0);
}

std::vector<double> stream_counts(double all_up_to, double step, double most) {
  std::vector<double> counts;
  for (double count = 1; count <= most; count += count < all_up_to ? 1 : step) {
    counts.push_back(count);
  }
  return counts;
}

struct Disturbance {
  double noise = 0;   // of times, relative
  double missed = 0;  // the share of points at which one stream or another came too late
  unsigned seed = 1;
};

// Chains of four kernels of 200 us in each of n streams, in a device that serves `queues` at once:
// a stream's next kernel keeps those after it in the same queue until it begins.
void add_queues(MadeResults& made, double queues, double most,
                const Disturbance& disturbance = {}) {
  std::mt19937 random(disturbance.seed);
  NormalNoise error(1, disturbance.noise);
  std::bernoulli_distribution missed(disturbance.missed);
  std::vector<CurvePoint> served;
  std::vector<CurvePoint> spans;
  for (const double count : stream_counts(44, 4, most)) {
    const double sharing = std::ceil(count / queues);
    const double lost = missed(random) ? 1 : 0;
    served.push_back({.x = count, .y = std::max(1.0, std::min(count, queues) - lost)});
    spans.push_back({.x = count, .y = 200 * (3 * sharing + 1) * error(random)});
  }
  made.curve("queues", "served", served);
  made.curve("queues", "span", spans);
}

class StreamsQueuesTest : public testing::TestWithParam<double> {};

TEST_P(StreamsQueuesTest, QueuesAreTheLengthOfTheFirstStep) {
  for (const double noise : {0.0, 0.02}) {
    MadeResults made("streams");
    add_queues(made, GetParam(), GetParam() + 12, {.noise = noise});
    streams::conclude(made.results(), 8);
    EXPECT_EQ(made.inference("hardware queues").value, GetParam()) << noise;
    EXPECT_EQ(made.inference("hardware queues").driver, 8);
    EXPECT_GT(made.inference("hardware queues").confidence, 0.6);
  }
}

INSTANTIATE_TEST_SUITE_P(Queues, StreamsQueuesTest, testing::Values(1, 2, 4, 8, 16, 32, 128));

TEST(StreamsTest, AFewPointsThatCameTooLateDoNotHideTheQueues) {
  int found = 0;
  for (unsigned seed = 1; seed <= 100; ++seed) {
    MadeResults made("streams");
    add_queues(made, 8, 24, {.noise = 0.03, .missed = 0.1, .seed = seed});
    streams::conclude(made.results(), 0);
    const Inference inference = made.inference("hardware queues");
    EXPECT_TRUE(!inference.value || inference.value == 8) << "seed " << seed;
    EXPECT_FALSE(inference.driver.has_value());
    found += inference.value ? 1 : 0;
  }
  EXPECT_GE(found, 90);
}

TEST(StreamsTest, MoreQueuesThanStreamsAreNotCounted) {
  MadeResults made("streams");
  add_queues(made, 200, 136);
  streams::conclude(made.results(), 8);
  const Inference inference = made.inference("hardware queues");
  EXPECT_FALSE(inference.value.has_value());
  EXPECT_EQ(inference.statement, "all of 136 streams were served at once");
}

TEST(StreamsTest, TooFewPointsBeyondAreNoLimit) {
  MadeResults made("streams");
  add_queues(made, 8, 10);
  streams::conclude(made.results(), 8);
  EXPECT_FALSE(made.inference("hardware queues").value.has_value());
}

// Kernels that wait for each other although no time is lost, or times that step elsewhere.
TEST(StreamsTest, ALimitWithoutAStepThereIsNone) {
  for (const double step_at : {1000.0, 16.0, 12.0, 5.0}) {
    MadeResults made("streams");
    std::vector<CurvePoint> served;
    std::vector<CurvePoint> spans;
    for (double count = 1; count <= 32; ++count) {
      served.push_back({.x = count, .y = std::min(count, 8.0)});
      spans.push_back({.x = count, .y = count > step_at ? 1400.0 : 800.0});
    }
    made.curve("queues", "served", served);
    made.curve("queues", "span", spans);
    streams::conclude(made.results(), 8);
    EXPECT_FALSE(made.inference("hardware queues").value.has_value()) << step_at;
  }
}

TEST(StreamsTest, AStepThatDoesNotLastIsNone) {
  MadeResults made("streams");
  std::vector<CurvePoint> served;
  std::vector<CurvePoint> spans;
  for (double count = 1; count <= 32; ++count) {
    const bool is_disturbed = count > 8 && count <= 11;
    served.push_back({.x = count, .y = is_disturbed ? 8 : count});
    spans.push_back({.x = count, .y = is_disturbed ? 1400.0 : 800.0});
  }
  made.curve("queues", "served", served);
  made.curve("queues", "span", spans);
  streams::conclude(made.results(), 8);
  EXPECT_FALSE(made.inference("hardware queues").value.has_value());
}

TEST(StreamsTest, ALimitThatHalfOfThePointsMissIsNone) {
  MadeResults made("streams");
  std::vector<CurvePoint> served;
  std::vector<CurvePoint> spans;
  for (unsigned count = 1; count <= 32; ++count) {
    const double limit = count % 2 == 0 ? 8 : 2 + count % 5;
    served.push_back({.x = 1.0 * count, .y = std::min(1.0 * count, limit)});
    spans.push_back({.x = 1.0 * count, .y = count > 8 ? 1400.0 : 800.0});
  }
  made.curve("queues", "served", served);
  made.curve("queues", "span", spans);
  streams::conclude(made.results(), 8);
  EXPECT_FALSE(made.inference("hardware queues").value.has_value());
}

TEST(StreamsTest, NoiseHasNoQueues) {
  for (unsigned seed = 1; seed <= 200; ++seed) {
    std::mt19937 random(seed);
    MadeResults made("streams");
    std::vector<CurvePoint> served;
    std::vector<CurvePoint> spans;
    for (double count = 1; count <= 44; ++count) {
      served.push_back(
          {.x = count, .y = std::floor(std::uniform_real_distribution<>(1, count + 1)(random))});
      spans.push_back({.x = count, .y = std::uniform_real_distribution<>(500, 1500)(random)});
    }
    made.curve("queues", "served", served);
    made.curve("queues", "span", spans);
    streams::conclude(made.results(), 8);
    EXPECT_FALSE(made.inference("hardware queues").value.has_value()) << "seed " << seed;
  }
}

TEST(StreamsTest, KernelsAtOnceAreCountedByTheSameRule) {
  MadeResults made("streams");
  std::vector<CurvePoint> served;
  std::vector<CurvePoint> spans;
  // As on an H200, where each kernel begins a little later than the one before.
  for (const double count : stream_counts(36, 8, 164)) {
    served.push_back({.x = count, .y = std::min(count, 128.0)});
    spans.push_back({.x = count, .y = count > 128 ? 371 + count / 4 : 200 + 0.32 * count});
  }
  made.curve("kernels", "served", served);
  made.curve("kernels", "span", spans);
  streams::conclude(made.results(), 8);
  EXPECT_EQ(made.inference("kernels at once").value, 128);
  EXPECT_FALSE(made.inference("kernels at once").driver.has_value());
}

void add_small(MadeResults& made, double began_at) {
  made.curve("small", "latency",
             std::vector<CurvePoint>{{.x = 1, .y = 10e-6},
                                     {.x = 2, .y = 11e-6},
                                     {.x = 3, .y = 760e-6},
                                     {.x = 4, .y = 640e-6}});
  made.curve(
      "small", "began at",
      std::vector<CurvePoint>{{.x = 2, .y = 7}, {.x = 3, .y = 100}, {.x = 4, .y = began_at}});
}

TEST(StreamsTest, ASmallKernelWaitsOrGetsTheNextPlace) {
  const std::string name = "small kernel beside a large one begins at";
  MadeResults waits("streams");
  add_small(waits, 88);
  streams::conclude(waits.results(), 8);
  EXPECT_EQ(waits.inference(name).value, 88);
  EXPECT_EQ(waits.inference(name).statement,
            "a small kernel waits until all blocks of the large one have begun");
  MadeResults soon("streams");
  add_small(soon, 13);
  streams::conclude(soon.results(), 8);
  EXPECT_EQ(soon.inference(name).statement, "a small kernel gets the next place that is free");
  MadeResults neither("streams");
  add_small(neither, 50);
  streams::conclude(neither.results(), 8);
  EXPECT_FALSE(neither.inference(name).value.has_value());
}

TEST(StreamsTest, APriorityHelpsOrDoesNot) {
  const std::string name = "small kernel of high priority begins at";
  const auto add = [](MadeResults& made, double higher) {
    made.curve("priority", "latency",
               std::vector<CurvePoint>{
                   {.x = 1, .y = 660e-6}, {.x = 2, .y = 66e-6}, {.x = 3, .y = 660e-6}});
    made.curve(
        "priority", "began at",
        std::vector<CurvePoint>{{.x = 1, .y = 88}, {.x = 2, .y = higher}, {.x = 3, .y = 88}});
  };
  MadeResults helps("streams");
  add(helps, 13);
  streams::conclude(helps.results(), 8);
  EXPECT_EQ(helps.inference(name).value, 13);
  EXPECT_EQ(helps.inference(name).statement,
            "a small kernel of high priority passes the blocks that wait");
  EXPECT_EQ(helps.inference(name).evidence.at(1),
            "latency: 660 us at equal priority, 66 us at the greatest");
  MadeResults not_so("streams");
  add(not_so, 87);
  streams::conclude(not_so.results(), 8);
  EXPECT_EQ(not_so.inference(name).statement, "a stream's priority does not shorten the wait");
}

TEST(StreamsTest, TheWorstCopyTellsWhetherCopiesRunUnderKernels) {
  const auto statement = [](double least) {
    MadeResults made("streams");
    made.curve("copies", "overlap",
               std::vector<CurvePoint>{
                   {.x = 1, .y = 99}, {.x = 2, .y = least}, {.x = 3, .y = 98}, {.x = 4, .y = 99}});
    made.curve("copies", "time saved",
               std::vector<CurvePoint>{
                   {.x = 1, .y = 95}, {.x = 2, .y = 42}, {.x = 3, .y = 91}, {.x = 4, .y = 92}});
    streams::conclude(made.results(), 8);
    const Inference inference = made.inference("copy under a kernel");
    EXPECT_EQ(inference.value, least);
    EXPECT_EQ(inference.evidence.at(0), "both at once save 42 % of the shorter one's time");
    return inference.statement;
  };
  EXPECT_EQ(statement(97), "copies by an engine run while kernels run");
  EXPECT_EQ(statement(50), "copies run beside kernels in part");
  EXPECT_EQ(statement(2), "copies wait for kernels");
}

TEST(StreamsTest, AnOverlapThatSavesNoTimeIsUnsure) {
  MadeResults made("streams");
  made.curve("copies", "overlap",
             std::vector<CurvePoint>{
                 {.x = 1, .y = 99}, {.x = 2, .y = 40}, {.x = 3, .y = 98}, {.x = 4, .y = 99}});
  made.curve("copies", "time saved",
             std::vector<CurvePoint>{
                 {.x = 1, .y = 95}, {.x = 2, .y = 96}, {.x = 3, .y = 91}, {.x = 4, .y = 92}});
  streams::conclude(made.results(), 8);
  EXPECT_LE(made.inference("copy under a kernel").confidence, 0.5);
}

// Two kernels one after the other take twice as long as one: no two were served at once.
TEST(StreamsTest, ALimitBeforeWhichTimesGrowIsNone) {
  MadeResults made("streams");
  std::vector<CurvePoint> served;
  std::vector<CurvePoint> spans;
  for (double count = 1; count <= 16; ++count) {
    served.push_back({.x = count, .y = std::min(count, 2.0)});
    spans.push_back({.x = count, .y = 200 * count});
  }
  made.curve("kernels", "served", served).curve("kernels", "span", spans);
  streams::conclude(made.results(), 8);
  EXPECT_FALSE(made.inference("kernels at once").value.has_value());
}

TEST(StreamsTest, NothingIsConcludedFromNothing) {
  MadeResults made("streams");
  streams::conclude(made.results(), 8);
  EXPECT_TRUE(made.inferences().empty());
}

}  // namespace
}  // namespace hipscope
