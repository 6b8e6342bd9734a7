// Which words the lanes of a launch work on, and what these words must hold afterwards.
#pragma once

#include <hipscope/hipscope.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "operations.h"

namespace atomics {

/// Who meets whom.
enum class Pattern {
  one_address,  // all lanes at one word
  one_line,     // a wave's lanes side by side in one line, all waves in the same
  per_wave,     // each wave's lanes at one word, in a line of its own
  per_block,    // each block's lanes at one word, in a line of its own
  spread,       // each lane has its word, side by side
  scattered,    // each lane has its word, a wave's lanes in as many lines
  one_bank,     // LDS: a wave's lanes at different words of one bank
};

inline const char* name_of(Pattern pattern) {
  constexpr std::array names = {"one address", "one line",  "one per wave", "one per CU",
                                "spread",      "scattered", "one bank"};
  return names.at(static_cast<std::size_t>(pattern));
}

/// A launch: `blocks` of `threads`, in waves of `wave_size`.
struct Crew {
  unsigned blocks;
  unsigned threads;
  unsigned wave_size;
  [[nodiscard]] unsigned lanes() const { return blocks * threads; }
};

/// The word of each lane.
inline std::vector<unsigned> places_of(Pattern pattern, const Crew& crew, unsigned word_bytes) {
  constexpr unsigned line_bytes = 128;   // no line of L2 is longer
  constexpr unsigned apart_bytes = 256;  // and channels of memory take turns after that many
  constexpr unsigned banks = 32;
  const unsigned apart = apart_bytes / word_bytes;
  const unsigned waves = crew.lanes() / crew.wave_size;
  const auto place_of = [&](unsigned lane) {
    const unsigned wave = lane / crew.wave_size;
    const unsigned in_wave = lane % crew.wave_size;
    switch (pattern) {
      case Pattern::one_address:
        return 0U;
      case Pattern::one_line:
        return lane % (line_bytes / word_bytes);
      case Pattern::per_wave:
        return wave * apart;
      case Pattern::per_block:
        return lane / crew.threads * apart;
      case Pattern::spread:
        return lane;
      case Pattern::scattered:
        return in_wave * waves + wave;
      case Pattern::one_bank:
        return in_wave * banks;
    }
    return 0U;
  };
  std::vector<unsigned> places(crew.lanes());
  for (unsigned lane = 0; lane < crew.lanes(); ++lane) {
    places[lane] = place_of(lane);
  }
  return places;
}

inline std::size_t words_in(const std::vector<unsigned>& places) {
  return std::size_t{*std::max_element(places.begin(), places.end())} + 1;
}

/// Checks what `steps` steps of each lane have left, whose words began as the operation says.
template <typename Word>
class Expectation {
 public:
  Expectation(const OperationOn<Word>& operation, const std::vector<unsigned>& places,
              std::uint64_t steps)
      : operation_(operation),
        places_(places),
        steps_(steps),
        lanes_at_(words_in(places)),
        firsts_(words_in(places)) {
    for (std::size_t lane = 0; lane < places.size(); ++lane) {
      Word& extreme = firsts_[places[lane]];
      const Word first = operation.first(lane);
      const bool is_first = lanes_at_[places[lane]]++ == 0;
      if (is_first || (operation.kind == Kind::minimum ? first < extreme : first > extreme)) {
        extreme = first;
      }
    }
  }

  /// `tallies` is of all lanes; empty where nothing was returned.
  void verify(hipscope::Point& point, const std::string& what, const std::vector<Word>& words,
              const std::vector<unsigned>& tallies) const {
    point.check(what, words, [&](std::uint64_t place) { return expected(place, words[place]); });
    if (!tallies.empty() && returns_are_known()) {
      point.check_value(what + ": what they return",
                        std::accumulate(tallies.begin(), tallies.end(), 0U),
                        sum_of_returned(words));
    }
  }

 private:
  // Of an exchange it is `word` itself, if one of its lanes can have stored that.
  [[nodiscard]] Word expected(std::size_t place, Word word) const {
    const Word start = operation_.start();
    const std::uint64_t lanes = lanes_at_[place];
    if (lanes == 0) {
      return start;
    }
    switch (operation_.kind) {
      case Kind::minimum:
        return static_cast<Word>(firsts_[place] - (steps_ - 1));
      case Kind::maximum:
        return static_cast<Word>(firsts_[place] + (steps_ - 1));
      case Kind::compare_and_swap:
        return static_cast<Word>(start + steps_);
      case Kind::exchange: {
        const std::uint64_t number = word - start - 1;
        const bool is_stored =
            number / places_.size() < steps_ && places_[number % places_.size()] == place;
        return is_stored ? word : start;
      }
      default:
        return operation_.word_of(operation_.start_number() + lanes * steps_);
    }
  }

  /// Whether the sum of what is returned does not depend on the order. (The bits of halves are no
  /// numbers, and what a minimum or a maximum meets is another lane's work.)
  [[nodiscard]] bool returns_are_known() const {
    const bool is_extreme = operation_.kind == Kind::minimum || operation_.kind == Kind::maximum;
    const bool is_alone =
        std::all_of(lanes_at_.begin(), lanes_at_.end(), [](unsigned lanes) { return lanes <= 1; });
    return operation_.counts_far && (!is_extreme || is_alone);
  }

  // Modulo 2^32, as the lanes add them up.
  [[nodiscard]] unsigned sum_of_returned(const std::vector<Word>& words) const {
    std::uint64_t sum = 0;
    const std::uint64_t start = operation_.start_number();
    for (std::size_t place = 0; place < lanes_at_.size(); ++place) {
      const std::uint64_t count = lanes_at_[place] * steps_;
      if (count == 0) {
        continue;
      }
      if (operation_.adds) {
        sum += start * count + count * (count - 1) / 2;
      } else if (operation_.kind == Kind::compare_and_swap) {
        sum += steps_;
      } else if (operation_.kind == Kind::exchange) {
        sum += start - words[place];
      } else {
        // The start, then all numbers but the last.
        const std::uint64_t steps = (steps_ - 1) * (steps_ - 2) / 2;
        const std::uint64_t firsts = firsts_[place] * (steps_ - 1);
        sum += start + (operation_.kind == Kind::minimum ? firsts - steps : firsts + steps);
      }
    }
    if (operation_.kind == Kind::exchange) {
      // What comes back, and what stays, is what there was, and what was stored.
      const std::uint64_t lanes = places_.size();
      const std::uint64_t stored = lanes * steps_;
      sum += stored * (start + 1) + stored * (stored - 1) / 2;
    }
    return static_cast<unsigned>(sum);
  }

  const OperationOn<Word>& operation_;
  const std::vector<unsigned>& places_;
  std::uint64_t steps_;
  std::vector<unsigned> lanes_at_;
  std::vector<Word> firsts_;
};

}  // namespace atomics
