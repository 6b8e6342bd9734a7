// Of HIP's cooperative groups the grid's barrier.
#pragma once

#include "host/lanes.h"

namespace cooperative_groups {

/// All blocks of a cooperative launch.
class grid_group {
 public:
  /// Waits for all of their lanes.
  void sync(const char* file = __builtin_FILE(), int line = __builtin_LINE()) const {
    hip_host::wait_at_grid_barrier({file, line});
  }
};

inline grid_group this_grid() { return {}; }

}  // namespace cooperative_groups
