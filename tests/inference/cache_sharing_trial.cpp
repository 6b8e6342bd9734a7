// The trial of what cache_sharing concludes: who shares a cache, and in how many parts L2 lies.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "cache_sharing_findings.h"
#include "made_results.h"
#include "samples.h"
#include "staircase_curves.h"
#include "trial.h"

namespace hipscope::trial {
namespace {

using cache_sharing::pair_row;
using cache_sharing::Path;

// --- Paths and LDS ------------------------------------------------------------------------------

const Seeds path_seeds(83);

TEST(CacheSharingTrial, Paths) {
  Tally& answers = tally("cache shared by two paths");
  for (unsigned i = 0; i < 1000; ++i) {
    Random random(path_seeds(i));
    const Disturbance& disturbance = one_of(random, all_disturbances());
    const double hit = between(random, 30, 120);
    const double miss = hit * between_octaves(random, 1.15, 8);
    const bool is_shared = happens(random, 0.5);
    const std::vector<double> rows = {
        pair_row(Path::vector, Path::vector), pair_row(Path::vector, Path::texture),
        pair_row(Path::texture, Path::vector), pair_row(Path::texture, Path::texture)};
    const auto is_own = [&](double x) { return x == rows.front() || x == rows.back(); };
    MadeResults made("cache_sharing");
    made.curve("pairs", "alone",
               sampled(
                   rows, [=](double) { return hit; }, disturbance, random));
    made.curve("pairs", "after",
               sampled(
                   rows, [&](double x) { return is_own(x) || is_shared ? miss : hit; }, disturbance,
                   random));
    cache_sharing::conclude(made.results());
    Inference found = made.inference("cache shared by vector and texture");
    if (found.value) {
      found.value = *found.value > 50 ? 1 : 2;  // caches
    }
    answers.add({.value = is_shared ? 1 : 2}, found);
  }
  expect_goals(answers, {.right = 0.6});
}

std::vector<double> footprints_of_lds() {
  std::vector<double> all;
  for (double octave = 4096; octave <= 512 * 1024; octave *= 2) {
    all.push_back(octave);
    all.push_back(1.5 * octave);
  }
  return all;
}

const Seeds lds_seeds(84);
const Seeds no_lds_seeds(85);

TEST(CacheSharingTrial, BesideLds) {
  Tally& answers = tally("vector cache left beside the largest LDS");
  const std::vector<double> xs = footprints_of_lds();
  for (unsigned i = 0; i < 500; ++i) {
    Random random(lds_seeds(i));
    const Disturbance& disturbance = one_of(random, all_disturbances());
    const double all = one_of(random, std::vector<double>{16384, 32768, 131072, 196608, 262144});
    const double left = happens(random, 0.5) ? all : std::max(16384.0, all / 8);
    const double hit = between(random, 30, 120);
    const double miss = hit * between_octaves(random, 2.2, 8);
    const double width = one_of(random, std::vector<double>{0.01, 0.01, 0.5});  // octaves
    const auto walk = [&](double capacity) {
      return sampled(
          xs,
          [&](double x) {
            const double part = std::clamp(std::log2(x / capacity) / width, 0.0, 1.0);
            return hit + part * (miss - hit);
          },
          disturbance, random);
    };
    MadeResults made("cache_sharing");
    made.curve("lds", "without LDS", walk(all)).curve("lds", "with LDS", walk(left));
    cache_sharing::conclude(made.results());
    answers.add({.value = left}, made.inference(answers.inference));
  }
  for (unsigned i = 0; i < 500; ++i) {
    Random random(no_lds_seeds(i));
    MadeResults made("cache_sharing");
    made.curve("lds", "without LDS", nothing(xs, random));
    made.curve("lds", "with LDS", nothing(xs, random));
    cache_sharing::conclude(made.results());
    answers.add({}, made.inference(answers.inference));
  }
  expect_goals(answers, {.right = 0.6});
}

const Seeds constant_unit_seeds(86);
const Seeds no_constant_unit_seeds(87);

TEST(CacheSharingTrial, UnitsOfConstantCaches) {
  Tally& answers = tally("constant cache sector");
  const std::vector<double> blocks = {16, 32, 64, 128, 256, 512, 1024};
  for (unsigned i = 0; i < 500; ++i) {
    Random random(constant_unit_seeds(i));
    const Disturbance& disturbance = one_of(random, all_disturbances());
    const double unit = one_of(random, std::vector<double>{32, 64, 128});
    const double second = unit * one_of(random, std::vector<double>{1, 2, 4});
    const double hit = between(random, 30, 60);
    const double next = hit * between(random, 1.8, 3);
    MadeResults made("cache_sharing");
    made.curve("constant-unit", "second load",
               sampled(
                   blocks, [=](double x) { return x <= unit     ? hit
                                                  : x <= second ? next
                                                                : hit * 8; },
                   disturbance, random));
    cache_sharing::conclude(made.results());
    answers.add({.value = unit}, made.inference("constant cache level 1 sector"));
  }
  for (unsigned i = 0; i < 500; ++i) {
    Random random(no_constant_unit_seeds(i));
    MadeResults made("cache_sharing");
    made.curve("constant-unit", "second load", nothing(blocks, random));
    cache_sharing::conclude(made.results());
    answers.add({}, made.inference("constant cache level 1 sector"));
  }
  expect_goals(answers, {.right = 0.5});
}

// A curve of which each point is of one launch: there are no samples that could spread.
Curve one_launch(const std::vector<double>& xs, const std::function<double(double)>& y,
                 const Disturbance& disturbance, Random& random) {
  Curve curve = sampled(xs, y, disturbance, random);
  for (CurvePoint& point : curve) {
    point.relative_spread = 0;
  }
  return curve;
}

// --- CUs ----------------------------------------------------------------------------------------

const Seeds sharer_seeds(88);

TEST(CacheSharingTrial, WhoSharesACache) {
  Tally& answers = tally("CUs that share a cache");
  for (unsigned i = 0; i < 300; ++i) {
    Random random(sharer_seeds(i));
    const Disturbance& disturbance = one_of(random, all_disturbances());
    const bool is_nothing = i >= 200;
    const std::size_t size = one_of(random, std::vector<std::size_t>{1, 2, 3, 4});
    const std::size_t units = 6 * size * one_of(random, std::vector<std::size_t>{1, 2, 3});
    const double times = is_nothing ? 1 : between_octaves(random, 1.4, 6);
    std::vector<double> all(units);
    std::iota(all.begin(), all.end(), 0.0);
    const Curve quiet = sampled(
        all, [](double) { return 40; }, disturbance, random);
    std::vector<double> alone;
    std::vector<std::vector<double>> disturbed;
    Curve own;
    for (std::size_t a = 0; a < units; ++a) {
      alone.push_back(quiet[a].y);
      const Curve looked = sampled(
          all,
          [&](double b) {
            return a / size == static_cast<std::size_t>(b) / size ? 40 * times : 40;
          },
          disturbance, random);
      disturbed.emplace_back();
      for (const CurvePoint& point : looked) {
        disturbed.back().push_back(point.y);
      }
      own.push_back(looked[a]);
    }
    const auto groups = cache_sharing::groups_by_disturbance(alone, disturbed);
    Curve first;
    for (std::size_t b = 0; b < groups.size(); ++b) {
      first.push_back({.x = all[b], .y = static_cast<double>(groups[b])});
    }
    MadeResults made("cache_sharing");
    made.curve("units-vector", "beside itself", own).curve("units-vector", "quiet", quiet);
    made.curve("units-vector", "first of its group", first);
    cache_sharing::conclude(made.results());
    answers.add(is_nothing ? Truth{} : Truth{.value = static_cast<double>(size)},
                made.inference("CUs that share a cache of vector loads"));
  }
  expect_goals(answers, {.right = 0.6});
}

const Seeds part_seeds(89);

TEST(CacheSharingTrial, PartsOfL2) {
  Tally& answers = tally("parts of L2 by distance");
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
    MadeResults made("cache_sharing");
    std::vector<double> own;
    for (std::size_t unit = 0; unit < units; ++unit) {
      own.push_back(between(random, 1 - of_a_unit, 1 + of_a_unit));
    }
    for (unsigned line = 0; line < cache_sharing::line_count; ++line) {
      const double latency = 280 * between(random, 1 - of_a_line, 1 + of_a_line);
      const std::size_t home =
          line < parts ? line : static_cast<std::size_t>(between(random, 0, parts * 1.0));
      made.curve("l2-lines", cache_sharing::line_name(line),
                 one_launch(
                     xs,
                     [&](double unit) {
                       const auto index = static_cast<std::size_t>(unit);
                       const bool is_near = index / 2 % parts == home;
                       return latency * own[index] * (is_near ? 1 : far);
                     },
                     disturbance, random));
    }
    cache_sharing::conclude(made.results());
    answers.add(is_nothing ? Truth{} : Truth{.value = static_cast<double>(parts)},
                made.inference(answers.inference));
  }
  expect_goals(answers, {.right = 0.4});
}

const Seeds finder_seeds(90);

TEST(CacheSharingTrial, WhoFindsWhatAnotherHasRead) {
  Tally& answers = tally("CUs that find in L2 what one CU has read");
  for (unsigned i = 0; i < 1000; ++i) {
    Random random(finder_seeds(i));
    const Disturbance& disturbance = one_of(random, all_disturbances());
    const bool is_nothing = i >= 500;
    const double units = one_of(random, std::vector<double>{32, 64, 132});
    const double finders = units / one_of(random, std::vector<double>{1, 2, 4});
    const double far = finders * one_of(random, std::vector<double>{0, 0.5});
    const double hit = between(random, 200, 350);
    const double miss = is_nothing ? hit : hit * between(random, 1.8, 3.5);
    std::vector<double> xs(static_cast<std::size_t>(units));
    std::iota(xs.begin(), xs.end(), 0.0);
    MadeResults made("cache_sharing");
    made.curve("l2-handover", "own",
               one_launch(
                   xs, [=](double) { return hit; }, disturbance, random));
    made.curve("l2-handover", "cold",
               one_launch(
                   xs, [=](double) { return miss; }, disturbance, random));
    made.curve("l2-handover", "handed over",
               one_launch(
                   xs,
                   [=](double unit) {
                     return unit < far ? hit + 0.4 * (miss - hit) : unit < finders ? hit : miss;
                   },
                   disturbance, random));
    cache_sharing::conclude(made.results());
    answers.add(is_nothing ? Truth{} : Truth{.value = finders, .tolerance = 0.05},
                made.inference(answers.inference));
  }
  expect_goals(answers, {.right = 0.5});
}

}  // namespace
}  // namespace hipscope::trial
