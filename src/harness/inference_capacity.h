// The capacity of a cache from how loads begin to miss in it.
#pragma once

#include <optional>
#include <span>

#include "hipscope/inference.h"

namespace hipscope {

/// The capacity by the share of loads that miss in it, 0 ... 1, over the footprint. The laws are
/// those of LRU caches of 4 to 32 ways, with lines in their sets in turn or at random, and of
/// caches that replace any line. Each law is fitted to the point where half of the loads miss; the
/// laws count whose area to the curve is about as small as the smallest. A step from one footprint
/// to the next shows only that the capacity is between them; the value then is the first. Empty if
/// less than half or more than half miss throughout.
std::optional<Capacity> fit_capacity(std::span<const CurvePoint> misses);

}  // namespace hipscope
