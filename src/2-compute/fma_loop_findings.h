// What fma_loop concludes from its curves. Plain C++, no GPU headers.
#pragma once

#include <array>
#include <string>

#include "hipscope/experiment.h"

namespace fma_loop {

/// The blocks of sweeps unroll-N, which lengthen the loop.
constexpr std::array<unsigned, 3> unroll_threads = {64, 256, 1024};

inline std::string unroll_name(unsigned threads) { return "unroll-" + std::to_string(threads); }

/// The best rate, the latency of an FMA and the cost of an iteration's end, the largest loop at
/// full speed, the effect of the loop's form and place: from the value "FMA rate" of all sweeps but
/// rolled, and of sweeps unroll-N also "cycles per FMA" and "FMAs in the loop". What a sweep that
/// was left out would have told is left out.
void conclude(hipscope::Results& results);

}  // namespace fma_loop
