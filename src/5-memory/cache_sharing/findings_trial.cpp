// The trial of what cache_sharing concludes: who shares a cache.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <vector>

#include "5-memory/leaving.h"
#include "cache_simulator.h"
#include "disturbance.h"
#include "findings.h"
#include "hipscope/statistics.h"
#include "made_results.h"
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

const Seeds pair_of_lds_seeds(84);
const Seeds no_lds_seeds(85);

TEST(CacheSharingTrial, BesideLds) {
  Tally& answers = tally("vector cache left beside the largest LDS");
  const std::vector<double> xs = footprints_of_lds();
  for (unsigned i = 0; i < 500; ++i) {
    Random random(pair_of_lds_seeds(i));
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

// What sweep constant-line measures of one cache, by the law of its lines and not by a law of its
// curve: nodes are kept, a word of each chunk is read, and latencies are disturbed before the sweep
// makes shares of them.
class ConstantLines {
 public:
  ConstantLines(const Cache& cache, double miss, double most_bytes, const Disturbance& disturbance,
                Random& random)
      : cache_(cache),
        miss_(miss),
        most_bytes_(most_bytes),
        disturbance_(disturbance),
        random_(random) {
    constexpr std::size_t nodes = 16;
    constexpr double spacing = 64;
    for (std::size_t node = 0; node < nodes; ++node) {
      kept_.push_back(line_of(static_cast<double>(node) * spacing));
    }
    std::shuffle(kept_.begin(), kept_.end(), random_);
  }

  // The footprint of chunks of `chunk` bytes; NaN where none of the range evicts enough.
  double footprint(double chunk) {
    constexpr double smallest_line = 32;
    const double most = std::min(65536.0, most_bytes_) / word_bytes;
    const double most_chunks = std::floor(std::min(most, most_bytes_ / chunk));
    const double missed = after(most_bytes_ / smallest_line, smallest_line);
    const double hit = after(1, chunk);
    return chunk * memory::leaving_nodes(1, most_chunks, 9, [&](double nodes) {
             std::vector<double> shares;
             for (int draw = 0; draw < 3; ++draw) {
               shares.push_back((after(std::round(nodes), chunk) - hit) / (missed - hit));
             }
             return summarize(shares).median;
           });
  }

 private:
  [[nodiscard]] std::size_t line_of(double offset) const {
    return static_cast<std::size_t>(offset / cache_.line);
  }

  // The share of the kept nodes that a word of each chunk evicts.
  double evicted(double chunks, double chunk) {
    constexpr double begin = 2048;
    std::vector<std::size_t> others;
    for (double i = 0; i < chunks; ++i) {
      const std::size_t line = line_of(begin + (i + between(random_, 0, 1)) * chunk);
      if (others.empty() || others.back() != line) {
        others.push_back(line);  // once more is a hit and changes nothing
      }
    }
    return evicted_share(cache_, kept_, others, random_);
  }

  // The latency of what was kept after that: the median of fewer launches than the sweep has.
  double after(double chunks, double chunk) {
    std::vector<double> shares;
    for (int launch = 0; launch < 3; ++launch) {
      shares.push_back(evicted(chunks, chunk));
    }
    const double share = summarize(shares).median;
    const double latency = cache_.latency + share * (miss_ - cache_.latency);
    constexpr double launches = 232;  // of a sweep: a clock drifts from the first to the last
    const double clock = 1 + disturbance_.drift * ++launches_ / launches;
    const double noise = std::normal_distribution<double>(1, disturbance_.noise)(random_);
    const bool is_outlier = happens(random_, disturbance_.outlier_share);
    return latency * clock * noise * (is_outlier ? disturbance_.outlier_factor : 1);
  }

  static constexpr double word_bytes = 8;
  Cache cache_;
  double miss_;
  double most_bytes_;
  const Disturbance& disturbance_;
  Random& random_;
  std::vector<std::size_t> kept_{};
  double launches_ = 0;
};

const Seeds constant_line_seeds(91);
const Seeds no_constant_line_seeds(92);

TEST(CacheSharingTrial, LinesOfConstantCaches) {
  Tally& answers = tally("constant cache line");
  const std::vector<double> chunks = {8, 16, 32, 64, 128, 256, 512, 1024};
  Curve misses;
  for (const double chunk : chunks) {
    misses.push_back({.x = chunk, .y = 100});
  }
  for (unsigned i = 0; i < 300; ++i) {
    Random random(constant_line_seeds(i));
    const Disturbance& disturbance = one_of(random, all_disturbances());
    Cache cache;
    cache.bytes = one_of(random, std::vector<double>{2048, 2048, 4096, 8192, 16384, 32768});
    cache.line = one_of(random, std::vector<double>{32, 64, 64, 128, 256});
    cache.ways = one_of(random, std::vector<unsigned>{2, 4, 8});
    cache.replacement = one_of(
        random, std::vector<Replacement>{Replacement::lru, Replacement::lru, Replacement::tree_plru,
                                         Replacement::random, Replacement::not_most_recent});
    cache.sets = one_of(random, std::vector<Sets>{Sets::in_turn, Sets::in_turn, Sets::hashed});
    cache.latency = between(random, 25, 60);
    const double miss = cache.latency * between(random, 1.5, 4);
    const double sector = cache.line / one_of(random, std::vector<double>{1, 1, 2, 4});
    const double most_bytes = one_of(random, std::vector<double>{63488, 524288});
    ConstantLines lines(cache, miss, most_bytes, disturbance, random);
    Curve footprints;
    for (const double chunk : chunks) {
      const double bytes = lines.footprint(chunk);
      if (!std::isnan(bytes)) {
        footprints.push_back({.x = chunk, .y = bytes});
      }
    }
    MadeResults made("cache_sharing");
    made.curve("constant-line", "footprint", footprints);
    made.curve("constant-line", "miss", misses);
    made.curve(
        "constant-unit", "second load",
        sampled(
            {16, 32, 64, 128, 256, 512, 1024},
            [=](double x) { return x <= sector ? cache.latency : miss; }, disturbance, random));
    cache_sharing::conclude(made.results());
    answers.add({.value = cache.line}, made.inference("constant cache level 1 line"));
  }
  for (unsigned i = 0; i < 500; ++i) {
    Random random(no_constant_line_seeds(i));
    MadeResults made("cache_sharing");
    made.curve("constant-line", "footprint", nothing(chunks, random));
    made.curve("constant-line", "miss", misses);
    cache_sharing::conclude(made.results());
    answers.add({}, made.inference("constant cache level 1 line"));
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
