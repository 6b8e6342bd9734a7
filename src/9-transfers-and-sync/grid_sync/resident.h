// Launches of blocks that all run at once: no more than are resident, by a cooperative launch where
// the device has it, which the runtime refuses if not all of them fit.
#pragma once

#include <hipscope/footprint.h>
#include <hipscope/hipscope.h>

#include <algorithm>
#include <tuple>

namespace grid_sync {

using hipscope::check;
using hipscope::LaunchShape;

inline bool has_cooperative_launch() {
  int device = 0;
  int has_it = 0;
  check(hipGetDevice(&device));
  check(hipDeviceGetAttribute(&has_it, hipDeviceAttributeCooperativeLaunch, device));
  return has_it != 0;
}

/// Blocks of that size that a CU holds.
template <typename... Parameters>
unsigned resident_per_cu(void (*kernel)(Parameters...), unsigned threads) {
  return static_cast<unsigned>(std::max(0, hipscope::resident_blocks(kernel, threads)));
}

template <typename... Parameters, typename... Arguments>
void launch_together(void (*kernel)(Parameters...), const LaunchShape& shape,
                     const Arguments&... arguments) {
  static const bool is_cooperative = has_cooperative_launch();
  if (!is_cooperative) {
    hipscope::launch(kernel, shape, arguments...);
    return;
  }
  std::tuple<Parameters...> values(arguments...);
  std::apply(
      [&](auto&... value) {
        void* pointers[] = {&value...};
        check(hipLaunchCooperativeKernel(kernel, shape.grid, shape.block, pointers, shape.lds_bytes,
                                         shape.stream));
      },
      values);
}

}  // namespace grid_sync
