// What streams concludes: how many kernels run side by side, from how many hardware queues, whether
// a small kernel waits for a large one and what a priority changes, and whether copies run under
// kernels.
// Plain C++, no GPU headers.
//
// Reads sweeps kernels and queues ("served", "span" over the number of streams), small and priority
// ("latency", "began at"), and copies ("overlap"; x = 1 ... 4).
#pragma once

#include <span>

#include "hipscope/experiment.h"

namespace streams {

/// When a kernel, or one of its blocks, ran: ticks of the device's timer.
struct Stamp {
  long long begin;
  long long end;
};

/// From the first begin to the last end.
long long span_of(std::span<const Stamp> stamps);

/// How many had begun before the first of them ended: all of these ran side by side.
unsigned served_at_once(std::span<const Stamp> stamps);

/// For how long two ran side by side, over the length of the shorter, 0 ... 1.
double overlap_of(const Stamp& a, const Stamp& b);

/// The first begin and the last end as one.
Stamp hull_of(std::span<const Stamp> stamps);

/// The x of rows that findings compare.
namespace row {
// Sweep small, by what the large kernel takes.
inline constexpr double small_alone = 1;
inline constexpr double half_of_places = 2;
inline constexpr double all_places = 3;
inline constexpr double many_rounds = 4;
inline constexpr double split_by_runtime = 5;
// Sweep priority, of the small kernel against the large one.
inline constexpr double equal = 1;
inline constexpr double higher = 2;
inline constexpr double lower = 3;
}  // namespace row

/// `asked_queues`: what the runtime was asked for, by its environment variable; 0 if nobody says.
void conclude(hipscope::Results& results, unsigned asked_queues);

}  // namespace streams
