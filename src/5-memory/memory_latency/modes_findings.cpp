// Which of many loads' times came from the same level.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <span>
#include <vector>

#include "findings.h"

namespace memory_latency {

namespace {

constexpr double bins_per_octave = 24;

// All footprints alike, each bin with its neighbours: short times are whole cycles, farther apart
// than bins are.
std::vector<double> pooled(std::span<const LatencyHistogram> all) {
  constexpr std::size_t bins = LatencyHistogram::bins;
  static const std::size_t coarse_up_to = LatencyHistogram::bin_of(64);
  std::vector<double> sum(bins);
  for (const LatencyHistogram& one : all) {
    for (std::size_t bin = 0; bin < bins; ++bin) {
      sum[bin] += one.share(bin, bin + 1);
    }
  }
  std::vector<double> smooth(bins);
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

}  // namespace

std::size_t LatencyHistogram::bin_of(double cycles) {
  const double octaves = std::log2(std::max(1.0, cycles));
  return std::min(bins - 1, static_cast<std::size_t>(bins_per_octave * octaves));
}

double LatencyHistogram::first_of(std::size_t bin) {
  return std::exp2(static_cast<double>(bin) / bins_per_octave);
}

void LatencyHistogram::add(double cycles, double loads) {
  counts_[bin_of(cycles)] += loads;
  loads_ += loads;
}

double LatencyHistogram::share(std::size_t begin, std::size_t end) const {
  const auto some = std::span(counts_).subspan(begin, end - begin);
  return loads_ > 0 ? std::accumulate(some.begin(), some.end(), 0.0) / loads_ : 0;
}

std::vector<LatencyMode> find_latency_modes(std::span<const LatencyHistogram> all) {
  const std::vector<double> density = pooled(all);
  std::vector<LatencyMode> modes;
  for (std::size_t bin = 0, peak = bin; bin < density.size(); ++bin) {
    const bool rises = density[bin] > (bin > 0 ? density[bin - 1] : 0);
    peak = rises ? bin : peak;
    const bool falls = bin + 1 == density.size() || density[bin + 1] < density[bin];
    if (falls && density[bin] > 0 && (modes.empty() || peak >= modes.back().end)) {
      modes.push_back({.begin = peak, .end = bin + 1, .density = density[bin]});
    }
  }
  if (modes.empty()) {
    return modes;
  }
  // Cut where the density between two is lowest, in the middle if it is so for long.
  for (std::size_t i = 0; i + 1 < modes.size(); ++i) {
    const double* const end = &density[modes[i + 1].begin] + 1;
    const double* const lowest = std::min_element(&density[modes[i].end - 1], end);
    const double* const rise = std::find_if(lowest, end, [=](double y) { return y > *lowest; });
    const double* const middle = lowest + (rise - lowest) / 2;
    modes[i].end = modes[i + 1].begin = static_cast<std::size_t>(middle - density.data());
  }
  modes.front().begin = 0;
  modes.back().end = LatencyHistogram::bins;
  const auto join_next = [&](std::size_t i) {
    modes[i + 1].begin = modes[i].begin;
    modes[i + 1].density = std::max(modes[i].density, modes[i + 1].density);
    modes.erase(modes.begin() + static_cast<std::ptrdiff_t>(i));
  };
  const auto depth = [&](std::size_t i) {  // of the valley after modes[i]
    return density[modes[i].end] / std::min(modes[i].density, modes[i + 1].density);
  };
  while (modes.size() > 1) {
    std::size_t shallowest = 0;
    for (std::size_t i = 1; i + 1 < modes.size(); ++i) {
      shallowest = depth(i) > depth(shallowest) ? i : shallowest;
    }
    constexpr double deepest = 0.25;
    if (depth(shallowest) <= deepest) {
      break;
    }
    join_next(shallowest);
  }
  const auto is_rare = [&](const LatencyMode& mode) {
    constexpr double smallest_share = 0.25;
    return std::ranges::none_of(all, [&](const LatencyHistogram& one) {
      return one.share(mode.begin, mode.end) >= smallest_share;
    });
  };
  for (std::size_t i = 0; i < modes.size() && modes.size() > 1;) {
    if (!is_rare(modes[i])) {
      ++i;
      continue;
    }
    const bool to_next = i == 0 || (i + 1 < modes.size() && depth(i) > depth(i - 1));
    join_next(to_next ? i : i - 1);
    i = 0;
  }
  return modes;
}

}  // namespace memory_latency
