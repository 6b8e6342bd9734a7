// A value that waits in LDS, not in a register.
#pragma once

#include <hip/hip_runtime.h>
#include <hipscope/lds.h>

#include "step.h"

namespace hipscope::register_pressure {

/// Values that a step parks, of each thread.
constexpr unsigned parked_values = 6;

// A place in LDS that is read and written whenever the source says so. Clang must be told that it
// is LDS: volatile accesses it would leave to instructions for any memory.
#if defined(__HIP_DEVICE_COMPILE__)
using LdsPlace = LdsPointer<volatile double>;
#else
using LdsPlace = volatile double*;
#endif

/// A value of each thread, put away in LDS, from where it comes back whenever it is used.
class Parked {
 public:
  __device__ Parked(double value, double* lds, unsigned slot)
      : place_((LdsPlace)(lds + slot * block_threads + threadIdx.x +
                          blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z))) {
    *place_ = value;
  }
  // It stands for the value.
  __device__ operator double() const { return *place_; }  // NOLINT(google-explicit-constructor)

 private:
  LdsPlace place_;
};

/// Parks what `step` keeps.
struct InLds {
  double* lds;
  __device__ Parked operator()(double value, unsigned slot) const { return {value, lds, slot}; }
};

}  // namespace hipscope::register_pressure
