// What fma_loop concludes from its curves. Plain C++, no GPU headers.
#pragma once

#include <array>
#include <span>
#include <string>
#include <vector>

#include "hipscope/experiment.h"

namespace fma_loop {

/// The blocks of sweeps unroll-N, which lengthen the loop.
constexpr std::array<unsigned, 3> unroll_threads = {64, 256, 1024};

inline std::string unroll_name(unsigned threads) { return "unroll-" + std::to_string(threads); }

/// The blocks of sweeps edge-N, which look closer at where unroll-N is no longer at full speed.
/// Many waves fetch for each other: the rate of a full block falls slowly.
constexpr std::array<unsigned, 2> edge_threads = {64, 256};

inline std::string edge_name(unsigned threads) { return "edge-" + std::to_string(threads); }

/// The lengths of sweep edge-N, in chunks of `chunk_bytes`, by the cycles per FMA over the bytes of
/// a loop that sweep unroll-N has found: every chunk about the end of full speed, or as many as
/// make few points, and fewer as far around it as levels need. Empty where no end shows, and where
/// `most_chunks` do not reach past it.
std::vector<unsigned> edge_chunks(std::span<const hipscope::CurvePoint> coarse, double chunk_bytes,
                                  unsigned most_chunks);

/// The latency of an FMA, the cost of an iteration's end, the largest loop at full speed, and what
/// the instruction cache holds: from the values "cycles per FMA" and "FMAs in the loop" of sweeps
/// unroll-N and "cycles per FMA" of edge-N. What a sweep that was left out would have told is left
/// out.
void conclude(hipscope::Results& results);

}  // namespace fma_loop
