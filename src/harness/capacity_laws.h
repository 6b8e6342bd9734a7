// How the share of misses grows with the footprint, by the way in which a cache fills and replaces.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace hipscope {

/// The share of misses of a walk, lap after lap in the same order, by its footprint over the
/// capacity.
class CapacityLaw {
 public:
  /// `miss_share` of footprint over capacity, which rises from 0 to 1.
  template <class MissShare>
  explicit CapacityLaw(const MissShare& miss_share) {
    for (int i = 0; i < entries; ++i) {
      shares_.push_back(miss_share(ratio_of(i)));
    }
    half_ = inverse(0.5);
  }

  /// By interpolation.
  [[nodiscard]] double miss_share(double ratio) const;

  /// The ratio at which half of the loads miss.
  [[nodiscard]] double half() const { return half_; }

 private:
  static constexpr int entries = 513;
  static double ratio_of(int entry);
  [[nodiscard]] double inverse(double share) const;

  std::vector<double> shares_{};
  double half_ = 0;
};

/// The laws that real caches follow: least recently used, with lines in their sets in turn or at
/// random, and replacement at random, some laps after the cache was full of other lines.
std::span<const CapacityLaw> capacity_laws();

}  // namespace hipscope
