// How full the compute units were, from when each wave was where. Plain C++, no GPU headers.
#pragma once

#include <algorithm>
#include <iterator>
#include <span>
#include <vector>

namespace hipscope::register_pressure {

/// From when to when a wave was on a compute unit, by a timer that all share.
struct WaveSpan {
  long long start = 0;
  long long end = 0;  ///< 0: it did not say
  unsigned unit = 0;
};

/// How many waves a compute unit had, on average over the time in which it had any, and over all
/// units that had any: what profilers call achieved occupancy. 0 where no wave has an end.
inline double average_resident_waves(std::span<const WaveSpan> spans) {
  std::vector<WaveSpan> sorted;
  std::copy_if(spans.begin(), spans.end(), std::back_inserter(sorted),
               [](const WaveSpan& span) { return span.end > 0 && span.end >= span.start; });
  std::sort(sorted.begin(), sorted.end(), [](const WaveSpan& a, const WaveSpan& b) {
    return a.unit != b.unit ? a.unit < b.unit : a.start < b.start;
  });
  double wave_time = 0;
  double active_time = 0;  // of all units together, in which they had a wave
  unsigned unit = 0;
  long long active_until = 0;
  for (const WaveSpan& span : sorted) {
    const bool is_first = &span == &sorted.front() || span.unit != unit;
    const long long from = is_first ? span.start : std::max(span.start, active_until);
    active_until = is_first ? span.end : std::max(span.end, active_until);
    unit = span.unit;
    wave_time += static_cast<double>(span.end - span.start);
    active_time += static_cast<double>(std::max(active_until - from, 0LL));
  }
  return active_time > 0 ? wave_time / active_time : 0;
}

}  // namespace hipscope::register_pressure
