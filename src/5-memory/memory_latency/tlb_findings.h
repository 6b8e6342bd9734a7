// What memory_latency concludes of TLBs.
#pragma once

#include <optional>
#include <vector>

#include "hipscope/experiment.h"

namespace memory_latency {

/// The reach and the miss penalty of each level of TLB (sweeps tlb-64k and tlb-2m:
/// "paged over dense", "paged latency", "dense latency"). What was not measured is left out.
void infer_tlb(hipscope::Results& results);

/// The footprints in bytes at which lines in pages of either size begin to take longer than dense
/// ones; empty where pages were not measured.
std::optional<std::vector<double>> tlb_reaches(const hipscope::Results& results);

}  // namespace memory_latency
