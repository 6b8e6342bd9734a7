// What lds_latency fills LDS with, and what its chains must end with. Plain C++.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

namespace lds_latency {

using Words = std::vector<unsigned>;

/// One cycle through all of 0 ... count - 1 in random order (Sattolo): next[i] follows i.
inline Words random_cycle(unsigned count, std::uint64_t seed) {
  Words next(count);
  std::iota(next.begin(), next.end(), 0U);
  std::mt19937_64 random(seed);
  for (unsigned i = count - 1; i > 0; --i) {
    std::swap(next[i], next[random() % i]);
  }
  return next;
}

inline Words random_words(std::size_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  Words words(count);
  std::generate(words.begin(), words.end(), [&] { return static_cast<unsigned>(random()); });
  return words;
}

/// The node that is `steps` after `node`.
inline unsigned follow(const Words& next, unsigned node, std::uint64_t steps) {
  for (std::uint64_t step = 0; step < steps; ++step) {
    node = next[node];
  }
  return node;
}

/// The nodes of a chase, of `dwords` each: a node's last dword leads to where `next` says, its
/// others back to the node itself. Neighbours are `unit` apart.
inline Words nodes_of(const Words& next, unsigned dwords, unsigned unit) {
  Words words;
  for (unsigned node = 0; node < next.size(); ++node) {
    words.insert(words.end(), dwords - 1, node * unit);
    words.push_back(next[node] * unit);
  }
  return words;
}

enum class Atomic { add, exchange, compare_and_swap };

/// The word that atomics work on, the first operand, and where the one lane finds the word.
inline Words words_of_atomics(std::uint64_t seed) {
  constexpr unsigned index_of_word = 0;
  Words words = random_words(2, seed);
  words.push_back(index_of_word);
  return words;
}

/// What the last of `steps` atomics returns, and what it leaves in the word. `words` are the word
/// and the first operand; each further operand is what the atomic before it has returned. A compare
/// and swap compares with the operand before, the first with the word.
inline Words atomic_ends(Atomic atomic, const Words& words, std::uint64_t steps) {
  unsigned word = words[0];
  unsigned returned = words[1];
  unsigned last_returned = words[0];
  for (std::uint64_t step = 0; step < steps; ++step) {
    const unsigned old = word;
    if (atomic == Atomic::add) {
      word += returned;
    } else if (atomic == Atomic::exchange || old == last_returned) {
      word = returned;
    }
    last_returned = returned;
    returned = old;
  }
  return {returned, word};
}

/// The lane whose value a lane has after `steps` rotations, by one, of its row of 16 lanes.
inline unsigned rotated_lane(unsigned lane, std::uint64_t steps) {
  constexpr unsigned row_lanes = 16;
  const auto turned = static_cast<unsigned>(lane + row_lanes - steps % row_lanes);
  return lane - lane % row_lanes + turned % row_lanes;
}

/// The words after `steps` steps of each.
template <typename Step>
Words after_steps(Words words, std::uint64_t steps, Step step) {
  for (unsigned& word : words) {
    for (std::uint64_t i = 0; i < steps; ++i) {
      word = step(word);
    }
  }
  return words;
}

/// For each thread the word of the thread so far further on, round the block.
inline Words from_further_on(const Words& words, std::uint64_t distance) {
  Words all(words.size());
  for (std::size_t thread = 0; thread < all.size(); ++thread) {
    all[thread] = words[(thread + distance) % all.size()];
  }
  return all;
}

}  // namespace lds_latency
