// The trial of what streams concludes: how many at once, who waits, and what runs beside what.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "disturbance.h"
#include "findings.h"
#include "made_results.h"
#include "normal_noise.h"
#include "trial.h"

namespace hipscope::trial {
namespace {

namespace row = streams::row;

// --- How many at once ---------------------------------------------------------------------------

std::vector<double> counts_up_to(double most) {
  constexpr double each_up_to = 36;
  constexpr double step = 8;
  std::vector<double> counts;
  for (double count = 1; count <= most; count += count < each_up_to ? 1 : step) {
    counts.push_back(count);
  }
  return counts;
}

// How many are served: now and then one comes too late to be seen beside the others.
Curve served(const std::vector<double>& counts, double limit, double missed, Random& random) {
  Curve curve;
  for (const double count : counts) {
    const double lost = happens(random, missed) ? 1 : 0;
    curve.push_back({.x = count, .y = std::max(1.0, std::min(count, limit) - lost)});
  }
  return curve;
}

const Seeds kernel_seeds(78);
const Seeds no_queue_seeds(79);

TEST(StreamsTrial, HowManyAtOnce) {
  Tally& kernels = tally("kernels at once");
  Tally& queues = tally("hardware queues");
  for (unsigned i = 0; i < 500; ++i) {
    Random random(kernel_seeds(i));
    const Disturbance& disturbance = one_of(random, all_disturbances());
    const double limit = one_of(random, std::vector<double>{2, 4, 8, 16, 32, 128});
    // Some sweeps end before the limit, and some soon after it.
    const double beyond = happens(random, 0.15) ? 0.75 : between(random, 1.3, 2.5);
    const std::vector<double> counts = counts_up_to(std::max(6.0, std::ceil(beyond * limit)));
    const double late = between(random, 0, 0.003);
    const double missed = one_of(random, std::vector<double>{0, 0, 0.03, 0.1});
    const auto served_now = served(counts, limit, missed, random);
    const auto beyond_limit =
        std::count_if(counts.begin(), counts.end(), [=](double count) { return count > limit; });
    const Truth truth = beyond_limit > 0 ? Truth{.value = limit} : Truth{};
    MadeResults made("streams");
    made.curve("kernels", "served", served_now);
    made.curve(
        "kernels", "span",
        sampled(
            counts, [=](double count) { return 200 * (std::ceil(count / limit) + late * count); },
            disturbance, random));
    made.curve("queues", "served", served_now);
    made.curve("queues", "span",
               sampled(
                   counts, [=](double count) { return 200 * (3 * std::ceil(count / limit) + 1); },
                   disturbance, random));
    streams::conclude(made.results(), 0);
    kernels.add(truth, made.inference(kernels.inference));
    queues.add(truth, made.inference(queues.inference));
  }
  for (unsigned i = 0; i < 500; ++i) {
    Random random(no_queue_seeds(i));
    const std::vector<double> counts = counts_up_to(44);
    const Curve spans = nothing(counts, random);
    // All at once, or one after the other without any time lost, or as it happens.
    const double kind = between(random, 0, 1);
    const double limit = one_of(random, std::vector<double>{2, 4, 8, 16});
    Curve now = served(counts, kind < 0.3 ? 1000 : limit, 0.05, random);
    if (kind > 0.6) {
      for (CurvePoint& point : now) {
        point.y = std::floor(between(random, 1, point.x + 1));
      }
    }
    MadeResults made("streams");
    for (const std::string sweep : {"kernels", "queues"}) {
      made.curve(sweep, "served", now).curve(sweep, "span", spans);
    }
    streams::conclude(made.results(), 0);
    kernels.add({}, made.inference(kernels.inference));
    queues.add({}, made.inference(queues.inference));
  }
  expect_goals(kernels, {.right = 0.6});
  expect_goals(queues, {.right = 0.6});
}

// --- One beside another -------------------------------------------------------------------------

// What is told in percent is right within this many points.
Truth in_percent(double value) { return {.value = value, .tolerance = 15 / value}; }

const Seeds wait_seeds(80);

TEST(StreamsTrial, WhoWaits) {
  Tally& small = tally("small kernel beside a large one begins at");
  Tally& high = tally("small kernel of high priority begins at");
  for (unsigned i = 0; i < 500; ++i) {
    Random random(wait_seeds(i));
    const Disturbance& disturbance = one_of(random, all_disturbances());
    const bool waits = happens(random, 0.5);
    const double begins = waits ? between(random, 80, 95) : between(random, 6, 22);
    const bool passes = waits && happens(random, 0.5);
    const double begins_high = passes ? between(random, 6, 22) : begins;
    constexpr double large = 750e-6;
    MadeResults made("streams");
    made.curve("small", "began at",
               sampled(
                   {row::half_of_places, row::all_places, row::many_rounds},
                   [=](double x) {
                     return x == row::half_of_places ? 2 : x == row::all_places ? 100 : begins;
                   },
                   disturbance, random));
    made.curve("small", "latency",
               sampled(
                   {row::small_alone, row::half_of_places, row::all_places, row::many_rounds},
                   [=](double x) {
                     return 9e-6 + (x == row::all_places    ? large
                                    : x == row::many_rounds ? large * begins / 100
                                                            : 0);
                   },
                   disturbance, random));
    const auto begun = [=](double x) { return x == row::higher ? begins_high : begins; };
    made.curve("priority", "began at",
               sampled({row::equal, row::higher, row::lower}, begun, disturbance, random));
    made.curve("priority", "latency",
               sampled(
                   {row::equal, row::higher, row::lower},
                   [=](double x) { return 9e-6 + large * begun(x) / 100; }, disturbance, random));
    streams::conclude(made.results(), 0);
    small.add(in_percent(begins), made.inference(small.inference));
    high.add(in_percent(begins_high), made.inference(high.inference));
  }
  expect_goals(small, {.right = 0.7});
  expect_goals(high, {.right = 0.7});
}

const Seeds copy_seeds(81);

TEST(StreamsTrial, CopiesUnderKernels) {
  Tally& answers = tally("copy under a kernel");
  for (unsigned i = 0; i < 1000; ++i) {
    Random random(copy_seeds(i));
    const Disturbance& disturbance = one_of(random, all_disturbances());
    std::vector<double> share;
    const double all = one_of(random, std::vector<double>{0.02, 0.5, 1, 1});
    for (unsigned kind = 0; kind < 4; ++kind) {
      share.push_back(all == 0.5 ? between(random, 0.3, 0.8) : all * between(random, 0.97, 1));
    }
    // Another process keeps a copy waiting until the kernel has ended, or a part of it.
    Curve overlap;
    Curve saved;
    for (unsigned kind = 0; kind < 4; ++kind) {
      const double disturbed_by =
          happens(random, disturbance.outlier_share) ? between(random, 0, 1) : 1;
      NormalNoise error(0, disturbance.noise);
      const double x = kind + 1;
      const double spread = 1.35 * disturbance.noise * between(random, 1, 4);
      overlap.push_back(
          {.x = x,
           .y = std::clamp(100 * (share[kind] * disturbed_by + error(random) / 2), 0.0, 100.0),
           .relative_spread = spread});
      saved.push_back({.x = x, .y = 100 * (share[kind] + 1.5 * error(random))});
    }
    MadeResults made("streams");
    made.curve("copies", "overlap", overlap).curve("copies", "time saved", saved);
    streams::conclude(made.results(), 0);
    const double least = *std::min_element(share.begin(), share.end());
    answers.add(in_percent(100 * least), made.inference(answers.inference));
  }
  expect_goals(answers, {.right = 0.7});
}

}  // namespace
}  // namespace hipscope::trial
