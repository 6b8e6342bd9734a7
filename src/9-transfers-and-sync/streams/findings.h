// What streams concludes: how many kernels run side by side, and from how many queues. Plain C++,
// no GPU headers.
//
// Reads sweeps kernels and queues ("served", "span" over the number of streams).
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

/// `asked_queues`: what the runtime was asked for, by its environment variable; 0 if nobody says.
void conclude(hipscope::Results& results, unsigned asked_queues);

}  // namespace streams
