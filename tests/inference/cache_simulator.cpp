#include "cache_simulator.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <numeric>
#include <stdexcept>
#include <tuple>

namespace hipscope::trial {

namespace {

constexpr std::size_t nothing = std::numeric_limits<std::size_t>::max();
constexpr std::size_t most_ways = 32;

// One set. Lines are numbers from 0 on; what was there before is `nothing`.
class Set {
 public:
  Set(Replacement replacement, std::size_t ways, Random& random)
      : replacement_(replacement), random_(random), ways_(ways), clock_(ways) {
    if (ways > most_ways) {
      throw std::invalid_argument("a simulated set has 32 ways at most");
    }
    lines_.fill(nothing);
    std::iota(used_.begin(), used_.end(), 1U);
  }

  // Lines that are there now, of those that were accessed.
  [[nodiscard]] std::size_t resident() const {
    return most_ways - static_cast<std::size_t>(std::count(lines_.begin(), lines_.end(), nothing));
  }

  // True if it was there; if not, it is afterwards.
  bool access(std::size_t line) { return touch(line, way_of(line)); }

  // The same of one of a few lines, with where each was put last.
  bool access(std::size_t line, std::vector<std::size_t>& ways) {
    const bool hit = touch(line, lines_[ways[line]] == line ? ways[line] : ways_);
    ways[line] = last_;
    return hit;
  }

 private:
  [[nodiscard]] std::size_t way_of(std::size_t line) const {
    std::size_t way = 0;
    while (way < ways_ && lines_[way] != line) {
      ++way;
    }
    return way;
  }

  // The line is at `found`, or nowhere.
  bool touch(std::size_t line, std::size_t found) {
    const bool hit = found < ways_;
    last_ = hit ? found : victim();
    lines_[last_] = line;
    used_[last_] = ++clock_;
    if (replacement_ == Replacement::tree_plru) {
      point_away(last_);
    }
    return hit;
  }

  std::size_t victim() {
    const std::size_t ways = ways_;
    const auto any = [&] {
      return std::uniform_int_distribution<std::size_t>(0, ways - 1)(random_);
    };
    switch (replacement_) {
      case Replacement::lru:
        return static_cast<std::size_t>(
            std::min_element(used_.begin(), used_.begin() + static_cast<std::ptrdiff_t>(ways)) -
            used_.begin());
      case Replacement::random:
        return any();
      case Replacement::not_most_recent: {
        std::size_t way = any();
        while (used_[way] == clock_) {
          way = any();
        }
        return way;
      }
      case Replacement::tree_plru:
        break;
    }
    std::size_t node = 1;
    while (node < ways) {
      node = 2 * node + (tree_[node] ? 1 : 0);
    }
    return node - ways;
  }

  // The tree's nodes on the way to `way` point to the other side.
  void point_away(std::size_t way) {
    for (std::size_t node = (way + ways_) / 2, child = way + ways_; node >= 1;
         child = node, node /= 2) {
      tree_[node] = child % 2 == 0;
    }
  }

  Replacement replacement_;
  Random& random_;
  std::size_t ways_;
  std::array<std::size_t, most_ways> lines_{};
  std::array<std::size_t, most_ways> used_{};
  std::array<bool, most_ways> tree_{};  // from 1 on; a power of two of ways
  std::size_t clock_;
  std::size_t last_ = 0;  // the way that was accessed last
};

// Of more lines than these in a set hardly anything stays.
std::size_t most_lines(unsigned ways) { return std::size_t{8} * ways; }

// How many sets tell what one does: all do the same where nothing is drawn.
std::size_t sets_to_simulate(Replacement replacement, std::size_t enough) {
  return replacement == Replacement::tree_plru ? 1 : enough;
}

double simulated_miss_share(Replacement replacement, unsigned ways, std::size_t lines,
                            unsigned laps) {
  constexpr std::size_t enough_accesses = 4000;
  const std::size_t sets =
      sets_to_simulate(replacement, std::max<std::size_t>(1, enough_accesses / lines));
  Random random(lines);
  std::size_t misses = 0;
  std::vector<std::size_t> places(lines, 0);
  for (std::size_t i = 0; i < sets; ++i) {
    Set set(replacement, ways, random);
    for (unsigned lap = 0; lap <= laps; ++lap) {
      for (std::size_t line = 0; line < lines; ++line) {
        const bool hit = set.access(line, places);
        misses += lap == laps && !hit ? 1 : 0;
      }
    }
  }
  return static_cast<double>(misses) / static_cast<double>(sets * lines);
}

double simulated_resident_share(Replacement replacement, unsigned ways, std::size_t lines,
                                unsigned laps) {
  const std::size_t sets = sets_to_simulate(replacement, 60);
  Random random(lines);
  std::size_t resident = 0;
  std::vector<std::size_t> places(lines, 0);
  for (std::size_t i = 0; i < sets; ++i) {
    Set set(replacement, ways, random);
    for (unsigned lap = 0; lap < laps; ++lap) {
      for (std::size_t line = 0; line < lines; ++line) {
        set.access(line, places);
      }
    }
    resident += set.resident();
  }
  return static_cast<double>(resident) / static_cast<double>(sets * lines);
}

// The logarithm of n!, which is asked for again and again.
double log_factorial(std::size_t n) {
  static std::vector<double> known;
  while (known.size() <= n) {
    known.push_back(std::lgamma(static_cast<double>(known.size()) + 1));
  }
  return known[n];
}

// The mean share of lines whose sets hold a Poisson number of them, `mean` on average: each count
// weighs by how many lines it stands for. The share is 1 of more than `all_from`.
template <class ShareOfSet>
double mean_over_sets(double mean, double all_from, const ShareOfSet& share_of_set) {
  const double deviation = std::sqrt(mean);
  const double first = std::max(1.0, std::floor(mean - 5 * deviation - 1));
  if (first > all_from) {
    return 1;
  }
  const double logarithm = std::log(mean);
  double weights = 0;
  double shares = 0;
  for (double count = first; count <= mean + 5 * deviation + 1; ++count) {
    const auto lines = static_cast<std::size_t>(count);
    const double weight = count * std::exp(count * logarithm - mean - log_factorial(lines));
    weights += weight;
    shares += weight * share_of_set(lines);
  }
  return shares / weights;
}

// Where a line lies if lines lie anywhere.
std::size_t hashed(std::size_t line) {
  std::uint64_t bits = line * 0x9E3779B97F4A7C15U;
  bits = (bits ^ (bits >> 29U)) * 0xBF58476D1CE4E5B9U;
  return bits ^ (bits >> 32U);
}

// The same where so many lines or pages, each anywhere, fall into a few places: some of these are
// full long before the others, always the same ones.
template <class ShareOfSet>
double mean_over_few(std::size_t places, std::size_t items, const ShareOfSet& share_of_set) {
  std::vector<std::size_t> counts(places, 0);
  for (std::size_t item = 0; item < items; ++item) {
    ++counts[hashed(item + 1) % places];
  }
  double shares = 0;
  for (const std::size_t count : counts) {
    shares += static_cast<double>(count) * share_of_set(count);
  }
  return shares / static_cast<double>(items);
}

// The same of all lines of a footprint, however they come to their sets.
template <class ShareOfSet>
double mean_over_lines(const Cache& cache, double footprint, double all_from,
                       const ShareOfSet& share_of_set) {
  const double sets = cache.bytes * cache.share / cache.line / cache.ways;
  const double mean = footprint / cache.line / sets;
  // A page brings one line to each of the sets that it covers.
  const bool by_pages = cache.sets == Sets::pages && cache.page < cache.line * sets;
  if (cache.sets == Sets::hashed || by_pages) {
    const double item = by_pages ? cache.page : cache.line;
    const double places = cache.bytes * cache.share / cache.ways / item;
    constexpr double few = 16;
    constexpr double full = 8;  // times as many lines as ways: hardly anything is left there
    if (places <= few && places == std::floor(places) && mean < full * cache.ways &&
        footprint >= item) {
      return mean_over_few(static_cast<std::size_t>(places),
                           static_cast<std::size_t>(footprint / item), share_of_set);
    }
    return mean_over_sets(mean, all_from, share_of_set);
  }
  // Some sets hold one line more than others.
  const double low = std::floor(mean);
  const double part = mean - low;
  const auto lines = static_cast<std::size_t>(low);
  const double share_of_more = part * (low + 1) / mean;
  return (1 - share_of_more) * share_of_set(lines) + share_of_more * share_of_set(lines + 1);
}

// The share of lines that miss in one set of so many ways, after `laps` laps through `lines` lines
// in the same order, from a set full of other lines.
double set_miss_share(Replacement replacement, unsigned ways, std::size_t lines, unsigned laps) {
  if (lines == 0 || (replacement == Replacement::lru && lines <= ways)) {
    return 0;
  }
  if (replacement == Replacement::lru || lines > most_lines(ways)) {
    return 1;
  }
  static std::map<std::tuple<Replacement, unsigned, std::size_t, unsigned>, double> known;
  const auto [entry, is_new] = known.try_emplace({replacement, ways, lines, laps}, 0);
  if (is_new) {
    entry->second = simulated_miss_share(replacement, ways, lines, laps);
  }
  return entry->second;
}

}  // namespace

double miss_share(const Cache& cache, double footprint) {
  return mean_over_lines(cache, footprint, static_cast<double>(most_lines(cache.ways)),
                         [&](std::size_t lines) {
                           return set_miss_share(cache.replacement, cache.ways, lines, cache.laps);
                         });
}

double resident_share(const Cache& cache, double footprint, unsigned laps) {
  constexpr double never = std::numeric_limits<double>::infinity();
  return mean_over_lines(cache, footprint, never, [&](std::size_t lines) {
    const bool is_lru = cache.replacement == Replacement::lru;
    if (lines == 0 || (is_lru && lines <= cache.ways)) {
      return 1.0;
    }
    if (is_lru || lines > most_lines(cache.ways)) {
      return static_cast<double>(cache.ways) / static_cast<double>(lines);
    }
    static std::map<std::tuple<Replacement, unsigned, std::size_t, unsigned>, double> known;
    const auto [entry, is_new] = known.try_emplace({cache.replacement, cache.ways, lines, laps}, 0);
    if (is_new) {
      entry->second = simulated_resident_share(cache.replacement, cache.ways, lines, laps);
    }
    return entry->second;
  });
}

namespace {

// The share of loads that each level serves, memory last.
std::vector<double> served(const Machine& machine, double footprint) {
  std::vector<double> shares;
  double left = 1;
  for (const Cache& cache : machine.caches) {
    double misses = miss_share(cache, footprint);
    if (machine.fetches_pairs && &cache == &machine.caches.back() && misses > 0) {
      // Half of the lines are the second ones of their pair, and hit if they are still there, with
      // two lines for each miss since.
      const double stays = std::min(1.0, cache.bytes / (1.5 * footprint));
      misses *= 1 - stays / 2;
    }
    shares.push_back(left * (1 - misses));
    left *= misses;
  }
  shares.push_back(left);
  return shares;
}

}  // namespace

double evicted_share(const Cache& cache, const std::vector<std::size_t>& kept,
                     const std::vector<std::size_t>& others, Random& random) {
  const auto count = static_cast<std::size_t>(cache.bytes / cache.line / cache.ways);
  std::vector<Set> sets(count, Set(cache.replacement, cache.ways, random));
  const auto access = [&](std::size_t line) {
    return sets[(cache.sets == Sets::in_turn ? line : hashed(line)) % count].access(line);
  };
  for (int lap = 0; lap < 2; ++lap) {
    std::for_each(kept.begin(), kept.end(), access);
  }
  std::for_each(others.begin(), others.end(), access);
  const auto misses =
      std::count_if(kept.begin(), kept.end(), [&](auto line) { return !access(line); });
  return static_cast<double>(misses) / static_cast<double>(kept.size());
}

double latency_at(const Machine& machine, double footprint, Random& random) {
  const std::vector<double> shares = served(machine, footprint);
  double latency = shares.back() * machine.latency;
  for (std::size_t i = 0; i < machine.caches.size(); ++i) {
    latency += shares[i] * machine.caches[i].latency;
  }
  if (machine.slices > 0 && shares.size() > 1) {
    const double lines = std::min(4096.0, footprint / machine.caches.back().line);
    const double deviation = machine.slices / std::sqrt(lines);
    const double beyond_first = 1 - shares.front();
    latency *= 1 + beyond_first * std::normal_distribution<double>(0, deviation)(random);
  }
  if (machine.tlb_reach > 0 && footprint > machine.tlb_reach) {
    const double beyond = footprint / machine.tlb_reach - 1;
    constexpr double one_of_ways = 8;
    latency += machine.tlb_cost *
               (machine.is_tlb_sharp ? std::min(1.0, one_of_ways * beyond) : beyond / (1 + beyond));
  }
  return latency;
}

double bandwidth_at(const Machine& machine, double footprint) {
  const std::vector<double> shares = served(machine, footprint);
  double time = shares.back() / machine.bandwidth;
  for (std::size_t i = 0; i < machine.caches.size(); ++i) {
    time += shares[i] / machine.caches[i].bandwidth;
  }
  return 1 / time;
}

std::vector<double> footprints(double first, double last, unsigned per_octave) {
  std::vector<double> all;
  for (double octave = first; octave <= last; octave *= 2) {
    for (unsigned i = 0; i < per_octave; ++i) {
      const double bytes =
          std::floor(octave * (1 + i / static_cast<double>(per_octave)) / 128) * 128;
      if (bytes <= last && bytes > 0 && (all.empty() || bytes > all.back())) {
        all.push_back(bytes);
      }
    }
  }
  return all;
}

}  // namespace hipscope::trial
