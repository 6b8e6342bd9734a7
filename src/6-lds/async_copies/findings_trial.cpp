// The trial of what async_copies concludes: what copies past the registers gain.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <string>
#include <vector>

#include "disturbance.h"
#include "findings.h"
#include "made_results.h"
#include "trial.h"

namespace hipscope::trial {
namespace {

using async_copies::value_name;

const std::array<std::string, 5> some_ways = {"load and store 16", "load and store 4", "cp.async 8",
                                              "cp.async 16", "bulk"};
constexpr std::size_t past = 2;  // the first of them that goes past the registers

// The lesson's points: some bytes in flight more than once, by several copies or a larger one.
const std::vector<double>& flights() {
  static const std::vector<double> all = {4096, 8192, 16384, 32768, 65536, 131072};
  return all;
}

void add_rates(MadeResults& made, const std::string& way, const std::function<double(double)>& rate,
               const Disturbance& disturbance, Random& random) {
  made.curve("device-memory", value_name(way, "bandwidth"),
             sampled_rates(flights(), rate, disturbance, random));
}

const Seeds copies_seeds(76);

TEST(AsyncCopiesTrial, ManyCopies) {
  Tally& gains = tally("rate to LDS past the registers over through them");
  for (unsigned i = 0; i < 500; ++i) {
    Random random(copies_seeds(i));
    const Disturbance& disturbance = one_of(random, all_disturbances());
    MadeResults made("async_copies");
    double best_loaded = 0;
    double best_copied = 0;
    for (std::size_t way = 0; way < some_ways.size(); ++way) {
      const double highest = 4000 * between(random, 0.8, 1.2);
      const double corner = between_octaves(random, 9000, 100000);
      add_rates(
          made, some_ways[way],
          [=](double bytes) { return highest * std::min(1.0, bytes / corner); }, disturbance,
          random);
      double& best = way < past ? best_loaded : best_copied;
      best = std::max(best, highest);
    }
    async_copies::conclude(made.results());
    gains.add({.value = best_copied / best_loaded, .tolerance = 0.1},
              made.inference(gains.inference + ", memory"));
  }
  expect_goals(gains, {.right = 0.8});
}

}  // namespace
}  // namespace hipscope::trial
