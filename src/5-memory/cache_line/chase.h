// A chase through a chain, linked in memory, launched and checked.
#pragma once

#include <hipscope/hipscope.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "warm_up.h"

namespace cache_line {

inline constexpr unsigned largest_block = 1024;

// A block of one wave on every GPU: it surely has one level 1. On RDNA a larger one has two.
inline constexpr unsigned one_wave = 32;

enum class Loads { through_level_1, past_level_1 };

// How a chase loads, and the kernel that does so.
struct Path {
  Loads loads;
  void (*kernel)(Chain chain, WarmUp warm_up, unsigned base, unsigned* sums, Outcome* outcome);
};

inline void prefer_level_1_cache(const Path& path) {
  if (path.loads == Loads::through_level_1) {
    hipscope::prefer_level_1_cache(path.kernel);
  }
}

// Node i leads to node i + 1; the last is never loaded. `places` are offsets into `memory`.
static __global__ void __launch_bounds__(largest_block)
    link_kernel(unsigned* memory, const unsigned* places, unsigned loads) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < loads) {
    const auto base = static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(memory));
    memory[places[i] / word_bytes] = base + places[i + 1];
  }
}

inline unsigned upper_half(const unsigned* address) {
  return static_cast<unsigned>(
      static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(address)) >> 32);
}

inline unsigned lower_half(const unsigned* address) {
  return static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(address));
}

// Memory for nodes, all of it with the same upper half of the address: of twice as much, one half
// at least crosses no multiple of 4 GiB.
class Arena {
 public:
  explicit Arena(std::size_t bytes) : words_(bytes / word_bytes), both_(2 * words_) {
    const bool crosses = upper_half(both_.data()) != upper_half(both_.data() + words_ - 1);
    nodes_ = both_.data() + (crosses ? words_ : 0);
    spare_ = both_.data() + (crosses ? 0 : words_);
  }

  [[nodiscard]] unsigned* data() const { return nodes_; }
  void poison() const { fill(nodes_); }

  // Writes the other half, so that a cache smaller than that keeps nothing of this one.
  void flush() const { fill(spare_); }

 private:
  void fill(unsigned* half) const {
    hipscope::check(hipMemsetAsync(half, hipscope::poison_byte, words_ * word_bytes, nullptr));
  }

  std::size_t words_;
  hipscope::DeviceBuffer<unsigned> both_;
  unsigned* nodes_ = nullptr;
  unsigned* spare_ = nullptr;
};

// A chain through `places`, the last of which is its end, linked in `arena`, where every other word
// is poison.
class Chase {
 public:
  Chase(const Path& path, const Arena& arena, const std::vector<unsigned>& places)
      : path_(path),
        base_(lower_half(arena.data())),
        end_(base_ + places.back()),
        chain_{.upper = upper_half(arena.data()),
               .first = base_ + places.front(),
               .loads = static_cast<unsigned>(places.size() - 1)} {
    arena.poison();
    const hipscope::DeviceBuffer<unsigned> list{std::span<const unsigned>(places)};
    const unsigned blocks = (chain_.loads + largest_block - 1) / largest_block;
    hipscope::launch(link_kernel, {.grid = dim3(blocks), .block = dim3(largest_block)},
                     arena.data(), list.data(), chain_.loads);
    hipscope::check(hipDeviceSynchronize());
    for (unsigned i = 0; i < chain_.loads; ++i) {
      links_less_poison_ += base_ + places[i + 1] - poison_word;
    }
  }

  // Enqueues one chase.
  void run(const WarmUp& warm_up = {}) {
    hipscope::launch(path_.kernel, {.grid = dim3(1), .block = dim3(block_size_)}, chain_, warm_up,
                     base_, sums_.data(), outcomes_.data() + launches_++ % kept_launches);
  }

  // One chase. It must end where the chain does, and its warm-up must have read all words: their
  // sum is known. Returns cycles per load.
  double run_checked(hipscope::Comparison& checks, const WarmUp& warm_up = {}) {
    outcomes_.poison();
    sums_.poison();
    launches_ = 0;
    run(warm_up);
    launches_ = 0;
    const Outcome outcome = outcomes_.to_host()[0];
    checks.compare(checks.checked(), end_, outcome.end);
    if (warm_up.passes != 0) {
      const std::vector<unsigned> sums = sums_.to_host();
      const unsigned words = warm_up.strata * warm_up.per_stratum;
      checks.compare(checks.checked(), warm_up.passes * (words * poison_word + links_less_poison_),
                     std::accumulate(sums.begin(), sums.end(), 0U));
    }
    return static_cast<double>(outcome.cycles) / chain_.loads;
  }

  // Samples the chase in caches as the launch finds them; its cycles, in the median.
  double measure(hipscope::Point& point, const std::string& name, bool cold) {
    hipscope::Comparison checks;
    run_checked(checks);
    point.verify("end of the chain of " + name, checks);
    point.measure([&] { run(); }, {.name = name, .batch = 1, .cold = cold});
    const std::vector<Outcome> outcomes = outcomes_.to_host();
    std::vector<double> cycles;
    for (unsigned i = 0; i < std::min(launches_, kept_launches); ++i) {
      cycles.push_back(static_cast<double>(outcomes[i].cycles));
    }
    return hipscope::summarize(cycles).median;
  }

 private:
  static constexpr unsigned kept_launches = 16;

  Path path_;
  unsigned block_size_ = path_.loads == Loads::through_level_1 ? one_wave : largest_block;
  unsigned base_;
  unsigned end_;
  Chain chain_;
  unsigned links_less_poison_ = 0;
  unsigned launches_ = 0;
  hipscope::DeviceBuffer<unsigned> sums_{block_size_};
  hipscope::DeviceBuffer<Outcome> outcomes_{kept_launches};
};

}  // namespace cache_line
