// A grid, and the memory that its blocks meet in.
#pragma once

#include <hipscope/hipscope.h>

#include <cstddef>

#include "barriers.h"

namespace grid_sync {

struct Grid {
  unsigned blocks;
  unsigned threads;
  unsigned groups;  // of trees

  [[nodiscard]] hipscope::LaunchShape shape(hipStream_t stream = nullptr) const {
    return {.grid = dim3(blocks), .block = dim3(threads), .stream = stream};
  }
};

/// As many groups as a group has blocks.
inline unsigned square_root(unsigned blocks) {
  unsigned root = 1;
  while (root * root < blocks) {
    ++root;
  }
  return root;
}

class Room {
 public:
  explicit Room(const Grid& grid)
      : grid_(grid),
        meeting_(words_before_groups() + std::size_t{2} * line_words * grid.groups),
        exchanged_(std::size_t{2} * grid.blocks * grid.threads),
        count_(1) {
    count_.clear();
  }

  [[nodiscard]] const Grid& grid() const { return grid_; }

  /// Enqueues that all words are 0 again, and names them.
  [[nodiscard]] Meeting open() const {
    hipscope::check(
        hipMemsetAsync(meeting_.data(), 0, meeting_.size() * sizeof(unsigned), nullptr));
    return {.counter = meeting_.data(),
            .epoch = meeting_.data() + line_words,
            .flags = meeting_.data() + words_before_flags,
            .group_lines = meeting_.data() + words_before_groups(),
            .groups = grid_.groups};
  }

  /// Two words for each thread, poisoned when fresh, that blocks tell each other.
  [[nodiscard]] unsigned* exchanged() const { return exchanged_.data(); }

  /// So that nothing is right because it was so before.
  void poison_exchanged() { exchanged_.poison(); }

  /// One word that kernels add to.
  [[nodiscard]] unsigned* count() const { return count_.data(); }

  /// Waits for the device; returns the count, which is 0 afterwards.
  [[nodiscard]] unsigned take_count() {
    const unsigned counted = count_.to_host()[0];
    count_.clear();
    return counted;
  }

 private:
  static constexpr std::size_t words_before_flags = std::size_t{2} * line_words;
  [[nodiscard]] std::size_t words_before_groups() const {
    return words_before_flags +
           std::size_t{(grid_.blocks + line_words - 1) / line_words} * line_words;
  }

  Grid grid_;
  hipscope::DeviceBuffer<unsigned> meeting_;
  hipscope::DeviceBuffer<unsigned> exchanged_;
  hipscope::DeviceBuffer<unsigned> count_;
};

}  // namespace grid_sync
