// The modes of many loads' times: which of them came from the same level. Plain C++, no GPU
// headers.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

namespace memory_latency {

/// How many loads took how long, over times that grow by a twenty-fourth of an octave. A count need
/// not be whole.
class LatencyHistogram {
 public:
  static constexpr std::size_t bins = 384;  // up to 2^16 cycles, after which a time is as good

  static std::size_t bin_of(double cycles) {
    const double octaves = std::log2(std::max(1.0, cycles));
    return std::min(bins - 1, static_cast<std::size_t>(bins_per_octave * octaves));
  }

  /// The cycles at which a bin begins.
  static double first_of(std::size_t bin) {
    return std::exp2(static_cast<double>(bin) / bins_per_octave);
  }

  void add(double cycles, double loads = 1) {
    counts_[bin_of(cycles)] += loads;
    loads_ += loads;
  }

  [[nodiscard]] double loads() const { return loads_; }

  /// The share of loads in the bins [begin, end).
  [[nodiscard]] double share(std::size_t begin, std::size_t end) const {
    double sum = 0;
    for (std::size_t bin = begin; bin < std::min(end, bins); ++bin) {
      sum += counts_[bin];
    }
    return loads_ > 0 ? sum / loads_ : 0;
  }

 private:
  static constexpr double bins_per_octave = 24;

  std::array<double, bins> counts_{};
  double loads_ = 0;
};

/// The bins [begin, end) around one of several times that are common.
struct LatencyMode {
  std::size_t begin = 0;
  std::size_t end = 0;
  double density = 0;  // at its highest
};

namespace detail {

/// All footprints alike, each bin with its neighbours: short times are whole cycles, farther apart
/// than bins are.
inline std::vector<double> pooled(std::span<const LatencyHistogram> all) {
  constexpr std::size_t bins = LatencyHistogram::bins;
  static const std::size_t coarse_up_to = LatencyHistogram::bin_of(64);
  std::vector<double> sum(bins, 0);
  for (const LatencyHistogram& one : all) {
    for (std::size_t bin = 0; bin < bins; ++bin) {
      sum[bin] += one.share(bin, bin + 1);
    }
  }
  std::vector<double> smooth(bins, 0);
  for (std::size_t bin = 0; bin < bins; ++bin) {
    const std::size_t reach = bin < coarse_up_to ? 2 : 1;
    const std::size_t begin = bin - std::min(bin, reach);
    const std::size_t end = std::min(bins, bin + reach + 1);
    for (std::size_t i = begin; i < end; ++i) {
      smooth[bin] += sum[i] / static_cast<double>(end - begin);
    }
  }
  return smooth;
}

/// Where the density between two modes is lowest, in the middle if it is so for long.
inline std::size_t lowest_between(const std::vector<double>& density, std::size_t begin,
                                  std::size_t end) {
  const auto first = density.begin() + static_cast<std::ptrdiff_t>(begin);
  const double lowest =
      *std::min_element(first, density.begin() + static_cast<std::ptrdiff_t>(end));
  std::size_t from = begin;
  while (density[from] > lowest) {
    ++from;
  }
  std::size_t to = from;
  while (to + 1 < end && density[to + 1] <= lowest) {
    ++to;
  }
  return (from + to + 1) / 2;
}

/// Joins modes[i] and the next one.
inline void join(std::vector<LatencyMode>& modes, std::size_t i) {
  modes[i].end = modes[i + 1].end;
  modes[i].density = std::max(modes[i].density, modes[i + 1].density);
  modes.erase(modes.begin() + static_cast<std::ptrdiff_t>(i) + 1);
}

}  // namespace detail

/// The modes of the loads of many footprints, `all`, from the shortest time to the longest: between
/// two of them hardly any load falls. A mode is one that a quarter of the loads of some footprint
/// belongs to; what is less often belongs to the mode beside it. Together they cover all times.
inline std::vector<LatencyMode> find_latency_modes(std::span<const LatencyHistogram> all) {
  constexpr double deepest = 0.25;  // of a valley, over the lower of the modes beside it
  constexpr double smallest_share = 0.25;
  const std::vector<double> density = detail::pooled(all);
  std::vector<LatencyMode> modes;
  for (std::size_t bin = 0, peak = bin; bin < density.size(); ++bin) {
    const bool rises = density[bin] > (bin > 0 ? density[bin - 1] : 0);
    peak = rises ? bin : peak;
    const bool falls = bin + 1 == density.size() || density[bin + 1] < density[bin];
    if (falls && density[bin] > 0 && (modes.empty() || peak >= modes.back().end)) {
      modes.push_back({.begin = peak, .end = bin + 1, .density = density[bin]});
    }
  }
  for (std::size_t i = 0; i + 1 < modes.size(); ++i) {
    modes[i].end = modes[i + 1].begin =
        detail::lowest_between(density, modes[i].end - 1, modes[i + 1].begin + 1);
  }
  if (modes.empty()) {
    return modes;
  }
  modes.front().begin = 0;
  modes.back().end = LatencyHistogram::bins;
  const auto depth = [&](std::size_t i) {  // of the valley after modes[i]
    return density[modes[i].end] / std::min(modes[i].density, modes[i + 1].density);
  };
  while (modes.size() > 1) {
    std::size_t shallowest = 0;
    for (std::size_t i = 1; i + 1 < modes.size(); ++i) {
      shallowest = depth(i) > depth(shallowest) ? i : shallowest;
    }
    if (depth(shallowest) <= deepest) {
      break;
    }
    detail::join(modes, shallowest);
  }
  const auto largest_share = [&](const LatencyMode& mode) {
    double largest = 0;
    for (const LatencyHistogram& one : all) {
      largest = std::max(largest, one.share(mode.begin, mode.end));
    }
    return largest;
  };
  for (std::size_t i = 0; i < modes.size() && modes.size() > 1;) {
    if (largest_share(modes[i]) >= smallest_share) {
      ++i;
      continue;
    }
    const bool to_next = i == 0 || (i + 1 < modes.size() && depth(i) > depth(i - 1));
    detail::join(modes, to_next ? i : i - 1);
    i = 0;
  }
  return modes;
}

}  // namespace memory_latency
