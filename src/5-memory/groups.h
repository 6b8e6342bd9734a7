// Which things belong together, by pairs that do. Plain C++, no GPU headers.
#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <vector>

namespace memory {

/// Groups of the numbers 0 to `count` - 1, each of its own at first.
class Groups {
 public:
  explicit Groups(std::size_t count) : parent_(count) {
    std::iota(parent_.begin(), parent_.end(), std::size_t{0});
  }

  /// The least number of the group of `i`.
  [[nodiscard]] std::size_t first_of(std::size_t i) const {
    while (parent_[i] != i) {
      i = parent_[i];
    }
    return i;
  }

  /// Makes one of the groups of `a` and `b`.
  void join(std::size_t a, std::size_t b) {
    const std::size_t first = first_of(a);
    const std::size_t second = first_of(b);
    parent_[std::max(first, second)] = std::min(first, second);
  }

 private:
  std::vector<std::size_t> parent_;
};

}  // namespace memory
