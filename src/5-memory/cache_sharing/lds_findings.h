// What cache_sharing concludes of LDS and the vector cache.
#pragma once

#include "hipscope/experiment.h"

namespace cache_sharing {

/// What LDS takes of the vector cache (sweep lds: "without LDS", "with LDS").
void infer_lds(hipscope::Results& results);

}  // namespace cache_sharing
