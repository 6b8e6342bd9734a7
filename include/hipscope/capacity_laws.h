// How the share of misses grows with the footprint, by the way in which a cache fills and replaces.
#pragma once

#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

namespace hipscope {

/// The share of loads that miss, by the footprint over the capacity.
class CapacityLaw {
 public:
  /// `miss_share` of footprint over capacity, which rises from 0 to 1.
  template <class MissShare>
  explicit CapacityLaw(const MissShare& miss_share) {
    for (int i = 0; i < entries; ++i) {
      shares_.push_back(miss_share(ratio_of(i)));
    }
    constexpr double hardly = 1e-4;
    first_octave_ = std::log2(inverse(hardly));
  }

  /// By interpolation; of footprint over capacity in octaves.
  [[nodiscard]] double miss_share(double octaves) const {
    const double place = (octaves - smallest_octave) * entries_per_octave;
    if (place <= 0) {
      return shares_.front();
    }
    const auto below = static_cast<std::size_t>(place);
    if (below + 1 >= shares_.size()) {
      return shares_.back();
    }
    const double part = place - static_cast<double>(below);
    return (1 - part) * shares_[below] + part * shares_[below + 1];
  }

  /// The ratio at which a share of the loads misses.
  [[nodiscard]] double inverse(double share) const;

  /// The octave of footprint over capacity from which on some loads miss.
  [[nodiscard]] double first_octave() const { return first_octave_; }

 private:
  static constexpr double entries_per_octave = 32;
  static constexpr double smallest_octave = -8;
  static constexpr int entries = 1 + 32 * 24;
  static double ratio_of(int entry);

  std::vector<double> shares_{};
  double first_octave_ = 0;
};

/// The laws of a walk that takes every line in turn, lap after lap, in real caches: least recently
/// used, with lines in their sets in turn or at random, and replacement at random, some laps after
/// the cache was full of other lines.
std::span<const CapacityLaw> capacity_laws();

}  // namespace hipscope
