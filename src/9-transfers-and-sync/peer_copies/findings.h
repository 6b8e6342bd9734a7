// What peer_copies concludes: what a link gives and takes, and which one is slower than its kin.
//
// Reads "bandwidth" of sweeps engine, read and write, and "load" of latency, over pairs: point x is
// from * devices + to. Where all pairs of different devices have links of one kind, a pair under 90
// % of their median is slow; where they come in kinds (a node with several hops), only the kinds
// are told. `devices` is the number of devices that were asked.
#pragma once

#include "hipscope/experiment.h"

namespace peer_copies {

void conclude(hipscope::Results& results);

}  // namespace peer_copies
