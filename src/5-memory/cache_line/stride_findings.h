// The unit in which misses fetch, by strides through cold memory.
#pragma once

#include <optional>
#include <span>

#include "hipscope/inference.h"

namespace cache_line {

/// x is the stride of an ascending walk through cold memory, y the latency of a load, on average:
/// y = hit + (miss - hit) * min(1, x / unit), for the unit among the strides that fits best. Empty
/// when none fits within 10 %, when fewer than three points rise or fewer than two are flat after
/// them, and when the rise is under a fifth.
std::optional<hipscope::FetchUnit> fit_fetch_unit(std::span<const hipscope::CurvePoint> strides);

}  // namespace cache_line
