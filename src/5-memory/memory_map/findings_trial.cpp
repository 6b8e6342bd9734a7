// The trial of what memory_map concludes: which CUs see the lines of L2 alike.
#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "disturbance.h"
#include "findings.h"
#include "made_results.h"
#include "trial.h"

namespace hipscope::trial {
namespace {

const Seeds part_seeds(89);

TEST(MemoryMapTrial, GroupsByDistance) {
  Tally& answers = tally("groups of CUs by distance to L2");
  for (unsigned i = 0; i < 300; ++i) {
    Random random(part_seeds(i));
    const Disturbance& disturbance = one_of(random, all_disturbances());
    const bool is_nothing = i >= 150;
    const std::size_t parts = is_nothing ? 1 : one_of(random, std::vector<std::size_t>{2, 4, 8});
    const std::size_t units = one_of(random, std::vector<std::size_t>{48, 64, 80});
    const double far = between(random, 1.15, 2);
    const double of_a_line = between(random, 0, 0.08);  // lines differ for all CUs alike
    const double of_a_unit = between(random, 0, 0.02);
    std::vector<double> xs(units);
    std::iota(xs.begin(), xs.end(), 0.0);
    MadeResults made("memory_map");
    std::vector<double> own;
    for (std::size_t unit = 0; unit < units; ++unit) {
      own.push_back(between(random, 1 - of_a_unit, 1 + of_a_unit));
    }
    for (unsigned line = 0; line < memory_map::map_lines; ++line) {
      const double latency = 280 * between(random, 1 - of_a_line, 1 + of_a_line);
      const std::size_t home =
          line < parts ? line : static_cast<std::size_t>(between(random, 0, parts * 1.0));
      // No spread of samples: nothing here asks for it, and each would be summed up for every line.
      made.curve("map", memory_map::line_name(line),
                 measured(
                     xs,
                     [&](double unit) {
                       const auto index = static_cast<std::size_t>(unit);
                       const bool is_near = index / 2 % parts == home;
                       return latency * own[index] * (is_near ? 1 : far);
                     },
                     disturbance, random));
    }
    made.curve("map", "latency",
               measured(
                   xs, [](double) { return 280.0; }, disturbance, random));
    memory_map::conclude(made.results());
    answers.add(is_nothing ? Truth{} : Truth{.value = static_cast<double>(parts)},
                made.inference(answers.inference));
  }
  expect_goals(answers, {.right = 0.4});
}

}  // namespace
}  // namespace hipscope::trial
