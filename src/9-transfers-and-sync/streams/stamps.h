// When kernels ran: each stores its begin and its end by the device's timer, which all of its
// compute units share, and counts that it ran.
#pragma once

#include <hipscope/hipscope.h>
#include <hipscope/timer.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <thread>
#include <vector>

#include "findings.h"

namespace streams {

using hipscope::DeviceBuffer;
using hipscope::launch;
using hipscope::Point;
using hipscope::Sweep;

static __global__ void __launch_bounds__(1) read_timer_kernel(long long* ticks) {
  *ticks = hipscope::timer_ticks();
}

inline long long read_timer(DeviceBuffer<long long>& now) {
  launch(read_timer_kernel, {.grid = dim3(1), .block = dim3(1)}, now.data());
  return now.to_host()[0];
}

// Ticks of the device's timer per microsecond.
inline double ticks_per_microsecond() {
  static const double ticks = [] {
    DeviceBuffer<long long> now(1);
    constexpr double micro = 1e-6;
    return micro * hipscope::measured_timer_hz([&] { return read_timer(now); });
  }();
  return ticks;
}

// An emulator's timer may: then stamps tell nothing.
inline bool timer_stands_still() {
  static const bool still = [] {
    DeviceBuffer<long long> now(1);
    const long long before = read_timer(now);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return read_timer(now) == before;
  }();
  return still;
}

// Where one run's kernels, or blocks of kernels, store their stamps: each has its own number.
struct Marks {
  Stamp* stamps;
  unsigned* runs;
};

// The stamps of `kernels` in the last runs, and how often each ran in all of them.
class Stamps {
 public:
  explicit Stamps(unsigned kernels)
      : kernels_(kernels), stamps_(std::size_t{kernels} * kept_runs), runs_(kernels) {
    runs_.clear();
  }

  // For the kernels of the next run.
  Marks next() {
    return {.stamps = stamps_.data() + std::size_t{kernels_} * (launched_++ % kept_runs),
            .runs = runs_.data()};
  }

  // Every kernel has run once in each run, and all of its kept stamps say that it took `least`
  // ticks.
  void verify(Point& point, long long least) const {
    point.check("every kernel ran once", runs_.to_host(),
                [&](std::uint64_t /*kernel*/) { return launched_; });
    const long long shortest =
        point.device().cycle_counter_bits > 0 && !timer_stands_still() ? least : 0;
    const std::vector<Stamp> all = kept();
    hipscope::Comparison comparison;
    for (unsigned kernel = 0; kernel < kernels_; ++kernel) {
      long long ticks = shortest;  // or less, if one was too short; -1: not stored
      for (std::size_t i = kernel; i < all.size(); i += kernels_) {
        ticks = std::min(ticks, all[i].begin < 0 ? -1 : all[i].end - all[i].begin);
      }
      comparison.compare(kernel, shortest, ticks);
    }
    point.verify("begin and end of every kernel", comparison);
  }

  // The median over the kept runs of what `of_run` says of a run's stamps, if they tell anything.
  template <typename OfRun>
  [[nodiscard]] double median(OfRun of_run) const {
    if (timer_stands_still()) {
      return std::numeric_limits<double>::quiet_NaN();
    }
    const std::vector<Stamp> all = kept();
    std::vector<double> values;
    for (std::size_t first = 0; first < all.size(); first += kernels_) {
      values.push_back(static_cast<double>(of_run(std::span(all).subspan(first, kernels_))));
    }
    return hipscope::summarize(values).median;
  }

 private:
  static constexpr unsigned kept_runs = 5;

  [[nodiscard]] std::vector<Stamp> kept() const {
    std::vector<Stamp> all = stamps_.to_host();
    all.resize(std::size_t{kernels_} * std::min(launched_, kept_runs));
    return all;
  }

  unsigned kernels_;
  unsigned launched_ = 0;
  DeviceBuffer<Stamp> stamps_;
  DeviceBuffer<unsigned> runs_;
};

}  // namespace streams
