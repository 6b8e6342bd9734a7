// Caches as they bear on a chase in random order through all lines of a footprint, lap after lap.
//
// What one set of a cache does with n lines in turn is simulated, line by line, for each rule of
// replacement; a footprint's miss share then follows from how many lines fall into each set. That
// is as exact as simulating every line, and fast enough for thousands of machines.
#pragma once

#include <cstddef>
#include <vector>

#include "disturbance.h"

namespace hipscope::trial {

/// Which line of a full set makes room.
enum class Replacement { lru, tree_plru, random, not_most_recent };

/// How lines come to their sets.
enum class Sets {
  in_turn,  ///< or by a hash that serves all sets alike
  hashed,   ///< each line at random
  pages,    ///< pages lie anywhere in physical memory, lines within them in turn
};

/// One level.
struct Cache {
  double bytes = 0;
  double line = 128;
  unsigned ways = 16;
  Replacement replacement = Replacement::lru;
  Sets sets = Sets::in_turn;
  double page = 65536;
  unsigned laps = 1;  ///< through the footprint before the timed one; what was there before is full
  double latency = 0;
  double bandwidth = 0;  ///< of what it serves
  double share = 1;      ///< of it that is free for the footprint: others use the rest
};

/// Caches and the memory behind them.
struct Machine {
  std::vector<Cache> caches{};
  double latency = 0;          ///< of memory
  double bandwidth = 0;        ///< of memory
  bool fetches_pairs = false;  ///< a miss of the last level brings the neighbouring line, too
  double tlb_reach = 0;        ///< bytes; 0: no TLB that is ever too small
  double tlb_cost = 0;         ///< added by a miss there
  bool is_tlb_sharp = false;   ///< past its reach soon all loads miss, not only what does not fit
  /// Lines of the last level are nearer or farther by this much (standard deviation, relative).
  double slices = 0;
};

/// The share of a footprint's lines that miss in a cache.
double miss_share(const Cache& cache, double footprint);

/// The share of a footprint's lines that are in a cache after so many laps through them, from a
/// cache full of other lines.
double resident_share(const Cache& cache, double footprint, unsigned laps);

/// The share of `kept` lines that are missed in turn, after two laps through them and one access to
/// each of `others`, from a cache full of other lines still.
double evicted_share(const Cache& cache, const std::vector<std::size_t>& kept,
                     const std::vector<std::size_t>& others, Random& random);

/// Latency over footprint, and the rate over footprint if what each level serves takes turns.
double latency_at(const Machine& machine, double footprint, Random& random);
double bandwidth_at(const Machine& machine, double footprint);

/// Points per octave, spaced as in the lessons: equally far apart in each octave.
std::vector<double> footprints(double first, double last, unsigned per_octave);

}  // namespace hipscope::trial
