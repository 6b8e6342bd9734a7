// HIP for the host backend: the runtime and the device functions, on the CPU.
//
// An experiment includes <hip/hip_runtime.h> and is compiled as plain C++20. Every kernel then runs
// on the calling thread: blocks one after another, a block's threads as fibers. The backend is a
// functional double, not a simulator: results are those of a GPU, times are those of a CPU.
//
// What a kernel must know:
// - Kernels are launched with hipLaunchKernelGGL; the <<<>>> syntax is no C++.
// - Lanes switch only at barriers and wave operations. A lane that spins until another lane or
//   block acts waits for ever.
// - Kernels belong into the main executable, not into a shared library (see __shared__ in
//   host/qualifiers.h).
// - The API is for one host thread at a time.
#pragma once

#include "hip_runtime_api.h"
#include "host/atomics.h"
#include "host/intrinsics.h"
#include "host/lanes.h"
#include "host/launch.h"
#include "host/math_functions.h"
#include "host/qualifiers.h"
#include "host/vector_types.h"
