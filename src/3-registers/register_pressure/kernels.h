// The kernels of the stages 01 to 12, one after the other, and what each changes. What came of it
// on each GPU docs/3-registers.md says.
#pragma once

#include <hip/hip_runtime.h>
#include <hipscope/lds.h>

#include "step.h"

namespace hipscope::register_pressure {

// 01. The first kernel of AMD's lab note: 31 pointers and 22 scalars, phi squared by pow, f0
// updated after the velocity u is known. No launch bound: the compiler plans for blocks of 1024
// threads. (Pointer `spans` is ours: kernel<false>, which is timed, does not read it.) The lab
// note, gfx90a, ROCm 5.4: 102 VGPRs, 98 SGPRs, 4 waves per SIMD.
namespace baseline {
template <bool records>
__global__ void kernel(POINTERS_ONE_BY_ONE(, , ), SCALARS_ONE_BY_ONE, WaveSpan* spans) {
  step<records, F0::after_velocity, Square::pow>({ALL_ARGUMENTS}, spans);
}
}  // namespace baseline

// 02. The first step of AMD's lab note. Against 01: phi * phi in place of pow(phi, 2), which is
// inlined as a logarithm and an exponential. The lab note, gfx90a: 100 VGPRs, 98 SGPRs, 4 waves per
// SIMD.
namespace no_pow {
template <bool records>
__global__ void kernel(POINTERS_ONE_BY_ONE(, , ), SCALARS_ONE_BY_ONE, WaveSpan* spans) {
  step<records, F0::after_velocity>({ALL_ARGUMENTS}, spans);
}
}  // namespace no_pow

// 03. The second step of AMD's lab note. Against 02: f0, which needs no u, is updated before u is
// computed. The store may have changed what g1 to g18 point to, so the compiler loads them again,
// and none of them has to wait in a register from the sum to the velocity: fewer registers, 18 more
// loads. The lab note, gfx90a: 96 VGPRs, 94 SGPRs, 5 waves per SIMD.
namespace definitions_moved {
template <bool records>
__global__ void kernel(POINTERS_ONE_BY_ONE(, , ), SCALARS_ONE_BY_ONE, WaveSpan* spans) {
  step<records>({ALL_ARGUMENTS}, spans);
}
}  // namespace definitions_moved

// 04. The third step of AMD's lab note. Against 03: __restrict__ on g14: no store changes it, so
// the compiler may keep its values. The lab note, gfx90a: 94 VGPRs, 86 SGPRs, 5 waves per SIMD.
namespace restrict_on_g14 {
template <bool records>
__global__ void kernel(POINTERS_ONE_BY_ONE(, __restrict__, ), SCALARS_ONE_BY_ONE, WaveSpan* spans) {
  step<records>({ALL_ARGUMENTS}, spans);
}
}  // namespace restrict_on_g14

// 05. The last step of AMD's lab note. Against 04: __restrict__ on g7 too. The lab note, gfx90a: 96
// VGPRs, 78 SGPRs, 5 waves per SIMD.
namespace restrict_on_g14_and_g7 {
template <bool records>
__global__ void kernel(POINTERS_ONE_BY_ONE(__restrict__, __restrict__, ), SCALARS_ONE_BY_ONE,
                       WaveSpan* spans) {
  step<records>({ALL_ARGUMENTS}, spans);
}
}  // namespace restrict_on_g14_and_g7

// 06. Against 03: a launch bound of 256, so that the compiler need not plan for blocks of 1024
// threads. On gfx900 that ends the spills and halves the waves; on gfx90a 96 VGPRs fit under both.
namespace launch_bound {
template <bool records>
__global__ void __launch_bounds__(block_threads)
    kernel(POINTERS_ONE_BY_ONE(, , ), SCALARS_ONE_BY_ONE, WaveSpan* spans) {
  step<records>({ALL_ARGUMENTS}, spans);
}
}  // namespace launch_bound

// 07. Against 06: __restrict__ on all 31 pointers. Nothing is loaded twice: 31 loads, not 68.
namespace restrict_on_all {
template <bool records>
__global__ void __launch_bounds__(block_threads)
    kernel(POINTERS_ONE_BY_ONE(__restrict__, __restrict__, __restrict__), SCALARS_ONE_BY_ONE,
           WaveSpan* spans) {
  step<records>({ALL_ARGUMENTS}, spans);
}
}  // namespace restrict_on_all

// 08. Against 06: the bound asks for more waves than fit by themselves, so values are spilled to
// scratch.
namespace more_waves {
template <bool records>
__global__ void __launch_bounds__(block_threads, least_waves)
    kernel(POINTERS_ONE_BY_ONE(, , ), SCALARS_ONE_BY_ONE, WaveSpan* spans) {
  step<records>({ALL_ARGUMENTS}, spans);
}
}  // namespace more_waves

// For 09 and 10: values of each thread that wait in LDS.
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

// 09. Against 08: three forces and three velocities wait in LDS, by hand, in place of scratch.
// Where a CU has 64 KiB of it, as on gfx9, the block's 12 KiB leave room for five waves per SIMD,
// not six: clang 22 warns of that.
namespace more_waves_lds {
#if defined(__HIP_DEVICE_COMPILE__)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wpass-failed"
#endif
template <bool records>
__global__ void __launch_bounds__(block_threads, least_waves)
    kernel(POINTERS_ONE_BY_ONE(, , ), SCALARS_ONE_BY_ONE, WaveSpan* spans) {
  __shared__ double lds[parked_values * block_threads];
  step<records>({ALL_ARGUMENTS}, spans, InLds{lds});
}

#if defined(__HIP_DEVICE_COMPILE__)
#pragma clang diagnostic pop
#endif
}  // namespace more_waves_lds

// 10. Against 09: no more waves are asked for. LDS where nothing would have been spilled.
namespace parked_in_lds {
template <bool records>
__global__ void __launch_bounds__(block_threads)
    kernel(POINTERS_ONE_BY_ONE(, , ), SCALARS_ONE_BY_ONE, WaveSpan* spans) {
  __shared__ double lds[parked_values * block_threads];
  step<records>({ALL_ARGUMENTS}, spans, InLds{lds});
}
}  // namespace parked_in_lds

// 11. Arguments in one object. Against 06: it is passed by value.
namespace one_object {
template <bool records>
__global__ void __launch_bounds__(block_threads) kernel(Arguments all, WaveSpan* spans) {
  step<records>(all, spans);
}
}  // namespace one_object

// 12. Arguments in constant memory. Against 11: the object is there, once for each half that is
// read; only which of the two comes with each launch.
namespace constant_memory {
static __constant__ Arguments of_half[2];

template <bool records>
__global__ void __launch_bounds__(block_threads) kernel(int half, WaveSpan* spans) {
  step<records, F0::before_velocity, Square::product, const Arguments&>(of_half[half], spans);
}
}  // namespace constant_memory

// The same reads and writes without the model: besides a copy, the reference for a step, and the
// floor of its time. g0 goes through a sign, so that it must be read.
namespace streams {
template <bool records>
__global__ void __launch_bounds__(block_threads)
    kernel(POINTERS_ONE_BY_ONE(__restrict__, __restrict__, __restrict__), int nx, int ny, int nz,
           int row, int rows, int current, int next, double, double, double, double, double, double,
           double, double, double, double, double, double, double, double, double,
           [[maybe_unused]] WaveSpan* spans) {
  WaveSpan* const span = record_start<records>(spans);
  const int x = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int y = static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y);
  const int z = static_cast<int>(blockIdx.z * blockDim.z + threadIdx.z);
  if (x > nx || y > ny || z > nz) {
    return;
  }
  const int layer = row * rows;
  const int cell = x + row * (y + rows * z);
  const int at = cell + current;
  const int to = cell + next;
  f0[cell] = phi[cell] - f0[cell];
  f1[at] = laplacian[cell] - f1[at];
  f2[at] = gradient_x[cell] - f2[at];
  f3[at] = gradient_y[cell] - f3[at];
  f4[at] = gradient_z[cell] - f4[at];
  f5[at] = phi[cell] - f5[at];
  f6[at] = laplacian[cell] - f6[at];
  g0[cell] = -g0[cell];
  const auto push = [&](double* plus, double* minus, int away) {
    plus[to + away] = plus[at];
    minus[to - away] = minus[at];
  };
  push(g1, g2, 1);
  push(g3, g4, row);
  push(g5, g6, layer);
  push(g7, g8, 1 + row);
  push(g9, g10, 1 - row);
  push(g11, g12, 1 + layer);
  push(g13, g14, 1 - layer);
  push(g15, g16, row + layer);
  push(g17, g18, row - layer);
  record_end<records>(span);
}
}  // namespace streams

}  // namespace hipscope::register_pressure
