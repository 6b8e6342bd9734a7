// Against 08: three forces and three velocities wait in LDS, by hand, in place of scratch. Where a
// CU has 64 KiB of it, as on gfx9, the block's 12 KiB leave room for five waves per SIMD, not six:
// clang 22 warns of that.
// On the H200 1.010 times the rate of 08: 24 waves per SM, 40 bytes of scratch.
#pragma once

#include <hip/hip_runtime.h>

#include "parked.h"
#include "step.h"

namespace hipscope::register_pressure::more_waves_lds {

#if defined(__HIP_DEVICE_COMPILE__)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wpass-failed"
#endif
template <bool records>
__global__ void __launch_bounds__(block_threads, least_waves)
    kernel(POINTERS_ONE_BY_ONE(, , ), SCALARS_ONE_BY_ONE, WaveSpan* spans) {
  __shared__ double lds[parked_values * block_threads];
  step<records>(ALL_ARGUMENTS, spans, InLds{lds});
}

#if defined(__HIP_DEVICE_COMPILE__)
#pragma clang diagnostic pop
#endif

}  // namespace hipscope::register_pressure::more_waves_lds
