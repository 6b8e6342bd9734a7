// What managed_memory concludes: what a page fault of either side costs and how much it brings, and
// the bandwidth at which pages move.
//
// Reads sweeps device-fault and host-fault ("first word", "other half" in us; x is the bytes of the
// aligned block that both words are in) and moves ("bandwidth" in GB/s at the x of Move).
#pragma once

#include "hipscope/experiment.h"

namespace managed_memory {

// The rows of sweep moves.
enum class Move {
  device_writes_first = 1,
  device_reads_from_host,
  device_reads_own,
  prefetch_to_device,
  host_reads_from_device,
  host_reads_own,
  prefetch_to_host,
  device_reads_pageable,
};

void conclude(hipscope::Results& results);

}  // namespace managed_memory
