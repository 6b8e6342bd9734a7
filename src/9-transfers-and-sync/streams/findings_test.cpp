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

// What a device shows that serves `limit` kernels at once and begins anew for more.
struct Shown {
  std::vector<CurvePoint> served;
  std::vector<CurvePoint> spans;
};

std::vector<double> stream_counts(double all_up_to, double step, double most) {
  std::vector<double> counts;
  for (double count = 1; count <= most; count += count < all_up_to ? 1 : step) {
    counts.push_back(count);
  }
  return counts;
}

Inference concluded(const Shown& shown, unsigned asked = 8) {
  MadeResults made("streams");
  made.curve("queues", "served", shown.served).curve("queues", "span", shown.spans);
  made.curve("kernels", "served", shown.served).curve("kernels", "span", shown.spans);
  streams::conclude(made.results(), asked);
  EXPECT_EQ(made.inference("kernels at once").value, made.inference("queues of streams").value);
  return made.inference("queues of streams");
}

// Chains of four kernels of 200 us in each of n streams, in a device that serves `queues` at once:
// a stream's next kernel keeps those after it in the same queue until it begins. At the share
// `missed` of the points one stream or another comes too late.
Shown chains(double queues, double most, double noise = 0, double missed = 0, unsigned seed = 1) {
  std::mt19937 random(seed);
  NormalNoise error(1, noise);
  std::bernoulli_distribution is_late(missed);
  Shown shown;
  for (const double count : stream_counts(44, 4, most)) {
    const double sharing = std::ceil(count / queues);
    const double lost = is_late(random) ? 1 : 0;
    shown.served.push_back({.x = count, .y = std::max(1.0, std::min(count, queues) - lost)});
    shown.spans.push_back({.x = count, .y = 200 * (3 * sharing + 1) * error(random)});
  }
  return shown;
}

TEST(StreamsTest, QueuesAreTheLengthOfTheFirstStep) {
  for (const double queues : {1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 128.0}) {
    for (const double noise : {0.0, 0.02}) {
      const Inference found = concluded(chains(queues, queues + 12, noise));
      EXPECT_EQ(found.value, queues) << noise;
      EXPECT_GT(found.confidence, 0.6);
      EXPECT_NE(found.statement.find("was asked for 8, by its environment"), std::string::npos);
    }
  }
  EXPECT_EQ(concluded(chains(8, 20), 0).statement.find("asked"), std::string::npos);
}

TEST(StreamsTest, AFewPointsThatCameTooLateDoNotHideTheQueues) {
  int found = 0;
  for (unsigned seed = 1; seed <= 100; ++seed) {
    const Inference inference = concluded(chains(8, 24, 0.03, 0.1, seed));
    EXPECT_TRUE(!inference.value || inference.value == 8) << "seed " << seed;
    found += inference.value ? 1 : 0;
  }
  EXPECT_GE(found, 90);
}

TEST(StreamsTest, MoreThanThereAreStreamsOrTooFewPointsBeyondAreNoLimit) {
  EXPECT_FALSE(concluded(chains(200, 136)).value.has_value());
  EXPECT_EQ(concluded(chains(200, 136)).statement, "all of 136 streams were served at once");
  EXPECT_FALSE(concluded(chains(8, 10)).value.has_value());
}

TEST(StreamsTest, ALimitWithoutAStepThereThatLastsIsNone) {
  struct Case {
    const char* what;
    double (*served)(double count);
    double (*span)(double count);
  };
  const auto of_8 = [](double count) { return std::min(count, 8.0); };
  const std::vector<Case> cases = {
      {"no time is lost", of_8, [](double) { return 800.0; }},
      {"times step at 16", of_8, [](double count) { return count > 16 ? 1400.0 : 800.0; }},
      {"times step at 12", of_8, [](double count) { return count > 12 ? 1400.0 : 800.0; }},
      {"times step at 5", of_8, [](double count) { return count > 5 ? 1400.0 : 800.0; }},
      {"only 9 to 11 wait", [](double count) { return count > 8 && count <= 11 ? 8.0 : count; },
       [](double count) { return count > 8 && count <= 11 ? 1400.0 : 800.0; }},
      {"half of the points miss the limit",
       [](double count) {
         return std::min(count, std::fmod(count, 2) == 0 ? 8.0 : 2 + std::fmod(count, 5));
       },
       [](double count) { return count > 8 ? 1400.0 : 800.0; }},
      {"one after the other from the first on", [](double count) { return std::min(count, 2.0); },
       [](double count) { return 200 * count; }}};
  for (const Case& each : cases) {
    Shown shown;
    for (double count = 1; count <= 32; ++count) {
      shown.served.push_back({.x = count, .y = each.served(count)});
      shown.spans.push_back({.x = count, .y = each.span(count)});
    }
    EXPECT_FALSE(concluded(shown).value.has_value()) << each.what;
  }
}

TEST(StreamsTest, KernelsThatBeginALittleLaterEachAreCounted) {
  Shown shown;
  for (const double count : stream_counts(36, 8, 164)) {  // as on an H200
    shown.served.push_back({.x = count, .y = std::min(count, 128.0)});
    shown.spans.push_back({.x = count, .y = count > 128 ? 371 + count / 4 : 200 + 0.32 * count});
  }
  EXPECT_EQ(concluded(shown).value, 128);
}

TEST(StreamsTest, NothingIsConcludedFromNothing) {
  MadeResults made("streams");
  streams::conclude(made.results(), 8);
  EXPECT_TRUE(made.inferences().empty());
}

}  // namespace
}  // namespace hipscope
