// The HIP qualifiers of functions and variables, as the host compiler needs them.
#pragma once

#define __global__
#define __device__
#define __host__
#define __constant__
#define __launch_bounds__(...)

#define __forceinline__ inline

// Empty, for libstdc++ itself writes __attribute__((__noinline__)), which must stay valid after
// this definition. Whether a function is inlined changes no result here.
#define __noinline__

// So all LDS variables of a program are side by side in the TLS segment of its main executable, and
// the backend can poison them before each block without knowing them.
// "used" keeps the compiler from folding a variable that no kernel writes into its initial zero:
// such a read must give the poison.
#define __shared__ thread_local __attribute__((used))

// Declares `variable` as the start of the block's dynamic LDS, an array of `type`. At block scope
// only. With no dynamic LDS in the launch it is a null pointer.
#define HIP_DYNAMIC_SHARED(type, variable) \
  type* const variable = static_cast<type*>(hip_host::dynamic_lds());

// HIP asks for these two around a templated kernel's name and around a symbol's name.
#define HIP_KERNEL_NAME(...) __VA_ARGS__
#define HIP_SYMBOL(symbol) symbol

namespace hip_host {

/// Returns the first byte of the running block's dynamic LDS; null if the launch asked for none.
void* dynamic_lds();

}  // namespace hip_host
