// What comes between a load from LDS and the wait for it when they are two asm statements: the
// source's open question 10. Compiled only; nothing here is run.
#include <hip/hip_runtime.h>
#include <hipscope/lds.h>
#include <hipscope/wait_for_lds.h>

namespace {

constexpr unsigned threads = 256;

// The output is not there when this statement ends, and nothing tells the compiler.
__device__ float load_without_waiting(unsigned address) {
  float value;
  asm volatile("ds_read_b32 %0, %1" : "=v"(value) : "v"(address));
  return value;
}

__device__ void wait_for_loads() { asm volatile(HIPSCOPE_WAIT_FOR_LDS); }

__device__ unsigned address_of(const float* lds) {
  return hipscope::lds_address(reinterpret_cast<const unsigned*>(lds));
}

}  // namespace

// The product is written after the wait.
extern "C" __global__ void __launch_bounds__(threads)
    two_statements_kernel(float* output, const float* input) {
  __shared__ float lds[threads];
  lds[threadIdx.x] = input[threadIdx.x];
  __syncthreads();
  const float a = load_without_waiting(address_of(lds + threadIdx.x % 64));
  const float b = load_without_waiting(address_of(lds + threadIdx.x % 32));
  wait_for_loads();
  output[threadIdx.x] = a * b;
}

// A double buffer: the next value is on its way while this one is used.
extern "C" __global__ void __launch_bounds__(threads)
    double_buffer_kernel(float* output, const float* input, unsigned count) {
  __shared__ float lds[threads];
  lds[threadIdx.x] = input[threadIdx.x];
  __syncthreads();
  float sum = 0;
  float next = load_without_waiting(address_of(lds + threadIdx.x % 64));
  wait_for_loads();
#pragma unroll 1
  for (unsigned i = 0; i < count; ++i) {
    const float now = next;
    next = load_without_waiting(address_of(lds + (threadIdx.x + i) % 64));
    sum += now * now;
    wait_for_loads();
  }
  output[threadIdx.x] = sum + next;
}

// Both loads and the wait in one statement: its outputs are there when it ends.
extern "C" __global__ void __launch_bounds__(threads)
    one_statement_kernel(float* output, const float* input) {
  __shared__ float lds[threads];
  lds[threadIdx.x] = input[threadIdx.x];
  __syncthreads();
  float a;
  float b;
  asm volatile(
      "ds_read_b32 %0, %2\n\t"
      "ds_read_b32 %1, %3\n\t" HIPSCOPE_WAIT_FOR_LDS
      : "=&v"(a), "=&v"(b)
      : "v"(address_of(lds + threadIdx.x % 64)), "v"(address_of(lds + threadIdx.x % 32))
      : "memory");
  output[threadIdx.x] = a * b;
}
