// The sector of a cache from pairs of neighbours.
#include <gtest/gtest.h>

#include <vector>

#include "disturbance.h"
#include "findings.h"
#include "made_results.h"
#include "trial.h"

namespace hipscope::trial {
namespace {

// The second load of a pair: a hit in the sector of the first, then a miss to the next level, then
// one farther still, such as another slice or another row of memory.
struct Neighbourhood {
  double sector = 32;
  double near = 0;  // bytes within which a miss is nearer; 0: all are alike
  double hit = 40;
  double miss = 250;
  double far = 500;
};

Neighbourhood random_neighbourhood(Random& random) {
  Neighbourhood made;
  made.sector = one_of(random, std::vector<double>{16, 32, 64, 128, 256});
  made.near = happens(random, 0.4) && made.sector <= 64 ? 4 * made.sector : 0;
  made.hit = between_octaves(random, 25, 300);
  made.miss = made.hit * between_octaves(random, 1.4, 8);
  made.far = made.miss * between_octaves(random, 1.3, 3);
  return made;
}

const std::vector<double> line_blocks = {8, 16, 32, 64, 128, 256, 512, 1024};

Curve second_loads(const Neighbourhood& law) {
  Curve curve;
  for (const double block : line_blocks) {
    const double latency = block <= law.sector                ? law.hit
                           : law.near > 0 && block > law.near ? law.far
                                                              : law.miss;
    curve.push_back({.x = block, .y = latency});
  }
  return curve;
}

const Seeds sector_seeds(5);

TEST(LineTrial, Sector) {
  constexpr unsigned caches = 400;
  Tally& answers = tally("sector");
  for (unsigned i = 0; i < caches; ++i) {
    for (const Disturbance& disturbance : disturbances()) {
      Random random(sector_seeds(i));
      const Neighbourhood law = random_neighbourhood(random);
      MadeResults made("cache_line");
      for (const char* value : {"second load", "across the middle"}) {
        made.curve("sector-l1", value, disturbed(second_loads(law), disturbance, random));
      }
      cache_line::conclude(made.results());
      answers.add({.value = law.sector}, made.inference("cache level 1 sector"));
    }
  }
  expect_goals(answers, {.right = 0.8});
}

const Seeds no_line_seeds(6);

TEST(LineTrial, NoSectorIsInvented) {
  constexpr unsigned curves = 500;
  Tally& answers = tally("sector, of nothing");
  for (unsigned i = 0; i < curves; ++i) {
    Random random(no_line_seeds(i));
    MadeResults made("cache_line");
    const Disturbance& disturbance = one_of(random, disturbances());
    for (const char* value : {"second load", "across the middle"}) {
      made.curve(
          "sector-l1", value,
          disturbed(non_structure(line_blocks, 250, false, random).curve, disturbance, random));
    }
    cache_line::conclude(made.results());
    answers.add({}, made.inference("cache level 1 sector"));
  }
  expect_goals(answers);
}

}  // namespace
}  // namespace hipscope::trial
