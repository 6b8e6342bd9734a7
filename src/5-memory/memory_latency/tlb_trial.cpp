// The reach of a TLB from lines in pages against dense ones.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "disturbance.h"
#include "findings.h"
#include "made_results.h"
#include "trial.h"

namespace hipscope::trial {
namespace {

constexpr double small_page = memory_latency::small_page;
constexpr double large_page = memory_latency::large_page;

// Within a grid of eighths of an octave and the way of a set that is full early.
constexpr double tlb_tolerance = 0.2;
constexpr double penalty_tolerance = 0.15;

struct Tlb {
  double entries = 0;
  double entry_bytes = 0;  // that each covers
  double cost = 0;         // of a miss, over a hit in L2
  bool is_sharp = false;   // all miss soon after the reach; else the share that does not fit
};

Tlb random_tlb(Random& random) {
  return {.entries = std::round(between_octaves(random, 16, 8192)),
          .entry_bytes = one_of(random, std::vector<double>{64, 64, 128, 512, 2048, 2048}) * 1024,
          .cost = between_octaves(random, 0.1, 1.5),
          .is_sharp = happens(random, 0.5)};
}

std::vector<double> page_counts() {
  std::vector<double> all;
  for (double octave = 4; octave <= 65536; octave *= 2) {
    for (int i = 0; i < 8; ++i) {
      const double pages = std::floor(octave * (1 + i / 8.0));
      if (pages <= 65536 && (all.empty() || pages > all.back())) {
        all.push_back(pages);
      }
    }
  }
  return all;
}

Curve paged_over_dense(const Tlb& tlb, double page_bytes) {
  Curve curve;
  const double reach = tlb.entries * std::max(1.0, tlb.entry_bytes / page_bytes);
  for (const double pages : page_counts()) {
    const double beyond = pages <= reach ? 0
                          : tlb.is_sharp ? std::min(1.0, 6 * (pages / reach - 1))
                                         : 1 - reach / pages;
    curve.push_back({.x = pages, .y = 1 + tlb.cost * beyond});
  }
  return curve;
}

const Seeds reach_seeds(7);
const Seeds small_cost_seeds(93);

// A first TLB whose misses cost little, since they hit in the second: what is found of the second
// is no answer to where the first ends.
void add_firsts_that_cost_little(Tally& answers, Tally& seconds) {
  constexpr unsigned tlbs = 100;
  for (unsigned i = 0; i < tlbs; ++i) {
    for (Disturbance disturbance : disturbances()) {
      disturbance.drift = 0;
      Random random(small_cost_seeds(i));
      Tlb first = random_tlb(random);
      first.entries = std::round(between_octaves(random, 16, 512));
      first.cost = between_octaves(random, 0.02, 0.1);
      Tlb second = first;
      second.entries = std::round(first.entries * between_octaves(random, 8, 128));
      second.cost = between_octaves(random, 0.2, 1.5);
      MadeResults made("memory_latency");
      for (const auto& [sweep, page] : {std::pair{"tlb-2m", large_page}, {"tlb-64k", small_page}}) {
        Curve curve = paged_over_dense(first, page);
        const Curve further = paged_over_dense(second, page);
        for (std::size_t point = 0; point < curve.size(); ++point) {
          curve[point].y += further[point].y - 1;
        }
        made.curve(sweep, "paged over dense", disturbed(curve, disturbance, random));
      }
      memory_latency::conclude(made.results());
      answers.add({.value = first.entries * first.entry_bytes, .tolerance = tlb_tolerance},
                  made.inference("TLB level 1 reach"));
      // Of entries for less, pages of 2 MiB reach more than these cover.
      if (second.entry_bytes == large_page) {
        seconds.add({.value = second.entries * second.entry_bytes, .tolerance = tlb_tolerance},
                    made.inference("TLB level 2 reach"));
      }
    }
  }
}

TEST(TlbTrial, Reach) {
  constexpr unsigned tlbs = 200;
  Tally& answers = tally("TLB reach");
  for (unsigned i = 0; i < tlbs; ++i) {
    for (Disturbance disturbance : disturbances()) {
      // A ratio of two latencies that were measured one after the other does not drift.
      disturbance.drift = 0;
      Random random(reach_seeds(i));
      const Tlb tlb = random_tlb(random);
      MadeResults made("memory_latency");
      made.curve("tlb-2m", "paged over dense",
                 disturbed(paged_over_dense(tlb, large_page), disturbance, random));
      made.curve("tlb-64k", "paged over dense",
                 disturbed(paged_over_dense(tlb, small_page), disturbance, random));
      // The ratio is that of these two.
      constexpr double dense = 250;
      Curve paged = made.results().curve("tlb-2m", "paged over dense");
      Curve plain = paged;
      for (std::size_t point = 0; point < paged.size(); ++point) {
        paged[point].y *= dense;
        plain[point].y = dense;
      }
      made.curve("tlb-2m", "paged latency", paged);
      made.curve("tlb-2m", "dense latency", plain);
      memory_latency::conclude(made.results());
      tally("TLB miss penalty")
          .add({.value = tlb.cost * dense, .tolerance = penalty_tolerance},
               made.inference("TLB level 1 miss penalty"));
      answers.add({.value = tlb.entries * tlb.entry_bytes, .tolerance = tlb_tolerance},
                  made.inference("TLB level 1 reach"));
    }
  }
  // A GPU may be of either kind: an answer's confidence is held to both together.
  Tally& seconds = tally("TLB reach, of the second behind it");
  add_firsts_that_cost_little(answers, seconds);
  expect_goals(answers, {.right = 0.3});
  expect_goals(seconds, {.right = 0.2});
  expect_goals(tally("TLB miss penalty"), {.right = 0.3});
}

const Seeds no_tlb_seeds(8);

TEST(TlbTrial, NoReachIsInvented) {
  constexpr unsigned curves = 500;
  Tally& answers = tally("TLB reach, of nothing");
  for (unsigned i = 0; i < curves; ++i) {
    Random random(no_tlb_seeds(i));
    MadeResults made("memory_latency");
    const Disturbance& disturbance = one_of(random, disturbances());
    for (const char* sweep : {"tlb-2m", "tlb-64k"}) {
      made.curve(
          sweep, "paged over dense",
          disturbed(non_structure(page_counts(), 1, false, random).curve, disturbance, random));
    }
    memory_latency::conclude(made.results());
    answers.add({}, made.inference("TLB level 1 reach"));
  }
  expect_goals(answers);
}

}  // namespace
}  // namespace hipscope::trial
