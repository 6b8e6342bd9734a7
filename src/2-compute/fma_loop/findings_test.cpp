// What fma_loop concludes from made curves, and the reference of its chains.
#include "findings.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "2-compute/chain_reference.h"
#include "made_curve.h"
#include "made_results.h"

namespace hipscope {
namespace {

constexpr double bytes_per_fma = 16;
constexpr double loop_bytes = 48;

std::vector<double> lengths() {
  return {1,    2,    4,    8,    16,   32,   64,   100,  128,  192,  256,  384,  512,   768,  1024,
          1536, 2048, 3072, 3584, 4000, 4096, 4608, 6144, 7168, 8000, 8192, 9216, 12288, 16384};
}

// A loop whose FMAs take `latency` cycles each and its end `end` cycles; beyond `cache` bytes an
// FMA takes half as long again.
MadeResults loops(double latency, double end, double cache, double noise = 0) {
  MadeResults made("fma_loop");
  std::vector<double> bytes;
  for (const double fmas : lengths()) {
    bytes.push_back(fmas * bytes_per_fma + loop_bytes);
  }
  const auto fmas_of = [](double x) { return (x - loop_bytes) / bytes_per_fma; };
  const auto cycles = [=](double x) {
    return (latency + end / fmas_of(x)) * (x > cache ? 1.5 : 1);
  };
  for (const unsigned threads : fma_loop::unroll_threads) {
    const std::string sweep = fma_loop::unroll_name(threads);
    made.curve(sweep, "FMAs in the loop", made_curve(bytes, fmas_of));
    made.curve(sweep, "cycles per FMA", made_curve(bytes, cycles, noise, threads));
  }
  return made;
}

TEST(FmaLoopTest, LatencyLoopCostAndCacheAreRead) {
  MadeResults made = loops(4, 6, 128 * 1024);
  fma_loop::conclude(made.results());
  EXPECT_NEAR(*made.inference("FMA latency").value, 4, 0.001);
  EXPECT_NEAR(*made.inference("cost of an iteration's end").value, 6, 0.001);
  EXPECT_GT(made.inference("FMA latency").confidence, 0.99);
  for (const std::string threads : {"64", "256"}) {
    const Inference cache = made.inference("largest loop at full speed, " + threads + " threads");
    EXPECT_EQ(cache.value, 8000 * bytes_per_fma + loop_bytes);
    EXPECT_EQ(cache.statement,
              "a loop of 128048 bytes is the longest at full speed; with 131120 an FMA takes "
              "1.5 times as long");
  }
  EXPECT_TRUE(made.inference("largest loop at full speed, 1024 threads").name.empty());
}

TEST(FmaLoopTest, ALossOfAFewPercentIsNotFullSpeed) {
  MadeResults made("fma_loop");
  made.curve("unroll-64", "cycles per FMA", made_curve(doubling(1024, 1 << 19), [](double x) {
               return x < 1e5 ? 4.0 : x < 2e5 ? 4.17 : 5.7;
             }));
  fma_loop::conclude(made.results());
  const Inference cache = made.inference("largest loop at full speed, 64 threads");
  EXPECT_EQ(cache.value, 65536);
  EXPECT_EQ(cache.evidence.at(0), "the longest loop, 524288 bytes: 1.43 times as long");
}

TEST(FmaLoopTest, TwoBlocksThatSlowDownAtDifferentPlacesAreUnsure) {
  MadeResults made("fma_loop");
  const auto cycles = [](double cache) { return [=](double x) { return x <= cache ? 4.0 : 6.0; }; };
  made.curve("unroll-64", "cycles per FMA", made_curve(doubling(64, 1 << 18), cycles(8192)));
  made.curve("unroll-256", "cycles per FMA", made_curve(doubling(64, 1 << 18), cycles(16384)));
  fma_loop::conclude(made.results());
  for (const std::string threads : {"64", "256"}) {
    const Inference cache = made.inference("largest loop at full speed, " + threads + " threads");
    EXPECT_TRUE(cache.value.has_value());
    EXPECT_LE(cache.confidence, 0.5);
    EXPECT_EQ(cache.evidence.back(), "a block of another size slows down elsewhere");
  }
}

TEST(FmaLoopTest, ASlowdownOfOneBlockAloneIsNoCache) {
  MadeResults made("fma_loop");
  made.curve("unroll-64", "cycles per FMA",
             made_curve(doubling(64, 1 << 18), [](double x) { return x <= 8192 ? 4.0 : 6.0; }));
  made.curve("unroll-256", "cycles per FMA",
             made_curve(doubling(64, 1 << 18), [](double) { return 4.0; }));
  fma_loop::conclude(made.results());
  EXPECT_FALSE(made.inference("largest loop at full speed, 64 threads").value.has_value());
}

TEST(FmaLoopTest, TheLastPointAloneMakesNoCache) {
  MadeResults last("fma_loop");
  last.curve("unroll-64", "cycles per FMA",
             made_curve(doubling(64, 1 << 18), [](double x) { return x < 1 << 18 ? 4.0 : 8.0; }));
  fma_loop::conclude(last.results());
  EXPECT_FALSE(last.inference("largest loop at full speed, 64 threads").value.has_value());
}

TEST(FmaLoopTest, WithoutAnEndThereIsNoCache) {
  MadeResults made = loops(4, 0, 1e9, 0.002);
  fma_loop::conclude(made.results());
  const Inference cache = made.inference("largest loop at full speed, 64 threads");
  EXPECT_FALSE(cache.name.empty());
  EXPECT_FALSE(cache.value.has_value());
  EXPECT_NEAR(*made.inference("FMA latency").value, 4, 0.04);
  EXPECT_NEAR(*made.inference("cost of an iteration's end").value, 0, 1);
}

constexpr double chunk_bytes = 1056;
constexpr unsigned most_chunks = 248;
constexpr double kib = 1024;

// Cycles per FMA of a loop in a cache of `cache` bytes with 8 ways: none misses that fits, and all
// of it misses once it is an eighth longer.
double cycles_in_cache(double bytes, double cache) {
  return 4 + 2 * std::clamp((bytes / cache - 1) * 8, 0.0, 1.0);
}

// Both passes over the length of a loop, for blocks of 64 and of 256 threads.
MadeResults both_passes(double cache_64, double cache_256) {
  MadeResults made("fma_loop");
  for (const unsigned threads : fma_loop::edge_threads) {
    const double cache = threads == 64 ? cache_64 : cache_256;
    const auto cycles = [=](double bytes) { return cycles_in_cache(bytes, cache); };
    std::vector<double> bytes;
    for (const double fmas : lengths()) {
      bytes.push_back(fmas * bytes_per_fma + loop_bytes);
    }
    const auto coarse = made_curve(bytes, cycles, 0.001, threads);
    made.curve(fma_loop::unroll_name(threads), "cycles per FMA", coarse);
    bytes.clear();
    for (const unsigned chunks : fma_loop::edge_chunks(coarse, chunk_bytes, most_chunks)) {
      bytes.push_back(chunks * chunk_bytes + loop_bytes);
    }
    made.curve(fma_loop::edge_name(threads), "cycles per FMA",
               made_curve(bytes, cycles, 0.001, threads + 1));
  }
  fma_loop::conclude(made.results());
  return made;
}

TEST(FmaLoopTest, FinerLengthsLieAboutTheEndAndFarEnoughAround) {
  const auto coarse_of = [](double end) {
    return made_curve(doubling(64, 1 << 18), [=](double x) { return x <= end ? 4.0 : 6.0; });
  };
  const auto chunks = fma_loop::edge_chunks(coarse_of(32 * kib), chunk_bytes, most_chunks);
  ASSERT_FALSE(chunks.empty());
  EXPECT_TRUE(std::is_sorted(chunks.begin(), chunks.end()));
  EXPECT_LT(chunks.size(), 64U);
  EXPECT_NEAR(chunks.front() * chunk_bytes, 32 * kib / 1.5, 3 * chunk_bytes);
  EXPECT_NEAR(chunks.back() * chunk_bytes, 64 * kib * 1.8, 8 * chunk_bytes);
  for (std::size_t i = 1; i < chunks.size(); ++i) {
    const double bytes = chunks[i] * chunk_bytes;
    if (bytes > 32 * kib && bytes < 64 * kib) {
      EXPECT_LE(chunks[i] - chunks[i - 1], 2U) << bytes;
    }
  }
  // Nothing to refine, and none that could be: the last chunk is before the end.
  EXPECT_TRUE(fma_loop::edge_chunks(coarse_of(1e9), chunk_bytes, most_chunks).empty());
  EXPECT_TRUE(fma_loop::edge_chunks(coarse_of(32 * kib), chunk_bytes, 64).empty());
  EXPECT_TRUE(fma_loop::edge_chunks({}, chunk_bytes, most_chunks).empty());
}

TEST(FmaLoopTest, BothPassesTellWhatTheInstructionCacheHolds) {
  const MadeResults made = both_passes(128 * kib, 128 * kib);
  const Inference cache = made.inference("instruction cache capacity");
  ASSERT_TRUE(cache.value.has_value());
  EXPECT_NEAR(*cache.value, 128 * kib, 0.03 * 128 * kib);
  EXPECT_GE(cache.confidence, 0.8);
  EXPECT_LE(cache.interval->low, 128 * kib);
  EXPECT_GE(cache.interval->high, 128 * kib);
  EXPECT_EQ(cache.evidence.size(), 2U);
  const Inference loop = made.inference("largest loop at full speed, 64 threads");
  EXPECT_GE(*loop.value, 8000 * bytes_per_fma + loop_bytes);
  EXPECT_LE(*loop.value, 128 * kib);
  EXPECT_GT(loop.interval->high, *loop.value);
}

TEST(FmaLoopTest, BlocksThatPartMakeTheCacheUnsure) {
  const MadeResults made = both_passes(128 * kib, 96 * kib);
  const Inference cache = made.inference("instruction cache capacity");
  EXPECT_LE(cache.confidence, 0.5);
  EXPECT_EQ(cache.evidence.back(), "blocks of another size do not say the same");
}

TEST(FmaLoopTest, WithoutTheFirstPassTheSecondTellsNothing) {
  MadeResults made("fma_loop");
  made.curve("edge-64", "cycles per FMA", made_curve(multiples(4 * kib, 200 * kib), [](double x) {
               return cycles_in_cache(x, 128 * kib);
             }));
  fma_loop::conclude(made.results());
  const Inference cache = made.inference("instruction cache capacity");
  EXPECT_FALSE(cache.name.empty());
  EXPECT_FALSE(cache.value.has_value());
}

TEST(FmaLoopTest, NothingIsConcludedFromNothing) {
  expect_nothing_from_nothing("fma_loop", fma_loop::conclude);
}

// Without an early end.
float summed(std::uint64_t number, std::uint64_t fmas) {
  const chain::Operands given = chain::operands_of(number);
  float sum = 0;
  for (std::uint64_t i = 0; i < fmas; ++i) {
    sum = std::fma(given.factor, sum, given.addend);
  }
  return sum;
}

TEST(ChainReferenceTest, EndingEarlyChangesNothing) {
  for (const std::uint64_t number : {0, 1, 7, 255, 1023}) {
    EXPECT_EQ(chain::exact_sum(number, 100'000), summed(number, 100'000)) << number;
  }
}

TEST(ChainReferenceTest, LargeNumbersTellTheLastFma) {
  constexpr std::uint64_t fmas = 1000;
  for (std::uint64_t number = fmas; number < fmas + 8; ++number) {
    EXPECT_NE(chain::exact_sum(number, fmas), chain::exact_sum(number, fmas - 1)) << number;
  }
  EXPECT_NE(chain::exact_sum(1'000'000, 1'000'000), chain::exact_sum(1'000'000, 999'999));
}

TEST(ChainReferenceTest, TheBoundHoldsAndTellsHalfALoop) {
  for (const std::uint64_t number : {0, 1, 100, 5000, 60'000, 140'000}) {
    for (const std::uint64_t fmas : {1, 2, 1000, 100'000}) {
      const chain::BoundedSum sum = chain::bounded_sum(number, fmas);
      EXPECT_LE(std::abs(summed(number, fmas) - sum.value), sum.largest_error)
          << number << ", " << fmas;
    }
  }
  const chain::BoundedSum sum = chain::bounded_sum(140'000, 1'000'000);
  EXPECT_GT(std::abs(summed(140'000, 500'000) - sum.value), sum.largest_error);
}

}  // namespace
}  // namespace hipscope
