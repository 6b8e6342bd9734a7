// The trial of what streams concludes: how many run at once.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "disturbance.h"
#include "findings.h"
#include "made_results.h"
#include "trial.h"

namespace hipscope::trial {
namespace {

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
  Tally& queues = tally("queues of streams");
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

}  // namespace
}  // namespace hipscope::trial
