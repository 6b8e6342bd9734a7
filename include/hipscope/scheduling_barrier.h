// Barriers in a kernel that the compiler moves no instruction across.
#pragma once

#include <hip/hip_runtime.h>

namespace hipscope {

/// On AMD clang schedules no instruction across this place: loads before it are in flight before
/// anything after it. (Earlier, while there are no machine instructions yet, clang may still move
/// arithmetic.) Nothing on NVIDIA, where ptxas chooses the order.
__device__ inline void scheduling_barrier() {
#if defined(__HIP_DEVICE_COMPILE__)
  __builtin_amdgcn_sched_barrier(0);
#endif
}

/// The same; and on both vendors no load or store moves across it before scheduling. ptxas may
/// still move some.
__device__ inline void memory_scheduling_barrier() {
#if defined(__HIP_DEVICE_COMPILE__) || defined(__CUDA_ARCH__)
  asm volatile("" ::: "memory");
#endif
  scheduling_barrier();
}

/// On AMD clang puts one vector instruction after each of so many matrix instructions, of those
/// between two scheduling barriers. Nothing by clang 15, which cannot be asked.
template <unsigned times>
__device__ void alternate_matrix_and_vector() {
#if defined(__HIP_DEVICE_COMPILE__) && __has_builtin(__builtin_amdgcn_sched_group_barrier)
  constexpr int matrix = 8;
  constexpr int vector = 2;
#pragma unroll
  for (unsigned i = 0; i < times; ++i) {
    __builtin_amdgcn_sched_group_barrier(matrix, 1, 0);
    __builtin_amdgcn_sched_group_barrier(vector, 1, 0);
  }
#endif
}

}  // namespace hipscope
