// The cycle counter that begins again: on made readings of one.
#include <gtest/gtest.h>
#include <hipscope/cycle_counter.h>
#include <hipscope/timed_rounds.h>

#include <span>
#include <vector>

namespace {

using hipscope::cycle_counter_bits;
using hipscope::CycleClock;
using hipscope::cycles_between;
using hipscope::cycles_from;
using hipscope::cycles_near;
using hipscope::is_within_half_round;

constexpr unsigned narrow = 20;
constexpr long long round_cycles = 1LL << narrow;

TEST(CycleCounter, IsAsWideAsTheArchitectureHasIt) {
  EXPECT_EQ(cycle_counter_bits("gfx1100"), 20U);
  EXPECT_EQ(cycle_counter_bits("gfx1151"), 20U);
  for (const char* const wide : {"gfx90a:sramecc+:xnack-", "gfx906", "gfx942", "gfx950", "gfx1030",
                                 "gfx1201", "sm_90", "host"}) {
    EXPECT_EQ(cycle_counter_bits(wide), 64U) << wide;
  }
}

TEST(CycleCounter, ADifferenceIsModuloItsWidth) {
  EXPECT_EQ(cycles_between(100, 350, narrow), 250);
  EXPECT_EQ(cycles_between(round_cycles - 100, 150, narrow), 250);
  EXPECT_EQ(cycles_between(round_cycles - 1, 0, narrow), 1);
  EXPECT_EQ(cycles_between(5, 5, narrow), 0);
  EXPECT_EQ(cycles_between(100, 100 + 3 * round_cycles, 64), 3 * round_cycles);
}

TEST(CycleCounter, AnEarlierReadingIsToldFromALaterOne) {
  EXPECT_EQ(cycles_from(100, 350, narrow), 250);
  EXPECT_EQ(cycles_from(350, 100, narrow), -250);
  EXPECT_EQ(cycles_from(round_cycles - 100, 150, narrow), 250);
  EXPECT_EQ(cycles_from(150, round_cycles - 100, narrow), -250);
  EXPECT_EQ(cycles_from(0, 3 * round_cycles, 64), 3 * round_cycles);
  EXPECT_EQ(cycles_from(7, 7, 0), 0);  // stands still
  EXPECT_TRUE(is_within_half_round(round_cycles / 2 - 1, narrow));
  EXPECT_FALSE(is_within_half_round(round_cycles / 2, narrow));
  EXPECT_TRUE(is_within_half_round(round_cycles, 64));
}

// 2 ms at 2 GHz: it has begun again three times.
TEST(CycleCounter, TheTimeTellsHowOftenItHasBegunAgain) {
  constexpr long long span = 4'000'000;
  constexpr long long start = 900'000;
  constexpr long long end = (start + span) % round_cycles;
  for (const double estimate : {0.97, 1.0, 1.03}) {
    const auto cycles = cycles_near(estimate * span, 0.05, start, end, narrow);
    ASSERT_TRUE(cycles.has_value()) << estimate;
    EXPECT_EQ(*cycles, span) << estimate;
  }
}

TEST(CycleCounter, ASpanThatTheEstimateMissesIsNotGuessed) {
  constexpr long long span = 4'000'000;
  constexpr long long end = span % round_cycles;
  EXPECT_FALSE(cycles_near(1.09 * span, 0.05, 0, end, narrow).has_value());
  EXPECT_FALSE(cycles_near(0.91 * span, 0.05, 0, end, narrow).has_value());
}

// 10 ms at 2 GHz, 5 % of which are a whole round of the counter.
TEST(CycleCounter, ASpanTooLongForTheEstimateIsNotGuessed) {
  constexpr long long span = 20'000'000;
  EXPECT_FALSE(cycles_near(span, 0.05, 0, span % round_cycles, narrow).has_value());
  EXPECT_FALSE(cycles_near(11e6, 0.05, 0, 11'000'000 % round_cycles, narrow).has_value());
  EXPECT_TRUE(cycles_near(10e6, 0.05, 0, 10'000'000 % round_cycles, narrow).has_value());
}

TEST(CycleCounter, AWideCounterNeedsNoEstimate) {
  EXPECT_EQ(cycles_near(0, 0.05, 100, 100 + 7 * round_cycles, 64), 7.0 * round_cycles);
}

using Waves = std::vector<hipscope::WaveTime>;

long long cycles_of(const Waves& waves, unsigned bits) {
  return hipscope::cycles_of_all(std::span<const hipscope::WaveTime>(waves), bits);
}

TEST(WavesOfOneUnit, AreTimedFromTheFirstStartToTheLastEnd) {
  const Waves waves = {
      {.start = 1000, .end = 1500}, {.start = 900, .end = 1400}, {.start = 1100, .end = 1700}};
  EXPECT_EQ(cycles_of(waves, 64), 800);
  EXPECT_EQ(cycles_of(waves, narrow), 800);
}

// The first and the last began before the counter began again, the second after it. Ends are starts
// with what has elapsed, here up to two rounds.
TEST(WavesOfOneUnit, MayBeginOnBothSidesOfTheCountersEnd) {
  constexpr long long late = round_cycles - 100;
  const Waves waves = {{.start = late, .end = late + 5000},
                       {.start = 50, .end = 50 + 2 * round_cycles},
                       {.start = late - 30, .end = late + 6000}};
  EXPECT_EQ(cycles_of(waves, narrow), 180 + 2 * round_cycles);
}

TEST(WavesOfOneUnit, OfACounterThatStandsStillTakeNothing) {
  EXPECT_EQ(cycles_of({{.start = 7, .end = 7}, {.start = 7, .end = 7}}, 0), 0);
}

// A counter of `bits` bits that advances by `step` from reading to reading.
template <unsigned Bits>
struct MadeCounter {
  static constexpr unsigned bits = Bits;
  static inline long long cycles = 0;
  static inline long long step = 0;
  static inline int readings = 0;

  static void begin(long long at, long long by) {
    cycles = at;
    step = by;
    readings = 0;
  }

  static long long count() {
    ++readings;
    const long long now = cycles;
    cycles += step;
    return Bits < 64 ? now % (1LL << (Bits % 64)) : now;
  }
};

TEST(CycleClock, AddsUpWhatANarrowCounterForgets) {
  using Counter = MadeCounter<narrow>;
  constexpr int laps = 20;
  Counter::begin(round_cycles - 5, 300'000);
  CycleClock<Counter> clock;
  clock.start();
  for (int i = 0; i < laps; ++i) {
    clock.lap();
  }
  clock.stop();
  EXPECT_EQ(clock.elapsed(), (laps + 1) * 300'000LL);  // more than six rounds
  EXPECT_EQ(clock.started(), round_cycles - 5);
  EXPECT_EQ(clock.ended(), clock.started() + clock.elapsed());
}

TEST(CycleClock, StartsAnew) {
  using Counter = MadeCounter<narrow>;
  Counter::begin(0, 1'000'000);
  CycleClock<Counter> clock;
  for (int pass = 0; pass < 2; ++pass) {
    clock.start();
    clock.stop();
  }
  EXPECT_EQ(clock.elapsed(), 1'000'000);
}

TEST(CycleClock, TakesAReadingOfTheCaller) {
  CycleClock<MadeCounter<narrow>> clock;
  clock.start(round_cycles - 10);
  clock.stop(20);
  EXPECT_EQ(clock.elapsed(), 30);
}

TEST(CycleClock, ReadsAWideCounterAtTheEndsOnly) {
  using Counter = MadeCounter<64>;
  Counter::begin(1000, 5 * round_cycles);
  CycleClock<Counter> clock;
  clock.start();
  clock.lap();
  clock.lap();
  clock.stop();
  EXPECT_EQ(Counter::readings, 2);
  EXPECT_EQ(clock.elapsed(), 5 * round_cycles);
}

}  // namespace
