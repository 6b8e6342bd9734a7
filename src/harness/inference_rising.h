// The rise that is hidden in the noise of a curve.
#pragma once

#include <span>
#include <vector>

#include "hipscope/inference.h"

namespace hipscope {

/// What stands for points that fall: their mean, so that squares of distances are least; or their
/// median, which what stands out in less than half of them does not move.
enum class Middle { mean, median };

/// The y of the nearest curve that never falls, one for each point, by pooling neighbours that do.
std::vector<double> never_falling(std::span<const CurvePoint> curve, Middle middle);

}  // namespace hipscope
